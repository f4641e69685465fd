"""Ids and seals by where they came from, so that two runs can be compared whatever their ids are."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from typing import Final

import msgspec

from ...messages import JSON, FunctionCall, Part
from .call import ProviderCall

_TO_URL = str.maketrans("+/", "-_")
_FROM_URL = str.maketrans("-_", "+/")


_LONG: Final = 65_536
"""Bytes of JSON from which on a value is copied member by member, so that its long texts are not."""

_BEHIND_STRINGS: Final = (",", ":", "]", "}")
"""What follows the end of a string in JSON."""


class Aliases:
    """Stand-ins for strings that another run has otherwise: ids of calls, signatures, encrypted content."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._in_text: _AliasesInText | None = None

    def __call__(self, name: str) -> str:
        """The alias of an id; `id-1` for the first one that has none yet."""
        return self._known.setdefault(name, f"id-{len(self._known) + 1}")

    def add(self, name: str, alias: str) -> None:
        """Let an alias stand for a string that has none yet. An empty one is nobody's id: it stands in many places."""
        if name:
            self._known.setdefault(name, alias)

    def within(self, value: JSON) -> JSON:
        """A copy of a JSON value in which every string that has an alias is replaced by it; keys stay as they are."""
        if isinstance(value, str):
            return self._known.get(value, value)
        try:
            text = msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError):  # half of a surrogate pair, for example
            return _replaced(value, self._known)
        if self._in_text is None or self._in_text.count != len(self._known):
            self._in_text = _AliasesInText(self._known)
        if len(text) > _LONG or not self._in_text.is_exact:
            return _replaced(value, self._known)
        return msgspec.json.decode(self._in_text.replaced(text))


def _replaced(value: JSON, known: dict[str, str]) -> JSON:
    if isinstance(value, str):
        return known.get(value, value)
    if isinstance(value, dict):
        return {key: _replaced(item, known) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item, known) for item in value]
    return value


class _AliasesInText:
    """The same in JSON that is written without spaces, which takes a tenth of the time.

    A quote inside of a string has a backslash before it, and behind a string that ends comes no text. So what looks
    like a whole string is one, unless a name begins as what follows a string. Then this is not `is_exact`, nor where an
    alias is the name of something else.
    """

    def __init__(self, known: dict[str, str]) -> None:
        self.count = len(known)
        self._aliases: list[tuple[bytes, bytes]] = []
        self.is_exact = not any(not name or name.startswith(_BEHIND_STRINGS) for name in known)
        self.is_exact = self.is_exact and known.keys().isdisjoint(known.values())
        try:
            self._aliases = [(msgspec.json.encode(name), msgspec.json.encode(alias)) for name, alias in known.items()]
        except UnicodeEncodeError:
            self.is_exact = False

    def replaced(self, text: bytes) -> bytes:
        """The JSON with aliases for names, except in keys."""
        for name, alias in self._aliases:
            if name in text:
                first, *others = text.split(name)
                pieces = [first]
                for before, after in zip([first, *others], others, strict=False):
                    is_whole = not before.endswith(b"\\") and not after.startswith(b":")
                    pieces += (alias if is_whole else name, after)
                text = b"".join(pieces)
        return text


def aliases_of(calls: Iterable[ProviderCall]) -> Aliases:
    """The aliases of a run: `call-2.0.1` is the second call of the answer to round 0 of turn 2.

    An id that the wire never carried, because the adapter made it up, is `made-2.0.1` instead. What signs or encrypts a
    part has an alias too, in base64, which some dialects insist on.
    """
    aliases = Aliases()
    for call in calls:
        for exchange in call.generated:
            _add(aliases, "call", call, exchange.answer.parts if exchange.answer is not None else ())
        _add(aliases, "made", call, call.response.parts if call.response is not None else ())
        _add(aliases, "made", call, call.function_calls)
    return aliases


def _add(aliases: Aliases, kind: str, call: ProviderCall, parts: Iterable[Part]) -> None:
    where = f"{call.began.turn}.{call.began.round}"
    number = sealed = 0
    for part in parts:
        if isinstance(part, FunctionCall):
            aliases.add(part.id, f"{kind}-{where}.{number}")
            number += 1
        if part.provider_data is not None:
            for seal in part.provider_data.data.values():
                if isinstance(seal, str) and seal:
                    alias = b64encode(f"{kind}-seal-{where}.{sealed}".encode()).decode()
                    for spelling in _spellings(seal):
                        aliases.add(spelling, alias)
                    sealed += 1


def _spellings(seal: str) -> set[str]:
    """The same bytes in both alphabets of base64, with padding and without: clients write what they have decoded."""
    bare = seal.rstrip("=")
    padded = bare + "=" * (-len(bare) % 4)
    both = {seal, padded, bare}
    return both | {one.translate(_TO_URL) for one in both} | {one.translate(_FROM_URL) for one in both}
