"""Ids and seals by where they came from, so that two runs can be compared whatever their ids are."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable

from ...messages import JSON, FunctionCall, Part
from .call import ProviderCall

_TO_URL = str.maketrans("+/", "-_")
_FROM_URL = str.maketrans("-_", "+/")


class Aliases:
    """Stand-ins for strings that another run has otherwise: ids of calls, signatures, encrypted content."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """The alias of an id; `id-1` for the first one that has none yet."""
        return self._known.setdefault(name, f"id-{len(self._known) + 1}")

    def add(self, name: str, alias: str) -> None:
        """Let an alias stand for a string that has none yet. An empty one is nobody's id: it stands in many places."""
        if name:
            self._known.setdefault(name, alias)

    def within(self, value: JSON) -> JSON:
        """A copy of a JSON value in which every string that has an alias is replaced by it; keys stay as they are."""
        known = self._known

        def replaced(value: JSON) -> JSON:
            if isinstance(value, str):
                return known.get(value, value)
            if isinstance(value, dict):
                # Most members are strings, and a call for each would take longer than all else here.
                return {
                    key: known.get(item, item) if type(item) is str else replaced(item) for key, item in value.items()
                }
            if isinstance(value, (list, tuple)):
                return [replaced(item) for item in value]
            return value

        return replaced(value)


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
