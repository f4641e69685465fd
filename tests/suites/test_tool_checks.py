"""Checks of tools: definitions, results, calls and names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import JSON, FinishReason, FunctionCall, Part, Text, ToolResult, ToolSchema
from turnproof.run.transcript import CallBegan, FunctionCallDetected, Response, WireRequest, WireResponse
from turnproof_suites.checks_tools import is_unquoted

from .build import RunBuilder, body_with, error, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import READ, WATER, broken, no_arguments, odd_names, read, result, tools

CLIPPED, BROKEN = FinishReason.MAX_TOKENS, FinishReason.TOOL_USE


def wire(change: Callable[[Any], Any], nth: int = 1) -> Callable[[View], View]:
    """The request that carries the results, changed."""
    return lambda view: spoilt(view, WireRequest, body_with(change), nth)


def results(change: Callable[[list[Any]], Any]) -> Callable[[View], View]:
    """The content that carries the results, changed in place."""
    return wire(lambda body: change(body["messages"][2]["content"]) and None)


def calls(change: Callable[[FunctionCall], FunctionCall], every: bool = True) -> Callable[[View], View]:
    """The calls of the first response, changed (only the first one unless `every`)."""

    def changed(event: Response) -> Response:
        parts, left = [], True
        for part in event.response.parts:
            if isinstance(part, FunctionCall) and (every or left):
                part, left = change(part), False
            parts.append(part)
        return replace(event, response=replace(event.response, parts=tuple(parts)))

    return lambda view: spoilt(view, Response, changed)


def with_call(event: Response) -> Response:
    """The response also has the call that never became complete."""
    return replace(
        event, response=replace(event.response, parts=(*event.response.parts, FunctionCall(id="x", name="water_bed")))
    )


def with_ids(view: View, wire_id: Callable[[str], str], result_id: Callable[[str], str] | None = None) -> View:
    """The adapter returns the ids `my_ID`; later requests have other ids on the wire, for calls and for results."""

    def own(part: Part) -> Part:
        match part:
            case FunctionCall(id=id):
                return replace(part, id=f"my_{id}")
            case ToolResult(call_id=id):
                return replace(part, call_id=f"my_{id}")
        return part

    def with_own_ids(event: CallBegan) -> CallBegan:
        messages = [replace(message, parts=tuple(map(own, message.parts))) for message in event.messages]
        return replace(event, messages=tuple(messages))

    def sent(body: Any) -> None:
        for block in (block for message in body["messages"] for block in message["content"]):
            if block["type"] == "tool_use":
                block["id"] = wire_id(block["id"])
            elif block["type"] == "tool_result":
                block["tool_use_id"] = (result_id or wire_id)(block["tool_use_id"])

    view = calls(lambda call: replace(call, id=f"my_{call.id}"))(view)
    view = spoilt(view, CallBegan, with_own_ids, every=True)
    return spoilt(view, WireRequest, body_with(sent), every=True)


CASES = [
    Case(
        "tools/definitions-are-sent-each-turn",
        tools,
        wire(lambda body: body["tools"].pop() and None),
        "water_bed",
        "missing",
        "/tools",
    ),
    Case(
        "tools/results-answer-every-call",
        tools,
        results(lambda content: content.pop()),
        "toolu_2",
        "result-count",
        "/messages/2/content",
    ),
    Case(
        "tools/results-follow-their-calls",
        tools,
        results(lambda content: content.insert(0, {"type": "text", "text": "Here:"})),
        "a message of role",
        "separated",
        "/messages/2/content/0",
    ),
    Case(
        "tools/results-keep-the-order-of-calls",
        tools,
        results(lambda content: content.reverse()),
        '["toolu_1", "toolu_2"], in this order',
        "order",
        "/messages/2/content/0/tool_use_id",
    ),
    Case(
        "tools/failure-is-marked-on-the-wire",
        tools,
        results(lambda content: content[1].update(is_error=False)),
        "marked as succeeded",
        "mark",
        "/messages/2/content/1/is_error",
    ),
    Case("tools/unknown-and-failing-tools-are-answered", tools, results(lambda content: content.pop()), "toolu_2"),
    Case(
        "tools/string-results-go-out-unquoted",
        tools,
        results(lambda content: content[0].update(content='"41 %"')),
        'expected "41 %"',
        "changed",
        "/messages/2/content/0/content",
    ),
    Case(
        "tools/call-ids-are-kept",
        tools,
        lambda view: with_ids(view, wire_id="my_{}".format),
        'expected the id "toolu_1"; got "my_toolu_1"',
        "changed",
        "/parts/1/id",
    ),
    Case(
        "tools/arguments-keep-their-values",
        tools,
        calls(lambda call: replace(call, args={**call.args, "litres": "50"})),
        'expected 50 in the arguments for "read_sensor"; got "50"',
        "changed",
        "/parts/1/args/litres",
    ),
    Case(
        "tools/no-arguments-are-an-empty-object",
        no_arguments,
        lambda view: spoilt(
            view,
            Response,
            lambda event: replace(error("JSONDecodeError", typed=False), turn=event.turn, call=event.call),
        ),
        "JSONDecodeError",
        "raised",
        "/error",
    ),
    Case(
        "tools/clipped-calls-are-not-returned",
        lambda: broken(CLIPPED),
        lambda view: spoilt(view, Response, with_call),
        "water_bed",
        "returned",
        "/parts/1",
    ),
    Case(
        "tools/broken-arguments-never-run",
        lambda: broken(BROKEN),
        lambda view: spoilt(view, Response, with_call),
        "not valid JSON",
        "returned",
        "/parts/1",
    ),
    Case(
        "tools/tool-use-comes-with-calls",
        tools,
        lambda view: spoilt(view, Response, response_with(finish_reason=FinishReason.TOOL_USE), 1),
        "without a tool call",
        "no-call",
        "/finish_reason",
    ),
    Case(
        "tools/parallel-calls-stay-apart",
        tools,
        lambda view: spoilt(view, Response, response_with(parts=(Text("Let me look."), read()))),
        "expected 2 calls; got 1",
        "count",
        "/parts",
    ),
    Case(
        "tools/no-arguments-are-an-empty-object",
        no_arguments,
        calls(lambda call: replace(call, args={"bed": "3"})),
        'with the arguments {}; got {"bed": "3"}',
        "not-empty",
        "/parts/0/args",
    ),
    Case(
        "tools/parallel-calls-stay-apart",
        tools,
        calls(lambda call: replace(call, id="toolu_1")),
        "under one id",
        "one-id",
        "/parts/2/id",
    ),
    Case(
        "tools/names-come-back",
        odd_names,
        calls(lambda call: replace(call, name="bed:water")),
        'a call of "bed.water"',
        "changed",
        "/parts/0/name",
    ),
    Case(
        "tools/names-stay-apart",
        odd_names,
        wire(lambda body: body["tools"][1].update(name="bed_water")),
        "Two tools went out",
        "one-name",
        "/tools/1/name",
    ),
    Case(
        "tools/names-are-legal",
        odd_names,
        wire(lambda body: body["tools"][0].update(name="bed.water")),
        "bed.water",
        "illegal",
        "/tools/0/name",
    ),
    Case(
        "tools/replayed-calls-use-declared-names",
        odd_names,
        wire(lambda body: body["messages"][1]["content"][0].update(name="bed.water")),
        "in the history",
        "another-name",
        "/messages/1/content/0/name",
    ),
]


MAPPED = (
    "core/wire-is-what-the-session-holds",
    "tools/call-ids-are-kept",
    "tools/results-answer-every-call",
    "tools/results-keep-the-order-of-calls",
    "tools/unknown-and-failing-tools-are-answered",
    "tools/failure-is-marked-on-the-wire",
    "tools/arguments-keep-their-values",
    "tools/names-come-back",
)


@pytest.mark.parametrize("requirement", MAPPED)
def test_ids_may_be_mapped_as_long_as_the_service_gets_its_own_back(requirement: str) -> None:
    assert status(requirement, with_ids(tools(), wire_id=str)) is Status.HELD


def another(id: str) -> str:
    """The id of the other one of two calls."""
    return {"toolu_1": "toolu_2", "toolu_2": "toolu_1"}[id]


@pytest.mark.parametrize("result_id", ["toolu_1".format, "my_{}".format], ids=["of-one-call", "own"])
def test_a_result_under_another_id_than_its_call_on_the_wire_answers_nothing(result_id: Callable[[str], str]) -> None:
    wrong = with_ids(tools(), str, result_id)
    verdicts = [status(name, wrong) for name in MAPPED]
    assert Status.VIOLATED in verdicts
    assert verdicts[0] is Status.VIOLATED


def test_results_under_each_others_ids_are_results_of_each_others_calls() -> None:
    swapped = with_ids(tools(), str, another)
    assert status("tools/failure-is-marked-on-the-wire", swapped) is Status.VIOLATED


def test_ids_that_are_lost_or_shared_are_not_mapped() -> None:
    for own in ("", "my_own"):
        view = calls(partial(replace, id=own))(tools())
        assert status("tools/call-ids-are-kept", view) is Status.VIOLATED, own


@pytest.mark.parametrize(("name", "expected"), [("bed_water", Status.HELD), ("bed_water_3", Status.VIOLATED)])
def test_a_tool_that_is_gone_keeps_the_name_that_it_had_on_the_wire(name: str, expected: Status) -> None:
    def without_tools(body: Any) -> None:
        del body["tools"]
        body["messages"][1]["content"][0]["name"] = name

    view_without_tools = spoilt(odd_names(), CallBegan, lambda event: replace(event, tools=()), 1)
    view = spoilt(view_without_tools, WireRequest, body_with(without_tools), 1)
    assert status("tools/replayed-calls-use-declared-names", view) is expected


test_the_good_run_holds_and_the_spoilt_one_does_not = good_runs_hold(CASES)


@pytest.mark.parametrize(
    ("sent", "unquoted"),
    [
        ("41 %", True),
        ({"result": "41 %"}, True),
        ({"output": [{"text": "41 %"}]}, True),
        ({"output": [{"text": '"41 %"'}]}, False),
        ({"output": '[{"text": "41 %"}]'}, False),
        ('"41 %"', False),
        (["Bed 3: 41 %"], False),
        ("41 %\n", True),
        ("41 %\nImage content is included below.", True),
        ({"output": "The tool says:\n 41 %"}, True),
        ("'41 %'\nImage content is included below.", False),
        ('{\n  "result": "41 %"\n}', False),
        ("41 %%", False),
    ],
)
def test_a_text_may_be_a_value_at_any_depth_or_lines_of_one_but_not_within_a_line(sent: JSON, unquoted: bool) -> None:
    assert is_unquoted(ToolResult("c1", "read", "41 %"), ToolResult("c1", "read", sent)) is unquoted


@pytest.mark.parametrize(
    ("sent", "quoted", "whole"),
    [
        ('{"result": "41 %"}', Status.VIOLATED, Status.INCONCLUSIVE),
        ("The tool says 41 % here.", Status.VIOLATED, Status.INCONCLUSIVE),
        ("See below.", Status.HELD, Status.VIOLATED),
    ],
)
def test_a_text_that_is_not_in_its_result_was_lost_and_not_quoted(sent: str, quoted: Status, whole: Status) -> None:
    view = results(lambda content: content[0].update(content=sent))(tools())
    assert status("tools/string-results-go-out-unquoted", view) is quoted
    assert status("core/wire-is-what-the-session-holds", view) is whole


def test_only_an_error_may_be_introduced() -> None:
    sent = ToolResult("c1", "read", {"error": [{"text": "Error: no sensor"}]})
    assert is_unquoted(ToolResult("c1", "read", "no sensor", is_error=True), sent)
    assert not is_unquoted(ToolResult("c1", "read", "no sensor"), sent)


def test_a_clipped_call_must_not_be_announced_either() -> None:
    builder = RunBuilder(scripted(["Well."]), tools=(READ,)).turn("Read!")
    view = broken(CLIPPED)
    announced = FunctionCallDetected(function_call=FunctionCall(id="x", name="read_sensor"), turn=0, call=0)
    events = view.transcript.events
    spoilt_view = View(
        replace(view.transcript, events=(*events[:4], announced, *events[4:])), view.dialect, builder.scenario
    )
    assert status("tools/clipped-calls-are-not-returned", view) is Status.HELD
    assert status("tools/clipped-calls-are-not-returned", spoilt_view) is Status.VIOLATED


def test_a_clipped_call_that_looks_whole_in_one_piece_is_not_returned_either() -> None:
    returned = broken(CLIPPED, mode="batch")
    left_out = spoilt(returned, Response, response_with(parts=(Text("Well."),)))
    assert status("tools/clipped-calls-are-not-returned", left_out) is Status.HELD
    assert status("tools/clipped-calls-are-not-returned", returned) is Status.VIOLATED


def test_raising_on_broken_arguments_is_as_good_as_leaving_the_call_out() -> None:
    raised = spoilt(
        broken(BROKEN), Response, lambda event: replace(error("TransportError"), turn=event.turn, call=event.call)
    )
    assert status("tools/broken-arguments-never-run", raised) is Status.HELD


def test_additions_to_a_schema_are_the_adapters_right() -> None:
    view = spoilt(
        tools(),
        WireRequest,
        body_with(
            lambda body: [tool["input_schema"].update(additionalProperties=False) for tool in body["tools"]] and None
        ),
        every=True,
    )
    assert status("tools/definitions-are-sent-each-turn", view) is Status.HELD


def test_the_same_id_in_a_later_turn_is_another_call() -> None:
    builder = RunBuilder(scripted([read()], ["Yes."]), scripted([read()], ["No."]), tools=(READ,))
    builder.turn("Moist?").call(read()).results(result(value="41 %")).call("Yes.").end()
    builder.turn("Still?").call(read()).results(result(value="gone", is_error=True)).call("No.").end()
    view = builder.view()
    for name in ("results-answer-every-call", "results-follow-their-calls", "failure-is-marked-on-the-wire"):
        assert status(f"tools/{name}", view) is Status.HELD


def test_results_may_be_followed_by_text_in_their_message() -> None:
    def added(body: Any) -> None:
        body["messages"][2]["content"].append({"type": "text", "text": "And?"})

    assert status("tools/results-follow-their-calls", wire(added)(tools())) is Status.HELD


def test_one_wrong_argument_is_found_whichever_call_it_is_in() -> None:
    only_first = calls(lambda call: replace(call, args={**call.args, "bed": 3}), every=False)(tools())
    assert status("tools/arguments-keep-their-values", only_first) is Status.VIOLATED


@pytest.mark.parametrize(
    ("kind", "returned", "expected"),
    [
        ("object", {"n": 1}, Status.HELD),
        ("object", {"n": 2}, Status.VIOLATED),
        ("string", {"n": 1}, Status.VIOLATED),
        (["object", "string"], {"n": 1}, Status.VIOLATED),
    ],
)
def test_a_string_of_json_may_be_read_where_the_schema_has_no_room_for_a_string(
    kind: JSON, returned: JSON, expected: Status
) -> None:
    tool = ToolSchema("note", "Note", {"type": "object", "properties": {"what": {"type": kind}}})
    call = FunctionCall("toolu_1", "note", {"what": '{"n": 1}'})
    view = RunBuilder(scripted([call]), tools=(tool,)).turn("Note it.").call(call).end().view()
    read = spoilt(view, Response, response_with(parts=(replace(call, args={"what": returned}),)))
    assert status("tools/arguments-keep-their-values", read) is expected


@pytest.mark.parametrize(
    ("kind", "sent", "returned", "expected"),
    [
        ("number", 2.0, 2, Status.VIOLATED),
        ("integer", 2.0, 2, Status.HELD),
        ("number", 2, 2.0, Status.HELD),
        ("integer", 2, 2.0, Status.VIOLATED),
        ("integer", 2.0, 3, Status.VIOLATED),
        (["integer", "string"], 2.0, 2, Status.VIOLATED),
    ],
)
def test_a_number_keeps_its_fraction_unless_the_schema_has_room_for_the_other_kind_alone(
    kind: JSON, sent: float, returned: float, expected: Status
) -> None:
    tool = ToolSchema("note", "", {"type": "object", "properties": {"what": {"type": kind}}})
    call = FunctionCall("c1", "note", {"what": sent})
    view = RunBuilder(scripted([call]), tools=(tool,)).turn("Note it.").call(call).end().view()
    read = spoilt(view, Response, response_with(parts=(replace(call, args={"what": returned}),)))
    assert status("tools/arguments-keep-their-values", read) is expected


def test_the_wire_decides_which_tool_was_called_not_the_script() -> None:
    """A model that calls another tool than was scripted is no fault of the adapter."""
    builder = RunBuilder(scripted([read()]), tools=(READ, WATER))
    view = builder.turn("Read!").call(replace(read(), name="water_bed")).end().view()
    assert status("tools/names-come-back", view) is Status.HELD


@pytest.mark.parametrize(
    ("returned", "finish", "expected"),
    [
        (2, "max_tokens", Status.HELD),
        (1, "max_tokens", Status.VIOLATED),
        (2, "tool_use", Status.VIOLATED),
    ],
)
def test_the_last_call_of_an_answer_that_its_limit_ended_may_be_left_out(
    returned: int, finish: str, expected: Status
) -> None:
    """In one piece it looks whole whatever it lacks: servers close what the limit has cut."""
    scripted_calls = [
        read(),
        FunctionCall("toolu_2", "read_sensor", {"bed": "5"}),
        FunctionCall("toolu_3", "read_sensor", {}),
    ]
    view = (
        RunBuilder(scripted(scripted_calls, user="Read all."), tools=(READ,), mode="batch")
        .turn("Read all.")
        .call(*scripted_calls)
        .end()
        .view()
    )
    view = spoilt(
        view,
        WireResponse,
        lambda event: replace(event, body=event.body.replace('"tool_use","stop_seq', f'"{finish}","stop_seq')),
    )
    view = spoilt(view, Response, response_with(parts=tuple(scripted_calls[:returned])))
    assert status("tools/parallel-calls-stay-apart", view) is expected
