"""What a turn and a scenario must agree on with themselves, so that no script promises what cannot happen.

A scenario that contradicts itself would be blamed on an adapter; here it is blamed on its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from .. import messages as m
from .._base.counts import counted
from ..dialects.base import ReplyPart
from ._arguments import is_malformed
from ._located_value import LocatedValue
from .model import Cut, Fault, Scenario, ScriptRound, Turn

ATTEMPTS: Final = 3
"""How often a run's session tries a request."""

Mode = Literal["stream", "batch"]

_HARMLESS: Final = ("split", "drip", "comment", "respelled", "merged", "compressed", "idle-close")
_NEEDS_STREAM: Final = ("no-end", "garbage", "error-event", "comment", "respelled", "merged")


# -- one turn -----------------------------------------------------------------------------------------------


def check_turn(turn: Turn, spot: LocatedValue) -> None:
    """Raise ScenarioError unless the turn can happen as written."""
    if not turn.user:
        _check_actions_only(turn, spot)
        return
    if not turn.rounds and not (turn.cancel and turn.cancel.at == "before-start"):
        spot.refuse("needs 'model': what is answered")
    _check_outcome(turn, spot)
    _check_cancel(turn, spot)
    _check_interjection(turn, spot)
    _check_child(turn, spot)
    _check_beside(turn, spot)
    _check_background(turn, spot)
    if turn.take_back and not any(round_.again for round_ in turn.rounds):
        spot.at("take_back").refuse("needs a round with 'again': nothing else is ever taken back")
    for number, fault in enumerate(turn.faults):
        place = spot.at("faults") if isinstance(spot.value["faults"], dict) else spot.at("faults").at(number)
        _check_fault(turn, fault, place)
    _check_rounds(turn, spot)


def _check_actions_only(turn: Turn, spot: LocatedValue) -> None:
    if not turn.before and turn.revert is None and turn.inject is None and not turn.sessions:
        spot.refuse("needs 'user', or something to do: 'before', 'revert' or 'sessions'")
    for key in (
        "model",
        "results",
        "denied",
        "cancel",
        "interject",
        "beside",
        "child",
        "children",
        "background",
        "faults",
        "response_schema",
        "expect",
        "error",
        "take_back",
    ):
        if key in spot.value:
            spot.at(key).refuse("nothing is said in this turn; it needs 'user'")


def _check_outcome(turn: Turn, spot: LocatedValue) -> None:
    killed = turn.cancel is not None and turn.cancel.by == "kill"
    if (turn.expect == "cancelled") != (turn.cancel is not None and not killed):
        spot.refuse("'expect: cancelled' and 'cancel' belong together; a turn whose agent is killed ends with an error")
    if turn.expect != "error" and (turn.error is not None or killed):
        spot.refuse("a turn with 'error', the kind of error, or whose agent is killed, ends with 'expect: error'")
    fatal = failing_round(turn)
    if turn.expect == "error" and turn.error is None and not killed and fatal is None and not _malformed(turn):
        spot.refuse("'expect: error' needs 'error', the kind of error, where no fault makes the turn fail")
    if turn.cancel is None and turn.expect == "answer" and fatal is not None:
        spot.refuse(f"round {fatal} never succeeds ({ATTEMPTS} attempts are made), so the turn needs 'error'")
    if _malformed(turn) and turn.expect == "answer":
        spot.refuse("the arguments of a call never become JSON, so the turn needs 'error'")
    if turn.expect == "error" and turn.faults and fatal is None and not _malformed(turn):
        spot.refuse(f"the faults pass within {ATTEMPTS} attempts, so the turn ends with an answer")


def _check_interjection(turn: Turn, spot: LocatedValue) -> None:
    if turn.interject is None:
        return
    place, cut = spot.at("interject"), turn.interject.cut
    if turn.cancel is not None or turn.faults:
        place.refuse("stands alone: a turn in which something is said in between is not cancelled, and has no faults")
    if turn.text in turn.interject.text:
        place.at("say").refuse("repeats what the turn begins with; say something else")
    _check_place(turn, cut, place)
    if len(turn.rounds) != cut.round + 2:
        place.refuse(f"is in round {cut.round}, so round {cut.round + 1} answers it and is the last")


def _check_child(turn: Turn, spot: LocatedValue) -> None:
    if spot.get("children") is not None:
        _check_children(turn, spot)
    if turn.child is None:
        return
    place = spot.at("child")
    if turn.faults or (turn.cut is not None and turn.cut.at != "child"):
        place.refuse("stands alone: a turn with a child has no faults, and is cut in the child's answer at the most")
    _check_told(turn, turn.child, place)
    if not turn.beside_parent:
        return
    if turn.child.faults:
        place.at("status").refuse("is for a child that is over before the user speaks: take out 'tool' or 'outlives'")
    _check_answer_alone(turn.child, place)
    if turn.child_tool is not None and turn.child_outlives:
        place.at("outlives").refuse("is for a child that no tool waits for; give 'tool' or 'outlives'")
    calling = [call.name for round_ in turn.rounds for call in _calls(round_)]
    if turn.child_tool is not None and calling.count(turn.child_tool) != 1:
        place.at("tool").refuse(
            f"has to be called once in this turn, got {counted(calling.count(turn.child_tool), 'call')}"
        )


def _check_children(turn: Turn, spot: LocatedValue) -> None:
    place = spot.at("children")
    if turn.child is not None or turn.cut is not None or turn.faults or turn.beside is not None:
        place.refuse("stands alone: a turn with children has no 'child', is not cut, and has no faults")
    if len(turn.children) < 2:
        place.refuse("are several at the same time; for a single one there is 'child'")
    for number, child in enumerate(turn.children):
        _check_told(turn, child, place.at(number))
        _check_answer_alone(child, place.at(number))
        for other in turn.children[:number]:
            if _contain_each_other(child, other):
                place.at(number).at("user").refuse(
                    "is told what another child is told, or part of it; say something else"
                )


def _check_told(turn: Turn, child: Turn, place: LocatedValue) -> None:
    if _contain_each_other(turn, child):
        place.at("user").refuse("is told what the user says, or part of it; say something else")


def _check_answer_alone(child: Turn, place: LocatedValue) -> None:
    if any(_calls(round_) for round_ in child.rounds):
        place.at("model").refuse("has calls: a child that others go on beside is answered without")


def _contain_each_other(turn: Turn, other: Turn) -> bool:
    return turn.text in other.text or other.text in turn.text


def _undisturbed(turn: Turn, spot: LocatedValue, name: str, what: str) -> LocatedValue:
    """The place of what a turn has by this name, which goes with no fault."""
    place = spot.at(name)
    if turn.cut is not None or turn.faults:
        place.refuse(f"stands alone: a turn with {what} is not cut, and has no faults")
    return place


def _check_beside(turn: Turn, spot: LocatedValue) -> None:
    if turn.beside is None:
        return
    place = _undisturbed(turn, spot, "beside", "another one beside it")
    if turn.child is not None:
        place.refuse("stands alone: a turn with another one beside it has no child")
    if not _calls(turn.rounds[0]) or len(turn.rounds) < 2:
        place.refuse("is asked for while a tool runs, so the first answer of the turn needs a call")
    if any(_calls(round_) for round_ in turn.beside.rounds):
        place.at("model").refuse("has calls: a turn beside another one is answered without")
    if _contain_each_other(turn, turn.beside):
        place.at("user").refuse("repeats what the turn says, or part of it; say something else")


def _check_background(turn: Turn, spot: LocatedValue) -> None:
    if turn.background is None:
        return
    place = _undisturbed(turn, spot, "background", "a tool in the background")
    if turn.beside is not None:
        place.refuse("stands alone: a turn with a tool in the background has no other one beside it")
    if turn.child_tool == turn.background:
        place.refuse("is the tool that has the child told; name another one")
    calling = [call.name for round_ in turn.rounds for call in _calls(round_)]
    if calling.count(turn.background) != 1:
        place.refuse(f"has to be called once in this turn, got {counted(calling.count(turn.background), 'call')}")


def _check_cancel(turn: Turn, spot: LocatedValue) -> None:
    cut = turn.cancel
    if cut is None or cut.at == "before-start":
        return
    place = spot.at("cancel")
    _check_place(turn, cut, place)
    if cut.at == "child":
        if _calls(turn.rounds[-1]) == []:
            spot.at("model").refuse("the turn is cancelled while the child is asked, so its last answer calls the tool")
        return
    if len(turn.rounds) > cut.round + 1:
        spot.at("model").refuse(f"the turn is cancelled in round {cut.round}, so round {cut.round + 1} never comes")


def _check_place(turn: Turn, cut: Cut, place: LocatedValue) -> None:
    """Raise ScenarioError unless the turn has the place where it is broken off."""
    if cut.at == "child" and (turn.child is None or turn.child_tool is None):
        place.refuse("is in the answer to the turn's child, but no tool of the turn has a child told")
    round_ = _round_of(turn.child if cut.at == "child" and turn.child is not None else turn, cut, place)
    if cut.at in ("tool", "between-tools"):
        calls = _calls(round_)
        if cut.index >= len(calls):
            place.refuse(f"is at tool {cut.index}, but round {cut.round} calls {len(calls)}, counted from 0")
    if cut.at == "backoff":
        sleeps = sum(fault.times for fault in turn.faults if fault.round == cut.round and _passes(fault))
        if cut.index >= sleeps:
            place.refuse(f"is in back-off {cut.index}, but only {counted(sleeps, 'attempt')} of round {cut.round} fail")
    if cut.after:
        _check_event(round_, cut.after, place)


def _check_fault(turn: Turn, fault: Fault, place: LocatedValue) -> None:
    round_ = _round_of(turn, fault, place)
    if fault.after:
        _check_event(round_, fault.after, place)


def _round_of(turn: Turn, happening: Cut | Fault, place: LocatedValue) -> ScriptRound:
    if happening.round >= len(turn.rounds):
        place.refuse(f"is in round {happening.round}, but the turn has {len(turn.rounds)}, counted from 0")
    return turn.rounds[happening.round]


def _check_event(round_: ScriptRound, name: str, place: LocatedValue) -> None:
    kind, _, ordinal = name.partition(":")
    least, exact = count_events(round_, kind)
    if least == 0 or (exact and int(ordinal) > least):
        at = place.get("after") or place
        at.refuse(f"waits for {name}, but the answer has {counted(least, 'such event') if least else 'no such event'}")


def _check_rounds(turn: Turn, spot: LocatedValue) -> None:
    fatal, last = failing_round(turn), len(turn.rounds) - 1
    for number, round_ in enumerate(turn.rounds):
        wants_results = round_.finish is m.FinishReason.TOOL_USE and bool(_calls(round_))
        interrupted = turn.interject is not None and turn.interject.cut.round == number
        goes_on = wants_results or round_.finish is m.FinishReason.PAUSED or interrupted
        place = spot.at("model") if spot.at("model").is_text else spot.at("model").at(number)
        if number < last and not goes_on:
            place.refuse(f"calls no tool and does not pause, so round {number + 1} never comes")
        ends_here = turn.cancel is not None or number == fatal or turn.expect == "error"
        if number == last and goes_on and not ends_here:
            place.refuse("calls tools or pauses, but no round follows")
        if round_.again:
            _check_again(turn, number, place.at("again"))


def _check_again(turn: Turn, number: int, place: LocatedValue) -> None:
    """Raise ScenarioError unless the round is asked for again, and goes on in the same way whatever is answered."""
    round_ = turn.rounds[number]
    if not any(fault.round == number and _passes(fault) for fault in turn.faults):
        place.refuse(f"is answered when round {number} is asked for again, so a fault of that round has to pass")
    if any(bool(_calls(other)) != bool(_calls(round_)) for other in round_.again):
        place.refuse("calls tools where the round calls some, and none where it calls none")


# -- what happens, derived ----------------------------------------------------------------------------------


def failing_round(turn: Turn) -> int | None:
    """The first round in which every attempt fails, by its faults or by a recorded failure. None if there is none."""
    for number, answer in enumerate(turn.rounds):
        last = number == len(turn.rounds) - 1
        if answer.recorded is not None and (answer.recorded.status >= 400 or (last and turn.expect == "error")):
            return number
        faults = [fault for fault in turn.faults if fault.round == number and fault.kind not in _HARMLESS]
        if any(not _passes(fault) for fault in faults) or sum(fault.times for fault in faults) >= ATTEMPTS:
            return number
    return None


def _passes(fault: Fault) -> bool:
    """Whether another attempt makes sense after this fault."""
    if fault.kind in ("status", "error-event") and fault.status:
        return fault.status in (408, 429) or fault.status >= 500
    return fault.kind not in _HARMLESS


def _malformed(turn: Turn) -> bool:
    return any(is_malformed(part) for round_ in turn.rounds for part in round_.parts)


def _calls(round_: ScriptRound) -> list[m.FunctionCall]:
    return [part.part for part in round_.parts if isinstance(part.part, m.FunctionCall) and not part.broken]


def count_events(round_: ScriptRound, kind: str) -> tuple[int, bool]:
    """How many events of a kind a streamed answer has at least, and whether that is the exact number."""
    if kind in ("start", "usage", "end"):
        return 1, True
    if kind == "call":
        return sum(not is_malformed(part) for part in round_.parts if part.part in _calls(round_)), True
    found = [part for part in round_.parts if _streams_as(part, kind)]
    # Dialects may begin arguments with an empty piece, and cut what has no pieces where they like.
    exact = kind != "args" and all(part.pieces for part in found)
    return sum(max(1, len(part.pieces)) for part in found), exact


def _streams_as(part: ReplyPart, kind: str) -> bool:
    match part.part:
        case m.Text():
            return kind == "text"
        case m.Thought(provider_data=None, text=text):
            return kind == "thinking" and text != ""
        case m.FunctionCall():
            return kind == "args"
        case _:
            return False


# -- the whole scenario -------------------------------------------------------------------------------------


def stream_only(turn: Turn) -> str | None:
    """Why the turn can only be streamed, or None."""
    if turn.cut and turn.cut.at in ("event", "child"):
        return f"'{'cancel' if turn.cancel else 'interject'}' waits for an event"
    for fault in turn.faults:
        if fault.kind in _NEEDS_STREAM or (fault.kind in ("reset", "stall", "truncate") and fault.index >= 0):
            return f"the {fault.kind} fault acts on the events of a stream"
    if _malformed(turn):
        return "malformed arguments cannot stand in an answer that is one JSON document"
    return None


def needed_features(scenario: Scenario) -> set[str]:
    """The capabilities that an adapter must claim for this scenario, as its content shows."""
    needed: set[str] = set()
    if scenario.modes == ("stream",):
        needed.add("streaming")
    if scenario.tools or any(turn.tools for turn in scenario.turns):
        needed.add("tools")
    if scenario.cache:
        needed.add("cache")
    if "thinking" in scenario.options:
        needed.add("thinking")
    if "context_tokens" in scenario.options:
        needed.add("typed_errors")
    for turn in scenario.turns:
        needed.update(_needed_by(turn, scenario.modes))
    return needed


def _needed_by(turn: Turn, modes: tuple[Mode, ...]) -> Iterator[str]:
    if turn.response_schema is not None:
        yield "structured"
    if turn.interject is not None:
        yield "cancel"
    if turn.cancel is not None and turn.cancel.by != "kill":
        yield "cancel_batch" if turn.cancel.at == "batch" and "batch" in modes else "cancel"
    # Whether a fault passes is only known by its type; that a turn fails for good, by any exception.
    passing = turn.expect != "error" and any(fault.kind not in _HARMLESS for fault in turn.faults)
    if turn.error or passing:
        yield "typed_errors"
    for part in turn.user:
        yield from _media(part)
    for round_ in turn.rounds:
        if len(_calls(round_)) > 1:
            yield "parallel_tools"
        if any(isinstance(part.part, m.ExecutableCode | m.CodeExecutionResult | m.Opaque) for part in round_.parts):
            yield "service_tools"
        thoughts = [part.part for part in round_.parts if isinstance(part.part, m.Thought)]
        if thoughts:
            yield "thinking"
        if any(thought.provider_data is not None for thought in thoughts):
            yield "opaque_thinking"
    for script in turn.results.values():
        if script.attachments or any(case.then.attachments for case in script.cases):
            yield "result_images"


def _media(part: m.Part) -> Iterator[str]:
    if not isinstance(part, m.Text):
        is_image = getattr(part, "mime_type", "").startswith("image/")
        yield "images" if is_image else "documents"
        if is_image and isinstance(part, m.FileRef):
            yield "image_urls"
