"""Sessions that an agent takes up again: what comes back, once and complete, and what stays as it was."""

from __future__ import annotations

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View

from .agent_runs import agent_turns, requested_session, resumed_turns
from .content import calls_in, calls_made, results_in, system_text
from .phrases import AMONG_THE_MESSAGES, IN_ORDER_AMONG_THE_MESSAGES, SENT_TEXTS
from .quoted_texts import at_text
from .steps import every_unpaired
from .words import without_blanks

_RESUMED_WITHOUT = finding(
    "sessions/resume-brings-back-what-was-said/missing",
    "A request in a resumed session lacks a text of that session.",
    IN_ORDER_AMONG_THE_MESSAGES,
    SENT_TEXTS,
)
_RESUMED_TWICE = finding(
    "sessions/resume-brings-back-what-was-said/twice",
    "A request in a resumed session repeats a message of the user.",
    "the text {text} as often as the user sent it ({expected})",
    "{observed} times",
)


@check("sessions/resume-brings-back-what-was-said", needs="wire")
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


@check("sessions/resume-keeps-the-id", needs="wire")
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


@check("sessions/resume-restores-calls-and-results", needs="wire")
def resume_restores_calls_and_results(view: View) -> Findings:
    """Each call that was made in the session is in the next request, with its result."""
    for turn, label in resumed_turns(view):
        calls = [
            call.name
            for earlier in agent_turns(view)
            if earlier.view.index < turn.view.index and earlier.session == label and earlier.step.ordinary
            for exchange in earlier.answered_requests
            if exchange.answer is not None
            for call in calls_in(exchange.answer.parts)
        ]
        if not calls or turn.request is None:
            continue
        sent, results = calls_made(turn.request_messages), results_in(turn.request_messages)
        if len(sent) < len(calls):
            yield _CALLS_LOST(turn.at_messages(), expected=calls, observed=[call.name for call in sent])
        if len(results) < len(calls):
            yield _RESULTS_LOST(turn.at_messages(), expected=len(calls), observed=len(results), made=calls)
        if len(sent) < len(calls) or len(results) < len(calls):
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


@check("sessions/resumed-history-is-no-new-output", needs="wire")
def resumed_history_is_no_new_output(view: View) -> Findings:
    """What the user is shown in the next turn is the next turn's."""
    for turn, label in resumed_turns(view):
        ended = turn.view.ended
        if ended is None or not turn.step.ordinary:
            continue
        answer_text, wrong = without_blanks(turn.step.answered_text), False
        outputs = (("shown", ended.shown), ("text", ended.text))
        for quote in {one.without_blanks: one for texts in turn.known_sessions[label] for one in texts.all}.values():
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
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("sessions/resume-restores-local-history", needs="wire")
def resume_restores_local_history(view: View) -> Findings:
    """What is held after a session was taken up again has all that was said in it."""
    for turn, label in resumed_turns(view):
        texts = [message.text for message in turn.step.history]
        missing = [
            quote
            for turn_texts in turn.known_sessions[label]
            for quote in turn_texts.all
            if quote.without_blanks not in without_blanks(texts)
        ]
        for quote in missing:
            yield _HISTORY_LACKS(
                turn.step.at_history(), expected=quote.text, observed=list(filter(None, texts)), related=(quote.place,)
            )
        if not missing:
            yield Compared("histories of sessions that were taken up again")


_SYSTEM_LOST = finding(
    "sessions/system-text-is-sent-after-resume/missing",
    "A request in a resumed session lacks the system text.",
    "the system text {expected}",
    "{observed}",
)


@check("sessions/system-text-is-sent-after-resume", needs="wire")
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


@check("sessions/system-text-is-sent-once", needs="wire")
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
            user_texts = [
                *(quote.text for texts_before in turn.earlier_turns for quote in texts_before.all),
                turn.view.user_text,
            ]
            count = without_blanks(texts).count(without_blanks([system])) - without_blanks(user_texts).count(
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


@check("sessions/tools-are-there-after-resume", needs="wire")
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


@check("sessions/model-stays-the-one-asked-for", needs="wire")
def model_stays_the_one_asked_for(view: View) -> Findings:
    """In every session, new or taken up."""
    expected = view.transcript.model
    facts = view.dialect.models.get(expected)
    same = {expected, facts.alias_of if facts is not None else expected, facts.id if facts is not None else expected}
    for turn in agent_turns(view):
        if turn.request is None or turn.request.call is None:
            continue
        if turn.request.call.model in same:
            yield Compared("models that were asked")
        else:
            yield _OTHER_MODEL(turn.request.at_read("model"), expected=expected, observed=turn.request.call.model)
