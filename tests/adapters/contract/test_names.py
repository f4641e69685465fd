"""Tool names on the wire: always legal, never colliding, and back again, for each API's rule of what a name may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.messages import FunctionCall, Message, ToolResult, ToolSchema
from turnproof_adapters.anthropic import names as anthropic_names
from turnproof_adapters.google_genai import names as gemini_names
from turnproof_adapters.openai import names as openai_names

from ..callback_recorder import CallbackRecorder
from .adapter_kit import RequestRecorder, Subject
from .subjects import batch_and_stream, each_subject
from .wire_parts import call

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
URL = "http://example.invalid"


@dataclass(frozen=True)
class NameRule:
    """What one API accepts as a tool's name, and how its adapter makes other names legal."""

    wire_name: Callable[[str], str]
    restorer: Callable[[Callable[[], Iterable[str]]], Callable[[str], str]]
    legal: re.Pattern[str]
    legal_names: Sequence[str]
    other_names: Sequence[str]


LETTERS_DIGITS_DASHES = re.compile(r"[a-zA-Z0-9_-]{1,64}")
RULES = {
    "anthropic": NameRule(
        anthropic_names.wire_name,
        anthropic_names.restorer,
        LETTERS_DIGITS_DASHES,
        legal_names=["read", "Read_file-2", "x" * 64],
        other_names=["a.b", "a:b", "北", "x" * 65, "x" * 70, ""],
    ),
    "openai": NameRule(
        openai_names.wire_name,
        openai_names.restorer,
        LETTERS_DIGITS_DASHES,
        legal_names=["read", "Read_file-2", "x" * 64],
        other_names=["a.b", "a:b", "北", "x" * 65, "x" * 70, ""],
    ),
    "google_genai": NameRule(
        gemini_names.wire_name,
        gemini_names.restorer,
        re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
        legal_names=["read", "_Read.file:v-2", "x" * 64],
        other_names=["a b", "a/b", "北", "9lives", "-flag", "x" * 65, "x" * 70, ""],
    ),
}
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
names_of_tools = st.text(min_size=1, max_size=90) | st.sampled_from(
    ["a.b", "a:b", "a b", "a/b", "a_b", "", "北", "9lives", "-x0123456789"]
)


@each_rule
@given(names=st.lists(names_of_tools, unique=True, max_size=8))
def test_any_set_of_tool_names_is_made_legal_without_collisions_and_restored(rule: NameRule, names: list[str]) -> None:
    sent = [rule.wire_name(name) for name in names]
    assert all(rule.legal.fullmatch(name) for name in sent)
    assert len(set(sent)) == len(names)
    restore = rule.restorer(lambda: names)
    assert [restore(name) for name in sent] == names


@each_rule
def test_a_tool_may_be_named_like_the_rewritten_form_of_another(rule: NameRule) -> None:
    for name in rule.other_names:
        twin = rule.wire_name(name)
        assert rule.legal.fullmatch(twin)
        assert rule.wire_name(twin) not in (twin, name)
        assert rule.restorer([twin, name].copy)(twin) == name


@each_rule
def test_a_legal_name_is_left_alone(rule: NameRule) -> None:
    for name in rule.legal_names:
        assert rule.wire_name(name) == name


@each_subject
@batch_and_stream
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "known-from-history"])
def test_a_call_comes_back_under_the_tools_own_name(subject: Subject, streamed: bool, declared: bool) -> None:
    name = "mcp/srv ls"
    tools = [ToolSchema("other"), *([ToolSchema(name)] if declared else [])]
    history = [
        Message.user("hi"),
        Message.model("look", FunctionCall("call_0", name, {})),
        Message.tool(ToolResult("call_0", name, "ok")),
    ]
    parts = [call("call_1", subject.kit.wire_name(name), '{"a": 1}')]
    recorder = RequestRecorder(subject.kit.answer(*parts, ending="calls"), subject.kit.stream(*parts, ending="calls"))
    opened, callbacks = subject.open(URL, transport=recorder.transport), CallbackRecorder()
    response = opened.go_on(history, tools, callbacks if streamed else None)
    assert [(each.name, each.args) for each in response.calls] == [(name, {"a": 1})]
    assert callbacks.calls == (list(response.calls) if streamed else [])


@each_subject
def test_a_name_that_only_looks_rewritten_is_left_as_it_came(subject: Subject) -> None:
    parts = [call("call_1", "ghost-x0123456789", "{}")]
    recorder = RequestRecorder(subject.kit.answer(*parts, ending="calls"), subject.kit.stream(*parts, ending="calls"))
    response = subject.open(URL, transport=recorder.transport).go_on([], [ToolSchema("other one")])
    assert [each.name for each in response.calls] == ["ghost-x0123456789"]
