"""Sessions that are not there, belong to another folder or are damaged: an agent says so, and nothing gets lost."""

from __future__ import annotations

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.scenarios.model import NOBODY

from .agent_runs import actions_on_nobody, agent_turns, requested_session, session_actions, session_value
from .phrases import ERROR_AND_MESSAGE, IN_ORDER_AMONG_THE_MESSAGES, OUTCOME_AND_FAILURE, SENT_TEXTS
from .steps import failure, outcome

_UNKNOWN_ACCEPTED = finding(
    "sessions/unknown-id-is-refused/accepted",
    "Resuming an unknown session raises no error.",
    "an error",
    "the open session {observed}",
)
_UNKNOWN_UNTYPED = finding(
    "sessions/unknown-id-is-refused/unknown-error",
    "Resuming an unknown session raises an error that callers do not know.",
    "a `TurnproofError`",
    ERROR_AND_MESSAGE,
)


@check("sessions/unknown-id-is-refused", needs="wire")
def unknown_id_is_refused(view: View) -> Findings:
    """With an error of the tree, and not with another session."""
    for action, _ in actions_on_nobody(view, "resume"):
        if action.event.outcome != "refused":
            yield _UNKNOWN_ACCEPTED(action.at("outcome"), observed=session_value(action.event.now))
        elif not action.event.typed:
            yield _UNKNOWN_UNTYPED.of_error(action.at("error"), action.event)
        else:
            yield Compared("unknown sessions")


_REFUSED_BUT_CHANGED = finding(
    "sessions/refused-resume-changes-nothing/session-changed",
    "A refused resume leaves another session open.",
    "the session {expected}, as before",
    "{observed}",
)
_REFUSED_BUT_LOST = finding(
    "sessions/refused-resume-changes-nothing/text-missing",
    "After a refused resume the request lacks a text of the open session.",
    IN_ORDER_AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("sessions/refused-resume-changes-nothing", needs="wire")
def refused_resume_changes_nothing(view: View) -> Findings:
    """What was open stays open, and the next turn is said in it."""
    for action, turn in session_actions(view, "resume"):
        if action.event.outcome != "refused" or action is not turn.steps[-1]:
            continue
        was, now = action.event.was, action.event.now
        if now != was:
            yield _REFUSED_BUT_CHANGED(action.at("now"), expected=session_value(was), observed=session_value(now))
        elif was is not None and turn.session != was:
            yield turn.session_finding(_REFUSED_BUT_CHANGED, was, action.at("now"))
        elif turn.request is not None and (missing := turn.missing_texts(turn.earlier_turns)):
            yield from turn.missing_findings(_REFUSED_BUT_LOST, missing)
        else:
            yield Compared("sessions after a refused resume")


_OPENING_FAILED = finding(
    "sessions/opening-falls-back/refused",
    "Opening an agent with an unknown session fails.",
    "an agent in a session of its own",
    ERROR_AND_MESSAGE,
)
_OPENED_WITHOUT_ANSWER = finding(
    "sessions/opening-falls-back/no-answer",
    "An agent that was opened with an unknown session does not answer.",
    "the outcome {expected}",
    OUTCOME_AND_FAILURE,
)
_UNKNOWN_ADOPTED = finding(
    "sessions/opening-falls-back/unknown-id-adopted",
    "An agent that was opened with an unknown session uses that id.",
    "a session with an id of its own",
    "the session {observed}",
)


@check("sessions/opening-falls-back", needs="wire")
def opening_falls_back(view: View) -> Findings:
    """An agent that is opened with an unknown session takes a turn all the same, in a session of its own."""
    for action, turn in actions_on_nobody(view, "open"):
        ended = turn.view.ended
        if action.event.outcome != "done":
            yield _OPENING_FAILED.of_error(action.at("error"), action.event)
        elif ended is None or ended.outcome != "answer":
            yield _OPENED_WITHOUT_ANSWER(
                turn.view.at_end(), expected="answer", observed=outcome(turn.view), failure=failure(turn.view)
            )
        elif turn.session == NOBODY:
            yield _UNKNOWN_ADOPTED(turn.at_session(), observed=turn.session)
        else:
            yield Compared("agents opened with an unknown session")


_CONTINUE_REFUSED = finding(
    "sessions/continue-takes-the-last-updated/refused",
    "The last session was not continued.",
    "the session {expected}",
    ERROR_AND_MESSAGE,
)
_CONTINUED_ANOTHER = finding(
    "sessions/continue-takes-the-last-updated/wrong-session",
    "Another session than the one updated last was continued.",
    "the session {expected}",
    "{observed}",
)


@check("sessions/continue-takes-the-last-updated", needs="wire")
def continue_takes_the_last_updated(view: View) -> Findings:
    """The one in which something was last said, wherever it stands in a list."""
    for turn in agent_turns(view):
        for action in turn.steps:
            if (
                not (action.script.last or action.script.do == "continue")
                or (label := requested_session(action, turn)) is None
            ):
                continue
            event = action.event
            if event.outcome == "refused":
                yield _CONTINUE_REFUSED.of_error(action.at("error"), event, expected=label)
            elif turn.session != label:
                yield turn.session_finding(_CONTINUED_ANOTHER, label, action.at("now"))
            else:
                yield Compared("sessions that were continued")


_EMPTY_REFUSED = finding(
    "sessions/continue-stays-in-its-folder/refused",
    "Continuing in a folder without a session fails.",
    "a new session, or the one that was open",
    ERROR_AND_MESSAGE,
)
_OTHER_FOLDER = finding(
    "sessions/continue-stays-in-its-folder/other-folder",
    "A session of another folder was continued.",
    "a new session, or the one that was open",
    "the session {observed} of another folder",
)


@check("sessions/continue-stays-in-its-folder", needs="wire")
def continue_stays_in_its_folder(view: View) -> Findings:
    """Where no session was, nothing is gone on with: what was open stays, or a new one is begun."""
    for turn in agent_turns(view):
        for action in turn.steps:
            step, event = action.script, action.event
            if (
                not (step.last or step.do == "continue")
                or step.cwd is None
                or requested_session(action, turn) is not None
            ):
                continue
            open_before = event.was if step.do == "continue" else None
            if event.outcome == "refused":
                yield _EMPTY_REFUSED.of_error(action.at("error"), event)
            elif turn.session in turn.known_sessions and turn.session != open_before:
                yield _OTHER_FOLDER(turn.at_session(), observed=turn.session, related=(action.at("now"),))
            else:
                yield Compared("folders without a session")


_DAMAGED_UNTYPED = finding(
    "sessions/damaged-session-is-no-empty-one/unknown-error",
    "Resuming a damaged session raises an error that callers do not know.",
    "a `TurnproofError`",
    ERROR_AND_MESSAGE,
)
_DAMAGED_EMPTY = finding(
    "sessions/damaged-session-is-no-empty-one/empty",
    "A damaged session is resumed as an empty one.",
    "an error, or a request with one of the session's turns {expected}",
    SENT_TEXTS,
)


@check("sessions/damaged-session-is-no-empty-one", needs="wire")
def damaged_session_is_no_empty_one(view: View) -> Findings:
    """It is refused, or what is whole of it is sent: one that answers as if nothing had been said is neither."""
    for action, turn in session_actions(view, "resume"):
        before = turn.steps[turn.steps.index(action) - 1] if turn.steps.index(action) else None
        if before is None or before.script.do != "damage" or before.event.outcome != "done":
            continue
        earlier_texts = turn.known_sessions.get(action.script.session or "", ())
        if action.event.outcome == "refused" and not action.event.typed:
            yield _DAMAGED_UNTYPED.of_error(action.at("error"), action.event)
        elif action.event.outcome == "refused":
            yield Compared("damaged sessions that were refused")
        elif turn.view.failed is not None and turn.view.failed.typed:
            yield Compared("damaged sessions")
        elif earlier_texts and turn.request is not None and all(turn.missing_texts([one]) for one in earlier_texts):
            yield _DAMAGED_EMPTY(
                turn.at_messages(),
                expected=[[quote.text for quote in one.all] for one in earlier_texts],
                observed=turn.request_texts,
                related=[quote.place for one in earlier_texts for quote in one.all],
            )
        else:
            yield Compared("damaged sessions")
