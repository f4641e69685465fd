"""A session as text: versioned JSON that loses nothing, and is taken back whole or not at all."""

from __future__ import annotations

import re

import msgspec

from ..errors import UsageError
from ..messages import Message, TokenUsage, ToolSchema
from ..provider import SystemInstruction

FORMAT = "turnproof.session/1"


class SavedSessionError(UsageError):
    """A saved session cannot be read. `path` points at the spot (`$` where it is not JSON at all)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"saved session: {path}: {reason}")
        self.path = path
        self.reason = reason


class SavedSession(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of a session. `saved_at` is in seconds of the session's clock.

    Functions cannot be saved: `tools` are the schemas the model knew, for people and for other programs.
    """

    format: str = FORMAT
    saved_at: float
    system: SystemInstruction = None
    tools: tuple[ToolSchema, ...] = ()
    messages: tuple[Message, ...] = ()
    usage: TokenUsage = TokenUsage()


class _Header(msgspec.Struct):
    format: str


_encoder = msgspec.json.Encoder()
_header = msgspec.json.Decoder(_Header)
_decoder = msgspec.json.Decoder(SavedSession)


def dump(saved: SavedSession) -> str:
    """The session as JSON text."""
    return _encoder.encode(saved).decode()


def load(text: str | bytes) -> SavedSession:
    """The inverse of `dump`. Raises SavedSessionError for text that is damaged or of another format."""
    try:
        found = _header.decode(text).format
        if found != FORMAT:
            raise SavedSessionError("$.format", f"{found!r} cannot be read here, only {FORMAT!r}")
        saved = _decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        reason, path = _located(str(error))
        raise SavedSessionError(path, reason) from error
    seen: set[str] = set()
    for index, message in enumerate(saved.messages):
        if message.message_id in seen:
            raise SavedSessionError(f"$.messages[{index}].message_id", f"{message.message_id!r} is used twice")
        seen.add(message.message_id)
    return saved


def _located(text: str) -> tuple[str, str]:
    """msgspec's "reason - at `$.path`", apart."""
    match = re.fullmatch(r"(?s)(.*) - at `(.*)`", text)
    return (match[1], match[2]) if match else (text, "$")
