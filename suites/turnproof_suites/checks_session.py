"""What a session tells its user: the answer, as it comes and in the end, what it cost, and that it stopped."""

from __future__ import annotations

from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.run.transcript import Refused, UsageReport

from .phrases import ERROR_AND_MESSAGE, OUTCOME_AND_FAILURE
from .steps import Step, failure, outcome, turns_done
from .words import without_blanks

_OTHER_REPLY = finding(
    "core/reply-is-the-answer/wrong-text",
    "The reply of a turn does not end with the model's answer.",
    "a reply that ends with {expected}",
    "{observed}",
)


@check("core/reply-is-the-answer")
def reply_is_the_answer(view: View) -> Findings:
    """The reply ends with the model's last words; what it said before its tool calls may stand in front."""
    for step in turns_done(view):
        ended = step.turn.ended
        if not step.ordinary or _structured(step) or not step.answered_text or ended is None:
            continue
        last = step.answered_text[-1]
        if without_blanks([ended.text]).endswith(without_blanks([last])):
            yield Compared("replies")
        else:
            related = (step.answers[-1].at(Side.STREAM),)
            yield _OTHER_REPLY(step.at_event(ended, "text"), expected=last, observed=ended.text, related=related)


_OTHER_TEXT_SHOWN = finding(
    "streaming/user-sees-the-answer-once/wrong-text", "The user is not shown the text of the model, once and in order."
)


@check("streaming/user-sees-the-answer-once")
def user_sees_the_answer_once(view: View) -> Findings:
    """All text of the turn, in order; tool rounds do not show anything twice."""
    if not view.streamed:
        return
    for step in turns_done(view):
        ended = step.turn.ended
        if not step.ordinary or _structured(step) or not step.answered_text or ended is None:
            continue
        if without_blanks([ended.shown]) == without_blanks(step.answered_text):
            yield Compared("texts shown")
        else:
            yield _OTHER_TEXT_SHOWN(
                step.at_event(ended, "shown"),
                expected="".join(step.answered_text),
                observed=ended.shown,
                related=[one.at(Side.STREAM) for one in step.answers],
            )


_STOP_REFUSED = finding(
    "cancellation/stop-ends-the-turn/refused", "`stop()` raises an error.", "a turn that ends", ERROR_AND_MESSAGE
)
_WENT_ON = finding(
    "cancellation/stop-ends-the-turn/went-on",
    "A stopped turn goes on.",
    "a connection that the session closes",
    "one that was open until the server gave up",
)
_NOT_CANCELLED = finding(
    "cancellation/stop-ends-the-turn/wrong-outcome",
    "A stopped turn ends with another outcome.",
    "the outcome {expected}",
    OUTCOME_AND_FAILURE,
)


@check("cancellation/stop-ends-the-turn")
def stop_ends_the_turn(view: View) -> Findings:
    """Called from another thread, while the provider is silent or a tool runs."""
    for step in turns_done(view):
        turn, refused = step.turn, step.first(Refused)
        if turn.cut is None or turn.cut.by != "stop" or not turn.cancelled or turn.ended is None:
            continue
        endless = [one for one in step.generated if one.response is not None and one.response.released == "limit"]
        if refused is not None and refused.operation == "stop":
            yield _STOP_REFUSED.of_error(step.at_event(refused, "error"), refused)
        elif endless:
            yield _WENT_ON(endless[0].at(Side.STREAM))
        elif turn.ended.outcome != "cancelled":
            yield _NOT_CANCELLED(turn.at_end(), expected="cancelled", observed=outcome(turn), failure=failure(turn))
        else:
            yield Compared("stopped turns")


_WRONG_FIGURE = finding(
    "accounting/session-gives-the-last-figures/wrong-count",
    "The session reports another token count than that of the turn's last answer.",
    "{expected} as `{field:words}`",
    "{observed}",
)


@check("accounting/session-gives-the-last-figures")
def session_gives_the_last_figures(view: View) -> Findings:
    """Those of the turn's last call. Each prompt holds the ones before it, so a sum counts the conversation again."""
    for step in turns_done(view):
        report = step.first(UsageReport)
        last = step.answers[-1] if step.answers else None
        answer = last.answer if last is not None else None
        if not step.ordinary or report is None or last is None or answer is None or answer.usage is None:
            continue
        wire, session_usage = answer.usage, report.usage
        if not wire.prompt_tokens and not wire.output_tokens:
            continue  # figures that say nothing may be passed over
        wrong = [
            name for name in ("prompt_tokens", "output_tokens") if getattr(wire, name) != getattr(session_usage, name)
        ]
        for name in wrong:
            yield _WRONG_FIGURE(
                step.at_event(report, "usage", name),
                expected=getattr(wire, name),
                observed=getattr(session_usage, name),
                related=(last.at(Side.STREAM),),
                field=name,
            )
        if not wrong:
            yield Compared("figures after turns")


def _structured(step: Step) -> bool:
    return step.turn.script is not None and step.turn.script.response_schema is not None
