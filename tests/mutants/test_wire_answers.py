"""Where each dialect keeps what mutants break in an answer, read back by the dialect itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from turnproof.dialects.base import (
    PromptUsage,
    Rendered,
    Reply,
    ReplyPart,
    WireAnswer,
    WireEvent,
)
from turnproof.messages import FinishReason, FunctionCall, Text
from turnproof.run.driver.mutation import mutant_named
from turnproof_suites.mutants._wire import Json, Wire

from .wire_conversations import Case, each_dialect, untouched

REPLY = Reply(
    (
        ReplyPart(Text("I water it now.")),
        ReplyPart(FunctionCall("call_1", "water", {})),
        ReplyPart(FunctionCall("call_2", "mist", {})),
    ),
    FinishReason.TOOL_USE,
)


CUT = Reply((ReplyPart(Text("Monday, Tuesday, and")),), FinishReason.MAX_TOKENS)


both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


def answered(case: Case, reply: Reply, streamed: bool) -> Rendered:
    request = case.request(case.body | case.streams) if streamed else case.request()
    if streamed and not case.streams:
        request = replace(
            request, path=case.path.replace("generateContent", "streamGenerateContent"), query={"alt": "sse"}
        )
    call = case.read(request)
    assert call.stream is streamed
    return case.dialect.render(call, reply, PromptUsage(100, cache_read=2048), case.world(), "seed")


def retold(case: Case, rendered: Rendered, change: Callable[[Wire, Json], object]) -> WireAnswer:
    """The answer as the dialect reads it once each of its documents was changed."""

    def event(one: WireEvent) -> WireEvent:
        document = wire.document(one)
        if document is None:
            return one
        change(wire, document)
        return wire.with_document(one, document)

    wire = case.wire()
    body = b"".join(event(one).data for one in rendered.events)
    return case.dialect.read_response(rendered.status, rendered.headers, body)


@each_dialect
@both_ways
def test_an_answer_that_is_written_anew_says_the_same(case: Case, streamed: bool) -> None:
    rendered = answered(case, REPLY, streamed)
    body = b"".join(event.data for event in rendered.events)
    assert retold(case, rendered, untouched) == case.dialect.read_response(200, rendered.headers, body)


@each_dialect
@both_ways
def test_calls_are_renamed_wherever_an_answer_names_them(case: Case, streamed: bool) -> None:
    def rename(wire: Wire, document: Json) -> None:
        for place, key in wire.calls(document):
            place[key] = f"other_{place[key]}"

    answer_parts = retold(case, answered(case, REPLY, streamed), rename).parts
    ids = [part.id for part in answer_parts if isinstance(part, FunctionCall)]
    assert len(ids) == 2
    assert all(each.startswith("other_") for each in ids)


@each_dialect
@both_ways
def test_an_answer_that_was_cut_can_be_called_whole(case: Case, streamed: bool) -> None:
    def call_it_whole(wire: Wire, document: Json) -> None:
        if wire.finish(document) is FinishReason.MAX_TOKENS:
            wire.set_finish(document, FinishReason.STOP)

    rendered = answered(case, CUT, streamed)
    assert retold(case, rendered, untouched).finish is FinishReason.MAX_TOKENS
    assert retold(case, rendered, call_it_whole).finish is FinishReason.STOP


@each_dialect
@both_ways
def test_the_last_figures_lose_what_the_cache_gave(case: Case, streamed: bool) -> None:
    def clear(wire: Wire, document: Json) -> None:
        if (usage := wire.final_usage(document)) is not None:
            found.append(usage)
            wire.clear_cache_figures(usage)

    found: list[Json] = []
    rendered = answered(case, REPLY, streamed)
    before, after = retold(case, rendered, untouched).usage, retold(case, rendered, clear).usage
    assert found
    assert before is not None
    assert after is not None
    assert after.cache_read_tokens == 0
    assert before.cache_read_tokens == (0 if case.id == "ollama" else 2048)


@each_dialect
def test_a_keep_alive_becomes_a_piece_of_the_text(case: Case) -> None:
    make = mutant_named("pings-read-as-text").filter
    assert make is not None
    proxy, rendered = make(), answered(case, CUT, True)
    proxy.request(case.request())
    shown = proxy.response(case.read(case.request()), rendered)
    (new,) = (event for event in shown.events if event not in rendered.events)
    assert new.text == "ping"
    assert b'"ping"' in new.data
    assert [event for event in shown.events if event is not new] == list(rendered.events)
