"""Checks of what operations do to a session: each as it should be, and with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Message
from turnproof.run.transcript import (
    Collected,
    Event,
    HistorySnapshot,
    Loaded,
    Refused,
    Reset,
    Reverted,
    Saved,
    Swapped,
    WireRequest,
    WireResponse,
)
from turnproof.scenarios.model import Turn

from .build import DIALECT, RunBuilder, scripted, spoilt
from .cases import Case, good_runs_hold, points_to_something
from .conversations import THREE, plain, read, result

FIRST = scripted([read()], [THREE], user="How is bed 3?")
SECOND = scripted(["It is."], user="Good?")
THIRD = scripted(["Yes."], user="Sure?")

HistoryChange = Callable[[Sequence[Message]], Sequence[Message]]


def talk(done: str, *events: Event, change: HistoryChange = tuple, name: str = "history/made", **turn: object) -> View:
    """Two turns, the first with a tool; an operation; one turn more."""
    builder = RunBuilder(FIRST, SECOND, replace(THIRD, **turn), name=name)
    builder.turn("How is bed 3?").call(read()).results(result()).call(THREE).end()
    builder.turn("Good?").call("It is.").end()
    builder.operated(done, *events, history=list(change(builder.history)))
    return builder.turn("Sure?").call("Yes.").end().view()


def refused(done: str) -> Refused:
    return Refused(operation=done, error="IndexError", message="no such turn")


def nothing(_: Sequence[Message]) -> Sequence[Message]:
    return ()


def first_turn(messages: Sequence[Message]) -> Sequence[Message]:
    return messages[:4]


def second_turn(messages: Sequence[Message]) -> Sequence[Message]:
    return messages[4:]


def begun_by_the_model(messages: Sequence[Message]) -> Sequence[Message]:
    return (Message.model("So far: bed 3 is moist."), *messages[4:])


def reset() -> View:
    return talk("reset", Reset(), change=nothing)


def reverted() -> View:
    return talk("revert", Reverted(to=0), change=first_turn, revert=0)


def out_of_range() -> View:
    return talk("revert", refused("revert"), revert=2)


def collected() -> View:
    return talk("gc", Collected(before=(), after=()), change=second_turn, name="gc/made")


def tampered() -> View:
    return talk("tamper")


def damaged() -> View:
    return talk("damaged-load", Saved(data="{}"), refused("damaged-load"))


def swapped() -> View:
    return talk("new-provider", Swapped(name="made"), name="persistence/made")


def legacy() -> View:
    return plain(path="legacy")


def now_held(change: HistoryChange, done: str) -> Callable[[View], View]:
    """Another history after the operation."""

    def spoil(view: View) -> View:
        snapshots = view.transcript.of(HistorySnapshot)
        nth = next(n for n, event in enumerate(snapshots) if event.after == done)
        return spoilt(view, HistorySnapshot, lambda event: replace(event, messages=tuple(change(event.messages))), nth)

    return spoil


def between(view: View, kind: type[Event], *new: Event) -> View:
    """The same run with these events where its first one of a kind was."""
    turn = view.transcript.of(kind)[0].turn
    events: list[Event] = []
    for event in view.transcript.events:
        events += [replace(one, turn=turn) for one in new] if type(event) is kind else [event]
    return View(replace(view.transcript, events=tuple(events)), DIALECT, view.scenario)


def asking(view: View) -> View:
    """The reset makes a request."""
    request, response = view.transcript.of(WireRequest)[0], view.transcript.of(WireResponse)[0]
    moved = {"call": -1, "exchange": 99}
    return between(view, Reset, Reset(), replace(request, **moved), replace(response, **moved))


def counting(view: View, messages: int = -1) -> View:
    """The reset counts tokens, of so many messages of what was last sent."""
    sent = [one for one in view.transcript.of(WireRequest) if one.operation == "generate"][-2]
    body = {name: sent.body[name] for name in ("model", "messages")}
    body["messages"] = body["messages"][:messages] if messages >= 0 else body["messages"]
    path = "/v1/messages/count_tokens"
    count = replace(sent, call=-1, exchange=99, operation="count_tokens", path=path, body=body)
    return between(view, Reset, Reset(), count)


def provider_behind(view: View) -> View:
    at = next(n for n, one in enumerate(view.transcript.of(HistorySnapshot)) if one.owner == "provider")
    return spoilt(view, HistorySnapshot, lambda event: replace(event, messages=event.messages[:-1]), at)


CASES = [
    Case(
        "history/reset-empties-it",
        reset,
        now_held(lambda m: [Message.user("Hi")], "reset"),
        'got [{"role": "user", "text": "Hi"}]',
        "messages-held",
        "/operations/reset",
    ),
    Case("history/reset-asks-nobody", reset, asking, "got POST /v1/messages", "request-made", ""),
    Case(
        "history/revert-keeps-the-earlier-turns",
        reverted,
        now_held(lambda m: m[:2], "revert"),
        'expected {"parts": [{"call_id": "toolu_1", "name": "read_sensor",',
        "history-changed",
        "/operations/revert",
    ),
    Case(
        "history/revert-out-of-range-is-refused",
        out_of_range,
        lambda view: between(view, Refused, Reverted(to=2)),
        "expected an error for turn 2 of a history with 2 turns;",
        "accepted",
        "/operations/revert",
    ),
    Case(
        "history/collection-drops-the-oldest-turns",
        collected,
        now_held(nothing, "gc"),
        'expected a history that ends with {"role": "model", "text": "It is."};',
        "newest-missing",
        "/operations/gc",
    ),
    Case(
        "history/returned-list-is-a-copy",
        tampered,
        now_held(nothing, "tamper"),
        "expected 6 messages in the history, whatever a caller does to its list; got 0 messages",
        "changed",
        "/operations/tamper",
    ),
    Case(
        "history/damaged-save-is-refused",
        damaged,
        lambda view: between(view, Refused, Loaded(messages=(), damaged=True)),
        "got a loaded session, with 0 as the number of its messages",
        "accepted",
        "/1",
    ),
    Case(
        "history/swap-keeps-it",
        swapped,
        now_held(nothing, "new-provider"),
        'expected {"parts": [{"part": "text", "text": "How is bed 3?"}],',
        "history-changed",
        "/operations/new-provider",
    ),
    Case(
        "history/provider-holds-the-same",
        legacy,
        provider_behind,
        'expected {"parts": [{"text": "Bed 3 is moist."}], "role": "model"},',
        "different",
        "/provider",
    ),
]


test_a_good_session_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def status(name: str, view: View) -> Status:
    return Case(f"history/{name}", lambda: view, lambda view: view).verdict(view).status


@pytest.mark.parametrize(
    ("name", "view", "code"),
    [
        ("reset-empties-it", talk("reset", refused("reset")), "refused"),
        ("revert-keeps-the-earlier-turns", talk("revert", refused("revert"), revert=1), "refused"),
        (
            "revert-out-of-range-is-refused",
            talk("revert", refused("revert"), change=first_turn, revert=2),
            "history-changed",
        ),
        ("collection-drops-the-oldest-turns", talk("gc", refused("gc"), name="gc/made"), "refused"),
        ("collection-drops-the-oldest-turns", talk("gc", change=lambda m: m[3:], name="gc/made"), "turn-cut"),
        ("collection-drops-the-oldest-turns", talk("gc", change=first_turn, name="gc/made"), "newest-missing"),
        ("collection-drops-the-oldest-turns", talk("gc", change=begun_by_the_model, name="gc/made"), "wrong-beginning"),
        (
            "damaged-save-is-refused",
            talk("damaged-load", Saved(data="{}"), refused("damaged-load"), change=nothing),
            "history-changed",
        ),
        ("swap-keeps-it", talk("new-provider", refused("new-provider"), name="persistence/made"), "refused"),
    ],
)
def test_each_way_to_get_it_wrong_is_found(name: str, view: View, code: str) -> None:
    verdict = Case(f"history/{name}", lambda: view, lambda view: view).verdict(view)
    assert verdict.status is Status.VIOLATED
    assert verdict.findings[0].code == f"history/{name}/{code}"
    for finding in verdict.findings:
        points_to_something(finding, view)


def test_ids_are_followed_through_a_collection() -> None:
    other = now_held(lambda m: [Message(m[0].role, m[0].parts, "another"), *m[1:]], "gc")
    assert status("message-ids-are-kept", other(collected())) is Status.VIOLATED


def test_a_history_that_was_not_reset_is_seen_on_the_wire() -> None:
    """The session says that it holds nothing, and the next request still has everything."""
    view = now_held(nothing, "reset")(talk("reset", Reset()))
    assert status("wire-is-what-the-session-holds", view) is Status.VIOLATED


# -- what must not be accused ----------------------------------------------------------------------------------------


def test_a_summary_may_stand_in_front_of_the_turns_that_are_kept() -> None:
    view = talk("gc", change=lambda m: [Message.user("So far: bed 3 is moist."), *m[4:]], name="gc/made")
    assert status("collection-drops-the-oldest-turns", view) is Status.HELD


def test_a_collection_may_find_nothing_to_drop() -> None:
    assert status("collection-drops-the-oldest-turns", talk("gc", name="gc/made")) is Status.HELD


def test_saving_that_fails_offers_nothing_damaged() -> None:
    assert status("damaged-save-is-refused", talk("damaged-load", refused("damaged-load"))) is Status.INCONCLUSIVE


def test_a_revert_beyond_the_last_turn_says_nothing_of_one_within() -> None:
    assert status("revert-keeps-the-earlier-turns", out_of_range()) is Status.INCONCLUSIVE
    assert status("revert-out-of-range-is-refused", reverted()) is Status.INCONCLUSIVE


def test_a_count_of_what_was_sent_that_comes_during_a_reset_is_no_request_of_it() -> None:
    assert status("reset-asks-nobody", counting(reset())) is Status.HELD


def test_a_count_of_less_than_was_sent_is_a_request_of_the_reset() -> None:
    assert status("reset-asks-nobody", counting(reset(), 0)) is Status.VIOLATED


def test_a_reset_of_nothing_shows_nothing() -> None:
    builder = RunBuilder(Turn(user=(), rounds=(), before=("reset",)), name="history/made")
    assert status("reset-empties-it", builder.operated("reset", Reset()).view()) is Status.INCONCLUSIVE
