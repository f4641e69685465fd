"""Signatures of thinking: issued opaque, known again byte for byte.

What the service has issued is in `World.issued`: signature (or the data of a redacted block) to the digest of the
text it signs and the model that issued it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import blake2b

from ...messages import Part, Thought
from ..base import World
from .rules import NAME

_SIGNED_BYTES = 192


def digest(text: str) -> str:
    """The digest under which a text is signed."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def issue(text: str, model: str, seed: str, world: World) -> str:
    """A fresh signature of a text, remembered in the world. Equal arguments give the same signature."""
    stream = b"".join(
        blake2b(f"{seed}\0{model}\0{n}\0{text}".encode(), digest_size=64).digest() for n in range(_SIGNED_BYTES // 64)
    )
    # A protobuf-like head, as on the real ones: nothing may be read out of it, but it looks the same in a log.
    signature = b64encode(b"\x12\xbf\x01" + stream[: _SIGNED_BYTES - 3]).decode()
    world.issued[signature] = (digest(text), model)
    return signature


def remember_signatures(parts: Iterable[Part], model: str, world: World, dialect: str = NAME) -> None:
    """Remember the signatures of an answer that was issued elsewhere (a recording, a proxied service).

    `model` is who was asked; an answer that names its model is believed. Only the dialect's own signatures count.
    """
    for part in parts:
        data = part.provider_data
        if not isinstance(part, Thought) or data is None or data.dialect != dialect:
            continue
        token = data.data.get("signature") or data.data.get("redacted")
        if token:
            world.issued[token] = (digest(part.text), data.model or model)
