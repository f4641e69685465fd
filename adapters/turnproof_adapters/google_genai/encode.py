"""Conversations as the bytes of the Gemini API; `_encoded_messages` keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .. import _encoded_messages
from .._encoded_messages import encode
from .arrange import Arrangement
from .convert import WirePart
from .rows import row
from .target import Target


class BytesCodec:
    """Parts and contents as JSON fragments."""

    def part(self, part: WirePart) -> bytes:
        """One part."""
        return encode(part)

    def content(self, role: str, parts: Sequence[bytes]) -> bytes:
        """One content of finished parts."""
        return b'{"role":"%b","parts":[%b]}' % (role.encode(), b",".join(parts))


class Encoder(_encoded_messages.Encoder[Arrangement[bytes]]):
    """Contents as bytes for one model."""

    def __init__(self, to: Target) -> None:
        codec = BytesCodec()
        super().__init__(partial(Arrangement[bytes], codec, to), partial(row, codec=codec, to=to))
