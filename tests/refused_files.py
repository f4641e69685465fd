"""Files that a reader does not take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from turnproof.errors import UsageError


def why_refused(read: Callable[[Path], object], file: Path, text: str) -> str:
    """The message of the error that reading a file with this text raises; it begins with the file."""
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        read(file)
    message = str(refused.value)
    assert message.startswith(f"{file}: ")
    return message
