"""Where in a request's body a thing stands that the dialect read from it, for any dialect.

A dialect reads a body into neutral messages and says nothing of where each came from. So it is asked: a value of the
body is changed, the body is read again, and what reads differently came from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from ...dialects.base import Call
from ...messages import JSON, thaw
from ..finding import pointer

Path: TypeAlias = tuple[str | int, ...]

_MARK = "\u241f"
_MOST = 1500
"""Values of one body that are tried; those that look like what is wanted come first."""

_ENOUGH = 8
"""Values under one thing that are looked for: where these stand, the rest of it stands, too."""


class Provenance:
    """The origins of what was read from one body. `read` reads a changed body as the dialect does; None if it cannot.

    Nothing is tried before it is asked for, and nothing is tried twice.
    """

    def __init__(self, body: JSON, read: Callable[[JSON], Call | None]) -> None:
        self._body = thaw(body)
        self._read = read
        call = read(body)
        self._neutral = {} if call is None else dict(leaves(_neutral(call)))
        self._effects: dict[Path, frozenset[Path]] = {}
        self._places = dict(leaves(self._body))

    def pointer_to(self, *path: str | int) -> str:
        """A JSON Pointer into the body for a path in the neutral reading: `"messages", 3, "parts", 1, "result"`.

        It points to what holds all of the thing, or, where the thing itself cannot be found, to what holds what stands
        around it; the empty string is the whole body.
        """
        for length in range(len(path), 0, -1):
            if (found := self._holder(path[:length])) is not None:
                found = self._item(path[:length], found)
                return pointer(*(self._unspoken(path, found) or found))
        return ""

    def _item(self, path: Path, holder: Path) -> Path:
        """The whole item of the body's list that `holder` stands in, for one item of a list in the reading: a block,
        not its text. Where the body has no list for such items, or neighbours share one of its items, `holder` it is.
        """
        if not path or not isinstance(path[-1], int) or (len(path) == 2 and path[0] == "messages"):
            return holder
        numbers = [n for n, token in enumerate(holder) if isinstance(token, int)]
        if len(numbers) < sum(isinstance(token, int) for token in path):
            return holder
        item = holder[: numbers[-1] + 1]
        neighbours = ((*path[:-1], path[-1] + step) for step in (-1, 1))
        shared = any((other := self._holder(one)) and other[: len(item)] == item for one in neighbours)
        return holder if shared else item

    def _holder(self, path: Path) -> Path | None:
        """The place that holds what reads as this path and all below it; of a list what holds its items."""
        if len(path) == 2 and path[0] == "messages":
            path = (*path, "parts")
        leaves = [leaf for leaf in self._neutral if leaf[: len(path)] == path]
        items = {leaf[len(path)] for leaf in leaves if len(leaf) > len(path)}
        if items and all(isinstance(item, int) for item in items):
            first, last = (self._holder((*path, item)) for item in (min(items), max(items)))
            if first and last and first != last:
                return common([first, last])
            return None if first is None else _list_of(first, path)
        telling = [leaf for leaf in leaves if not self._comes_from_elsewhere(leaf)] or leaves
        found = [(leaf, place) for leaf in telling[:_ENOUGH] if (place := self._origin(leaf)) is not None]
        # What is only worked out from the body, as an id by position, says less than what stands there.
        there = [place for leaf, place in found if is_same_value(self._places[place], self._neutral[leaf])]
        return common(there or [place for _, place in found]) if found else None

    def _comes_from_elsewhere(self, leaf: Path) -> bool:
        """Whether this says less of a place than what stands beside it: another role makes another conversation, a
        result may take its tool's name from the call, and what signs a part names the model of the whole request."""
        if leaf[-1] == "role" or leaf[-2:] in (("provider_data", "dialect"), ("provider_data", "model")):
            return True
        return leaf[-1] == "name" and (*leaf[:-1], "call_id") in self._neutral

    def _unspoken(self, path: Path, holder: Path) -> Path | None:
        """The place below `holder` of what reads as its default, and so as nothing; None where there is none."""
        if any(leaf[: len(path)] == path for leaf in self._neutral):
            return None
        inside = [place for place in self._places if place[: len(holder)] == holder]
        return next((place for place in inside[:_MOST] if path in self._effect(place)), None)

    def _origin(self, leaf: Path) -> Path | None:
        """The place whose value makes this leaf of the reading what it is: of all that do, the one that does least
        beside it, since a role or an id changes how much else is read."""
        best: tuple[int, Path] | None = None
        for place in self._likely(leaf):
            effect = self._effect(place)
            if leaf in effect and (best is None or len(effect) < best[0]):
                best = len(effect), place
                if best[0] == 1:
                    break
        return None if best is None else best[1]

    def _likely(self, leaf: Path) -> list[Path]:
        """The places worth a try: where the same value stands, or one that holds it; any other, where there is none."""
        neutral_value = self._neutral[leaf]
        ranked: list[list[Path]] = [[], [], []]
        for place, value in self._places.items():
            same = type(value) is type(neutral_value) and value == neutral_value
            ranked[0 if same else 1 if is_same_value(value, neutral_value) else 2].append(place)
        first, second, others = ranked
        if any(leaf in self._effect(place) for place in (*first, *second)[:_MOST]):
            return [*first, *second][:_MOST]
        return others[:_MOST]

    def _effect(self, place: Path) -> frozenset[Path]:
        """The leaves of the reading that read otherwise, once the value in this place is another one."""
        if place not in self._effects:
            value = self._places[place]
            self._effects[place] = self._tried(place, value)
        return self._effects[place]

    def _tried(self, place: Path, value: Any) -> frozenset[Path]:
        for other in _others(value):
            _set_value(self._body, place, other)
            try:
                call = self._read(self._body)
            finally:
                _set_value(self._body, place, value)
            if call is None:
                continue
            now = dict(leaves(_neutral(call)))
            changed = {leaf for leaf, was in self._neutral.items() if now.get(leaf, _MARK) != was}
            changed |= now.keys() - self._neutral.keys()
            if changed:
                return frozenset(changed)
        return frozenset()


def neutral_path(text: str) -> Path:
    """The path of a place that a dialect names as `$.messages[1].parts[0].id`."""
    found: list[str | int] = []
    for token in text.removeprefix("$").replace("[", ".").replace("]", "").split("."):
        if token:
            found.append(int(token) if token.isdecimal() else token)
    return tuple(found)


def pointer_of(text: str, document: Any) -> str:
    """The JSON Pointer for a JSONPath of plain steps (`$.messages[1].content`), as far as the document has them."""
    found: list[str | int] = []
    for step in neutral_path(text):
        known = isinstance(document, dict) and step in document
        known = known or (isinstance(document, list) and isinstance(step, int) and step < len(document))
        if not known:
            break
        document = document[step]
        found.append(step)
    return pointer(*found)


def _neutral(call: Call) -> JSON:
    return msgspec.to_builtins(
        {
            "messages": [{"role": message.role, "parts": message.parts} for message in call.messages],
            "system": call.system,
            "tools": call.tools,
            "settings": dict(call.settings),
            "model": call.model,
        },
        enc_hook=repr,
    )


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in a document that is no object and no list, with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list | tuple):
        for n, item in enumerate(value):
            yield from leaves(item, (*path, n))
    else:
        yield path, value


def _others(value: Any) -> Iterator[Any]:
    """Other values of the same kind. Text that is JSON stays some, and so does base64."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str():
            if value[:1] in ("{", "["):
                try:
                    data = json.loads(value)
                except ValueError:
                    data = None
                if isinstance(data, dict):
                    yield json.dumps({**dict.fromkeys(data, _MARK), _MARK: 1})
                elif isinstance(data, list):
                    yield json.dumps([*data, _MARK])
            yield value + _MARK
            yield _MARK
            if value:
                yield ("B" if value[0] == "A" else "A") + value[1:]


def _set_value(body: Any, place: Path, value: Any) -> None:
    for token in place[:-1]:
        body = body[token]
    if place:
        body[place[-1]] = value


def is_same_value(value: Any, neutral_value: Any) -> bool:
    """Whether a value of the body looks like one of the reading: the same, or text with it, or a piece of it."""
    if isinstance(value, str) and isinstance(neutral_value, str):
        return value == neutral_value or (neutral_value != "" and (neutral_value in value or value in neutral_value))
    return type(value) is type(neutral_value) and bool(value == neutral_value)


def _list_of(item: Path, path: Path) -> Path:
    """The list read as `path` whose only item stands in this place, or below. What stands alone, where others have a
    list, is its own."""
    numbers = [n for n, token in enumerate(item) if isinstance(token, int)]
    if not numbers:
        return item
    if path == ("messages",):
        return item[: numbers[0]]
    if len(numbers) > 1 or len(path) == 1 or isinstance(item[-1], int):
        return item[: numbers[-1]]
    # The only number is that of a message, which has no list for what it says.
    return item[: numbers[0] + 1]


def common(places: Sequence[Path]) -> Path:
    """The path to what holds all of these places: the place itself, where there is one."""
    first = places[0]
    for length in range(len(first), -1, -1):
        if all(place[:length] == first[:length] for place in places):
            return first[:length]
    return ()
