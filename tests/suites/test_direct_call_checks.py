"""Checks of direct calls: broken histories, token counts and serialisers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, Text, ToolResult
from turnproof.run.driver.direct_calls import broken_histories, call_helpers
from turnproof.run.transcript import CallBegan, Event, HelperCalled, Response, WireRequest, WireResponse
from turnproof.scenarios.model import Scenario

from .build import RunBuilder, error, scripted, spoilt
from .cases import Case, decide, status, suite

CALL = FunctionCall(id="toolu_1", name="read_sensor", args={"bed": 3})


def talked(name: str = "tools/large_arguments") -> RunBuilder:
    """Two turns, the first with a tool."""
    builder = RunBuilder(scripted(["Let me look."], ["41 %."]), scripted(["It is."]), mode="batch", name=name)
    builder.turn("How moist is bed 3?").call("Let me look.", CALL)
    builder.results(ToolResult(call_id="toolu_1", name="read_sensor", result="41 %")).call("41 %.").end()
    return builder.turn("Is that enough?").call("It is.").end()


def again(broken: str) -> Callable[[], View]:
    """The last call is made again with a broken history, and answered."""

    def make() -> View:
        builder = talked("tools/parallel").call("Yes.", probe="broken")
        builder.events = [
            replace(event, broken=broken) if isinstance(event, CallBegan) and event.probe else event
            for event in builder.events
        ]
        return builder.view()

    return make


def helped(*events: HelperCalled) -> View:
    return talked().add(*(replace(event, probe="helpers") for event in events)).view()


def counted(*figures: Any) -> Callable[[], View]:
    """What `count_tokens()` returned: for the first prompt without system text and tools, then for each call."""
    alone, *whole = figures
    return lambda: helped(
        HelperCalled(method="count_tokens", call=0, returned=alone, alone=True),
        *(HelperCalled(method="count_tokens", call=call, returned=found) for call, found in enumerate(whole)),
    )


def serialised() -> View:
    builder = talked()
    calls = [event for event in builder.events if isinstance(event, CallBegan)]
    loaded = (HelperCalled(method="deserialize_history", call=one.call, messages=one.messages) for one in calls)
    return builder.add(*(replace(event, probe="helpers") for event in loaded)).view()


def raised(view: View) -> View:
    return spoilt(view, HelperCalled, lambda event: replace(event, error="TypeError", said="no list"), 1)


def crashed(view: View) -> View:
    ended = replace(error("KeyError", typed=False), turn=-1, probe="broken")
    return spoilt(view, Response, lambda event: replace(ended, call=event.call), -1)


def sent_as_it_is(view: View) -> View:
    refusal = {
        "rule": "tool-result-missing", "evidence": "REC", "status": 400, "kind": "invalid_request_error",
        "message": "no result", "path": "$.messages[2]", "enforced": True,
    }  # fmt: skip
    return spoilt(view, WireRequest, lambda event: replace(event, findings=(refusal,)), -1)


def last(change: Callable[[HelperCalled], Event]) -> Callable[[View], View]:
    return lambda view: spoilt(view, HelperCalled, change, -1)


def without_ids(event: HelperCalled) -> Event:
    return replace(event, messages=tuple(Message(one.role, one.parts) for one in event.messages))


COUNTS = "accounting/token-counts-grow-with-the-prompt"
BROKEN = "errors/broken-histories-raise-provider-errors"
SERIALISED = "persistence/serialised-history-comes-back"
CASES = [
    Case(BROKEN, again("no-messages"), crashed, "the fault no-messages; got KeyError", "untyped", "/error"),
    Case("tools/broken-pairs-are-not-sent", again("call-without-result"), sent_as_it_is, "no result", "sent"),
    Case(COUNTS, counted(5, 9, 14, 20), last(lambda event: replace(event, returned=14)), "14", "too-small"),
    Case(COUNTS, counted(5, 9, 14, 20), last(lambda event: replace(event, returned="None")), "None", "no-count"),
    Case(COUNTS, counted(5, 9, 14, 20), last(lambda event: replace(event, returned=0)), "0", "no-count"),
    Case(COUNTS, counted(5, 9, 14, 20), raised, "TypeError: no list", "raised"),
    Case(SERIALISED, serialised, raised, "TypeError: no list", "raised"),
    Case(SERIALISED, serialised, last(without_ids), "", "changed"),
    Case(SERIALISED, serialised, last(lambda event: replace(event, returned="dict")), "dict", "no-messages"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}/{case.code}")
def test_a_broken_run_is_violated_and_the_good_one_is_held(case: Case) -> None:
    decide(case)


def test_a_count_that_leaves_system_text_and_tools_out_is_too_small() -> None:
    verdict = judge(suite().catalogue[COUNTS], "stateless", [counted(9, 9, 14, 20)()])
    assert verdict.status is Status.VIOLATED
    assert "without system text and tools" in suite().registry.message(verdict)


def test_a_typed_refusal_of_a_broken_history_is_right() -> None:
    ended = replace(error("InvalidRequestError"), turn=-1, probe="broken")
    view = spoilt(again("no-messages")(), Response, lambda event: replace(ended, call=event.call), -1)
    assert judge(suite().catalogue[BROKEN], "stateless", [view]).status is Status.HELD


def test_what_is_broken_beside_calls_and_results_is_no_matter_of_tools() -> None:
    verdict = judge(suite().catalogue["tools/broken-pairs-are-not-sent"], "stateless", [again("no-messages")()])
    assert verdict.status is Status.INCONCLUSIVE


# -- what is done -----------------------------------------------------------------------------------------------------


def began(*messages: Message) -> CallBegan:
    return CallBegan(messages=messages, system="Be brief.", tools=(), round=0, streamed=False, call=4)


def test_a_history_is_broken_in_each_way_once_and_the_original_is_left_alone() -> None:
    results = [ToolResult("a", "read_sensor", "1"), ToolResult("b", "read_sensor", "2")]
    calls = [FunctionCall(id="a", name="read_sensor"), FunctionCall(id="b", name="read_sensor")]
    call = began(Message.user("How moist?"), Message.model(*calls), Message.tool(*results))
    broken = {one.broken: one for one in broken_histories([call])}
    assert set(broken) == {
        "no-messages", "blank-message", "message-without-parts", "call-without-result", "result-without-call",
        "result-given-twice", "result-missing-among-others",
    }  # fmt: skip
    assert broken["no-messages"].messages == ()
    assert [len(one.results) for one in broken["result-given-twice"].messages if one.role == "tool"] == [4]
    assert not any(one.results for one in broken["call-without-result"].messages)
    assert not any(one.calls for one in broken["result-without-call"].messages)
    assert all(one.messages[-1].role == "user" for one in broken.values() if one.messages and "result" in one.broken)
    assert len({one.call for one in broken.values()} | {call.call}) == len(broken) + 1
    assert len(call.messages) == 3


def test_a_history_without_calls_is_broken_in_its_texts_alone() -> None:
    call = began(Message.user("How moist?"))
    assert [one.broken for one in broken_histories([call])] == [
        "no-messages",
        "blank-message",
        "message-without-parts",
    ]


class _Control:
    def ask(self, *_: object) -> None: ...


class _Recorder:
    """As much of a recorder as a probe uses."""

    probe = "helpers"
    call = 0

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.control = _Control()

    def event(self, event: Event) -> None:
        self.events.append(event)

    def end(self) -> None: ...

    def raised(self, _: BaseException) -> None: ...


class _Adapter:
    """Counts as it is told, and writes what it is told."""

    def __init__(self, count: Any, text: Any, loaded: Any) -> None:
        self.count, self.text, self.loaded = count, text, loaded

    def count_tokens(self, *_: object) -> Any:
        return self.count

    def serialize_history(self, _: object) -> Any:
        return self.text

    def deserialize_history(self, _: object) -> Any:
        return self.loaded


def results_of(adapter: Any) -> list[HelperCalled]:
    recorder: Any = _Recorder()
    call_helpers(adapter, [began(Message.user("How moist?"))], recorder)
    return list(recorder.events)


def test_each_call_is_counted_and_serialised_and_the_first_one_is_counted_without_its_frame() -> None:
    message = Message.user("How moist?")
    results = results_of(_Adapter(9, "text", [message]))
    assert [(one.method, one.alone, one.returned) for one in results] == [
        ("count_tokens", False, 9),
        ("count_tokens", True, 9),
        ("deserialize_history", False, None),
    ]
    assert results[-1].messages == (message,)


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [
        (_Adapter(None, "text", []), ["None", "None", None]),
        (_Adapter(True, "text", []), ["True", "True", None]),
        (_Adapter(9, b"text", []), [9, 9, "bytes instead of a text, by serialize_history()"]),
        (_Adapter(9, "text", "x"), [9, 9, "str instead of a list of messages, by deserialize_history()"]),
        (_Adapter(9, "text", [1]), [9, 9, "list instead of a list of messages, by deserialize_history()"]),
    ],
)
def test_what_breaks_the_contract_is_put_down_in_words(adapter: Any, expected: list[Any]) -> None:
    assert [one.returned for one in results_of(adapter)] == expected


def test_a_method_that_is_missing_is_put_down_as_one_that_raised() -> None:
    assert {one.error for one in results_of(object())} == {"AttributeError"}


def test_the_events_can_be_stored_and_read_again() -> None:
    event = HelperCalled(method="deserialize_history", messages=(Message.user(Text("How moist?")),), call=2)
    assert msgspec.json.decode(msgspec.json.encode(event), type=HelperCalled).method == "deserialize_history"


def test_the_probes_that_scenarios_ask_for_are_those_of_the_driver() -> None:
    probes = {probe for one in load_scenarios() for probe in one.probes}
    assert {"broken", "helpers", "cancelled"} <= probes


def load_scenarios() -> list[Scenario]:
    from turnproof.commands.certify.scenarios import suite_scenarios

    return list(suite_scenarios(suite()))


def test_a_service_that_counts_no_tokens_leaves_the_adapters_count_undecided() -> None:
    name = "accounting/token-counts-grow-with-the-prompt"
    failing = raised(counted(7, 9, 12)())
    assert status(name, failing) is Status.VIOLATED
    where: dict[str, Any] = {"exchange": 99, "turn": -1, "probe": "helpers"}
    request = replace(next(iter(failing.transcript.of(WireRequest))), operation="count_tokens", **where)
    answer = replace(next(iter(failing.transcript.of(WireResponse))), status=404, origin="service", body="{}", **where)
    *before, end = failing.transcript.events
    events = (*before, request, answer, end)
    denied = View(replace(failing.transcript, events=events), failing.dialect, failing.scenario)
    assert status(name, denied) is not Status.VIOLATED
