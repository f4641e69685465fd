"""Persistence: a conversation that was saved and loaded, or handed to another object, goes on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.messages import JSON, Message, same_history
from turnproof.requirements import Findings, check
from turnproof.transcript import Loaded
from turnproof.verdict import violated
from turnproof.view import Exchange, TurnView, View
from turnproof.view.diff import differences

from .reading import Requested, begun, makes_room, plain, row
from .steps import FORGETTING, change, operations_done


@check("persistence/loaded-history-is-the-saved-one", without_calls=True)
def loaded_history_is_the_saved_one(view: View) -> Findings:
    """Every part, every id, by value."""
    for step in operations_done(view, "save-load"):
        loaded = step.first(Loaded)
        if loaded is None or not step.before:
            continue
        if same_history(step.before, loaded.messages):
            yield "loaded histories"
        else:
            first, second = plain(step.before, thoughts=True), plain(loaded.messages, thoughts=True)
            found = differences(first, second, names=("saved", "loaded")) or ["ids or provider data differ"]
            yield violated(f"{step.where}: the loaded history is another one: {found[0]}", detail="\n".join(found))


@check("persistence/next-request-is-unbroken")
def next_request_is_unbroken(view: View) -> Findings:
    """The request after loading begins with the last one before saving."""
    yield from _goes_on(view, loaded=True)


@check("persistence/a-fresh-object-continues")
def a_fresh_object_continues(view: View) -> Findings:
    """An object that has never seen the conversation sends all of it."""
    yield from _goes_on(view, loaded=False)


def _goes_on(view: View, *, loaded: bool) -> Findings:
    last: Requested | None = None
    for before, turn in _turns(view):
        if any(map(makes_room, before.calls if before is not None else ())):
            return  # who knows the limit may collect ahead of any turn
        first = _first(turn)
        changed = _loaded_on_its_path(turn) if loaded else turn.swapped
        if changed and not turn.rewritten and last is not None and first is not None and _answered(before):
            start, whole = begun(last.sent.messages), row(first.sent.messages)
            found = differences(start, whole[: len(start)], names=("before", "now"))
            if found:
                yield violated(
                    f"{first.where}: the conversation does not go on as it was: {found[0]}", detail="\n".join(found)
                )
            else:
                yield "requests that go on"
        for call in turn.calls:
            if call.last is not None and call.sent is not None:
                last = Requested(call, call.last, call.sent)


def _loaded_on_its_path(turn: TurnView) -> bool:
    return turn.loaded is not None and turn.loaded.path is None


def _answered(turn: TurnView | None) -> bool:
    return turn is not None and turn.ended is not None and turn.ended.outcome == "answer"


def _first(turn: TurnView) -> Requested | None:
    for call in turn.calls:
        if call.last is not None and call.sent is not None:
            return Requested(call, call.last, call.sent)
    return None


def _turns(view: View) -> Iterator[tuple[TurnView | None, TurnView]]:
    """Each turn with the last one before it."""
    before: TurnView | None = None
    for turn in view.turns:
        yield before, turn
        before = turn


@check("persistence/other-path-continues")
def other_path_continues(view: View) -> Findings:
    """What is loaded is what was saved, and the next request begins with the last one and with what came of it."""
    last: Exchange | None = None
    held: tuple[Message, ...] = ()
    expected: list[JSON] | None = None
    for step in operations_done(view, "save-load-other-path", "turn", *FORGETTING):
        if step.done in FORGETTING:
            expected = None
            continue
        if step.done != "turn":
            loaded = step.first(Loaded)
            if step.refusal is not None:
                yield violated(f"{step.where}: it was refused: {step.refusal.message}")
            elif loaded is not None and not step.unchanged:
                yield violated(f"{step.where}: another conversation was loaded: {change(step.before, step.held)}")
            elif loaded is not None and last is not None and last.call is not None and same_history(step.before, held):
                answered = step.before[-1:] if step.before[-1].role == "model" else ()
                expected = [*row(last.call.messages), *row(answered)]
            continue
        first = step.generated[0] if step.generated else None
        if expected is not None and first is not None and first.call is not None and not step.collects:
            now = row(first.call.messages)[: len(expected)]
            found = differences(expected, now, names=("before", "on the other path"))
            if found:
                yield violated(f"{step.where}: the conversation does not go on: {found[0]}", detail="\n".join(found))
            else:
                yield "requests on the other path"
        expected, last, held = None, step.generated[-1] if step.ordinary else None, step.held


@check("persistence/loading-sends-nothing")
def loading_sends_nothing(view: View) -> Findings:
    """The server counts its requests: between the last one before and the first one after there is none.

    A question about the models says nothing of the conversation: whoever goes on with it may ask for their window.
    """
    questions = [each.number for each in view.exchanges if _asks_about_models(each)]
    last = -1
    for turn in view.turns:
        numbers = [exchange.number for call in turn.calls for exchange in call.exchanges]
        if any(isinstance(event, Loaded) for event in turn.events) and last >= 0 and numbers:
            between = numbers[0] - last - 1 - sum(last < number < numbers[0] for number in questions)
            if between:
                yield violated(f"{turn.where}: loading the conversation sent {between} requests")
            else:
                yield "requests around loading"
        last = max([last, *numbers])


def _asks_about_models(exchange: Exchange) -> bool:
    asks = exchange.request.operation
    return asks in ("list_models", "get_model") or (asks == "other" and exchange.body is None)
