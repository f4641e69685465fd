"""Parity: both paths do the same, and each of them does what the scenario says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from turnproof.dialects.pictures import with_held_pictures
from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import Findings, check, finding, findings_or_compared
from turnproof.judge.view import TurnView, View
from turnproof.judge.view.diff import equal
from turnproof.judge.view.plain_content import plain
from turnproof.messages import JSON, FinishReason, Message

from .content import in_two_roles
from .part_rows import part_row, place_in_row, value_differences

_OUTCOME = finding(
    "parity/same-outcome-of-each-turn/outcome",
    "The turn did not end as the scenario expects.",
    "the outcome {expected}",
)


@check("parity/same-outcome-of-each-turn", shows=("path",), aspect=lambda view: _outcomes(view))
def same_outcome_of_each_turn(view: View) -> Findings:
    """An answer where an answer was scripted, an error where nothing else could come, a cancelled turn where it was.

    Whether a turn survives a passing fault is the business of recovery.
    """
    for turn in view.turns:
        if turn.script is None or turn.ended is None or turn.expected is None:
            continue
        if turn.script.faults and turn.expected == "answer":
            continue
        if turn.ended.outcome == turn.expected:
            yield Compared("outcomes of turns")
        elif not _is_cut_unknowingly(view, turn) and not _is_answered_before_cancel(turn):
            related = [turn.at(Side.ERROR)] if turn.failed is not None else []
            place = turn.at_event(turn.ended, "outcome")
            yield _OUTCOME(place, expected=turn.expected, observed=turn.ended.outcome, related=related)


def _is_cut_unknowingly(view: View, turn: TurnView) -> bool:
    """Whether arguments that the output limit cut became an error where nobody could know of the limit.

    Arguments that are no JSON are an error; an adapter without finish reasons cannot tell a cut call from such a one.
    That an answer has calls it can tell, and may name it as the reason.
    """
    last = turn.calls[-1] if turn.calls else None
    if last is None or last.answer is None or last.failed is None or not last.failed.typed:
        return False
    if not last.answer.broken_calls:
        return False
    if last.answer.finish is not FinishReason.MAX_TOKENS:
        # The service itself does not say so (llama.cpp's Responses): nobody was told of the script's limit.
        return any(part.broken for one in (turn.script.rounds if turn.script else ()) for part in one.parts)
    reasons = {call.response.finish_reason for call in view.calls if call.response is not None}
    return reasons - {FinishReason.TOOL_USE} == {FinishReason.UNKNOWN}


def _is_answered_before_cancel(turn: TurnView) -> bool:
    """Whether the answer was whole when the token was set: who waits for nothing behind it had returned it."""
    last = turn.calls[-1] if turn.calls else None
    if turn.expected != "cancelled" or last is None or last.response is None or last.last is None:
        return False
    return last.last.ended_before_cancel and last.response.text == last.last.text


def _outcomes(view: View) -> JSON:
    found = {str(turn.index): turn.ended.outcome for turn in _comparable(view) if turn.ended is not None}
    return found or None


_COUNT = finding(
    "parity/same-number-of-requests/count",
    "The turn did not make one request for each round.",
    "{expected} requests, one for each round",
    "{observed} requests, in calls for the rounds {rounds}",
)


@check("parity/same-number-of-requests", shows=("path",), aspect=lambda view: _rounds(view))
def same_number_of_requests(view: View) -> Findings:
    """One request for each answer: an undisturbed turn asks for every round once."""
    for turn in view.turns:
        if not turn.normal or turn.ended is None or turn.ended.outcome != "answer" or _is_special(turn):
            continue
        rounds = [call.began.round for call in turn.calls if not call.lost_cache]
        sent = sum(len(call.generated) for call in turn.calls if not call.lost_cache)
        if rounds == list(range(len(rounds))) and sent == len(rounds) and (rounds or view.shows_calls):
            yield Compared("requests of turns")
        else:
            expected = len(set(rounds)) or 1  # nobody has an answer without a request
            yield _COUNT(_at_odd_call(turn), expected=expected, observed=sent, rounds=rounds)


def _at_odd_call(turn: TurnView) -> Place:
    """The first call that does not make one request for a round of its own."""
    calls = [call for call in turn.calls if not call.lost_cache]
    for number, call in enumerate(calls):
        if call.began.round != number or len(call.generated) != 1:
            return call.at_request()
    return turn.at()


def _is_special(turn: TurnView) -> bool:
    """A paused answer is continued where the path can, and a prompt that was too long is sent again, shorter."""
    return any(call.paused or (call.came_to_nothing and not call.lost_cache) for call in turn.calls)


def _comparable(view: View) -> Iterator[TurnView]:
    """The turns before the first paused answer, which only some paths can take up again."""
    return takewhile(lambda turn: not any(call.paused for call in turn.calls), view.turns)


def _rounds(view: View) -> JSON:
    turns = [turn for turn in _comparable(view) if not _is_special(turn)]
    return {str(turn.index): [call.began.round for call in turn.calls if not call.lost_cache] for turn in turns} or None


_COPIES_DIFFER = finding(
    "parity/same-history-after-each-turn/copies-differ",
    "The provider's history is not the session's.",
    "{expected}, as in the session's history",
)
_ANSWER_MISSING = finding(
    "parity/same-history-after-each-turn/answer-missing",
    "The answer is missing from the history.",
    "the answer {expected}",
    "the texts of the model {observed}",
)


@check("parity/same-history-after-each-turn", shows=("path",), aspect=lambda view: _histories(view))
def same_history_after_each_turn(view: View) -> Findings:
    """What was said stands in the history, in both copies where there are two."""
    for turn in view.turns:
        if turn.history is None:
            continue
        wrong = [*_copies_that_differ(turn, turn.history), *_answer_missing(turn, turn.history)]
        yield from findings_or_compared(wrong, "histories after turns")


def _copies_that_differ(turn: TurnView, history: tuple[Message, ...]) -> Iterator[Finding]:
    copy = _providers_copy(turn)
    if copy is None:
        return
    ours, theirs = (plain(in_two_roles(messages)) for messages in (history, copy))
    if equal(ours, theirs):
        return
    related = [turn.at(Side.HISTORY, "session")]
    changed = list(value_differences(part_row(in_two_roles(history)), part_row(in_two_roles(copy))))
    for one in changed:
        place = turn.at(Side.HISTORY, "provider", *(place_in_row(copy, one.steps) or ()))
        yield _COPIES_DIFFER(place, expected=one.expected, observed=one.observed, related=related)
    if not changed:  # the same parts, in other messages
        yield _COPIES_DIFFER(turn.at(Side.HISTORY, "provider"), expected=ours, observed=theirs, related=related)


def _providers_copy(turn: TurnView) -> tuple[Message, ...] | None:
    """The provider's history, with the session's images where it has the same pictures in other bytes."""
    copy = turn.provider_history
    return with_held_pictures(copy, turn.history) if copy is not None and turn.history is not None else copy


def _answer_missing(turn: TurnView, history: tuple[Message, ...]) -> Iterator[Finding]:
    answer, session_texts = _last_text(turn), [message.text for message in history if message.role == "model"]
    if turn.normal and answer and answer not in session_texts:
        related = [turn.calls[-1].at(Side.RESPONSE, "parts")]
        yield _ANSWER_MISSING(
            turn.at(Side.HISTORY, "session"), expected=answer, observed=session_texts, related=related
        )


def _last_text(turn: TurnView) -> str:
    last = turn.calls[-1].response if turn.calls else None
    return last.text if last is not None else ""


def _histories(view: View) -> JSON:
    histories: dict[str, tuple[Message, ...] | None] = {
        str(turn.index): copy if (copy := _providers_copy(turn)) is not None else turn.history
        for turn in _comparable(view)
    }
    return {
        at: view.aliases.within(plain(in_two_roles(messages)))
        for at, messages in histories.items()
        if messages is not None
    } or None
