"""Messages of an API whose conversation is a list of typed items (steps), each of which says who speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Protocol

from ..messages import FunctionCall, Message, Part, Role


class _PartsOf(Protocol):
    def __call__(self, item: Mapping[str, Any], /, *, names: Mapping[str, str]) -> Iterable[Part]: ...


def item_messages(
    placed: Iterable[tuple[int, Mapping[str, Any]]],
    role_of: Callable[[Mapping[str, Any]], Role],
    parts_of: _PartsOf,
    *,
    apart: tuple[Role, ...],
    path: str = "input",
) -> Iterator[Message]:
    """The items with their places as messages, each named after the place of its first item (`input[3]`).

    Neighbours of one role make one message, unless each item of that role is to stay `apart`. `parts_of` gets the
    names of the calls so far, by id.
    """

    def shared(place: tuple[int, Mapping[str, Any]]) -> tuple[Role, int]:
        role = role_of(place[1])
        return role, place[0] if role in apart else -1

    names: dict[str, str] = {}
    for (role, _), run in groupby(placed, key=shared):
        neighbours = list(run)
        parts = [part for _, item in neighbours for part in parts_of(item, names=names)]
        names |= {part.id: part.name for part in parts if isinstance(part, FunctionCall)}
        yield Message(role, tuple(parts), f"{path}[{neighbours[0][0]}]")
