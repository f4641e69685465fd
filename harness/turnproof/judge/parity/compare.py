"""Two runs of one scenario, compared: a pure function of their views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as with_changes
from typing import Literal

from msgspec.structs import replace

from ...dialects import api_of
from ...dialects.base import Call
from ...messages import JSON, Message, Part, Text, Thought
from ..view import View
from ..view.diff import ABSENT, steady
from .aspect_readings import Reader, Reading, Readings, call_place, paused_turn
from .consequences import is_consequence
from .difference_case import Case
from .difference_names import kind_of
from .model import ASPECTS, Aspect, Comparison, Found, Place, Side, value_or_unset


def compare_views(
    left: View,
    right: View,
    again: View | None = None,
    *,
    labels: tuple[str, str] | None = None,
) -> Comparison:
    """Where two runs of one scenario differ.

    `again` is a second run of the right side: where it differs from the first, a difference is noise. The two runs may
    be of one adapter's two paths, of two adapters, or of two days. Where their dialects differ, requests are compared
    in neutral form and what only one API has is left out. Runs that came to no end are not compared: `problem` says so.
    """
    one, other = labels or (_label(left, right), _label(right, left))
    blank = Comparison(
        scenario=left.key.scenario,
        mode=left.key.mode,
        left=Side(label=one, adapter=left.transcript.adapter, key=left.key, digest=left.digest),
        right=Side(label=other, adapter=right.transcript.adapter, key=right.key, digest=right.digest),
    )
    for view in (left, right, *([again] if again is not None else [])):
        if not view.finished:
            end = view.transcript.end
            return replace(blank, problem=f"{view.key} did not come to its end ({end.how}): {end.detail}")
    return _Comparing(left, right, again).onto(blank)


def compare_paths(views: Iterable[View]) -> tuple[Comparison, ...]:
    """Both paths of one adapter, wherever there is a run on each; a second legacy run, if there is one, tells noise."""
    runs = {view.key: view for view in views}
    return tuple(
        compare_views(view, runs[legacy], runs.get(replace(legacy, repeat=1)))
        for key, view in runs.items()
        if key.path == "stateless" and key.repeat == 0 and (legacy := replace(key, path="legacy")) in runs
    )


def _label(view: View, against: View) -> str:
    """What tells a side from the other: its path, or its adapter."""
    return view.key.path if view.key.path != against.key.path else view.transcript.adapter


class _Comparing:
    def __init__(self, left: View, right: View, again: View | None) -> None:
        self._neutral = left.dialect.name != right.dialect.name
        pauses = [turn for view in (left, right) if (turn := paused_turn(view)) is not None]
        self._until = min(pauses, default=None)
        self._left, self._right = self._read(left), self._read(right)
        self._again = self._read(again) if again is not None else None
        self._dialect = left.dialect
        self._model = left.transcript.model
        self._calls = [_places(view) for view in (left, right)]
        self._cancelled = min((turn.index for turn in left.turns if turn.cancelled), default=None)

    def _read(self, view: View) -> Mapping[Aspect, Readings]:
        return Reader(view, neutral=self._neutral, until=self._until).read()

    def onto(self, blank: Comparison) -> Comparison:
        """The comparison with everything found."""
        found: list[Found] = []
        noise: list[str] = []
        compared: dict[Aspect, int] = {}
        for aspect in ASPECTS:
            places = list(dict.fromkeys([*self._left[aspect], *self._right[aspect]]))
            compared[aspect] = len(places)
            for place in places:
                differ, unsteady = self._apart(aspect, place)
                noise += [f"{aspect} {place} {path}" for path in unsteady]
                found += self._named(aspect, place, differ)
        cut = "" if self._until is None else f"turn {self._until} was paused, which not every path can take up again"
        return replace(blank, differences=_merge_equal(found), noise=tuple(noise), compared=compared, cut=cut)

    def _apart(self, aspect: Aspect, place: Place) -> tuple[list[tuple[str, object, object]], list[str]]:
        """Where the sides differ here, and the paths at which the right one differs from a second run of itself."""
        left, right = _value(self._left[aspect].get(place)), _value(self._right[aspect].get(place))
        again = right if self._again is None else _value(self._again[aspect].get(place))
        return steady(left, right, again)

    def _named(self, aspect: Aspect, place: Place, differ: Sequence[tuple[str, object, object]]) -> Iterator[Found]:
        if not differ:
            return
        one, other = self._left[aspect].get(place), self._right[aspect].get(place)
        cancelled = self._cancelled is not None and place.turn >= self._cancelled
        same = aspect == "wire" and one is not None and other is not None and self._same_request(one, other)
        uncalled = place.round is not None and not all(replace(place, request=0) in calls for calls in self._calls)
        retried = self._same_count("requests", place.turn) and not self._same_count("calls", place.turn)
        blank = Case(
            aspect=aspect,
            place=place,
            path="$",
            left=ABSENT,
            right=ABSENT,
            one=one,
            other=other,
            same_request=same,
            cancelled=cancelled,
            uncalled=uncalled,
            retried=retried,
            other_places=differ,
            dialect=api_of(self._dialect.name),
            storage_fields=self._dialect.storage_fields,
        )
        for path, left, right in differ:
            case = with_changes(blank, path=path, left=left, right=right)
            if is_consequence(case):
                continue
            kind = kind_of(case)
            yield Found(
                aspect=aspect,
                name=kind.name,
                place=place,
                path=path,
                left=value_or_unset(left, ABSENT),
                right=value_or_unset(right, ABSENT),
                form=kind.form,
            )

    def _same_count(self, what: Literal["calls", "requests"], turn: int) -> bool:
        """Whether both sides made as many calls in a turn, or sent as many requests."""
        if what == "requests":
            one, other = (side["requests"].get(Place(turn=turn)) for side in (self._left, self._right))
            return bool(_value(one) == _value(other))
        counts = [sum(place.turn == turn for place in calls) for calls in self._calls]
        return counts[0] == counts[1]

    def _same_request(self, one: Reading, other: Reading) -> bool:
        """Whether each of the requests is a legal form of what the other says, as the dialect reads them.

        One direction alone would not do: a call may be sent without its result where there is none. Thoughts are left
        aside, and texts are joined: where that may differ, it is a difference of its own.
        """
        if self._neutral:
            return False
        as_sent = any(map(_carries_stored_messages, (one, other)))
        sent = [self._call(side, as_sent=as_sent) for side in (one, other)]
        if sent[0] is None or sent[1] is None:
            return False
        return self._says(sent[0], sent[1]) and self._says(sent[1], sent[0])

    def _call(self, side: Reading, *, as_sent: bool) -> Call | None:
        """The request in neutral form: with aliases for ids or, as it was sent, with what the service knows by them."""
        if side.exchange is None:
            return None
        call = side.exchange.call if as_sent else side.exchange.read(side.value["request"]["body"])
        return with_changes(call, messages=tuple(map(_in_essence, call.messages))) if call is not None else None

    def _says(self, held: Call, sent: Call) -> bool:
        system = "\n".join(part.text for part in held.system if isinstance(part, Text))
        return not self._dialect.differences(held.messages, system or None, held.tools, sent, self._model)


def _carries_stored_messages(side: Reading) -> bool:
    """Whether the service adds messages to the request that it looks up by an id; a new conversation has none yet."""
    call = side.exchange.call if side.exchange is not None else None
    return call is not None and (call.managed_messages > 0 or call.in_conversation)


def _in_essence(message: Message) -> Message:
    """A message without its thoughts, and with each text in one piece."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, Thought):
            continue
        last = parts[-1] if parts else None
        if isinstance(part, Text) and isinstance(last, Text) and not (part.provider_data or last.provider_data):
            parts[-1] = Text(last.text + part.text)
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))


def _places(view: View) -> frozenset[Place]:
    """Where a run made calls."""
    return frozenset(call_place(call) for call in view.calls)


def _value(reading: Reading | None) -> JSON:
    return ABSENT if reading is None else reading.value


def _merge_equal(found: list[Found]) -> tuple[Found, ...]:
    """The very same difference at several places is one: histories and requests carry on what was said."""
    merged: dict[str, Found] = {}
    for one in found:
        key = repr((one.aspect, one.name, one.path, one.left, one.right))
        if key in merged:
            first = merged[key]
            merged[key] = replace(first, also=(*first.also, one.place))
        else:
            merged[key] = one
    return tuple(merged.values())
