"""Thought signatures: issued opaque on calls and texts, known again by their bytes.

What the service has issued is in `World.issued`: the standard base64 of a signature to the digest of the part that
it came on and the model that issued it. Clients send another alphabet back, so whoever looks a signature up asks
`parts.signature_of` first, which gives this form.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64decode
from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from ...messages import FunctionCall, Part
from ..base import World
from ..base64_text import decode_base64
from .parts import signature_of

_SENTINELS = (b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go")
_STAND_INS = frozenset(form for text in _SENTINELS for form in (text, urlsafe_b64decode(text)))
"""Plain text is base64 too; what it decodes to is as good as the text itself."""

_SIGNED_BYTES = 192
_canonical = msgspec.json.Encoder(order="sorted").encode


def stands_in(signature: str | None) -> bool:
    """Whether this is one of the two values that the service takes in place of a signature it did not issue."""
    return signature is not None and decode_base64(signature) in _STAND_INS


def digest(part: Part) -> str:
    """What a signature on this part signs: the name and arguments of a call, whatever their order and the call's id.

    On a text it signs nothing but itself: the text may have come in pieces, with the signature on an empty last one.
    """
    signed = [part.name, part.args] if isinstance(part, FunctionCall) else None
    return blake2b(_canonical(signed), digest_size=16).hexdigest()


def issue(part: Part, thinking: str, model: str, seed: str, world: World) -> str:
    """A fresh signature for a part, with the thinking that led to it sealed inside; remembered in the world.

    Equal arguments give the same signature. It holds characters that the two base64 alphabets write differently.
    """
    named = f"{seed}\0{model}\0{thinking}\0{digest(part)}"
    random_bytes = b"".join(
        blake2b(f"{named}\0{n}".encode(), digest_size=64).digest() for n in range(_SIGNED_BYTES // 64)
    )
    # A protobuf-like head, as on the real ones; 0xFB 0xFF is "+/" in one alphabet and "-_" in the other.
    signature = b64encode(b"\x12\xbf\x01\xfb\xff\xfe" + random_bytes[: _SIGNED_BYTES - 6]).decode()
    world.issued[signature] = (digest(part), model)
    return signature


def remember_signatures(parts: Iterable[Part], model: str, world: World) -> None:
    """Remember the signatures of an answer that was issued elsewhere (a recording, a proxied service).

    `model` is who was asked; an answer that names its model is believed.
    """
    for part in parts:
        signature = signature_of(part)
        if signature is not None and part.provider_data is not None:
            world.issued[signature] = (digest(part), part.provider_data.model or model)
