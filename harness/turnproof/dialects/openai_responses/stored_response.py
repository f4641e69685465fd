"""A response that the service holds, and the conversation that it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..base import WireEvent
from .items import kind_of
from .surfaces import Item

COMPACTION = "compaction"
"""The type of the item that stands for what the service has made shorter."""


@dataclass(slots=True)
class StoredResponse:
    """A response that can be asked for: `current` is what it is now, `input_items` the items of its own request.

    `previous` is the one that it went on from, `earlier_items` what a conversation held in front of it instead. One
    that is not `stored` was made in the background, and can be asked for and not gone on from. `final` is what a
    response in the background becomes, `events` are those of its stream, `since` is when it was made.
    """

    current: Item
    input_items: tuple[Item, ...]
    since: float
    previous: StoredResponse | None = None
    earlier_items: tuple[Item, ...] = ()
    stored: bool = True
    final: Item | None = None
    events: tuple[WireEvent, ...] = ()

    @property
    def context(self) -> tuple[Item, ...]:
        """The whole conversation up to the last item of the response; of what an answer made shorter, the
        item that stands for it and what came after."""
        newest_first: list[StoredResponse] = []
        each: StoredResponse | None = self
        while each is not None:
            newest_first.append(each)
            each = each.previous
        found = list(newest_first[-1].earlier_items)
        for one in reversed(newest_first):
            output = list(complete_output(one.current))
            shortened = next((n for n, item in enumerate(output) if kind_of(item) == COMPACTION), None)
            if shortened is None:
                found += (*one.input_items, *output)
            else:
                found = output[shortened:]
        return tuple(found)


def output_of(response: Item) -> list[Item]:
    """The items that a response gives."""
    found = response.get("output")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def complete_output(response: Item) -> Iterable[Item]:
    """What a request goes on from: nobody was seen being asked for the output of a call that was not finished."""
    return (
        item for item in output_of(response) if kind_of(item) != "function_call" or item.get("status") != "incomplete"
    )
