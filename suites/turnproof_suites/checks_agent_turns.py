"""Turns of an agent that are cancelled, fail or lose their process, and the turns after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding, findings_or_compared
from turnproof.judge.verdict import inconclusive
from turnproof.judge.view import View
from turnproof.run.transcript import Killed, SaidBeside, TurnEnded
from turnproof.scenarios.model import Turn

from .agent_runs import CHANGING, AgentTurn, agent_turns
from .content import spoken_text
from .phrases import AMONG_THE_MESSAGES, ERROR_AND_MESSAGE, IN_ORDER_AMONG_THE_MESSAGES, OUTCOME_AND_FAILURE, SENT_TEXTS
from .quoted_texts import at_held_text
from .steps import failure, outcome
from .words import without_blanks


def _consecutive_turns(view: View) -> Iterator[tuple[AgentTurn, AgentTurn]]:
    """Each turn with the next one of the same session, nothing having been done to the sessions in between."""
    every = agent_turns(view)
    for turn, later in pairwise(every):
        if not later.steps:
            yield turn, later


def _is_cancelled(turn: AgentTurn) -> bool:
    return turn.view.cut is not None and turn.view.cut.by != "kill" and turn.view.cancelled


def _first_kill(turn: AgentTurn) -> Killed | None:
    return turn.step.first(Killed)


_FIRST_WITHOUT_ANSWER = finding(
    "sessions/one-turn-at-a-time/no-answer",
    "A turn gets no answer if a second one starts while it runs.",
    "the outcome {expected}",
    OUTCOME_AND_FAILURE,
)
_FIRST_WRONG_ANSWER = finding(
    "sessions/one-turn-at-a-time/wrong-answer",
    "A turn gets a wrong answer if a second one starts while it runs.",
    "a reply with the text {expected}",
    "{observed}",
)
_SECOND_NEVER_ENDED = finding(
    "sessions/one-turn-at-a-time/second-never-ended",
    "A second turn that starts while one runs never ends.",
    "an answer or an error",
    "none",
)
_SECOND_UNTYPED = finding(
    "sessions/one-turn-at-a-time/unknown-error",
    "A second turn that starts while one runs raises an unknown error.",
    "a `TurnproofError`",
    ERROR_AND_MESSAGE,
)
_SECOND_WRONG_ANSWER = finding(
    "sessions/one-turn-at-a-time/second-wrong-answer",
    "A second turn that waits for the first one gets a wrong answer.",
    "a reply with the text {expected}",
    "{observed}",
)


@check("sessions/one-turn-at-a-time", needs="wire")
def one_turn_at_a_time(view: View) -> Findings:
    """A second one is refused with a known error, or waits, and is answered behind the first in the same session."""
    for turn in agent_turns(view):
        script, second, ended = turn.view.script, turn.step.first(SaidBeside), turn.view.ended
        if script is None or script.beside is None or second is None or ended is None:
            continue
        wrong = [
            *_wrong_first(turn, ended, _last_text(script)),
            *_wrong_second(turn, second, _last_text(script.beside)),
        ]
        yield from findings_or_compared(wrong, "turns asked for at the same time")


def _wrong_first(turn: AgentTurn, ended: TurnEnded, expected: str) -> Iterator[Finding]:
    if ended.outcome != "answer":
        yield _FIRST_WITHOUT_ANSWER(
            turn.view.at_end(), expected="answer", observed=ended.outcome, failure=failure(turn.view)
        )
    elif without_blanks([expected]) not in without_blanks([ended.text]):
        yield _FIRST_WRONG_ANSWER(turn.at_ended("text"), expected=expected, observed=ended.text)


def _wrong_second(turn: AgentTurn, second: SaidBeside, expected: str) -> Iterator[Finding]:
    if second.outcome == "open":
        yield _SECOND_NEVER_ENDED(turn.step.at_event(second, "outcome"))
    elif second.outcome == "error" and not second.typed:
        place = turn.step.at_event(second, "error")
        yield _SECOND_UNTYPED.of_error(place, second)
    elif second.outcome == "answer" and without_blanks([expected]) not in without_blanks([second.text]):
        yield _SECOND_WRONG_ANSWER(turn.step.at_event(second, "text"), expected=expected, observed=second.text)


def _last_text(script: Turn) -> str:
    return spoken_text(part.part for part in script.rounds[-1].parts)


@dataclass(frozen=True)
class _NextTurn:
    """What may be wrong with the turns after one that came to no answer."""

    no_answer: FindingCode
    model_not_asked: FindingCode
    wrong_answer: FindingCode
    text_missing: FindingCode


_AFTER_CANCELLED = _NextTurn(
    finding(
        "sessions/cancelled-turn-serves-the-next/no-answer",
        "A turn after a cancelled one gets no answer.",
        "the outcome {expected}",
        "{observed}{failure:words}",
    ),
    finding(
        "sessions/cancelled-turn-serves-the-next/model-not-asked",
        "A turn after a cancelled one is answered without a request to the model.",
        "an answer of the model",
        "the reply {observed} without one",
    ),
    finding(
        "sessions/cancelled-turn-serves-the-next/wrong-answer",
        "A turn after a cancelled one has another reply than the model's answer.",
        "a reply with the text {expected}",
        "{observed}",
    ),
    finding(
        "sessions/cancelled-turn-serves-the-next/text-missing",
        "A request after a cancelled turn lacks an earlier text of the session.",
        "{expected} among the messages, in the order of the conversation",
        "messages with the texts {observed}",
    ),
)


@check("sessions/cancelled-turn-serves-the-next", needs="wire")
def cancelled_turn_serves_the_next(view: View) -> Findings:
    """The next turn has its own answer, in the same session, and so has the one after it."""
    yield from _next_has_its_own(view, _is_cancelled, _AFTER_CANCELLED, "cancelled turns")


_REQUEST_WENT_ON = finding(
    "sessions/cancel-ends-the-request/went-on",
    "The request of a cancelled turn goes on.",
    "a connection that the agent closes",
    "one that was open until the server gave up",
)
_NOT_CANCELLED = finding(
    "sessions/cancel-ends-the-request/wrong-outcome",
    "A cancelled turn ends with another outcome.",
    "the outcome {expected}",
    OUTCOME_AND_FAILURE,
)


@check("sessions/cancel-ends-the-request", needs="wire")
def cancel_ends_the_request(view: View) -> Findings:
    """A cancel closes the connection to the service, and the turn ends as cancelled."""
    for turn in agent_turns(view):
        held_exchanges = [one for one in turn.step.generated if one.held and one.response is not None]
        if not _is_cancelled(turn) or not held_exchanges:
            continue
        last, ended = held_exchanges[-1], turn.view.ended
        if last.response is not None and last.response.released == "limit":
            yield _REQUEST_WENT_ON(last.at(Side.STREAM))
        elif ended is None or ended.outcome != "cancelled":
            yield _NOT_CANCELLED(
                turn.view.at_end(), expected="cancelled", observed=outcome(turn.view), failure=failure(turn.view)
            )
        else:
            yield Compared("requests of cancelled turns")


_AFTER_FAILED = _NextTurn(
    finding(
        "sessions/failed-turn-serves-the-next/no-answer",
        "A turn after a failed one gets no answer.",
        "the outcome {expected}",
        "{observed}{failure:words}",
    ),
    finding(
        "sessions/failed-turn-serves-the-next/model-not-asked",
        "A turn after a failed one is answered without a request to the model.",
        "an answer of the model",
        "the reply {observed} without one",
    ),
    finding(
        "sessions/failed-turn-serves-the-next/wrong-answer",
        "A turn after a failed one has another reply than the model's answer.",
        "a reply with the text {expected}",
        "{observed}",
    ),
    finding(
        "sessions/failed-turn-serves-the-next/text-missing",
        "A request after a failed turn lacks an earlier text of the session.",
        "{expected} among the messages, in the order of the conversation",
        "messages with the texts {observed}",
    ),
)


@check("sessions/failed-turn-serves-the-next", needs="wire")
def failed_turn_serves_the_next(view: View) -> Findings:
    """A turn that the model's service refused does not end the session."""

    def failed(turn: AgentTurn) -> bool:
        return bool(turn.view.script and turn.view.script.faults) and turn.view.failed is not None

    yield from _next_has_its_own(view, failed, _AFTER_FAILED, "failed turns")


def _next_has_its_own(view: View, happened: Callable[[AgentTurn], bool], codes: _NextTurn, what: str) -> Findings:
    """All that follow in the same session have, until something is done to the sessions."""
    since: AgentTurn | None = None
    for turn in agent_turns(view):
        since = None if turn.steps else since
        ended = turn.view.ended
        if since is not None and turn.view.normal and ended is not None:
            wrong = list(_wrong_next(turn, ended, since.view.at_end(), codes))
            yield from findings_or_compared(wrong, what)
        since = turn if happened(turn) else since


def _wrong_next(turn: AgentTurn, ended: TurnEnded, since: Place, codes: _NextTurn) -> Iterator[Finding]:
    if ended.outcome != "answer":
        yield codes.no_answer(
            turn.view.at_end(), expected="answer", observed=ended.outcome, related=(since,), failure=failure(turn.view)
        )
        return
    if not turn.answered_requests:
        yield codes.model_not_asked(turn.at_ended("text"), observed=ended.text, related=(since,))
        return
    last = turn.answers[-1:]
    if without_blanks(quote.text for quote in last) not in without_blanks([ended.text]):
        expected = "".join(quote.text for quote in last)
        related = (*(quote.place for quote in last), since)
        yield codes.wrong_answer(turn.at_ended("text"), expected=expected, observed=ended.text, related=related)
    yield from turn.missing_findings(codes.text_missing, turn.missing_texts(turn.earlier_turns), since)


_FAILURE_WITHOUT_ERROR = finding(
    "sessions/failure-is-no-answer/no-error",
    "A request that the service refuses raises no error.",
    "an error",
    "none, and the outcome {observed} with the text {text}",
)
_FAILURE_UNTYPED = finding(
    "sessions/failure-is-no-answer/unknown-error",
    "A request that the service refuses raises an error that callers do not know.",
    "a `ProviderError`",
    ERROR_AND_MESSAGE,
)


@check("sessions/failure-is-no-answer", needs="wire")
def failure_is_no_answer(view: View) -> Findings:
    """A permanent refusal by the service raises an error of turnproof's tree. It is not returned as text."""
    for turn in agent_turns(view):
        script = turn.view.script
        if script is None or script.error is None or not turn.requests or turn.answered_requests:
            continue
        ended, failed = turn.view.ended, turn.view.failed
        if ended is None:
            continue
        if ended.outcome != "error" or failed is None:
            yield _FAILURE_WITHOUT_ERROR(
                turn.at_ended("outcome"),
                expected="error",
                observed=ended.outcome,
                related=[turn.requests[-1].at(Side.STREAM)],
                text=ended.text,
            )
        elif not failed.typed:
            yield _FAILURE_UNTYPED.of_error(turn.view.at(Side.ERROR, "error"), failed)
        else:
            yield Compared("refusals by the service")


_RETRIED_TEXT = finding(
    "sessions/retried-answer-is-shown-once/wrong-text",
    "The reply is not the answer that came after a broken stream.",
    "the last of the answers {expected}, with or without those before it",
    "{observed}",
)


@check("sessions/retried-answer-is-shown-once", needs="wire")
def retried_answer_is_shown_once(view: View) -> Findings:
    """Where an agent asks again after a broken stream, the reply is the answer, without what had come before it.

    Of a turn that fails with the stream nothing is said: its caller asks again, and sees a turn of its own.
    """
    for turn in agent_turns(view):
        script, ended = turn.view.script, turn.view.ended
        broken = [one for one in turn.step.generated if one.fault is not None and one.text]
        if script is None or not broken or ended is None or script.cut is not None or ended.outcome != "answer":
            continue
        # What was written whole before the connection broke is an answer, however the connection ended.
        answers = turn.answer_texts or [_last_text(script)]
        if _is_end_of(without_blanks([ended.text]), without_blanks(answers), without_blanks(answers[-1:])):
            yield Compared("answers that were asked for again")
        else:
            yield _RETRIED_TEXT(
                turn.at_ended("text"),
                expected=answers,
                observed=ended.text,
                related=[*(quote.place for quote in turn.answers[-1:]), broken[0].at(Side.STREAM)],
            )


def _is_end_of(text: str, answers: str, last: str) -> bool:
    """Whether it is the last of the answers, perhaps with those before it."""
    return answers.endswith(text) and text.endswith(last)


_KILLED_WITHOUT_ERROR = finding(
    "sessions/killed-agent-ends-the-turn/no-error",
    "The turn of an agent that was killed raises no error.",
    "an error",
    "none, and the outcome {observed} with the text {text}",
)
_KILLED_UNTYPED = finding(
    "sessions/killed-agent-ends-the-turn/unknown-error",
    "The turn of an agent that was killed raises an error that callers do not know.",
    "a `ProviderError`",
    ERROR_AND_MESSAGE,
)


@check("sessions/killed-agent-ends-the-turn", needs="wire")
def killed_agent_ends_the_turn(view: View) -> Findings:
    """With an error of the tree: what was shown was no answer."""
    for turn in agent_turns(view):
        killed, ended, failed = _first_kill(turn), turn.view.ended, turn.view.failed
        if killed is None or ended is None:
            continue
        if not killed.processes:
            yield inconclusive(f"{turn.step.where}: the agent had no process that could be killed")
        elif ended.outcome != "error" or failed is None:
            related = (turn.step.at_event(killed),)
            yield _KILLED_WITHOUT_ERROR(
                turn.at_ended("outcome"), expected="error", observed=ended.outcome, related=related, text=ended.text
            )
        elif not failed.typed:
            yield _KILLED_UNTYPED.of_error(turn.view.at(Side.ERROR, "error"), failed)
        else:
            yield Compared("turns whose agent was killed")


_KILLED_FOR_GOOD = finding(
    "sessions/earlier-turns-survive-a-kill/no-answer",
    "A turn after the agent was killed gets no answer.",
    "the outcome {expected}",
    OUTCOME_AND_FAILURE,
)
_LOST_WITH_THE_KILL = finding(
    "sessions/earlier-turns-survive-a-kill/text-missing",
    "A request after the agent was killed lacks an earlier text of the session.",
    IN_ORDER_AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("sessions/earlier-turns-survive-a-kill", needs="wire")
def earlier_turns_survive_a_kill(view: View) -> Findings:
    """What was answered before is in the requests after it, of the same object and of a fresh process."""
    killed_session: str | None = None
    expected: str | None = None
    for turn in agent_turns(view):
        for action in turn.steps:
            if action.script.do in CHANGING and action.event.outcome == "done":
                expected = action.script.session
        if killed_session is not None and expected == killed_session and turn.view.normal:
            ended = turn.view.ended
            if ended is None or ended.outcome != "answer":
                yield _KILLED_FOR_GOOD(
                    turn.view.at_end(), expected="answer", observed=outcome(turn.view), failure=failure(turn.view)
                )
            elif missing := turn.missing_texts(turn.known_sessions.get(killed_session, ())):
                yield from turn.missing_findings(_LOST_WITH_THE_KILL, missing)
            else:
                yield Compared("turns after a kill")
        killed = _first_kill(turn)
        if killed_session is None or expected != killed_session:
            expected = turn.session or expected
        if killed is not None and killed.processes:
            killed_session = expected = expected or ""


_CLAIMED_BUT_NOT_SENT = finding(
    "sessions/loss-is-not-hidden/missing",
    "The history has a text of a lost turn that the next request lacks.",
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("sessions/loss-is-not-hidden", needs="wire")
def loss_is_not_hidden(view: View) -> Findings:
    """What was shown of a turn that was lost is sent in the next one, or the history does not claim it."""
    for turn, later in _consecutive_turns(view):
        ended = turn.view.ended
        killed = _first_kill(turn)
        if killed is None or not killed.processes or ended is None or later.request is None:
            continue
        shown, sent = without_blanks([ended.shown]), without_blanks(message.text for message in later.request_messages)
        before, text_now = (
            without_blanks(message.text for message in messages if message.role == "model")
            for messages in (turn.step.history_before, turn.step.history)
        )
        if shown and text_now.count(shown) > before.count(shown) and shown not in sent:
            yield _CLAIMED_BUT_NOT_SENT(
                later.at_messages(),
                expected=ended.shown,
                observed=later.request_texts,
                related=(at_held_text(turn.step, ended.shown),),
            )
        else:
            yield Compared("turns that were lost")
