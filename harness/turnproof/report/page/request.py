"""The request that a finding points into, as both paths sent it, with the places of findings and rules marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from ...dialects import dialect as dialect_named
from ...errors import TurnproofError
from ...judge.finding import Place, Side, plain_value
from ...judge.view import ProviderCall, View
from ...judge.view.diff import ABSENT
from ...judge.view.provenance import pointer_of
from ...provider import Path
from ...run.transcript import Transcript
from ..limits import REQUEST_CONTEXT_LINES, REQUEST_LINES, REQUEST_LINES_READ, REQUEST_VALUE_CHARACTERS
from .json_lines import JsonLine, json_lines, one_line_of


@dataclass(frozen=True, slots=True)
class WireLoss:
    """One place where the wire is not what the session holds. `violation`: a loss or an invention."""

    what: str
    path: str
    held: str
    sent: str
    violation: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One line of both bodies; None on a side that lacks it. `kind` is `same`, `differs` or `gap` (of `left` lines).

    `here` names the sides on which a finding, or a rule of the API that is broken, points to this line.
    """

    kind: str
    left: str | None
    right: str | None
    here: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wire:
    """What was sent in one call, on the path that fails (`path`) and, where there is one, on the other.

    `lines` are empty where there is no other one: what was sent stands with the finding.
    """

    path: Path
    where: str
    lost: tuple[WireLoss, ...]
    refused: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def same(self) -> bool:
        """Whether both paths sent the same body, and nothing in it is marked."""
        return not any(line.kind != "same" or line.here for line in self.lines)


def wire_of(views: Mapping[Path, View], failing: Path, places: Sequence[Place]) -> Wire | None:
    """The request that the first of these places of the failing path lies in; None where none of them lies in one."""
    try:
        first = next((place for place in places if place.side is Side.REQUEST and place.call >= 0), None)
        if first is None or failing not in views:
            return None
        calls = {path: view.calls for path, view in views.items()}
        call = next((call for call in calls[failing] if call.index == first.call), None)
        if call is None or call.last is None:
            return None
        other: Path = "legacy" if failing == "stateless" else "stateless"
        counterpart = next((one for one in calls.get(other, ()) if one.place == call.place), None)
        return _wire(views[failing].transcript, failing, call, counterpart, places)
    except TurnproofError:
        # Evidence that a dialect of today cannot read is told as a conversation all the same.
        return None


def _wire(
    transcript: Transcript,
    failing: Path,
    call: ProviderCall,
    counterpart: ProviderCall | None,
    places: Sequence[Place],
) -> Wire:
    assert call.last is not None
    refusals = call.last.refusals
    pointers = {place.pointer for place in places if place.side is Side.REQUEST and place.exchange == call.last.number}
    pointers |= {pointer_of(str(one.get("path", "$")), call.last.body) for one in refusals}
    lines: tuple[Line, ...] = ()
    if counterpart is not None and counterpart.last is not None:
        own_tail, theirs = _tail(call), _tail(counterpart)
        pair = (own_tail, theirs) if failing == "stateless" else (theirs, own_tail)
        lines = tuple(_fold_lines(list(_lines(*pair, failing, pointers - {"", None}))))
    return Wire(
        path=failing,
        where=call.where,
        lost=tuple(_wire_losses(transcript, call)),
        refused=tuple(
            f"{one.get('rule', '?')} at {one.get('path', '$')}: {one.get('message', '')}" for one in refusals
        ),
        lines=lines,
    )


def _wire_losses(transcript: Transcript, call: ProviderCall) -> Iterator[WireLoss]:
    if call.sent is None:
        return
    wire, began = dialect_named(transcript.dialect), call.began
    for one in wire.differences(began.messages, began.system, began.tools, call.sent, transcript.model):
        yield WireLoss(one.what, one.path, _value(one.held), _value(one.sent), one.violation)


def _value(value: object) -> str:
    return "nothing" if value is ABSENT else one_line_of(plain_value(value), REQUEST_VALUE_CHARACTERS)


def _tail(call: ProviderCall) -> list[JsonLine]:
    lines = list(islice(json_lines(call.body), REQUEST_LINES_READ))
    if len(lines) <= REQUEST_LINES:
        return lines
    return [JsonLine(None, f"… {len(lines) - REQUEST_LINES} lines left out …"), *lines[-REQUEST_LINES:]]


def _lines(
    left: Sequence[JsonLine], right: Sequence[JsonLine], failing: Path, pointers: set[str | None]
) -> Iterator[Line]:
    seen_pointers: set[str | None] = set()  # a value ends with a line of its pointer, too

    def line(kind: str, one: JsonLine | None, other: JsonLine | None) -> Line:
        own_line = one if failing == "stateless" else other
        here = own_line is not None and own_line.pointer in pointers and own_line.pointer not in seen_pointers
        if here and own_line is not None:
            seen_pointers.add(own_line.pointer)
        return Line(kind, one.text if one else None, other.text if other else None, (failing,) if here else ())

    matcher = SequenceMatcher(None, [one.text for one in left], [one.text for one in right], autojunk=False)
    for tag, start, stop, begin, end in matcher.get_opcodes():
        if tag == "equal":
            yield from (line("same", *pair) for pair in zip(left[start:stop], right[begin:end], strict=True))
            continue
        paired = min(stop - start, end - begin)
        yield from (line("differs", left[start + n], right[begin + n]) for n in range(paired))
        yield from (line("differs", one, None) for one in left[start + paired : stop])
        yield from (line("differs", None, one) for one in right[begin + paired : end])


def _fold_lines(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines with those left out that are far from anything that stands out."""
    near = [False] * len(lines)
    for number, line in enumerate(lines):
        if line.kind == "differs" or line.here:
            for neighbour in range(
                max(0, number - REQUEST_CONTEXT_LINES), min(len(lines), number + REQUEST_CONTEXT_LINES + 1)
            ):
                near[neighbour] = True
    if not any(near):
        yield from lines
        return
    left_out = 0
    for number, line in enumerate(lines):
        if near[number]:
            if left_out:
                yield Line("gap", str(left_out), None)
            left_out = 0
            yield line
        else:
            left_out += 1
    if left_out:
        yield Line("gap", str(left_out), None)
