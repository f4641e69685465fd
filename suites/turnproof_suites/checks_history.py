"""The history of a session: what was said is held, whatever is done with it, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.messages import FunctionCall, Message, same
from turnproof.requirements import Findings, check
from turnproof.transcript import Interjected, SessionInForce
from turnproof.verdict import Verdict, inconclusive, violated
from turnproof.view import Exchange, View
from turnproof.view.diff import equal, show

from .reading import calls_in, calls_made, heard, model_texts, too_long
from .steps import Step, bare, change, ends_alike, operations_done, steps, turns_done, unpaired


@check("history/what-was-said-is-held")
def what_was_said_is_held(view: View) -> Findings:
    """On top of what was held: the user's message, then every text and call of the model."""
    for step in turns_done(view):
        if not step.ordinary or unpaired(step.before):
            continue  # what was broken before may be mended now, by whatever is put in front of the turn
        if step.added is None:
            yield violated(f"{step.where}: what was held before has changed: {change(step.before, step.held)}")
        elif missing := _missing(view, step, step.added):
            yield violated(f"{step.where}: {missing}")
        else:
            yield "turns in the history"


def _undeclared(view: View, step: Step) -> Iterator[str]:
    """The names that the model of the scenario calls in this turn, and for which there is no tool."""
    known = {tool.name for tool in view.scenario.tools_in(step.turn.index)}
    rounds = step.turn.script.rounds if step.turn.script is not None else ()
    parts = (part.part for round_ in rounds for part in round_.parts)
    return (part.name for part in parts if isinstance(part, FunctionCall) and part.name not in known)


def _missing(view: View, step: Step, added: tuple[Message, ...]) -> str:
    """What of an ordinary turn is not in the messages that came on top, or is there too often; empty if all is well."""
    said = step.turn.said
    found = [message.text for message in added if message.role == "user" and message.text.strip()]
    if said.strip() and (not added or added[0].role != "user" or bare(found) != bare([said])):
        return f"the user said {show(said)}, and the new messages have {show(found)}"
    texts = step.answered_text
    if step.turn.script is not None and step.turn.script.response_schema is None:
        held = model_texts(added)
        if bare(texts) != bare(held):
            return f"the model said {show(texts)}, and the new messages have {show(held)}"
    answers = [calls_in(one.answer.parts) for one in step.answers if one.answer is not None]
    calls: Sequence[FunctionCall] = calls_made(added)
    if step.first(SessionInForce) is not None:
        # An agent shows the calls that it makes. Of one for a tool that there is not, it may tell the model alone.
        unknown = tuple(_undeclared(view, step))
        answers = [tuple(call for call in each if not call.name.endswith(unknown)) for each in answers]
        calls = _as_answered(answers, [call for call in calls if not call.name.endswith(unknown)])
    made = [call.args for each in answers for call in each]
    kept = [call.args for call in calls]
    if not equal(made, kept):
        return f"the model made calls with {show(made)}, and the new messages have {show(kept)}"
    return ""


def _as_answered(answers: Sequence[Sequence[FunctionCall]], calls: Sequence[FunctionCall]) -> Sequence[FunctionCall]:
    """The calls that an agent told of, those of each answer in its own order; as they are, where they are others.

    A program begins the calls of one answer beside each other, and tells of each as it begins.
    """
    found, rest = list[FunctionCall](), list(calls)
    for answer in answers:
        mine, rest = rest[: len(answer)], rest[len(answer) :]
        for call in answer:
            place = next((place for place, one in enumerate(mine) if equal(one.args, call.args)), None)
            if place is None:
                return calls
            found.append(mine.pop(place))
    return [*found, *rest]


@check("history/failed-turn-leaves-nothing")
def failed_turn_leaves_nothing(view: View) -> Findings:
    """Of turns in which the model never answered. What to keep of a half-done one is the session's to say."""
    for step in turns_done(view):
        ended = step.turn.ended
        if ended is None or ended.outcome != "error" or step.answers or step.collects or unpaired(step.before):
            continue
        if step.unchanged:
            yield "histories after failed turns"
        else:
            yield violated(f"{step.where}: the turn failed, and its trace is held: {change(step.before, step.held)}")


@check("history/shown-text-is-kept")
def shown_text_is_kept(view: View) -> Findings:
    """What the user has seen before the cancel, under the message that it answers."""
    for step in turns_done(view):
        ended = step.turn.ended
        if ended is None or ended.outcome != "cancelled" or not ended.shown.strip() or step.collects:
            continue
        if unpaired(step.before):
            continue
        if step.added is None:
            yield violated(f"{step.where}: what was held before has changed: {change(step.before, step.held)}")
        elif not heard(step.turn, step.added):
            yield violated(f"{step.where}: the user's message of the cancelled turn is not held")
        elif bare([ended.shown]) not in bare(model_texts(step.added)):
            kept = model_texts(step.added)
            yield violated(f"{step.where}: the user was shown {show(ended.shown)}, and held is {show(kept)}")
        else:
            yield "texts shown before a cancel"


@check("history/cancelled-turn-serves-the-next")
def cancelled_turn_serves_the_next(view: View) -> Findings:
    """The conversation goes on: the API takes the next request, and the model answers."""
    after_cancel = ""
    for step in steps(view):
        if step.done != "turn":
            after_cancel = after_cancel if step.unchanged else ""
            continue
        ended, script = step.turn.ended, step.turn.script
        if after_cancel and ended is not None and script is not None and script.expect == "answer":
            refused = next((one.refusals[0] for one in step.generated if one.refusals and not too_long(one)), None)
            if refused is not None:
                yield violated(f"{step.where}: after {after_cancel} the API refuses the request: {refused['message']}")
            elif ended.outcome == "answer":
                yield "turns after a cancelled one"
            else:
                why = f": {step.turn.failed.error}: {step.turn.failed.message}" if step.turn.failed else ""
                yield violated(f"{step.where}: after {after_cancel} the turn ended with {ended.outcome!r}{why}")
        after_cancel = f"the cancelled {step.where}" if step.turn.cancelled else ""


@check("history/calls-and-results-stay-paired")
def calls_and_results_stay_paired(view: View) -> Findings:
    """After every turn and operation; what was taken over may be mended when it is first used."""
    unused = bool(unpaired(view.scenario.given))
    for step in steps(view):
        unused = unused and step.done != "turn"
        if unused:
            continue
        if odd := unpaired(step.held):
            yield violated(f"{step.where}: {odd}")
        elif calls_made(step.held):
            yield "calls and results held"


@check("history/broken-conversation-is-mended")
def broken_conversation_is_mended(view: View) -> Findings:
    """In the turn after one with an unanswered call was taken over: it is answered, and what is held is whole."""
    for step in turns_done(view):
        if not unpaired(step.before) or step.turn.script is None or step.turn.script.expect != "answer":
            continue
        ended = step.turn.ended
        refused = next((one.refusals[0] for one in step.generated if one.refusals and not too_long(one)), None)
        if refused is not None:
            yield violated(f"{step.where}: the API refuses the request: {refused['message']}")
        elif ended is None or ended.outcome != "answer":
            yield violated(f"{step.where}: the conversation that was taken over is not gone on with")
        elif odd := unpaired(step.held):
            yield violated(f"{step.where}: {odd}")
        elif not step.collects and (lost := _lost(step.before, step.held)):
            yield violated(f"{step.where}: mending has cost {show(lost)}, which was said")
        else:
            yield "conversations mended"


def _lost(before: tuple[Message, ...], held: tuple[Message, ...]) -> list[str]:
    """The texts of user and model that are not held any more."""
    kept = [message.text for message in held]
    return [message.text for message in before if message.text.strip() and message.text not in kept]


@check("history/returned-list-is-a-copy")
def returned_list_is_a_copy(view: View) -> Findings:
    """What a caller does to the list that it was given stays with the caller."""
    for step in operations_done(view, "tamper"):
        if step.unchanged:
            yield "lists that were handed out"
        else:
            yield violated(
                f"{step.where}: a caller emptied the list that it was given, and the session holds "
                f"{len(step.held)} messages instead of {len(step.before)}"
            )


@check("history/message-ids-are-kept")
def message_ids_are_kept(view: View) -> Findings:
    """From turn to turn and through every operation; and no two messages have the same."""
    for step in steps(view):
        ids = [message.message_id for message in step.held]
        twice = next((name for name in ids if ids.count(name) > 1), None)
        moved = next(((old, new) for old, new in _still_held(step) if old.message_id != new.message_id), None)
        if twice is not None:
            yield violated(f"{step.where}: two messages have the id {twice!r}")
        elif moved is not None:
            old, new = moved
            what = f"{old.role} message {show(old.text or old.role)}"
            yield violated(f"{step.where}: the {what} was {old.message_id!r} and is {new.message_id!r}")
        elif ids:
            yield "message ids"


def _still_held(step: Step) -> list[tuple[Message, Message]]:
    """The messages that were held before and are held still, each with itself."""
    if step.done == "gc":
        count = ends_alike(step.before, step.held)
        return list(zip(step.before[len(step.before) - count :], step.held[len(step.held) - count :], strict=True))
    if step.collects:
        return []
    pairs: list[tuple[Message, Message]] = []
    for old, new in zip(step.before, step.held, strict=False):
        if not same(old, new, ids=False):
            break
        pairs.append((old, new))
    return pairs


@check("history/wire-is-what-the-session-holds")
def wire_is_what_the_session_holds(view: View) -> Findings:
    """Every request that the API took, against the session's own history up to what the request asks about."""
    for step in turns_done(view):
        if step.collects or step.added is None or step.first(Interjected) is not None:
            continue
        for exchange in step.generated:
            held = _held_for(step, step.added, exchange)
            if held is not None:
                yield _against_the_wire(view, step, exchange, held)


def _held_for(step: Step, added: tuple[Message, ...], exchange: Exchange) -> tuple[Message, ...] | None:
    """What a request has to say, by the session's history; None where that does not tell."""
    call, script = exchange.call, step.turn.script
    if call is None or exchange.refusals or not call.messages or script is None:
        return None
    rounds = 0
    for message in reversed(call.messages):
        if message.role == "user":
            break
        if message.role == "model" and not rounds:
            return None  # a paused answer is to go on
        rounds += message.role == "tool"
    if not rounds:
        user = added[0] if added and added[0].role == "user" else Message("user", script.user)
        return (*step.before, user)
    # What stands in front of the user's message mends what was taken over.
    said = next((place for place, message in enumerate(added) if message.role == "user"), 0)
    places = [place for place, message in enumerate(added) if message.role == "tool" and place > said]
    return (*step.before, *added[: places[rounds - 1] + 1]) if rounds <= len(places) else None


def _against_the_wire(view: View, step: Step, exchange: Exchange, held: tuple[Message, ...]) -> str | Verdict:
    assert exchange.call is not None
    scenario, turn = view.scenario, step.turn.index
    found = view.dialect.differences(
        held, scenario.system_in(turn), scenario.tools_in(turn), exchange.call, view.transcript.model
    )
    if not found:
        return "requests against the history"
    lines = [
        f"{one.what} at {one.path}: the session holds {show(one.held)}, the wire carried {show(one.sent)}"
        for one in sorted(found, key=lambda one: not one.violation)
    ]
    where, detail = f"{step.where}, request {exchange.number}", "\n".join(lines)
    if any(one.violation for one in found):
        return violated(f"{where}: {lines[0]}", detail=detail)
    return inconclusive(f"{where}: the wire differs in a way that is not classified: {lines[0]}", detail=detail)
