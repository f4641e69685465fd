"""Sessions that an agent keeps: which one is open, what taking one up again brings back, and what it must not."""

from __future__ import annotations

from collections.abc import Iterable

from turnproof.requirements import Findings, check
from turnproof.scenarios.model import NOBODY
from turnproof.transcript import SessionInForce
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import show

from .kept import CHANGING, Talk, done_with, taken_up, talks, wanted_of
from .reading import calls_in, calls_made, results_in, system_text
from .steps import bare, unpaired

# -- which session is open ----------------------------------------------------------------------------------


@check("sessions/has-an-id", without_calls=True)
def has_an_id(view: View) -> Findings:
    """At the latest after the first turn that was answered."""
    for talk in talks(view):
        if not talk.step.ordinary:
            continue
        if talk.session is None:
            yield violated(f"{talk.where}: the turn was answered, and the agent has told no id of its session")
        else:
            yield "ids of sessions"


@check("sessions/id-stays-through-its-turns", without_calls=True)
def id_stays_through_its_turns(view: View) -> Findings:
    """Of turns with nothing done to the sessions in between, also where one was cancelled, failed or lost.

    Before anything was answered in a session nothing is lost with its id.
    """
    before: Talk | None = None
    for talk in talks(view):
        quiet = not any(done.wanted.do in CHANGING for done in talk.steps)
        if before is not None and before.session in talk.known and quiet:
            if talk.session == before.session:
                yield "ids of later turns"
            else:
                now = talk.session or "none"
                yield violated(f"{talk.where}: the session is {now}, and it was {before.session} in {before.where}")
        before = talk


@check("sessions/new-session-is-another-one", without_calls=True)
def new_session_is_another_one(view: View) -> Findings:
    """Its id is not that of any session there was."""
    for done, talk in done_with(view, "new", "open"):
        step = done.wanted
        if done.event.outcome != "done" or done is not talk.steps[-1] or step.last or step.session is not None:
            continue
        if talk.session in talk.known:
            yield violated(f"{talk.where}: a new session was begun, and what is open is {talk.session} again")
        elif talk.session is not None:
            yield "new sessions"


@check("sessions/sessions-stay-apart", without_calls=True)
def sessions_stay_apart(view: View) -> Findings:
    """No request has a text of another session."""
    for talk in talks(view):
        if talk.asked is None or talk.session is None or set(talk.known) <= {talk.session}:
            continue
        if text := talk.foreign():
            yield violated(f"{talk.where}: the request in session {talk.session} has {show(text)} of another session")
        else:
            yield "requests in one of several sessions"


@check("sessions/local-history-is-the-open-sessions", without_calls=True)
def local_history_is_the_open_sessions(view: View) -> Findings:
    """What is held after a step, and after a turn, has no text of another session."""
    for talk in talks(view):
        if talk.session is None or set(talk.known) <= {talk.session}:
            continue
        if mixed := talk.foreign_in((message.text for message in talk.step.held), *talk.step.answered_text):
            yield violated(f"{talk.where}: the history of session {talk.session} has {show(mixed)} of another session")
        else:
            yield "histories of one of several sessions"


# -- taking one up again ------------------------------------------------------------------------------------


@check("sessions/resume-brings-back-what-was-said", without_calls=True)
def resume_brings_back_what_was_said(view: View) -> Findings:
    """The next request has every text of the session, in order, and each thing the user said once."""
    for talk, label in taken_up(view):
        said = talk.known[label]
        if talk.asked is None:
            continue
        if missing := talk.lacks(said):
            yield violated(
                f"{talk.where}: session {label} was taken up again, and the request lacks {show(missing)}, or has it "
                "in another place"
            )
        elif repeated := talk.repeats(said):
            yield violated(f"{talk.where}: session {label} was taken up again, and {show(repeated)} is sent twice")
        else:
            yield "requests in sessions that were taken up again"


@check("sessions/resume-keeps-the-id", without_calls=True)
def resume_keeps_the_id(view: View) -> Findings:
    """What is open afterwards is what was asked for, before its next turn and after it."""
    for talk, label in taken_up(view):
        last = next(done for done in reversed(talk.steps) if wanted_of(done, talk) == label)
        if last.event.now not in (label, None):
            yield violated(f"{last.where}: session {label} was asked for, and what is open is {last.event.now}")
        elif talk.session != label:
            yield violated(f"{talk.where}: session {label} was taken up, and after the turn {talk.session} is open")
        else:
            yield "ids of sessions that were taken up again"


@check("sessions/resume-restores-calls-and-results", without_calls=True)
def resume_restores_calls_and_results(view: View) -> Findings:
    """Each call that was made in the session is in the next request, with its result."""
    for talk, label in taken_up(view):
        made = [
            call.name
            for earlier in talks(view)
            if earlier.turn.index < talk.turn.index and earlier.session == label and earlier.step.ordinary
            for exchange in earlier.answered
            if exchange.answer is not None
            for call in calls_in(exchange.answer.parts)
        ]
        if not made or talk.asked is None:
            continue
        sent, results = calls_made(talk.sent), results_in(talk.sent)
        if len(sent) < len(made) or len(results) < len(made):
            yield violated(
                f"{talk.where}: {len(made)} calls were made in session {label}, and the request has {len(sent)} calls "
                f"and {len(results)} results"
            )
        elif broken := unpaired(talk.sent):
            yield violated(f"{talk.where}: in the request that takes up session {label}, {broken}")
        else:
            yield "calls in sessions that were taken up again"


@check("sessions/resumed-history-is-no-new-output", without_calls=True)
def resumed_history_is_no_new_output(view: View) -> Findings:
    """What the user is shown in the next turn is the next turn's."""
    for talk, label in taken_up(view):
        ended = talk.turn.ended
        if ended is None or not talk.step.ordinary:
            continue
        shown, answered = (bare([ended.shown]), bare([ended.text])), bare(talk.step.answered_text)
        texts = [text for said in talk.known[label] for text in said.all]
        if again := next((text for text in texts if _more_often(bare([text]), shown, answered)), ""):
            yield violated(f"{talk.where}: of the session that was taken up, {show(again)} is shown as new")
        else:
            yield "texts shown in sessions that were taken up again"


def _more_often(text: str, shown: Iterable[str], answered: str) -> bool:
    return any(one.count(text) > answered.count(text) for one in shown)


@check("sessions/resume-restores-local-history", without_calls=True)
def resume_restores_local_history(view: View) -> Findings:
    """What is held after a session was taken up again has all that was said in it."""
    for talk, label in taken_up(view):
        row = bare(message.text for message in talk.step.held)
        missing = [text for said in talk.known[label] for text in said.all if bare([text]) not in row]
        if missing:
            yield violated(
                f"{talk.where}: session {label} was taken up again, and its history lacks {show(missing[0])}"
            )
        else:
            yield "histories of sessions that were taken up again"


@check("sessions/system-text-is-sent-after-resume", without_calls=True)
def system_text_is_sent_after_resume(view: View) -> Findings:
    """Agents do not store it, so it has to be told again."""
    for talk, _ in taken_up(view):
        system = view.scenario.system_in(talk.turn.index)
        if not system or talk.asked is None or talk.asked.call is None:
            continue
        row = bare([system_text(talk.asked.call), *(message.text for message in talk.sent)])
        if bare([system]) in row:
            yield "system texts after a resume"
        else:
            yield violated(f"{talk.where}: the request in the session that was taken up lacks {show(system)}")


@check("sessions/system-text-is-sent-once", without_calls=True)
def system_text_is_sent_once(view: View) -> Findings:
    """In every request, wherever in it: an agent without a place for it gets it in front of the first message."""
    for talk in talks(view):
        system = view.scenario.system_in(talk.turn.index)
        if not system:
            continue
        for exchange in talk.requests:
            if exchange.call is None:
                continue
            texts = [system_text(exchange.call), *(m.text for m in exchange.call.messages if m.role != "system")]
            spoken = [*(text for said in talk.before for text in said.all), talk.turn.said]
            count = bare(texts).count(bare([system])) - bare(spoken).count(bare([system]))
            if count == 1:
                yield "system texts"
            else:
                yield violated(f"{talk.where}: the system text stands in the request {count} times")


@check("sessions/tools-are-there-after-resume", without_calls=True)
def tools_are_there_after_resume(view: View) -> Findings:
    """All that are declared, under names that end in the letters of their own."""
    for talk, _ in taken_up(view):
        declared = [tool.name for tool in view.scenario.tools_in(talk.turn.index)]
        if not declared or talk.asked is None or talk.asked.call is None:
            continue
        sent = [tool.name for tool in talk.asked.call.tools]
        missing = [name for name in declared if not any(_letters(one).endswith(_letters(name)) for one in sent)]
        if missing:
            yield violated(f"{talk.where}: the session was taken up again without the tool {missing[0]!r}")
        else:
            yield "tools after a resume"


def _letters(name: str) -> str:
    """What programs leave of a name, whatever else they put in the place of a character that may not be sent."""
    return "".join(filter(str.isalnum, name)).lower()


@check("sessions/model-stays-the-one-asked-for", without_calls=True)
def model_stays_the_one_asked_for(view: View) -> Findings:
    """In every session, new or taken up."""
    wanted = view.transcript.model
    facts = view.dialect.models.get(wanted)
    same = {wanted, facts.alias_of if facts is not None else wanted, facts.id if facts is not None else wanted}
    for talk in talks(view):
        if talk.asked is None or talk.asked.call is None:
            continue
        if talk.asked.call.model in same:
            yield "models that were asked"
        else:
            yield violated(f"{talk.where}: {talk.asked.call.model!r} was asked, and the agent was given {wanted!r}")


# -- what there is not --------------------------------------------------------------------------------------


@check("sessions/unknown-id-is-refused", without_calls=True)
def unknown_id_is_refused(view: View) -> Findings:
    """With an error of the tree, and not with another session."""
    for done, _ in done_with(view, "resume"):
        if done.wanted.session != NOBODY:
            continue
        if done.event.outcome != "refused":
            yield violated(f"{done.where}: an unknown session was resumed without an error; open is {done.event.now}")
        elif not done.event.typed:
            yield violated(f"{done.where}: an unknown session was refused with {done.refused}, which no caller knows")
        else:
            yield "unknown sessions"


@check("sessions/refused-resume-changes-nothing", without_calls=True)
def refused_resume_changes_nothing(view: View) -> Findings:
    """What was open stays open, and the next turn is said in it."""
    for done, talk in done_with(view, "resume"):
        if done.event.outcome != "refused" or done is not talk.steps[-1]:
            continue
        was = done.event.was
        if done.event.now != was or (was is not None and talk.session != was):
            now = done.event.now if done.event.now != was else talk.session
            yield violated(f"{done.where}: a refused resume left {now} open instead of {was}")
        elif talk.asked is not None and (missing := talk.lacks(talk.before)):
            yield violated(f"{talk.where}: after a refused resume the request lacks {show(missing)}")
        else:
            yield "sessions after a refused resume"


@check("sessions/opening-falls-back", without_calls=True)
def opening_falls_back(view: View) -> Findings:
    """An agent that is opened with an unknown session takes a turn all the same, in a session of its own."""
    for done, talk in done_with(view, "open"):
        if done.wanted.session != NOBODY:
            continue
        ended = talk.turn.ended
        if done.event.outcome != "done":
            yield violated(f"{done.where}: opening failed for want of a session: {done.refused}")
        elif ended is None or ended.outcome != "answer":
            failed = talk.turn.failed
            why = f": {failed.error}: {failed.message}" if failed is not None else ""
            yield violated(f"{talk.where}: opened with an unknown session, the agent takes no turn{why}")
        elif talk.session == NOBODY:
            yield violated(f"{talk.where}: opened with an unknown session, the agent goes by that id")
        else:
            yield "agents opened with an unknown session"


@check("sessions/continue-takes-the-last-updated", without_calls=True)
def continue_takes_the_last_updated(view: View) -> Findings:
    """The one in which something was last said, wherever it stands in a list."""
    for talk in talks(view):
        for done in talk.steps:
            if not (done.wanted.last or done.wanted.do == "continue") or (label := wanted_of(done, talk)) is None:
                continue
            if done.event.outcome == "refused":
                yield violated(f"{done.where}: the last session was not taken up: {done.refused}")
            elif talk.session != label:
                yield violated(f"{talk.where}: {label} was updated last, and the agent went on with {talk.session}")
            else:
                yield "sessions that were continued"


@check("sessions/continue-stays-in-its-folder", without_calls=True)
def continue_stays_in_its_folder(view: View) -> Findings:
    """Where no session was, nothing is gone on with: what was open stays, or a new one is begun."""
    for talk in talks(view):
        for done in talk.steps:
            step = done.wanted
            if not (step.last or step.do == "continue") or step.cwd is None or wanted_of(done, talk) is not None:
                continue
            kept = done.event.was if step.do == "continue" else None
            if done.event.outcome == "refused":
                yield violated(
                    f"{done.where}: where there is no session, going on with the last failed: {done.refused}"
                )
            elif talk.session in talk.known and talk.session != kept:
                yield violated(f"{talk.where}: in another folder the agent went on with session {talk.session}")
            else:
                yield "folders without a session"


@check("sessions/damaged-session-is-no-empty-one", without_calls=True)
def damaged_session_is_no_empty_one(view: View) -> Findings:
    """It is refused, or what is whole of it is sent: one that answers as if nothing had been said is neither."""
    for done, talk in done_with(view, "resume"):
        before = talk.steps[talk.steps.index(done) - 1] if talk.steps.index(done) else None
        if before is None or before.wanted.do != "damage" or before.event.outcome != "done":
            continue
        said = talk.known.get(done.wanted.session or "", ())
        if done.event.outcome == "refused" and not done.event.typed:
            yield violated(f"{done.where}: a damaged session was refused with {done.refused}, which no caller knows")
        elif done.event.outcome == "refused":
            yield "damaged sessions that were refused"
        elif talk.turn.failed is not None and talk.turn.failed.typed:
            yield "damaged sessions"
        elif said and talk.asked is not None and all(talk.lacks([one]) for one in said):
            yield violated(f"{talk.where}: a damaged session was taken up, and nothing of it is in the request")
        else:
            yield "damaged sessions"


@check("sessions/capabilities-are-what-is-claimed", without_calls=True)
def capabilities_are_what_is_claimed(view: View) -> Findings:
    """What an agent says can be done with its sessions, by the names that there are, and what then can be done."""
    for talk in talks(view):
        told = talk.step.first(SessionInForce)
        if told is None:
            continue
        if told.unknown:
            yield violated(f"{talk.where}: the agent claims {told.unknown[0]!r} of its sessions, which nobody knows")
        for done in talk.steps:
            name = _NEEDS.get(done.wanted.do, "")
            name = "can_load" if done.wanted.do == "open" and done.wanted.session not in (None, NOBODY) else name
            if not name:
                continue
            if name not in told.can:
                yield violated(f"{done.where}: the binding claims it, and the agent does not say that it {name}")
            elif done.event.unsupported:
                yield violated(f"{done.where}: the agent says that it {name}, and refuses: {done.refused}")
            else:
                yield "capabilities"


_NEEDS = {
    "resume": "can_load",
    "continue": "can_continue_last",
    "fork": "can_fork",
    "delete": "can_delete",
    "list": "can_list",
}
