"""What a session tells its user: the answer, as it comes and in the end, what it cost, and that it stopped."""

from __future__ import annotations

from turnproof.requirements import Findings, check
from turnproof.transcript import Refused, UsageReport
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import show

from .steps import Step, bare, turns_done


@check("core/reply-is-the-answer")
def reply_is_the_answer(view: View) -> Findings:
    """The reply ends with the model's last words; what it said before its tool calls may stand in front."""
    for step in turns_done(view):
        if not step.ordinary or _structured(step) or not step.answered_text or step.turn.ended is None:
            continue
        last, reply = step.answered_text[-1], step.turn.ended.text
        if bare([reply]).endswith(bare([last])):
            yield "replies"
        else:
            yield violated(f"{step.where}: the model answered {show(last)}, the reply is {show(reply)}")


@check("streaming/user-sees-the-answer-once")
def user_sees_the_answer_once(view: View) -> Findings:
    """All text of the turn, in order; tool rounds do not show anything twice."""
    if not view.streamed:
        return
    for step in turns_done(view):
        if not step.ordinary or _structured(step) or not step.answered_text or step.turn.ended is None:
            continue
        shown = step.turn.ended.shown
        if bare([shown]) == bare(step.answered_text):
            yield "texts shown"
        else:
            yield violated(f"{step.where}: the model said {show(step.answered_text)}, the user was shown {show(shown)}")


@check("cancellation/stop-ends-the-turn")
def stop_ends_the_turn(view: View) -> Findings:
    """Called from another thread, while the provider is silent or a tool runs."""
    for step in turns_done(view):
        turn, refused = step.turn, step.first(Refused)
        if turn.cut is None or turn.cut.by != "stop" or not turn.cancelled or turn.ended is None:
            continue
        if refused is not None and refused.operation == "stop":
            yield violated(f"{step.where}: stop() raised {refused.error}: {refused.message}")
        elif any(one.response is not None and one.response.released == "limit" for one in step.generated):
            yield violated(f"{step.where}: the turn went on until the server gave up")
        elif turn.ended.outcome != "cancelled":
            yield violated(f"{step.where}: the stopped turn ended with {turn.ended.outcome!r}")
        else:
            yield "stopped turns"


@check("accounting/session-gives-the-last-figures")
def session_gives_the_last_figures(view: View) -> Findings:
    """Those of the turn's last call. Each prompt holds the ones before it, so a sum counts the conversation again."""
    for step in turns_done(view):
        report = step.first(UsageReport)
        answer = step.answers[-1].answer if step.answers else None
        if not step.ordinary or report is None or answer is None or answer.usage is None:
            continue
        wire, told = answer.usage, report.usage
        if not wire.prompt_tokens and not wire.output_tokens:
            continue  # figures that say nothing may be passed over
        if (wire.prompt_tokens, wire.output_tokens) == (told.prompt_tokens, told.output_tokens):
            yield "figures after turns"
        else:
            yield violated(
                f"{step.where}: the last answer used {wire.prompt_tokens} and {wire.output_tokens} tokens, "
                f"the session gives {told.prompt_tokens} and {told.output_tokens}"
            )


def _structured(step: Step) -> bool:
    return step.turn.script is not None and step.turn.script.response_schema is not None
