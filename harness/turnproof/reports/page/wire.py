"""The request in which a fault was seen, beside what it should have been, with the faulty places marked.

Two things are set against each other: what the session holds against what the wire carried, in neutral form and by the
dialect's own judgement, and the bodies that both paths sent at this place of the conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import msgspec

from ...dialects import dialect as dialect_named
from ...errors import TurnproofError
from ...provider import Path
from ...scenarios import Scenario
from ...transcript import Transcript
from ...view import ProviderCall, View
from ...view.diff import show
from .json_lines import JsonLine, json_lines
from .place import Place

_CONTEXT = 3
_MOST_LINES = 1500
"""Of a body; of a longer one the end is shown, where the new messages are."""

_VALUE = 400

_PART = re.compile(r"\$\.messages\[(\d+)\]\.parts\[(\d+)\]")
_TELLING = ("call_id", "id", "text")
_SHORT = 3


@dataclass(frozen=True, slots=True)
class Lost:
    """One place where the wire is not what the session holds. `violation`: a loss or an invention."""

    what: str
    path: str
    held: str
    sent: str
    violation: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One line of both bodies; None on a side that lacks it. `kind` is `same`, `differs` or `gap` (of `left` lines).

    `here` names the sides on which a rule of the API is broken in this line, or to which the verdict points.
    """

    kind: str
    left: str | None
    right: str | None
    here: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wire:
    """What was sent in one call, on the path that fails (`path`) and, where there is one, on the other."""

    path: Path
    where: str
    lost: tuple[Lost, ...]
    refused: tuple[str, ...]
    lines: tuple[Line, ...]
    both: bool

    @property
    def same(self) -> bool:
        """Whether both paths sent the same body, and nothing in it is marked."""
        return self.both and not any(line.kind == "differs" or line.here for line in self.lines)


def wire_of(transcripts: Mapping[Path, Transcript], failing: Path, place: Place) -> Wire | None:
    """The request of the call that the verdict names; None where it names none, or nothing readable was sent."""
    try:
        calls = {path: _view(transcript).calls for path, transcript in transcripts.items()}
        call = next((call for call in calls.get(failing, ()) if call.index == place.call), None)
        if call is None or call.last is None:
            return None
        other: Path = "legacy" if failing == "stateless" else "stateless"
        counterpart = next((one for one in calls.get(other, ()) if one.place == call.place), None)
        return _wire(transcripts[failing], failing, call, counterpart, place)
    except TurnproofError:
        # Evidence that a dialect of today cannot read is told as a conversation all the same.
        return None


def _view(transcript: Transcript) -> View:
    return View(transcript, dialect_named(transcript.dialect), Scenario(transcript.key.scenario, "", ()))


def _wire(
    transcript: Transcript, failing: Path, call: ProviderCall, counterpart: ProviderCall | None, place: Place
) -> Wire:
    refusals = call.last.refusals if call.last is not None else ()
    mine = _tail(json_lines(call.body))
    theirs = _tail(json_lines(counterpart.body)) if counterpart is not None and counterpart.last is not None else None
    lost = tuple(_lost(transcript, call))
    # What was lost is told by its place in the conversation, where the body has another one.
    told = set(place.paths) - {one.path for one in lost}
    broken = {str(finding.get("path", "$")) for finding in refusals} | told
    here = {failing: (broken | set(_on_the_wire(call, lost, mine))) - {"$"}}
    pair = (mine, theirs or []) if failing == "stateless" else (theirs or [], mine)
    return Wire(
        path=failing,
        where=call.where,
        lost=lost,
        refused=tuple(
            f"{one.get('rule', '?')} at {one.get('path', '$')}: {one.get('message', '')}" for one in refusals
        ),
        lines=tuple(_folded(list(_lines(*pair, here, alone=theirs is None)))),
        both=theirs is not None,
    )


def _lost(transcript: Transcript, call: ProviderCall) -> Iterator[Lost]:
    if call.sent is None:
        return
    wire, began = dialect_named(transcript.dialect), call.began
    for one in wire.differences(began.messages, began.system, began.tools, call.sent, transcript.model):
        yield Lost(one.what, one.path, show(one.held, _VALUE), show(one.sent, _VALUE), one.violation)


def _on_the_wire(call: ProviderCall, lost: Sequence[Lost], lines: Sequence[JsonLine]) -> Iterator[str]:
    """Where in the body the parts stand that something was lost of: known by the ids and texts they have."""
    held = {"messages": msgspec.to_builtins(call.began.messages)}
    for one in lost:
        part = _PART.match(one.path)
        message = held["messages"][int(part[1])] if part and int(part[1]) < len(held["messages"]) else {}
        parts = message.get("parts", [])
        if part is None or int(part[2]) >= len(parts):
            continue
        told = [parts[int(part[2])].get(name) for name in _TELLING]
        words = [json.dumps(word, ensure_ascii=False) for word in told if isinstance(word, str) and len(word) > _SHORT]
        found = [line.path for line in lines if any(word in line.text for word in words)]
        # The id of a call stands in the call first, and in its result after that.
        yield from found[-1:] if "call_id" in parts[int(part[2])] else found[:1]


def _tail(lines: list[JsonLine]) -> list[JsonLine]:
    if len(lines) <= _MOST_LINES:
        return lines
    return [JsonLine("", f"… {len(lines) - _MOST_LINES} lines left out …"), *lines[-_MOST_LINES:]]


def _lines(
    left: Sequence[JsonLine], right: Sequence[JsonLine], here: Mapping[Path, set[str]], *, alone: bool
) -> Iterator[Line]:
    def line(kind: str, one: JsonLine | None, other: JsonLine | None) -> Line:
        sides: tuple[tuple[Path, JsonLine | None], ...] = (("stateless", one), ("legacy", other))
        marks = tuple(side for side, text in sides if text is not None and text.path in here.get(side, ()))
        return Line(kind, one.text if one else None, other.text if other else None, marks)

    if alone:
        # With nothing to set it against, only what is marked stands out.
        yield from (line("same", one, None) for one in left)
        yield from (line("same", None, other) for other in right)
        return
    matcher = SequenceMatcher(None, [one.text for one in left], [one.text for one in right], autojunk=False)
    for tag, start, stop, begin, end in matcher.get_opcodes():
        if tag == "equal":
            yield from (line("same", *pair) for pair in zip(left[start:stop], right[begin:end], strict=True))
            continue
        paired = min(stop - start, end - begin)
        yield from (line("differs", left[start + n], right[begin + n]) for n in range(paired))
        yield from _missing([line("differs", one, None) for one in left[start + paired : stop]], "legacy", here)
        yield from _missing([line("differs", None, one) for one in right[begin + paired : end]], "stateless", here)


def _missing(lines: list[Line], path: Path, here: Mapping[Path, set[str]]) -> list[Line]:
    """Lines that a path lacks, the first of them marked where that path is the one that fails."""
    if lines and path in here:
        lines[0] = replace(lines[0], here=(*lines[0].here, path))
    return lines


def _folded(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines with those left out that are far from anything that stands out."""
    near = [False] * len(lines)
    for number, line in enumerate(lines):
        if line.kind == "differs" or line.here:
            for neighbour in range(max(0, number - _CONTEXT), min(len(lines), number + _CONTEXT + 1)):
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
