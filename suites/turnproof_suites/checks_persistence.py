"""Persistence: a conversation that was saved and loaded, or handed to another object, goes on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.judge.finding import Compared, Finding
from turnproof.judge.requirements import FindingCode, Findings, check, finding, findings_or_compared
from turnproof.judge.view import Exchange, TurnView, View
from turnproof.messages import JSON, Message, same_history, to_builtins
from turnproof.run.transcript import Loaded

from .context_room import makes_room, outgrew_window
from .part_rows import at_row, continued_row, part_row, value_differences
from .reading import ReadRequest
from .steps import FORGETTING, Step, content, operations_done

_LOADED_CHANGED = finding(
    "persistence/loaded-history-is-the-saved-one/changed", "The loaded history is not the saved one."
)


@check("persistence/loaded-history-is-the-saved-one", needs="wire")
def loaded_history_is_the_saved_one(view: View) -> Findings:
    """Every part by value, and every id where the session has ids of its own."""
    for step in operations_done(view, "save-load"):
        loaded = step.first(Loaded)
        if loaded is None or not step.history_before:
            continue
        if same_history(step.history_before, loaded.messages, ids=loaded.message_ids):
            yield Compared("loaded histories")
            continue
        in_words = to_builtins if loaded.message_ids else content
        for one in value_differences(in_words(step.history_before), in_words(loaded.messages)):
            place = step.turn.at_event(loaded, "messages", *one.steps)
            yield _LOADED_CHANGED(place, expected=one.expected, observed=one.observed)


_LOADED_BROKEN = finding(
    "persistence/next-request-is-unbroken/changed",
    "The request after loading does not begin with the last one before saving.",
)
_SWAPPED_BROKEN = finding(
    "persistence/a-fresh-object-continues/changed",
    "The request of a new provider object does not begin with the last one before it.",
)


@check("persistence/next-request-is-unbroken")
def next_request_is_unbroken(view: View) -> Findings:
    """The request after loading begins with the last one before saving."""
    yield from _continuation_findings(view, _LOADED_BROKEN, loaded=True)


@check("persistence/a-fresh-object-continues")
def a_fresh_object_continues(view: View) -> Findings:
    """An object that has never seen the conversation sends all of it."""
    yield from _continuation_findings(view, _SWAPPED_BROKEN, loaded=False)


def _continuation_findings(view: View, broken: FindingCode, *, loaded: bool) -> Findings:
    last: ReadRequest | None = None
    for before, turn in _turns(view):
        if any(map(makes_room, before.calls if before is not None else ())):
            return  # who knows the limit may collect ahead of any turn
        first = _first(turn)
        if last is not None and first is not None and outgrew_window(view, last.call.began.messages, first.call):
            return
        changed = _loaded_on_its_path(turn) if loaded else turn.swapped
        if changed and not turn.rewritten and last is not None and first is not None and _has_answer(before):
            wrong = list(_broken_start(broken, continued_row(last.wire.messages), first.exchange, last.exchange))
            yield from findings_or_compared(wrong, "requests that go on")
        for call in turn.calls:
            if call.last is not None and call.sent is not None:
                last = ReadRequest(call, call.last, call.sent)


def _broken_start(code: FindingCode, start: list[JSON], now: Exchange, before: Exchange) -> Iterator[Finding]:
    """Where a request does not begin with this row of parts, of which an earlier request had the beginning."""
    assert now.call is not None, "it was read"
    for one in value_differences(start, part_row(now.call.messages)[: len(start)]):
        related = [at_row(before, one.steps)]
        yield code(at_row(now, one.steps), expected=one.expected, observed=one.observed, related=related)


def _loaded_on_its_path(turn: TurnView) -> bool:
    return turn.loaded is not None and turn.loaded.path is None


def _has_answer(turn: TurnView | None) -> bool:
    return turn is not None and turn.ended is not None and turn.ended.outcome == "answer"


def _first(turn: TurnView) -> ReadRequest | None:
    for call in turn.calls:
        if call.last is not None and call.sent is not None:
            return ReadRequest(call, call.last, call.sent)
    return None


def _turns(view: View) -> Iterator[tuple[TurnView | None, TurnView]]:
    """Each turn with the last one before it."""
    before: TurnView | None = None
    for turn in view.turns:
        yield before, turn
        before = turn


_OTHER_REFUSED = finding(
    "persistence/other-path-continues/refused",
    "A saved session cannot be loaded on the other path.",
    "a session that goes on from what was saved",
    "{observed:words}: {message:words}",
)
_OTHER_LOADED = finding(
    "persistence/other-path-continues/history-changed",
    "The history that was loaded on the other path is not the saved one.",
)
_OTHER_BROKEN = finding(
    "persistence/other-path-continues/request-changed",
    "The request on the other path does not begin with the last one and its answer.",
)


@check("persistence/other-path-continues")
def other_path_continues(view: View) -> Findings:
    """What is loaded is what was saved, and the next request begins with the last one and with what came of it."""
    last: Exchange | None = None
    last_history: tuple[Message, ...] = ()
    # The row that the next request has to begin with, and the request before it.
    expected: tuple[list[JSON], Exchange] | None = None
    for step in operations_done(view, "save-load-other-path", "turn", *FORGETTING):
        if step.kind in FORGETTING:
            expected = None
            continue
        if step.kind != "turn":
            wrong = list(_loading_findings(step))
            yield from wrong
            loaded = not wrong and step.first(Loaded) is not None
            if (
                loaded
                and last is not None
                and last.call is not None
                and same_history(step.history_before, last_history)
            ):
                last_answer = step.history_before[-1:] if step.history_before[-1].role == "model" else ()
                expected = [*part_row(last.call.messages), *part_row(last_answer)], last
            continue
        first = step.generated[0] if step.generated else None
        if expected is not None and first is not None and first.call is not None and not step.collects:
            start, before = expected
            wrong = list(_broken_start(_OTHER_BROKEN, start, first, before))
            yield from findings_or_compared(wrong, "requests on the other path")
        expected, last, last_history = None, step.generated[-1] if step.ordinary else None, step.history


def _loading_findings(step: Step) -> Iterator[Finding]:
    """What is wrong with loading a session on the other path."""
    if step.refusal is not None:
        refusal = step.refusal
        yield _OTHER_REFUSED.of_error(step.turn.at_event(refusal, "error"), refusal)
    elif step.first(Loaded) is not None and not step.unchanged:
        for one in step.changes:
            yield _OTHER_LOADED(step.at_change(one), expected=one.expected, observed=one.observed)


_LOADING_SENT = finding(
    "persistence/loading-sends-nothing/requests",
    "Loading a conversation made requests.",
    "no request between the last turn and the first request after loading",
    "{observed} requests",
)


@check("persistence/loading-sends-nothing")
def loading_sends_nothing(view: View) -> Findings:
    """The server counts its requests: between the last one before and the first one after there is none.

    A question about the models says nothing of the conversation: whoever goes on with it may ask for their window.
    """
    questions = [each.number for each in view.exchanges if _asks_about_models(each)]
    last = -1
    for turn in view.turns:
        numbers = [exchange.number for call in turn.calls for exchange in call.exchanges]
        loaded = next((event for event in turn.events if isinstance(event, Loaded)), None)
        if loaded is not None and last >= 0 and numbers:
            between = numbers[0] - last - 1 - sum(last < number < numbers[0] for number in questions)
            if between:
                sent = [each for each in view.exchanges if last < each.number < numbers[0]]
                places = [each.at() for each in sent if each.number not in questions]
                first = places[0] if places else turn.at_event(loaded)
                yield _LOADING_SENT(first, observed=between, related=places[1:])
            else:
                yield Compared("requests around loading")
        last = max([last, *numbers])


def _asks_about_models(exchange: Exchange) -> bool:
    asks = exchange.request.operation
    return asks in ("list_models", "get_model") or (asks == "other" and exchange.body is None)
