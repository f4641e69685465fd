"""What the subject raised, as data: type, message, frames with their source lines, and whatever stands behind it.

`capture` turns an exception into a `Raised`: bounded in size, without secrets, with paths that do not tell where the
project lies. `own_frame` is where in its own code the subject raised it; `format_raised` is the whole as text.
"""

from .capture import capture, text_of
from .frame_owners import Owners, package_of
from .model import Frame, Owner, Raised, Root
from .text import at_own_frame, format_frame, format_raised

__all__ = [
    "Frame",
    "Owner",
    "Owners",
    "Raised",
    "Root",
    "at_own_frame",
    "capture",
    "format_frame",
    "format_raised",
    "package_of",
    "text_of",
]
