"""Sessions that an agent keeps: which one is open, what resuming one brings back, and what it must not."""

from __future__ import annotations

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.run.transcript import SessionInForce
from turnproof.scenarios.model import NOBODY

from .agent_runs import (
    CHANGING,
    AgentTurn,
    agent_turns,
    requested_session,
    resumed_turns,
    session_actions,
    session_value,
)
from .quoted_texts import at_held_text, at_text
from .reading import calls_in, calls_made, results_in, system_text
from .steps import every_unpaired, failure, outcome
from .words import without_blanks

# -- which session is open ----------------------------------------------------------------------------------

_NO_ID = finding(
    "sessions/has-an-id/missing",
    "The agent names no id for its session.",
    "the id of the session, after a turn that was answered",
    "no id",
)


@check("sessions/has-an-id", without_calls=True)
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


@check("sessions/id-stays-through-its-turns", without_calls=True)
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


@check("sessions/new-session-is-another-one", without_calls=True)
def new_session_is_another_one(view: View) -> Findings:
    """Its id is not that of any session there was."""
    for action, turn in session_actions(view, "new", "open"):
        step = action.script
        if action.event.outcome != "done" or action is not turn.steps[-1] or step.last or step.session is not None:
            continue
        if turn.session in turn.known_sessions:
            yield _ID_REUSED(
                turn.at_session(),
                observed=turn.session,
                related=(action.at("now"),),
                known=list(turn.known_sessions),
            )
        elif turn.session is not None:
            yield Compared("new sessions")


_SENT_IN_ANOTHER = finding(
    "sessions/sessions-stay-apart/foreign-text",
    "A request has a text of another session.",
    "only texts of the session {session}",
    "the text {observed} of another session",
)


@check("sessions/sessions-stay-apart", without_calls=True)
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


@check("sessions/local-history-is-the-open-sessions", without_calls=True)
def local_history_is_the_open_sessions(view: View) -> Findings:
    """What is held after a step, and after a turn, has no text of another session."""
    for turn in agent_turns(view):
        if turn.session is None or set(turn.known_sessions) <= {turn.session}:
            continue
        foreign = turn.foreign_texts_in((message.text for message in turn.step.history), *turn.step.answered_text)
        for quote in foreign:
            yield _HELD_IN_ANOTHER(
                at_held_text(turn.step, quote.text),
                observed=quote.text,
                related=(quote.place,),
                session=turn.session,
            )
        if not foreign:
            yield Compared("histories of one of several sessions")


# -- taking one up again ------------------------------------------------------------------------------------

_RESUMED_WITHOUT = finding(
    "sessions/resume-brings-back-what-was-said/missing",
    "A request in a resumed session lacks a text of that session.",
    "{expected} among the messages, in the order of the conversation",
    "messages with the texts {observed}",
)
_RESUMED_TWICE = finding(
    "sessions/resume-brings-back-what-was-said/twice",
    "A request in a resumed session repeats a message of the user.",
    "the text {text} as often as the user sent it ({expected})",
    "{observed} times",
)


@check("sessions/resume-brings-back-what-was-said", without_calls=True)
def resume_brings_back_what_was_said(view: View) -> Findings:
    """The next request has every text of the session, in order, and each thing the user said once."""
    for turn, label in resumed_turns(view):
        earlier_texts = turn.known_sessions[label]
        if turn.request is None:
            continue
        missing, repeated = turn.missing_texts(earlier_texts), list(turn.repeated_texts(earlier_texts))
        yield from turn.missing_findings(_RESUMED_WITHOUT, missing)
        for quote, allowed, count in repeated:
            yield _RESUMED_TWICE(
                turn.at_request_text(quote.text),
                expected=allowed,
                observed=count,
                related=(quote.place,),
                text=quote.text,
            )
        if not missing and not repeated:
            yield Compared("requests in sessions that were taken up again")


_RESUMED_ANOTHER = finding(
    "sessions/resume-keeps-the-id/wrong-session",
    "Resuming a session opens another one.",
    "the session {expected}",
    "{observed}",
)
_RESUMED_CHANGED = finding(
    "sessions/resume-keeps-the-id/changed",
    "A resumed session has another id after its next turn.",
    "the session {expected}",
    "{observed}",
)


@check("sessions/resume-keeps-the-id", without_calls=True)
def resume_keeps_the_id(view: View) -> Findings:
    """What is open afterwards is what was asked for, before its next turn and after it."""
    for turn, label in resumed_turns(view):
        last = next(action for action in reversed(turn.steps) if requested_session(action, turn) == label)
        if last.event.now not in (label, None):
            yield _RESUMED_ANOTHER(last.at("now"), expected=label, observed=last.event.now)
        elif turn.session != label:
            yield turn.session_finding(_RESUMED_CHANGED, label, last.at("now"))
        else:
            yield Compared("ids of sessions that were taken up again")


_CALLS_LOST = finding(
    "sessions/resume-restores-calls-and-results/calls-missing",
    "A request in a resumed session lacks tool calls of that session.",
    "the calls of the tools {expected}",
    "{observed}",
)
_RESULTS_LOST = finding(
    "sessions/resume-restores-calls-and-results/results-missing",
    "A request in a resumed session lacks tool results of that session.",
    "a result for each of the calls {made} ({expected})",
    "{observed}",
)
_UNPAIRED = finding(
    "sessions/resume-restores-calls-and-results/unpaired",
    "A request in a resumed session has a tool call without its result, or a result without its call.",
    "a call and a result with the id {id}",
    "only the {observed:words}",
)


@check("sessions/resume-restores-calls-and-results", without_calls=True)
def resume_restores_calls_and_results(view: View) -> Findings:
    """Each call that was made in the session is in the next request, with its result."""
    for turn, label in resumed_turns(view):
        made = [
            call.name
            for earlier in agent_turns(view)
            if earlier.view.index < turn.view.index and earlier.session == label and earlier.step.ordinary
            for exchange in earlier.answered_requests
            if exchange.answer is not None
            for call in calls_in(exchange.answer.parts)
        ]
        if not made or turn.request is None:
            continue
        sent, results = calls_made(turn.request_messages), results_in(turn.request_messages)
        if len(sent) < len(made):
            yield _CALLS_LOST(turn.at_messages(), expected=made, observed=[call.name for call in sent])
        if len(results) < len(made):
            yield _RESULTS_LOST(turn.at_messages(), expected=len(made), observed=len(results), made=made)
        if len(sent) < len(made) or len(results) < len(made):
            continue
        broken = list(every_unpaired(turn.request_messages))
        for one in broken:
            place = turn.request.at_read("messages", one.message, "parts", one.part)
            yield _UNPAIRED(place, observed="call" if one.lacks == "result" else "result", id=one.call_id)
        if not broken:
            yield Compared("calls in sessions that were taken up again")


_SHOWN_AGAIN = finding(
    "sessions/resumed-history-is-no-new-output/shown-again",
    "An earlier text of a resumed session is shown to the user as new.",
    "only what the model answered in the turn, {expected}",
    "{observed}, with the earlier text {text}",
)


@check("sessions/resumed-history-is-no-new-output", without_calls=True)
def resumed_history_is_no_new_output(view: View) -> Findings:
    """What the user is shown in the next turn is the next turn's."""
    for turn, label in resumed_turns(view):
        ended = turn.view.ended
        if ended is None or not turn.step.ordinary:
            continue
        answer_text, wrong = without_blanks(turn.step.answered_text), False
        outputs = (("shown", ended.shown), ("text", ended.text))
        for quote in {one.without_blanks: one for said in turn.known_sessions[label] for one in said.all}.values():
            field, output = next(
                (one for one in outputs if _more_often(quote.without_blanks, one[1], answer_text)), ("", "")
            )
            if field:
                wrong = True
                yield _SHOWN_AGAIN(
                    turn.at_ended(field),
                    expected=turn.step.answered_text,
                    observed=output,
                    related=(quote.place,),
                    text=quote.text,
                )
        if not wrong:
            yield Compared("texts shown in sessions that were taken up again")


def _more_often(text: str, output: str, answer_text: str) -> bool:
    return without_blanks([output]).count(text) > answer_text.count(text)


_HISTORY_LACKS = finding(
    "sessions/resume-restores-local-history/missing",
    "The history of a resumed session lacks a text of that session.",
    "{expected} among the messages",
    "messages with the texts {observed}",
)


@check("sessions/resume-restores-local-history", without_calls=True)
def resume_restores_local_history(view: View) -> Findings:
    """What is held after a session was taken up again has all that was said in it."""
    for turn, label in resumed_turns(view):
        texts = [message.text for message in turn.step.history]
        missing = [
            quote
            for said in turn.known_sessions[label]
            for quote in said.all
            if quote.without_blanks not in without_blanks(texts)
        ]
        for quote in missing:
            yield _HISTORY_LACKS(
                turn.step.at_history(),
                expected=quote.text,
                observed=list(filter(None, texts)),
                related=(quote.place,),
            )
        if not missing:
            yield Compared("histories of sessions that were taken up again")


_SYSTEM_LOST = finding(
    "sessions/system-text-is-sent-after-resume/missing",
    "A request in a resumed session lacks the system text.",
    "the system text {expected}",
    "{observed}",
)


@check("sessions/system-text-is-sent-after-resume", without_calls=True)
def system_text_is_sent_after_resume(view: View) -> Findings:
    """Agents do not store it, so it has to be told again."""
    for turn, _ in resumed_turns(view):
        system = view.scenario.system_in(turn.view.index)
        if not system or turn.request is None or turn.request.call is None:
            continue
        sent = system_text(turn.request.call)
        if without_blanks([system]) in without_blanks([sent, *(message.text for message in turn.request_messages)]):
            yield Compared("system texts after a resume")
        else:
            yield _SYSTEM_LOST(turn.request.at_read("system"), expected=system, observed=sent)


_SYSTEM_COUNT = finding(
    "sessions/system-text-is-sent-once/wrong-count",
    "A request does not have the system text exactly once.",
    "the system text {text} once",
    "{observed} times",
)


@check("sessions/system-text-is-sent-once", without_calls=True)
def system_text_is_sent_once(view: View) -> Findings:
    """In every request, wherever in it: an agent without a place for it gets it in front of the first message."""
    for turn in agent_turns(view):
        system = view.scenario.system_in(turn.view.index)
        if not system:
            continue
        for exchange in turn.requests:
            if exchange.call is None:
                continue
            texts = [system_text(exchange.call), *(m.text for m in exchange.call.messages if m.role != "system")]
            spoken = [
                *(quote.text for texts_before in turn.earlier_turns for quote in texts_before.all),
                turn.view.said,
            ]
            count = without_blanks(texts).count(without_blanks([system])) - without_blanks(spoken).count(
                without_blanks([system])
            )
            if count == 1:
                yield Compared("system texts")
            else:
                place = at_text(exchange, system) if count > 1 else exchange.at_read("system")
                yield _SYSTEM_COUNT(place, expected=1, observed=count, text=system)


_TOOL_LOST = finding(
    "sessions/tools-are-there-after-resume/missing",
    "A request in a resumed session lacks a tool.",
    "the tool {expected}",
    "a request with the tools {observed}",
)


@check("sessions/tools-are-there-after-resume", without_calls=True)
def tools_are_there_after_resume(view: View) -> Findings:
    """All that are declared, under names that end in the letters of their own."""
    for turn, _ in resumed_turns(view):
        declared = [tool.name for tool in view.scenario.tools_in(turn.view.index)]
        if not declared or turn.request is None or turn.request.call is None:
            continue
        sent = [tool.name for tool in turn.request.call.tools]
        missing = [
            name for name in declared if not any(_name_letters(one).endswith(_name_letters(name)) for one in sent)
        ]
        for name in missing:
            yield _TOOL_LOST(turn.request.at_read("tools"), expected=name, observed=sent)
        if not missing:
            yield Compared("tools after a resume")


def _name_letters(name: str) -> str:
    """What programs leave of a name, whatever else they put in the place of a character that may not be sent."""
    return "".join(filter(str.isalnum, name)).lower()


_OTHER_MODEL = finding(
    "sessions/model-stays-the-one-asked-for/changed",
    "The agent asks another model than the one that it was given.",
    "the model {expected}",
    "{observed}",
)


@check("sessions/model-stays-the-one-asked-for", without_calls=True)
def model_stays_the_one_asked_for(view: View) -> Findings:
    """In every session, new or taken up."""
    wanted = view.transcript.model
    facts = view.dialect.models.get(wanted)
    same = {wanted, facts.alias_of if facts is not None else wanted, facts.id if facts is not None else wanted}
    for turn in agent_turns(view):
        if turn.request is None or turn.request.call is None:
            continue
        if turn.request.call.model in same:
            yield Compared("models that were asked")
        else:
            yield _OTHER_MODEL(turn.request.at_read("model"), expected=wanted, observed=turn.request.call.model)


# -- what there is not --------------------------------------------------------------------------------------

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
    "`{observed:words}` with the message {message}",
)


@check("sessions/unknown-id-is-refused", without_calls=True)
def unknown_id_is_refused(view: View) -> Findings:
    """With an error of the tree, and not with another session."""
    for action, _ in session_actions(view, "resume"):
        if action.script.session != NOBODY:
            continue
        if action.event.outcome != "refused":
            yield _UNKNOWN_ACCEPTED(action.at("outcome"), observed=session_value(action.event.now))
        elif not action.event.typed:
            yield _UNKNOWN_UNTYPED(action.at("error"), observed=action.event.error, message=action.event.message)
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
    "{expected} among the messages, in the order of the conversation",
    "messages with the texts {observed}",
)


@check("sessions/refused-resume-changes-nothing", without_calls=True)
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
    "`{observed:words}` with the message {message}",
)
_OPENED_WITHOUT_ANSWER = finding(
    "sessions/opening-falls-back/no-answer",
    "An agent that was opened with an unknown session does not answer.",
    "the outcome {expected}",
    "{observed}{failure:words}",
)
_UNKNOWN_ADOPTED = finding(
    "sessions/opening-falls-back/unknown-id-adopted",
    "An agent that was opened with an unknown session uses that id.",
    "a session with an id of its own",
    "the session {observed}",
)


@check("sessions/opening-falls-back", without_calls=True)
def opening_falls_back(view: View) -> Findings:
    """An agent that is opened with an unknown session takes a turn all the same, in a session of its own."""
    for action, turn in session_actions(view, "open"):
        if action.script.session != NOBODY:
            continue
        ended = turn.view.ended
        if action.event.outcome != "done":
            yield _OPENING_FAILED(action.at("error"), observed=action.event.error, message=action.event.message)
        elif ended is None or ended.outcome != "answer":
            yield _OPENED_WITHOUT_ANSWER(
                turn.view.at_end(),
                expected="answer",
                observed=outcome(turn.view),
                failure=failure(turn.view),
            )
        elif turn.session == NOBODY:
            yield _UNKNOWN_ADOPTED(turn.at_session(), observed=turn.session)
        else:
            yield Compared("agents opened with an unknown session")


_CONTINUE_REFUSED = finding(
    "sessions/continue-takes-the-last-updated/refused",
    "The last session was not continued.",
    "the session {expected}",
    "`{observed:words}` with the message {message}",
)
_CONTINUED_ANOTHER = finding(
    "sessions/continue-takes-the-last-updated/wrong-session",
    "Another session than the one updated last was continued.",
    "the session {expected}",
    "{observed}",
)


@check("sessions/continue-takes-the-last-updated", without_calls=True)
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
                yield _CONTINUE_REFUSED(action.at("error"), expected=label, observed=event.error, message=event.message)
            elif turn.session != label:
                yield turn.session_finding(_CONTINUED_ANOTHER, label, action.at("now"))
            else:
                yield Compared("sessions that were continued")


_EMPTY_REFUSED = finding(
    "sessions/continue-stays-in-its-folder/refused",
    "Continuing in a folder without a session fails.",
    "a new session, or the one that was open",
    "`{observed:words}` with the message {message}",
)
_OTHER_FOLDER = finding(
    "sessions/continue-stays-in-its-folder/other-folder",
    "A session of another folder was continued.",
    "a new session, or the one that was open",
    "the session {observed} of another folder",
)


@check("sessions/continue-stays-in-its-folder", without_calls=True)
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
                yield _EMPTY_REFUSED(action.at("error"), observed=event.error, message=event.message)
            elif turn.session in turn.known_sessions and turn.session != open_before:
                yield _OTHER_FOLDER(turn.at_session(), observed=turn.session, related=(action.at("now"),))
            else:
                yield Compared("folders without a session")


_DAMAGED_UNTYPED = finding(
    "sessions/damaged-session-is-no-empty-one/unknown-error",
    "Resuming a damaged session raises an error that callers do not know.",
    "a `TurnproofError`",
    "`{observed:words}` with the message {message}",
)
_DAMAGED_EMPTY = finding(
    "sessions/damaged-session-is-no-empty-one/empty",
    "A damaged session is resumed as an empty one.",
    "an error, or a request with one of the session's turns {expected}",
    "messages with the texts {observed}",
)


@check("sessions/damaged-session-is-no-empty-one", without_calls=True)
def damaged_session_is_no_empty_one(view: View) -> Findings:
    """It is refused, or what is whole of it is sent: one that answers as if nothing had been said is neither."""
    for action, turn in session_actions(view, "resume"):
        before = turn.steps[turn.steps.index(action) - 1] if turn.steps.index(action) else None
        if before is None or before.script.do != "damage" or before.event.outcome != "done":
            continue
        earlier_texts = turn.known_sessions.get(action.script.session or "", ())
        if action.event.outcome == "refused" and not action.event.typed:
            yield _DAMAGED_UNTYPED(action.at("error"), observed=action.event.error, message=action.event.message)
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
    "`{observed:words}` with the message {message}",
)


@check("sessions/capabilities-are-what-is-claimed", without_calls=True)
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
