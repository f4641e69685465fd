"""The helpers that every dialect shares: SSE frames, the estimator, tool names, the prefix cache."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from turnproof import tokens
from turnproof.dialects import dialect, dialect_names, lenient_reading
from turnproof.dialects.atoms import same_json
from turnproof.dialects.base import PromptUsage, Reply, ReplyPart
from turnproof.dialects.naming import NameMap, speak
from turnproof.dialects.prefix_cache import Cell, PrefixStore, Ttl, kept_for_the_latest
from turnproof.dialects.seeded_random import seeded_word
from turnproof.dialects.sse import frames, is_event_stream
from turnproof.dialects.stream_cuts import cut_text
from turnproof.dialects.tool_pairing import wire_names, without_additions
from turnproof.errors import BindingError
from turnproof.messages import JSON, FinishReason, FunctionCall, Text, ToolSchema

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,128}")


# -- the registry


def test_a_dialect_is_found_by_name_and_a_wrong_name_lists_the_known_ones() -> None:
    assert "anthropic-messages" in dialect_names()
    assert [dialect(name).name for name in dialect_names()] == dialect_names()
    with pytest.raises(BindingError, match=r"unknown dialect 'anthropic'; known: .*anthropic-messages"):
        dialect("anthropic")


# -- SSE


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_frames_are_split_at_blank_lines_whatever_the_line_end(eol: str) -> None:
    body = f"event: a{eol}data: 1{eol}data: 2{eol}{eol}: note{eol}{eol}data:3".encode()
    found = frames(body)
    assert [(frame.event, frame.data, frame.closed) for frame in found] == [
        ("a", "1\n2", True),
        (None, None, True),
        (None, "3", False),
    ]


@given(st.lists(st.sampled_from([b"data: x", b"event: y", b": z", b"\n", b"\r\n", b"\r", b"\xf0\x9f", b"a: b"])))
def test_frames_joined_are_the_body(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    assert b"".join(frame.raw for frame in frames(body)) == body


def test_a_stream_is_known_by_its_type_or_by_how_it_begins() -> None:
    assert is_event_stream("text/event-stream; charset=utf-8", b"")
    assert is_event_stream("", b"event: ping\n\n")
    assert not is_event_stream("application/json", b"data: x")
    assert not is_event_stream("", b'{"a": 1}')


# -- drawing, cutting, and reading what comes


def test_what_is_drawn_depends_on_the_seed_and_every_label() -> None:
    words = [seeded_word("ab01", 20, *named) for named in (("s",), ("s", 1), ("s", 2), ("t", 1), ("s", "1", ""))]
    assert len(set(words)) == len(words)
    assert seeded_word("ab01", 20, "s", 1) == words[1]
    assert all(len(word) == 20 and set(word) <= set("ab01") for word in words)


@given(st.text(), st.integers(0, 99))
def test_pieces_joined_are_the_text(text: str, draw: int) -> None:
    assert "".join(cut_text(text, draw)) == text
    assert all(cut_text(text, draw))


def test_values_of_another_kind_than_expected_are_absent() -> None:
    figures = {"a": 3, "b": None, "c": "3", "d": 1.5}
    assert [lenient_reading.number(figures, name) for name in "abcde"] == [3, 0, 0, 0, 0]
    assert [lenient_reading.word(value) for value in ("x", 3, None, ["x"])] == ["x", None, None, None]
    assert [lenient_reading.seconds(value) for value in ("0.5", None, "Wed, 21 Oct 2026 07:28:00 GMT")] == [
        0.5,
        None,
        None,
    ]
    assert [lenient_reading.json_of(data) for data in (b'{"a": 1}', "[]")] == [{"a": 1}, []]
    assert [lenient_reading.json_of(data) for data in (b"{", b"\xff", b"[" * 9999)] == [None, None, None]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:09 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:09 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:09 -0000", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "soon", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
    ],
)
def test_a_wait_is_a_number_or_a_date_counted_from_the_answers_own(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert lenient_reading.wait(headers) == seconds


# -- the estimator


def test_the_cells_of_the_latest_prompt_are_made_once() -> None:
    prompts: list[list[str]] = []

    @kept_for_the_latest
    def cells(prompt: list[str]) -> list[Cell]:
        prompts.append(prompt)
        return [Cell(word.encode(), 1, place) for place, word in enumerate(prompt)]

    first, alike = ["a"], ["a"]
    assert cells(first) is cells(first)
    assert cells(alike) is not cells(first)
    assert list(map(id, prompts)) == [id(first), id(alike), id(first)]


@given(st.text(), st.text())
def test_a_longer_text_never_measures_less(a: str, b: str) -> None:
    assert tokens.text_tokens(a) <= tokens.text_tokens(a + b) <= tokens.text_tokens(a) + tokens.text_tokens(b)


def test_tokens_are_counted_in_bytes_not_in_characters() -> None:
    assert (tokens.text_tokens(""), tokens.text_tokens("a"), tokens.text_tokens("日本")) == (0, 1, 2)
    assert tokens.json_tokens({"a": 1}) == 2


# -- names


def tool(name: str, description: str = "") -> ToolSchema:
    return ToolSchema(name, description)


def test_a_legal_name_stays_and_an_illegal_one_has_one_of_its_own() -> None:
    names = NameMap([tool("a.b"), tool("a_b")], [tool("a_b"), tool("a_b_2")], LEGAL)
    assert names.agree("a_b", "a_b")
    assert names.agree("a.b", "a_b_2")
    assert not names.agree("a.b", "a_b")
    assert not names.agree("a_b", "a_b_2")
    assert names.wire_name("a.b") == "a_b_2"


def test_tools_are_told_apart_by_what_they_are_before_how_they_look() -> None:
    tools = [tool("x.y", "waters"), tool("x/y", "reads")]
    names = NameMap(tools, [tool("x_y", "reads"), tool("x_y_1", "waters")], LEGAL)
    assert (names.wire_name("x.y"), names.wire_name("x/y")) == ("x_y_1", "x_y")


READ = ToolSchema("read", "Reads a bed", {"type": "object", "properties": {"bed": {"type": "string"}}})
WATER = ToolSchema("water", "Waters a bed", {"type": "object", "properties": {"bed": {"type": "string"}}})


@pytest.mark.parametrize("wire", ["fn_{}", "{}_v2", "t{:x^12}"])
def test_a_legal_name_may_be_rewritten_if_its_calls_are_rewritten_alike(wire: str) -> None:
    names = NameMap([READ, WATER], [replace(one, name=wire.format(one.name)) for one in (WATER, READ)], LEGAL)
    assert names.agree("read", wire.format("read"))
    assert names.wire_name("water") == wire.format("water")
    assert not names.agree("read", "read")
    assert not names.agree("read", wire.format("water"))


def test_a_tool_that_is_another_one_does_not_stand_for_a_legal_name() -> None:
    names = NameMap([READ], [WATER], LEGAL)
    assert not names.agree("read", "water")
    assert names.wire_name("read") == "read"


def test_a_session_may_hold_a_call_under_the_name_that_it_came_with_on_the_wire() -> None:
    names = NameMap([tool("waterBed", "waters")], [tool("water_bed", "waters")], LEGAL)
    assert names.agree("water_bed", "water_bed")
    assert names.agree("waterBed", "water_bed")
    assert not names.agree("waterBed", "waterBed")
    assert not names.agree("read", "water_bed")


def test_without_declared_tools_a_call_has_its_name_or_one_with_that_in_it() -> None:
    assert NameMap([], [], LEGAL).agree("read", "fn_read")
    assert not NameMap([], [], LEGAL).agree("read", "water")


HELD_SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


@pytest.mark.parametrize(
    ("added", "same"),
    [
        ({"title": "Arguments", "additionalProperties": False, "description": "of a bed"}, True),
        ({"properties": {"title": {"type": "string", "description": "", "title": "Title"}}}, True),
        ({"properties": {"title": {"type": "string"}, "description": {"type": "string"}}}, False),
        ({"properties": {"title": {"type": "string", "items": {}}}}, True),
        ({"properties": {"title": {"type": "string", "items": {"type": "string"}}}}, False),
        ({"properties": {"title": {"type": "string", "enum": ["a"]}}}, False),
        ({"properties": {"title": {"type": "integer"}}}, False),
        ({"properties": {}}, False),
        ({"required": []}, False),
        ({"minProperties": 1}, False),
    ],
)
def test_a_schema_may_be_described_and_closed_and_nothing_else(added: dict[str, Any], same: bool) -> None:
    assert same_json(HELD_SCHEMA, without_additions(HELD_SCHEMA, HELD_SCHEMA | added)) is same


def test_a_name_that_no_definition_explains_is_learned_from_its_first_use() -> None:
    names = NameMap([], [], LEGAL)
    assert names.agree("old.tool", "old_tool")
    assert names.agree("old.tool", "old_tool")
    assert not names.agree("old.tool", "another")
    assert not names.agree("older.tool", "old_tool")
    assert not names.agree("odd.tool", "still.odd")


def test_a_long_name_may_stay_or_be_shortened() -> None:
    long = "n" * 90
    assert NameMap([tool(long)], [tool(long)], LEGAL).agree(long, long)
    assert NameMap([tool(long)], [tool(long[:60])], LEGAL).agree(long, long[:60])


def test_a_scripted_reply_speaks_the_names_of_the_request() -> None:
    reply = Reply(
        (ReplyPart(Text("Look:")), ReplyPart(FunctionCall("1", "a.b")), ReplyPart(FunctionCall("2", "unknown"))),
        FinishReason.TOOL_USE,
    )
    wire_reply = speak(reply, [tool("a.b"), tool("a_b")], [tool("a_b"), tool("a_b_2")], LEGAL)
    names = [part.part.name for part in wire_reply.parts if isinstance(part.part, FunctionCall)]
    assert names == ["a_b_2", "unknown"]


# -- the prefix cache


class Row:
    """A prompt of ten-token cells, one position each; marks by index."""

    def __init__(self, size: int, marks: dict[int, Ttl], *, per_position: int = 1) -> None:
        self.cells = [Cell(b"%d" % n, 10, n // per_position, marks.get(n)) for n in range(size)]


def account(store: PrefixStore, row: Row, now: float = 0.0, minimum: int = 20, commit: bool = True) -> PromptUsage:
    usage, begin = store.account(row.cells, 3, b"model", minimum, now)
    if commit:
        begin()
    return usage


def store() -> PrefixStore:
    return PrefixStore(lookback=20)


def test_a_prefix_is_written_once_and_read_afterwards() -> None:
    cache = store()
    assert account(cache, Row(4, {3: "5m"})) == PromptUsage(3, cache_write_5m=40)
    assert account(cache, Row(4, {3: "5m"})) == PromptUsage(3, cache_read=40)
    assert account(cache, Row(6, {5: "5m"})) == PromptUsage(3, cache_read=40, cache_write_5m=20)


def test_a_breakpoint_below_the_minimum_does_nothing() -> None:
    cache = store()
    assert account(cache, Row(4, {0: "5m"})) == PromptUsage(43)
    assert account(cache, Row(4, {0: "5m"})) == PromptUsage(43)


def test_an_entry_is_readable_only_after_its_response_began() -> None:
    cache = store()
    account(cache, Row(4, {3: "5m"}), commit=False)
    assert account(cache, Row(4, {3: "5m"})).cache_read == 0


def test_an_entry_lives_five_minutes_from_its_last_hit() -> None:
    cache = store()
    account(cache, Row(4, {3: "5m"}))
    assert account(cache, Row(4, {3: "5m"}), now=299).cache_read == 40
    assert account(cache, Row(4, {3: "5m"}), now=598).cache_read == 40
    assert account(cache, Row(4, {3: "5m"}), now=898).cache_read == 0


def test_an_hour_is_an_hour_and_the_split_is_told_apart() -> None:
    cache = store()
    row = Row(6, {2: "1h", 5: "5m"})
    assert account(cache, row) == PromptUsage(3, cache_write_5m=30, cache_write_1h=30)
    assert account(cache, row, now=3000) == PromptUsage(3, cache_read=30, cache_write_5m=30)
    assert account(cache, row, now=6599).cache_read == 30
    assert account(cache, row, now=10_199).cache_read == 0


@pytest.mark.parametrize(("growth", "read"), [(19, 40), (20, 0)])
def test_reading_looks_back_over_twenty_positions_the_breakpoint_included(growth: int, read: int) -> None:
    cache = store()
    account(cache, Row(4, {3: "5m"}))
    assert account(cache, Row(4 + growth, {3 + growth: "5m"})).cache_read == read


def test_cells_of_one_position_count_as_one() -> None:
    cache = store()
    account(cache, Row(8, {7: "5m"}, per_position=4))
    assert account(cache, Row(80, {79: "5m"}, per_position=4)).cache_read == 80


def test_only_written_prefixes_can_be_hit() -> None:
    cache = store()
    account(cache, Row(6, {5: "5m"}))
    assert account(cache, Row(4, {3: "5m"})).cache_read == 0


def test_the_furthest_hit_counts() -> None:
    cache = store()
    account(cache, Row(8, {3: "5m", 7: "5m"}))
    assert account(cache, Row(9, {3: "5m", 8: "5m"})) == PromptUsage(3, cache_read=80, cache_write_5m=10)


def test_caches_are_kept_apart_by_salt() -> None:
    cache = store()
    account(cache, Row(4, {3: "5m"}))
    usage, _ = cache.account(Row(4, {3: "5m"}).cells, 3, b"another", 20, 0.0)
    assert usage.cache_read == 0


@given(
    st.integers(1, 60),
    st.dictionaries(st.integers(0, 59), st.sampled_from(["5m", "1h"]), max_size=4),
    st.integers(1, 60),
    st.dictionaries(st.integers(0, 59), st.sampled_from(["5m", "1h"]), max_size=4),
)
def test_the_figures_always_add_up_to_the_whole_prompt(
    first: int, marks: dict[int, Ttl], second: int, later: dict[int, Ttl]
) -> None:
    cache = store()
    for size, chosen in ((first, marks), (second, later)):
        usage = account(cache, Row(size, chosen))
        assert usage.whole == size * 10 + 3
        assert min(usage.fresh, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h) >= 0


def test_tools_that_are_alike_but_for_their_names_are_paired_in_their_order() -> None:
    tools = [ToolSchema("💧", "", {"type": "object"}), ToolSchema("🌱", "", {"type": "object"})]
    sent = [ToolSchema("t_11", "", {"type": "object"}), ToolSchema("t_22", "", {"type": "object"})]
    assert wire_names(tools, sent) == {"💧": "t_11", "🌱": "t_22"}


@pytest.mark.parametrize(("open_to_more", "same"), [(True, True), (False, False), ({"type": "string"}, False)])
def test_a_schema_may_leave_out_that_its_objects_take_more_members_and_nothing_else(
    open_to_more: JSON, *, same: bool
) -> None:
    held = {"type": "object", "properties": {"notes": {"type": "object", "additionalProperties": open_to_more}}}
    sent = {"type": "object", "properties": {"notes": {"type": "object"}}}
    assert (without_additions(held, sent) == held) is same


def test_a_tool_behind_the_name_of_a_server_is_known_by_the_end_of_its_name() -> None:
    plain = {"type": "object"}
    sent = [ToolSchema("mcp__session__read_sensor", "", plain), ToolSchema("mcp__session__water", "", plain)]
    assert wire_names([ToolSchema("read_sensor", "", plain)], sent) == {"read_sensor": "mcp__session__read_sensor"}
    assert wire_names([ToolSchema("or", "", plain)], sent) == {}


@pytest.mark.parametrize(
    ("description", "known"), [("Water one bed", True), ("Water one bed in the greenhouse", False), ("", False)]
)
def test_a_tool_behind_a_prefix_is_known_by_its_description_though_its_schema_was_changed(
    description: str, *, known: bool
) -> None:
    takes = {"type": "object", "properties": {"bed": {"type": "string"}, "helpers": {"type": "array"}}}
    sent = ToolSchema("Tools_water", description, {"type": "object", "properties": {"bed": {"type": "string"}}})
    assert bool(wire_names([ToolSchema("water", "Water one bed", takes)], [sent])) is known
    assert wire_names([ToolSchema("dry", "Water one bed", takes)], [sent]) == {}
