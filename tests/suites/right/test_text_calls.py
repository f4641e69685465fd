"""An adapter that writes calls and results as texts is not accused where it says so, and is wherever it loses one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.dialects import dialect
from turnproof.dialects.text_calls import with_native_calls
from turnproof.judge.requirements import judge, load_suite
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, Part, Text, ToolResult, thaw, to_builtins
from turnproof.provider import Capabilities
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import RunKey

from .text_calls import BINDING, as_text

SHOWN = (
    "basics/plain",
    "cancel/during_tool",
    "faults/respelled",
    "gc/tool_pairs",
    "handoff/from_elsewhere",
    "tools/failing_and_unknown",
    "tools/illegal_names",
    "tools/image_result",
    "tools/parallel",
)

LOOK = FunctionCall("c1", "read_sensor", {"bed": "3", "unit": "°C\n"})
NOTE = FunctionCall("c2", "note", {"deep": {"n": [1, 2.5, True]}})
HISTORY = (
    Message.user("How is bed 3?"),
    Message.model(Text("I look."), LOOK, NOTE),
    Message.tool(ToolResult("c1", "read_sensor", {"moisture": 12}), ToolResult("c2", "note", "noted")),
    Message.user("And?"),
)


def all_claims() -> Capabilities:
    """What the binding claims, with the traits of its wire API."""
    return dataclasses.replace(BINDING.claims(), wire=dialect(BINDING.dialect).traits)


def in_neutral_form(messages: Any) -> list[Any]:
    return [(one.role, [to_builtins(part) for part in one.parts]) for one in messages]


def sent(change: Callable[[str], str] = str) -> list[Message]:
    """The conversation in texts, the last two messages of the user as one, each text changed."""
    first, model, tool, last = map(as_text, HISTORY)
    messages = [first, model, Message("user", (*tool.parts, *last.parts))]
    return [Message(one.role, tuple(_changed(part, change) for part in one.parts)) for one in messages]


def _changed(part: Part, change: Callable[[str], str]) -> Part:
    return Text(change(part.text)) if isinstance(part, Text) else part


def test_texts_with_every_name_and_value_are_read_as_calls_and_results() -> None:
    restored = in_neutral_form(with_native_calls(HISTORY, sent()))
    expected = in_neutral_form(HISTORY)
    expected[2][1][0]["result"] = '{"moisture": 12}'
    assert restored == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("read_sensor", "sensor"),
        lambda text: text.replace("2.5", "2"),
        lambda text: text.replace("12", "13"),
        lambda text: text.replace("noted", ""),
        lambda text: f"{text} {'And water it as well, every day of the week. ' * 9}",
    ],
    ids=["another name", "another value", "another result", "no result", "more words"],
)
def test_where_one_is_missing_or_much_is_added_the_request_stays_as_it_is(change: Callable[[str], str]) -> None:
    messages = sent(change)
    assert with_native_calls(HISTORY, messages) is messages


def test_calls_in_the_form_of_chat_completions_are_read_with_their_ids_in_one_text() -> None:
    """As smolagents writes them: the text of a list of dicts, behind what the model says."""
    ids = [f"call_rU0goLpH1cIqnY658lpC0Ke{number}" for number in range(2)]
    calls = [msgspec.structs.replace(call, id=id) for call, id in zip((LOOK, NOTE), ids, strict=True)]
    forms = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": thaw(call.args)}}
        for call in calls
    ]
    messages = sent()
    messages[1] = Message.model(Text(f"I look.\nCalling tools:\n{forms}"))
    held = (HISTORY[0], Message.model(Text("I look."), *calls), *HISTORY[2:])
    restored = with_native_calls(held, messages)
    assert in_neutral_form(restored)[1] == in_neutral_form(held)[1]


def test_a_request_with_a_call_as_such_stays_as_it_is() -> None:
    messages = [*sent(), Message.model(FunctionCall("c3", "note", {}))]
    assert with_native_calls(HISTORY, messages) is messages


@pytest.fixture(scope="module")
def views() -> Iterator[list[View]]:
    scenarios = {one.name: one for one in suite_scenarios(load_suite())}
    wire = dialect(BINDING.dialect)
    with Runner(in_process=True, bindings={BINDING.name: BINDING}) as runner:
        yield [
            View(runner.run(RunSpec(BINDING.name, scenario, RunKey(name, "stateless", mode))), wire, scenario)
            for name in SHOWN
            for scenario in [scenarios[name]]
            for mode in scenario.modes
        ]


def test_nothing_accuses_an_adapter_that_says_so(views: list[View]) -> None:
    claims = all_claims()
    every = load_suite().requirements
    requirements = [one for one in every if one.concerns("adapter") and not one.lacks(claims)]
    violated = [one.id for one in requirements if judge(one, "stateless", views).status is Status.VIOLATED]
    assert violated == []
    wire = judge(load_suite().catalogue["core/wire-is-what-the-session-holds"], "stateless", views)
    assert wire.status is Status.HELD


def test_that_calls_go_out_as_calls_is_asked_of_everyone_else(views: list[View]) -> None:
    requirement = load_suite().catalogue["tools/results-answer-every-call"]
    assert requirement.lacks(BINDING.claims())
    assert not requirement.lacks(dataclasses.replace(BINDING.claims(), native_calls=True))
    assert judge(requirement, "stateless", views).status is Status.VIOLATED
