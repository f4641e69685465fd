"""Sessions that an agent keeps: which one is open, that they stay apart, and what can be done with them."""

from __future__ import annotations

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.run.transcript import SessionInForce
from turnproof.scenarios.model import NOBODY

from .agent_runs import CHANGING, AgentTurn, agent_turns, session_actions
from .phrases import ERROR_AND_MESSAGE
from .quoted_texts import at_held_text

_NO_ID = finding(
    "sessions/has-an-id/missing",
    "The agent names no id for its session.",
    "the id of the session, after a turn that was answered",
    "no id",
)


@check("sessions/has-an-id", needs="wire")
def has_an_id(view: View) -> Findings:
    """At the latest after the first turn that was answered."""
    for turn in agent_turns(view):
        if not turn.step.ordinary:
            continue
        if turn.session is None:
            yield _NO_ID(turn.at_session())
        else:
            yield Compared("ids of sessions")


_ID_CHANGED = finding(
    "sessions/id-stays-through-its-turns/changed",
    "The id of the session changes between two turns.",
    "the session {expected}, as in the turn before",
    "{observed}",
)


@check("sessions/id-stays-through-its-turns", needs="wire")
def id_stays_through_its_turns(view: View) -> Findings:
    """Of turns with nothing done to the sessions in between, also where one was cancelled, failed or lost.

    Before anything was answered in a session nothing is lost with its id.
    """
    before: AgentTurn | None = None
    for turn in agent_turns(view):
        quiet = not any(action.script.do in CHANGING for action in turn.steps)
        if before is not None and before.session in turn.known_sessions and quiet:
            if turn.session == before.session:
                yield Compared("ids of later turns")
            else:
                yield turn.session_finding(_ID_CHANGED, before.session, before.at_session())
        before = turn


_ID_REUSED = finding(
    "sessions/new-session-is-another-one/reused",
    "A new session has the id of an earlier one.",
    "an id other than those of the sessions {known}",
    "the session {observed}",
)


@check("sessions/new-session-is-another-one", needs="wire")
def new_session_is_another_one(view: View) -> Findings:
    """Its id is not that of any session there was."""
    for action, turn in session_actions(view, "new", "open"):
        step = action.script
        if action.event.outcome != "done" or action is not turn.steps[-1] or step.last or step.session is not None:
            continue
        if turn.session in turn.known_sessions:
            yield _ID_REUSED(
                turn.at_session(), observed=turn.session, related=(action.at("now"),), known=list(turn.known_sessions)
            )
        elif turn.session is not None:
            yield Compared("new sessions")


_SENT_IN_ANOTHER = finding(
    "sessions/sessions-stay-apart/foreign-text",
    "A request has a text of another session.",
    "only texts of the session {session}",
    "the text {observed} of another session",
)


@check("sessions/sessions-stay-apart", needs="wire")
def sessions_stay_apart(view: View) -> Findings:
    """No request has a text of another session."""
    for turn in agent_turns(view):
        if turn.request is None or turn.session is None or set(turn.known_sessions) <= {turn.session}:
            continue
        foreign = turn.foreign_texts()
        yield from turn.foreign_findings(_SENT_IN_ANOTHER, foreign, session=turn.session)
        if not foreign:
            yield Compared("requests in one of several sessions")


_HELD_IN_ANOTHER = finding(
    "sessions/local-history-is-the-open-sessions/foreign-text",
    "The history of a session has a text of another one.",
    "only texts of the session {session}",
    "the text {observed} of another session",
)


@check("sessions/local-history-is-the-open-sessions", needs="wire")
def local_history_is_the_open_sessions(view: View) -> Findings:
    """What is held after a step, and after a turn, has no text of another session."""
    for turn in agent_turns(view):
        if turn.session is None or set(turn.known_sessions) <= {turn.session}:
            continue
        foreign = turn.foreign_texts_in((message.text for message in turn.step.history), *turn.step.answered_text)
        for quote in foreign:
            yield _HELD_IN_ANOTHER(
                at_held_text(turn.step, quote.text), observed=quote.text, related=(quote.place,), session=turn.session
            )
        if not foreign:
            yield Compared("histories of one of several sessions")


_UNKNOWN_CAPABILITY = finding(
    "sessions/capabilities-are-what-is-claimed/unknown-name",
    "The agent claims a capability of its sessions that does not exist.",
    "names of known capabilities",
    "{observed}",
)
_NOT_CLAIMED = finding(
    "sessions/capabilities-are-what-is-claimed/missing",
    "The agent does not claim a capability that its binding claims.",
    "the capability {expected}",
    "{observed}",
)
_CLAIMED_BUT_REFUSED = finding(
    "sessions/capabilities-are-what-is-claimed/unsupported",
    "The agent claims a capability and does not support it.",
    "{expected} to work",
    ERROR_AND_MESSAGE,
)


@check("sessions/capabilities-are-what-is-claimed", needs="wire")
def capabilities_are_what_is_claimed(view: View) -> Findings:
    """What an agent says can be done with its sessions, by the names that there are, and what then can be done."""
    for turn in agent_turns(view):
        in_force = turn.step.first(SessionInForce)
        if in_force is None:
            continue
        for number, unknown in enumerate(in_force.unknown):
            yield _UNKNOWN_CAPABILITY(turn.step.at_event(in_force, "unknown", number), observed=unknown)
        for action in turn.steps:
            name = _NEEDS.get(action.script.do, "")
            name = "can_load" if action.script.do == "open" and action.script.session not in (None, NOBODY) else name
            if not name:
                continue
            if name not in in_force.can:
                yield _NOT_CLAIMED(
                    turn.step.at_event(in_force, "can"), expected=name, observed=in_force.can, related=(action.at(),)
                )
            elif action.event.unsupported:
                error, message = action.event.error, action.event.message
                yield _CLAIMED_BUT_REFUSED(action.at("error"), expected=name, observed=error, message=message)
            else:
                yield Compared("capabilities")


_NEEDS = {
    "resume": "can_load",
    "continue": "can_continue_last",
    "fork": "can_fork",
    "delete": "can_delete",
    "list": "can_list",
}
