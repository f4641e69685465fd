"""A readable view over a transcript, for checks: turns, calls and exchanges, each with both of its sides.

`View` splits a run into turns, a turn into provider calls, and a call into exchanges; the dialect reads the bytes.
`diff` compares JSON values and says where they differ.
"""

from __future__ import annotations

from ...dialects.tool_pairing import wire_names
from .aliases import Aliases
from .asked import Asked
from .call import Callback, ProviderCall
from .derived import derived
from .exchange import HARMLESS_FAULTS, Exchange, broken_rule
from .place_document import document_of
from .run import View, as_claimed
from .turn import TurnView
from .window import WindowReading

__all__ = [
    "HARMLESS_FAULTS",
    "Aliases",
    "Asked",
    "Callback",
    "Exchange",
    "ProviderCall",
    "TurnView",
    "View",
    "WindowReading",
    "as_claimed",
    "broken_rule",
    "derived",
    "document_of",
    "wire_names",
]
