"""What is said beside the usual course of turns: while one runs, and as the outcome of a user's own command."""

from __future__ import annotations

from turnproof.messages import Message, Text
from turnproof.requirements import Findings, check
from turnproof.transcript import Interjected, Refused
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import show

from .reading import model_texts, too_long, user_text
from .steps import FORGETTING, Step, bare, change, steps, turns_done, unpaired


@check("history/interjection-is-answered")
def interjection_is_answered(view: View) -> Findings:
    """In the same turn: the model gets it, behind what it had said so far, and the reply is the answer to it."""
    for step in turns_done(view):
        said = step.first(Interjected)
        if said is None:
            continue
        refused = next((one for one in step.events if isinstance(one, Refused) and one.operation == "interject"), None)
        ended, last = step.turn.ended, step.generated[-1] if step.generated else None
        sent = last.call.messages if last is not None and last.call is not None else ()
        if refused is not None:
            yield violated(f"{step.where}: what was said in between was refused: {refused.message}")
        elif ended is None or ended.outcome != "answer":
            how = f"ended with {ended.outcome!r}" if ended is not None else "did not end"
            yield violated(f"{step.where}: the user said {show(said.text)} in between, and the turn {how}")
        elif said.text not in user_text(sent):
            yield violated(
                f"{step.where}: what the user said in between, {show(said.text)}, reaches no request of the turn"
            )
        elif not step.collects and (missing := _missing(step, said.text)):
            yield violated(f"{step.where}: {missing}")
        else:
            yield "interjections"


def _missing(step: Step, text: str) -> str:
    """What is not held of a turn with an interjection; empty if all is well."""
    if step.added is None:
        return f"what was held before has changed: {change(step.before, step.held)}"
    held = user_text(step.added)
    spoken = step.turn.script.user if step.turn.script is not None else ()
    for said in (*(part.text for part in spoken if isinstance(part, Text)), text):
        if said not in held:
            return f"the user said {show(said)}, and held is {show(held)}"
    shown = step.turn.ended.shown if step.turn.ended is not None else ""
    if shown.strip() and bare([shown]) != bare(model_texts(step.added)):
        return f"the user was shown {show(shown)}, and held is {show(model_texts(step.added))}"
    return ""


@check("history/command-outcomes-are-held")
def command_outcomes_are_held(view: View) -> Findings:
    """Both the command and what it said: in what is held, and in every request, until it is rightly forgotten."""
    waiting: list[tuple[str, tuple[str, str]]] = []
    for step in steps(view):
        script = step.turn.script
        if step.done in FORGETTING or step.collects:
            waiting = [(where, told) for where, told in waiting if _has(step.held, told)]
        if step.done not in ("inject", "turn"):
            continue
        if step.done == "inject" and script is not None and script.inject is not None:
            told = script.inject.command, script.inject.outcome
            if step.refusal is not None:
                yield violated(f"{step.where}: it was refused: {step.refusal.message}")
            elif step.added is None and not unpaired(step.before):
                yield violated(f"{step.where}: what was held before has changed: {change(step.before, step.held)}")
            elif not _has(step.added or step.held, told):
                yield violated(f"{step.where}: the command's outcome {show(told)} is not held")
            else:
                waiting.append((step.where, told))
            continue
        for exchange in step.generated:
            if exchange.refusals and not too_long(exchange):
                yield violated(f"{step.where}: the API refuses the request: {exchange.refusals[0]['message']}")
                continue
            sent = exchange.call.messages if exchange.call is not None else ()
            lost = next((where for where, told in waiting if not _has(sent, told)), None)
            if lost is not None:
                yield violated(f"{step.where}, request {exchange.number}: what came of {lost} is not in it")
            elif waiting:
                yield "requests after a command"


def _has(messages: tuple[Message, ...], told: tuple[str, str]) -> bool:
    everything = " ".join(
        [message.text for message in messages] + [str(one.result) for m in messages for one in m.results]
    )
    return all(text in everything for text in told)
