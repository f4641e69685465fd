"""The neutral conversation types: frozen to any depth, JSON and nothing else, and lossless through text."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import weakref
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof import messages as m
from turnproof._base.frozen import FrozenDict, FrozenList
from turnproof.errors import PayloadError, UsageError

# Frozen


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.__delitem__("a"),
        lambda d: d.update(b=1),
        lambda d: d.clear(),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.__ior__({"b": 1}),
        lambda d: d["a"].append(1),
        lambda d: d["a"].extend([1]),
        lambda d: d["a"].insert(0, 1),
        lambda d: d["a"].pop(),
        lambda d: d["a"].remove(1),
        lambda d: d["a"].clear(),
        lambda d: d["a"].sort(),
        lambda d: d["a"].reverse(),
        lambda d: d["a"].__setitem__(0, 2),
        lambda d: d["a"].__delitem__(0),
        lambda d: d["a"].__iadd__([1]),
        lambda d: d["a"].__imul__(2),
        lambda d: d["a"][1].__setitem__("deep", 1),
    ],
)
def test_arguments_refuse_every_change_at_any_depth(change: Callable[[Any], object]) -> None:
    call = m.FunctionCall("c1", "look", {"a": [1, {"deep": None}]})
    with pytest.raises(TypeError, match="is frozen: build a new message"):
        change(call.args)
    assert call.args == {"a": [1, {"deep": None}]}


PARTS: list[m.Part] = [
    m.Text("t"),
    m.Thought("t"),
    m.FunctionCall("c1", "look", {"a": 1}),
    m.ToolResult("c1", "look", ["seen"]),
    m.InlineData("image/png", b"\x89"),
    m.FileRef("image/png", "https://example.test/a.png"),
    m.ExecutableCode("python", "1 + 1"),
    m.CodeExecutionResult("ok", "2"),
    m.Opaque("d", "k", {"x": 1}),
]


@pytest.mark.parametrize(
    "thing",
    [*PARTS, m.Message("user", (m.Text("hi"),), "m1"), m.ToolSchema("t"), m.TokenUsage(), m.ProviderResponse()],
    ids=repr,
)
def test_fields_cannot_be_set(thing: Any) -> None:
    for name in thing.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(thing, name, None)


def test_what_the_caller_changes_later_does_not_reach_a_part() -> None:
    payload: dict[str, Any] = {"a": [1]}
    copies = [
        m.FunctionCall("c", "n", payload).args,
        m.ToolResult("c", "n", payload).result,
        m.Opaque("d", "k", payload).data,
        m.ToolSchema("t", parameters=payload).parameters,
        m.ProviderData("d", "m", payload).data,
    ]
    payload["a"].append(2)
    payload["b"] = 1
    assert copies == [{"a": [1]}] * 5


def test_frozen_values_equal_plain_ones_and_hand_out_changeable_copies() -> None:
    frozen = m.freeze({"a": [1, {"b": (2, 3)}]})
    plain = {"a": [1, {"b": [2, 3]}]}
    assert frozen == plain
    assert (type(frozen), type(frozen["a"]), type(frozen["a"][1])) == (FrozenDict, FrozenList, FrozenDict)
    thawed = m.thaw(frozen)
    assert thawed == plain
    assert (type(thawed), type(thawed["a"]), type(thawed["a"][1])) == (dict, list, dict)
    thawed["a"][1]["b"].append(4)
    assert frozen == plain


def test_frozen_values_are_shared_by_copies_and_survive_pickling() -> None:
    frozen = m.freeze({"a": [1, {"b": 2}]})
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    assert copy.copy(frozen["a"]) is copy.deepcopy(frozen["a"]) is frozen["a"]
    back = pickle.loads(pickle.dumps(frozen))
    assert back == frozen
    assert (type(back), type(back["a"])) == (FrozenDict, FrozenList)


def test_freezing_again_costs_nothing() -> None:
    frozen = m.freeze({"a": 1})
    assert m.freeze(frozen) is frozen
    assert m.FunctionCall("c", "n", frozen).args is frozen


# JSON and nothing else


class Number(int):
    """An int that a JSON encoder might write in its own way."""


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"when": datetime(2026, 1, 1)}, "$.args.when"),
        ({"a": [0, {"b": {1, 2}}]}, "$.args.a[1].b"),
        ({"a": math.nan}, "$.args.a"),
        ({"a": [math.inf]}, "$.args.a[0]"),
        ({"a": -math.inf}, "$.args.a"),
        ({"a": b"bytes"}, "$.args.a"),
        ({"a": Decimal("1.5")}, "$.args.a"),
        ({"a": ...}, "$.args.a"),
        ({"a": {1: "x"}}, "$.args.a"),
        ({None: "x"}, "$.args"),
        ([1], "$.args"),
        ("{}", "$.args"),
        (None, "$.args"),
    ],
    ids=repr,
)
def test_arguments_that_are_not_a_json_object_are_refused_with_their_path(value: Any, path: str) -> None:
    with pytest.raises(PayloadError) as failure:
        m.FunctionCall("c1", "look", value)
    assert failure.value.path == path
    assert str(failure.value) == f"{path}: {failure.value.reason}"
    assert isinstance(failure.value, UsageError)


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda bad: m.ToolResult("c", "n", bad), "$.result"),
        (lambda bad: m.ToolResult("c", "n", {"a": [bad]}), "$.result.a[0]"),
        (lambda bad: m.Opaque("d", "k", {"a": bad}), "$.data.a"),
        (lambda bad: m.ProviderData("d", "m", {"signature": bad}), "$.provider_data.signature"),
        (lambda bad: m.ToolSchema("t", parameters={"properties": {"x": bad}}), "$.parameters.properties.x"),
    ],
    ids=["result", "deep-in-a-result", "opaque", "provider-data", "schema"],
)
def test_every_payload_is_looked_at(make: Callable[[Any], object], path: str) -> None:
    with pytest.raises(PayloadError) as failure:
        make(b"bytes")
    assert failure.value.path == path


@pytest.mark.parametrize(
    ("value", "frozen"),
    [
        (None, None),
        (True, True),
        (0, 0),
        (1.5, 1.5),
        ("", ""),
        ((1, 2), [1, 2]),
        ([], []),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (Number(3), 3),
    ],
    ids=repr,
)
def test_json_in_any_guise_is_accepted(value: Any, frozen: Any) -> None:
    assert m.freeze(value) == frozen
    assert type(m.freeze(Number(3))) is int


def test_a_true_stays_a_true_and_a_one_a_one() -> None:
    assert m.freeze([True, 1, False, 0]) == [True, 1, False, 0]
    assert [type(item) for item in m.freeze([True, 1])] == [bool, int]


# Equality and identity


def test_parts_compare_by_value() -> None:
    assert m.FunctionCall("c", "n", {"a": [1]}) == m.FunctionCall("c", "n", {"a": [1]})
    assert m.Text("a") != m.Text("b")
    assert m.Text("a") != m.Thought("a")  # type: ignore[comparison-overlap]
    assert m.Text("a") != m.Text("a", cache=m.CacheMark())
    assert m.Text("a", cache=m.CacheMark("5m")) != m.Text("a", cache=m.CacheMark("1h"))


def test_messages_compare_and_hash_by_identity() -> None:
    a = m.Message("user", (m.FunctionCall("c", "n", {"unhashable": []}),), "m1")
    b = m.Message("user", a.parts, "m1")
    assert a != b
    assert len({a, b}) == 2
    assert m.same(a, b)


def test_same_looks_at_role_parts_and_unless_told_otherwise_ids() -> None:
    a = m.Message("user", (m.Text("x"),), "m1")
    assert not m.same(a, m.Message("model", (m.Text("x"),), "m1"))
    assert not m.same(a, m.Message("user", (m.Text("y"),), "m1"))
    assert not m.same(a, m.Message("user", (m.Text("x"),), "m2"))
    assert m.same(a, m.Message("user", (m.Text("x"),), "m2"), ids=False)
    assert m.same_history([a], [m.Message("user", (m.Text("x"),), "m2")], ids=False)
    assert not m.same_history([a], [a, a])
    assert m.same_history([], [])


def test_a_message_can_be_the_key_of_a_weak_map() -> None:
    memo: weakref.WeakKeyDictionary[m.Message, bytes] = weakref.WeakKeyDictionary()
    message = m.Message.user("hi")
    memo[message] = b"encoded"
    assert memo[message] == b"encoded"
    del message
    gc.collect()
    assert not memo


def test_message_ids_are_unique_unless_given() -> None:
    assert len({m.Message.user("x").message_id for _ in range(100)}) == 100
    assert m.Message("user", (), "mine").message_id == "mine"
    assert m.new_message_id() != m.new_message_id()


# Making and reading messages


def test_texts_and_parts_make_a_message() -> None:
    picture = m.InlineData("image/png", b"\x89")
    message = m.Message.user("what is ", picture, "?")
    assert message.role == "user"
    assert message.parts == (m.Text("what is "), picture, m.Text("?"))
    assert message.text == "what is ?"
    assert m.Message.system("be brief").parts == (m.Text("be brief"),)


def test_a_message_shows_its_calls_and_results_in_order() -> None:
    a, b = m.FunctionCall("a", "n"), m.FunctionCall("b", "n")
    message = m.Message.model(m.Thought("not text"), a, "then ", b)
    assert message.calls == (a, b)
    assert message.text == "then "
    assert message.results == ()
    results = m.ToolResult("a", "n", 1), m.ToolResult("b", "n", 2)
    assert m.Message.tool(*results).results == results
    assert m.Message.tool(*results).role == "tool"


def test_a_result_may_be_any_json_value_and_nothing_is_one() -> None:
    values: list[Any] = [None, "x", 0, False, [], {}]
    assert [m.ToolResult("c", "n", value).result for value in values] == values


def test_defaults_say_that_nothing_is_known() -> None:
    response = m.ProviderResponse()
    assert (response.parts, response.finish_reason, response.usage.total_tokens) == ((), m.FinishReason.UNKNOWN, 0)
    assert (response.text, response.calls) == ("", ())
    assert m.FinishReason("max_tokens") is m.FinishReason.MAX_TOKENS


def test_a_response_shows_its_text_and_calls_in_order() -> None:
    a, b = m.FunctionCall("a", "n"), m.FunctionCall("b", "n")
    response = m.ProviderResponse((m.Thought("hidden"), m.Text("one "), a, m.Text("two"), b))
    assert (response.text, response.calls) == ("one two", (a, b))


@pytest.mark.parametrize(
    "thing", [m.Text("x"), m.ToolResult("c", "n"), m.InlineData("a/b", b""), m.ToolSchema("t")], ids=repr
)
def test_marking_makes_a_marked_copy(thing: Any) -> None:
    once = m.marked(thing, m.CacheMark("1h"))
    assert once.cache == m.CacheMark("1h")
    assert thing.cache is None
    assert m.marked(once, None) == thing


# Through text


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.text(), json_values, max_size=3)
provider_data = st.none() | st.builds(m.ProviderData, st.text(), st.text(), json_objects)
cache = st.none() | st.builds(m.CacheMark, st.sampled_from(["5m", "1h"]))


def part(cls: type[Any], /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(cls, **fields, provider_data=provider_data, cache=cache)


inline = part(m.InlineData, mime_type=st.text(), data=st.binary())
files = part(m.FileRef, mime_type=st.text(), uri=st.text())
parts: st.SearchStrategy[m.Part] = st.one_of(
    part(m.Text, text=st.text()),
    part(m.Thought, text=st.text()),
    part(m.FunctionCall, id=st.text(), name=st.text(), args=json_objects),
    part(
        m.ToolResult,
        call_id=st.text(),
        name=st.text(),
        result=json_values,
        is_error=st.booleans(),
        attachments=st.lists(st.one_of(inline, files), max_size=2).map(tuple),
    ),
    inline,
    files,
    part(m.ExecutableCode, language=st.text(), code=st.text()),
    part(m.CodeExecutionResult, outcome=st.text(), output=st.text()),
    part(m.Opaque, dialect=st.text(), kind=st.text(), data=json_objects),
)
messages = st.builds(
    m.Message,
    role=st.sampled_from(["user", "model", "tool", "system"]),
    parts=st.lists(parts, max_size=4).map(tuple),
    message_id=st.text(min_size=1),
)


def types_of(value: Any) -> Any:
    """The value with every number's and boolean's type beside it: 1, 1.0 and True are equal and not the same JSON."""
    if isinstance(value, dict):
        return {key: types_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [types_of(item) for item in value]
    return (type(value).__name__, value)


@given(st.lists(messages, max_size=4))
def test_a_history_through_json_is_the_same_history(history: list[m.Message]) -> None:
    data = m.dump_messages(history)
    back = m.load_messages(data)
    assert m.same_history(back, history)
    assert types_of(m.to_builtins(back)) == types_of(m.to_builtins(history))
    assert m.dump_messages(back) == data
    assert m.same_history(m.load_messages(data.decode()), history)


@given(messages)
def test_what_was_loaded_is_as_frozen_as_what_was_made(message: m.Message) -> None:
    (back,) = m.load_messages(m.dump_messages([message]))
    for part in back.parts:
        match part:
            case m.FunctionCall():
                assert isinstance(part.args, FrozenDict)
            case m.Opaque():
                assert isinstance(part.data, FrozenDict)
            case m.ToolResult() if isinstance(part.result, dict | list):
                assert isinstance(part.result, FrozenDict | FrozenList)
            case _:
                pass
        if part.provider_data is not None:
            assert isinstance(part.provider_data.data, FrozenDict)


@given(json_values)
def test_freezing_and_thawing_change_no_value(value: Any) -> None:
    assert types_of(m.thaw(m.freeze(value))) == types_of(value)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{}",
        "[{}]",
        '[{"role": "robot", "parts": []}]',
        '[{"role": "user", "parts": [{"part": "hologram"}]}]',
        b"\xff",
    ],
    ids=repr,
)
def test_text_that_is_no_list_of_messages_is_refused(data: str | bytes) -> None:
    with pytest.raises(PayloadError, match="not a list of messages"):
        m.load_messages(data)


def test_the_json_of_a_message_is_readable_and_says_no_more_than_it_must() -> None:
    message = m.Message("model", (m.Text("hi"), m.FunctionCall("c1", "look", {"a": 1})), "m1")
    assert msgspec.json.decode(m.dump_messages([message])) == [
        {
            "role": "model",
            "parts": [{"part": "text", "text": "hi"}, {"part": "call", "id": "c1", "name": "look", "args": {"a": 1}}],
            "message_id": "m1",
        }
    ]


def test_bytes_become_base64_in_builtins() -> None:
    assert m.to_builtins(m.InlineData("image/png", b"\x00\xff")) == {
        "part": "inline",
        "mime_type": "image/png",
        "data": "AP8=",
    }
