"""Canonical JSON: equal values, equal bytes. Keys are sorted, and there is no text it cannot write."""

from __future__ import annotations

from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")
_plain_encoder = msgspec.json.Encoder(order="sorted")


def canonical(value: object) -> bytes:
    """Structs and plain values as JSON. Raises TypeError for what is not data.

    Half of a surrogate pair, which a careless decoder leaves behind and UTF-8 has no form for, is written as the text
    of its escape (`\\ud83d`): an adapter that returns one must not be able to stop its own evidence.
    """
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        # JSON that is written already needs no escapes: it went through here.
        return _encoder.encode(_escaped(msgspec.to_builtins(value, builtin_types=(msgspec.Raw,))))


def in_order(value: object) -> bytes:
    """What `canonical_plain` writes, but with the keys of objects in the order that they have."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_escaped(msgspec.to_builtins(value, builtin_types=(msgspec.Raw,))))


def canonical_plain(value: object) -> bytes:
    """What `canonical` writes once structs are plain objects, whose keys are sorted; the objects need not be made."""
    try:
        return _plain_encoder.encode(value)
    except UnicodeEncodeError:
        return canonical(msgspec.to_builtins(value))


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_escaped(item) for item in value]
    return value
