"""Where an answer may be cut, how it is taken apart on the way, and how long a client is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, EventKind, PromptUsage, Rendered, Reply, ReplyPart, WireEvent, World
from turnproof.messages import FinishReason, FunctionCall, Text
from turnproof.wire.emulator import answer_writer
from turnproof.wire.emulator.answer_writer import BEFORE_ALL, NOWHERE, awkward_pieces, locate

ANTHROPIC = dialect("anthropic-messages")


def events(*kinds: EventKind) -> list[WireEvent]:
    return [WireEvent(kind.encode(), kind) for kind in kinds]


def answer(*events: WireEvent) -> Rendered:
    return Rendered(200, {"content-type": "text/event-stream"}, events)


STREAM = answer(*events("start", "block_start", "ping", "text", "text", "block_end", "usage", "end"))
SPARSE = answer(*events("text", "text", "args", "end"))


@pytest.mark.parametrize(
    ("index", "after", "position"),
    [
        pytest.param(0, None, 0, id="the first"),
        pytest.param(2, None, 3, id="pings do not count"),
        pytest.param(6, None, 7, id="the last"),
        pytest.param(7, None, -1, id="past the end"),
        pytest.param(0, "text:2", 4, id="the second of a kind"),
        pytest.param(0, "text", 3, id="a kind alone is its first"),
        pytest.param(0, "args:1", -1, id="a kind that does not occur"),
    ],
)
def test_events_are_found_by_index_without_pings_or_by_kind(index: int, after: str | None, position: int) -> None:
    assert locate(ANTHROPIC, STREAM, index, after) == position


@pytest.mark.parametrize(
    ("after", "position"),
    [
        pytest.param("start:1", BEFORE_ALL, id="there is no start: the head alone"),
        pytest.param("usage:1", 3, id="figures come with the end"),
        pytest.param("args:3", 2, id="a call in fewer pieces"),
        pytest.param("text:3", NOWHERE, id="a text that is not there"),
    ],
)
def test_what_an_api_tells_in_no_event_of_its_own_is_found_where_it_tells_it(after: str, position: int) -> None:
    assert locate(ANTHROPIC, SPARSE, 0, after) == position


def test_a_call_is_whole_with_the_event_that_closes_it() -> None:
    call = FunctionCall("toolu_1", "read", {"bed": "3"})
    reply = Reply((ReplyPart(Text("a")), ReplyPart(call, ("{", '"bed": "3"}')), ReplyPart(call)), FinishReason.TOOL_USE)
    world = World(keys=frozenset(), models=ANTHROPIC.models, clock=lambda: 0.0)
    rendered = ANTHROPIC.render(Call("generate", "claude-sonnet-4-5", stream=True), reply, PromptUsage(1), world, "0")
    first, second = (locate(ANTHROPIC, rendered, 0, f"call:{n}") for n in (1, 2))
    assert [rendered.events[at].kind for at in (first, second)] == ["block_end", "block_end"]
    assert first < second
    assert locate(ANTHROPIC, rendered, 0, "call:3") == NOWHERE


@given(st.text())
def test_awkward_pieces_join_to_what_they_were_cut_from(text: str) -> None:
    assert b"".join(awkward_pieces(text.encode())) == text.encode()


def test_every_multi_byte_character_and_line_end_is_cut_through() -> None:
    pieces = [b"a\xc3", b"\x9f", b"\r", b"\n", b"\xf0", b"\x9f", b"\x8c", b"\xb1"]
    assert list(awkward_pieces("aß\r\n🌱".encode())) == pieces


@pytest.mark.parametrize(
    "pauses",
    [
        pytest.param([0.0625] * 4, id="a busy machine"),
        pytest.param([3600.0, *[0.0625] * 3], id="one that stood still for an hour"),
    ],
)
def test_a_client_is_waited_for_while_the_machine_runs_and_looked_at_once_more_behind_the_limit(
    pauses: Sequence[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has arrived while the server stood still is only heard in a pause: the last look must come after one."""
    now, happened, coming = 0.0, list[str](), iter(pauses)

    async def pause(_: float) -> None:
        nonlocal now
        now += next(coming)
        happened.append("pause")

    async def wait() -> None:
        async for _ in answer_writer._until(0.25):
            happened.append("look")

    monkeypatch.setattr(answer_writer, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(answer_writer, "asyncio", SimpleNamespace(sleep=pause))
    asyncio.run(wait())
    assert happened == [*["look", "pause"] * 4, "look"]
