"""Where in a run a value stands that it says and another run of the same conversation does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from ...messages import JSON
from ..finding import Place, Side, pointer
from .call import ProviderCall
from .place_document import document_of
from .provenance import common, is_same_value, leaves
from .run import View
from .turn import TurnView


def place_of_difference(view: View, other: View, spot: str, ours: object, theirs: object) -> Place:
    """The place of one difference under a key that aspects have: that of a call (`2/1#0`), or of a turn (`2`).

    It points to what says `ours`, in the first document of the call or turn in which it stands and that of the other
    run does not say it in the same place. Where no document tells, it is the call or the turn as a whole.
    """
    whole_document, *candidates = _candidates(view, spot)
    other_documents = [document_of(other, place) for place in _candidates(other, spot)[1:]]
    own_values = _own(ours, theirs)
    for number, place in enumerate(candidates):
        found = _leaf_paths(
            document_of(view, place), other_documents[number] if number < len(other_documents) else None, own_values
        )
        if found:
            return replace(place, pointer=pointer(*common(found)))
    return whole_document


def _candidates(view: View, spot: str) -> list[Place]:
    """The whole that a key is about, and then the documents in which a value of it may stand."""
    for call in view.calls:
        if call.place == spot:
            return [call.at_request(), *_of_call(call)]
    for turn in view.turns:
        if str(turn.index) == spot:
            return [turn.at(Side.HISTORY), *_of_turn(turn)]
    return [view.at(Side.PROCESS)]


def _of_call(call: ProviderCall) -> Iterator[Place]:
    yield from (exchange.at() for exchange in call.exchanges)
    yield from (call.at(Side.RESPONSE), call.at(Side.CALLBACK), call.at(Side.ERROR))
    yield from (exchange.at(Side.STREAM) for exchange in call.exchanges)


def _of_turn(turn: TurnView) -> Iterator[Place]:
    yield turn.at(Side.HISTORY)
    yield turn.at(Side.PROCESS)
    yield turn.at(Side.ERROR)


def _own(ours: object, theirs: object) -> list[Any]:
    """The values in a difference that only this side has."""
    their_values = [value for _, value in leaves(theirs)]
    return [value for _, value in leaves(ours) if value not in their_values and value not in (None, "")]


def _leaf_paths(document: JSON, other: JSON, own_values: Sequence[Any]) -> list[tuple[str | int, ...]]:
    """The paths of the leaves that say one of the values, save for those of which the other document says the same."""
    if document is None:
        return []
    same = dict(leaves(other))
    return [
        path
        for path, value in leaves(document)
        if same.get(path) != value and any(_contains_value(value, one) for one in own_values)
    ]


def _contains_value(value: Any, own_value: Any) -> bool:
    """Whether a leaf says all of a value: it is it, or it is text with it. A short text stands by itself."""
    if isinstance(value, str) and isinstance(own_value, str) and len(own_value) < 4:
        return value == own_value
    return is_same_value(value, own_value) and (not isinstance(value, str) or len(value) >= len(own_value))
