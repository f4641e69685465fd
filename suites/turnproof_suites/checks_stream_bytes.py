"""Streaming: an answer is the same, however its bytes are split, spelled, compressed or mixed with keep-alives."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from turnproof.judge.finding import Compared, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import ProviderCall, View
from turnproof.judge.view.diff import ABSENT, Steps, walk_steps
from turnproof.messages import JSON, FinishReason, FunctionCall
from turnproof.run.transcript import WireResponse

from .content import calls_in, spoken_as, spoken_text
from .phrases import EXCEPTION
from .reading import AnsweredCall

_SPLIT_RAISED = finding(
    "streaming/characters-survive-the-cut/raised",
    "The adapter raised an exception for an answer whose bytes arrived in small pieces.",
    "the answer, however its bytes are split",
    EXCEPTION,
)
_SPLIT_CHANGED = finding(
    "streaming/characters-survive-the-cut/changed",
    "The adapter returned another answer where the bytes arrived in small pieces.",
    "{expected}, however the bytes are split",
    "{observed}",
)
_COMMENT_RAISED = finding(
    "streaming/keep-alives-change-nothing/raised",
    "The adapter raised an exception for an answer with keep-alives between its events.",
    "the answer, whatever keep-alives stand between the events",
    EXCEPTION,
)
_COMMENT_CHANGED = finding(
    "streaming/keep-alives-change-nothing/changed",
    "The adapter returned another answer with keep-alives between the events.",
    "{expected}, with any keep-alives between the events",
    "{observed}",
)
_SPELLING_RAISED = finding(
    "streaming/spelling-changes-nothing/raised",
    "The adapter raised an exception for a stream in another valid spelling.",
    "the answer, however the stream is spelled",
    EXCEPTION,
)
_SPELLING_CHANGED = finding(
    "streaming/spelling-changes-nothing/changed",
    "The adapter returned another answer for a stream in another valid spelling.",
    "{expected}, however the stream is spelled",
    "{observed}",
)


@check("streaming/characters-survive-the-cut")
def characters_survive_the_cut(view: View) -> Findings:
    """Bytes may be split anywhere, inside a character or a line end too, or nowhere: all events in one write."""
    for call in _disturbed_calls(view, "split", "drip", "merged"):
        yield from _changed_response(call, "however the bytes were split", _SPLIT_RAISED, _SPLIT_CHANGED)


@check("streaming/keep-alives-change-nothing")
def keep_alives_change_nothing(view: View) -> Findings:
    """Comments, pings and retry lines between the events are no part of the answer."""
    for call in _disturbed_calls(view, "comment"):
        how = "whatever keep-alives stood between the events"
        yield from _changed_response(call, how, _COMMENT_RAISED, _COMMENT_CHANGED)


@check("streaming/spelling-changes-nothing")
def spelling_changes_nothing(view: View) -> Findings:
    """Other line ends, no blank behind a colon, padding inside a document: the events are the same."""
    for call in _disturbed_calls(view, "respelled"):
        if not _overlaps(call):
            yield from _changed_response(call, "however the stream was spelled", _SPELLING_RAISED, _SPELLING_CHANGED)


_BLOCK_RAISED = finding(
    "streaming/pieces-go-to-their-block/raised",
    "The adapter raised an exception for a stream in which a block begins before the last one has ended.",
    "the answer, whichever blocks are open at once",
    EXCEPTION,
)
_BLOCK_CHANGED = finding(
    "streaming/pieces-go-to-their-block/changed",
    "The adapter returned another answer for a stream in which a block begins before the last one has ended.",
    "{expected}, whichever blocks are open at once",
    "{observed}",
)


@check("streaming/pieces-go-to-their-block")
def pieces_go_to_their_block(view: View) -> Findings:
    """Each event names its block: several may be open at once."""
    for call in filter(_overlaps, _disturbed_calls(view, "respelled")):
        yield from _changed_response(call, "whichever blocks were open at once", _BLOCK_RAISED, _BLOCK_CHANGED)


def _overlaps(call: ProviderCall) -> bool:
    return call.last is not None and call.last.response is not None and call.last.response.spelling == "overlapping"


_COMPRESSED_RAISED = finding(
    "core/compressed-answers-are-read/raised",
    "The adapter raised an exception for a compressed answer, though its request accepts them.",
    "the answer, compressed or not",
    EXCEPTION,
)
_COMPRESSED_CHANGED = finding(
    "core/compressed-answers-are-read/changed",
    "The adapter returned another answer where the answer was compressed.",
    "{expected}, compressed or not",
    "{observed}",
)


@check("core/compressed-answers-are-read")
def compressed_answers_are_read(view: View) -> Findings:
    """Where the request says that it takes gzip, which a gateway in front of the service may then use."""
    for call in _disturbed_calls(view, "compressed"):
        yield from _changed_response(call, "compressed or not", _COMPRESSED_RAISED, _COMPRESSED_CHANGED)


def _disturbed_calls(view: View, *faults: str) -> Iterator[ProviderCall]:
    """The calls with such an answer that had all of it, or that gave it up with an exception: whether the server had
    written the rest before the client left is a matter of moments. A cancelled turn returns what had been heard of an
    answer until then."""
    cancelled = {turn.index for turn in view.turns if turn.cancelled}
    for call in view.calls:
        if call.began.turn in cancelled:
            continue
        response = call.last.response if call.last is not None else None
        if response is None or response.fault not in faults:
            continue
        if call.answer is not None or (call.failed is not None and _left_a_good_answer(call, response)):
            yield call


def _left_a_good_answer(call: ProviderCall, response: WireResponse) -> bool:
    """Whether the client left an answer that its script makes good; what a real service drew may be a reason to."""
    is_scripted = call.last is not None and not call.last.of_service
    return is_scripted and response.status == 200 and response.ended == "cut-by-peer" and not response.held


def _changed_response(call: ProviderCall, how: str, raised: FindingCode, changed: FindingCode) -> Findings:
    if call.failed is not None:
        if call.answer is not None and call.answer.broken_calls:
            return  # a call whose arguments are no JSON is a reason to raise, however the answer came
        place = call.at(Side.ERROR, "error")
        yield raised(place, observed=call.failed.message, related=(call.at_answer(),), error=call.failed.error)
        return
    wire = call.answer
    if wire is None or call.response is None:
        return
    one = AnsweredCall(call, wire, call.response)
    sent: dict[str, JSON] = {"text": spoken_text(wire.parts)}
    observed: dict[str, JSON] = {"text": spoken_as(call.response.parts, wire.parts)}
    if wire.finish not in (FinishReason.MAX_TOKENS, FinishReason.CONTEXT_LIMIT):
        # An answer in one piece does not tell a whole call from one that the limit has cut, which is left out.
        sent["args"] = [part.args for part in calls_in(wire.parts)]
        observed["args"] = [part.args for part in call.response.calls]
    differing = list(walk_steps(sent, observed))
    for steps, theirs, ours in differing:
        if steps == ("text",):
            place, related = one.at_text(sent["text"]), one.at_wire_text(observed["text"])
        else:
            place = _at_call(one, call.response.calls, steps[1:])
            calls = calls_in(wire.parts)
            number = int(steps[1])
            related = one.at_wire(calls[number]) if number < len(calls) else one.at_wire()
        yield changed(
            place,
            expected=UNSET if theirs is ABSENT else theirs,
            observed=UNSET if ours is ABSENT else ours,
            related=(related,),
        )
    if not differing:
        yield Compared(f"answers, {how}")


def _at_call(one: AnsweredCall, calls: tuple[FunctionCall, ...], steps: Steps) -> Place:
    """The place in the arguments of the nth returned call; of all parts where there are not so many."""
    number = int(steps[0])
    return one.at_part(calls[number], "args", *steps[1:]) if number < len(calls) else one.at("parts")
