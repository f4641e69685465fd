"""An answer of this service, read back: Anthropic's format with errors of its own."""

from __future__ import annotations

from collections.abc import Mapping

from ..anthropic_messages.read import read_answer
from ..base import WireAnswer
from .errors import complaint
from .rules import NAME


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    return read_answer(status, headers, body, NAME, complaint)
