"""Each kind of difference is found where it was made, named as what it is, and no other is found beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import pytest
from msgspec.structs import replace
from suites.build import RunBuilder, body_with, response_with, scripted
from suites.conversations import READ, cancelled, cut_off, pictures, plain, read, thinking, tools

from turnproof.dialects.base import ReplyPart
from turnproof.judge.parity import KIND_NAMES, Aspect, compare_views
from turnproof.judge.view import View
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderData, Text, Thought, TokenUsage
from turnproof.run import transcript as t

from .kit import Change, Conversation, compared, nth_snapshot, replace_messages


def _beside_a_thought(messages: list[Message]) -> list[Message]:
    """Another service's thought in front of what the model said."""
    thought = Thought("Hm.", provider_data=ProviderData("elsewhere", "m", {"signature": "c2lnbmVk"}))
    return [messages[0], Message("model", (thought, *messages[1].parts)), *messages[2:]]


def _with_made_up_result(messages: list[Message]) -> list[Message]:
    """A second result for a call that the session has answered."""
    results = messages[2]
    return [*messages[:3], Message("tool", results.parts), *messages[3:]]


@dataclass(frozen=True)
class Case:
    """What is changed on the legacy path, and what has to be found: name, aspect and path of each difference."""

    id: str
    conversation: Conversation
    kind: type[t.Event]
    change: Change
    found: Mapping[tuple[str, Aspect], str]
    nth: int = 0
    form: bool = False
    mode: str = "stream"
    then: tuple[type[t.Event], Change, int] | None = None


def _body(change: Any) -> Change:
    return body_with(change)


def _parts(change: Any) -> Change:
    return lambda event: response_with(parts=tuple(change(list(event.response.parts))))(event)


def _without(key: str) -> Change:
    return _body(lambda body: {name: value for name, value in body.items() if name != key})


def _renamed_field(name: str, other: str) -> Change:
    return _body(lambda body: {other if key == name else key: value for key, value in body.items()})


def _set(path: tuple[Any, ...], value: Any) -> Change:
    def change(body: Any) -> None:
        place = body
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return _body(change)


def _split_message(body: Any) -> None:
    """The model's message as two of the same role, which the service reads as one."""
    at = next(n for n, message in enumerate(body["messages"]) if message["role"] == "assistant")
    text = body["messages"][at]["content"][0]["text"]
    halves = [{"role": "assistant", "content": [{"type": "text", "text": half}]} for half in (text[:6], text[6:])]
    body["messages"][at : at + 1] = halves


def _lose_result(body: Any) -> None:
    del body["messages"][2]["content"][1]


def _split_model(messages: list[Message]) -> list[Message]:
    at = next(n for n, message in enumerate(messages) if message.role == "model")
    text = messages[at].text
    return [*messages[:at], Message.model(text[:6]), Message.model(text[6:]), *messages[at + 1 :]]


def _chunk(text: str) -> Change:
    return lambda event: t.Chunk(text=text, turn=event.turn, call=event.call)


def _announced(event: Any) -> t.Event:
    return t.FunctionCallDetected(function_call=read(), turn=event.turn, call=event.call)


def _announcing(nth: int) -> Change:
    """The other call of the conversation."""
    calls = [event.function_call for event in tools().transcript.of(t.FunctionCallDetected)]
    return lambda event: replace(event, function_call=calls[nth])


def interleaved(**how: Any) -> View:
    """Text, a call, and text again."""
    more = ReplyPart(Text("One moment."), ("One moment.",))
    first = ReplyPart(Text("I look."), ("I look.",))
    builder = RunBuilder(scripted([first, read(), more], user="How is bed 3?"), tools=(READ,), **how)
    return builder.turn("How is bed 3?").call(first, read(), more).end().view()


cut_off_once = partial(cut_off, "reset")


def _renamed(call: Any) -> Any:
    return replace(call, id="call_1") if isinstance(call, FunctionCall) else call


def _unsigned(part: Any) -> Any:
    return replace(part, provider_data=None) if isinstance(part, Thought) else part


CASES = [
    # -- requests
    Case("a stream asked for on one side", plain, t.WireRequest, _without("stream"),
         {("stream-flag", "wire"): "$.request.body.stream"}, form=True),
    Case("a breakpoint on one side", tools, t.WireRequest, _set(("tools", 0, "cache_control"), {"type": "ephemeral"}),
         {("cache-marks", "wire"): "$.request.body.tools[0].cache_control"}, form=True),
    Case("a message in pieces", plain, t.WireRequest, _body(_split_message),
         {("contents-split-per-chunk", "wire"): "$.request.body.messages[1].content[0].text"}, nth=1, form=True),
    Case("no system text", plain, t.WireRequest, _without("system"),
         {("system-missing", "wire"): "$.request.body.system"}),
    Case("no tools", tools, t.WireRequest, _without("tools"), {("tools-missing", "wire"): "$.request.body.tools"}),
    Case("tools in another order", tools, t.WireRequest, _body(lambda body: body["tools"].reverse()),
         {("tool-order", "wire"): "$.request.body.tools[0].name"}, form=True),
    Case("a failure told as success", tools, t.WireRequest, _set(("messages", 2, "content", 1, "is_error"), False),
         {("error-flag", "wire"): "$.request.body.messages[2].content[1].is_error"}, nth=1),
    Case("another accept header", plain, t.WireRequest,
         lambda event: replace(event, headers={**event.headers, "accept": "text/event-stream"}),
         {("request-headers", "wire"): "$.request.headers.accept"}, form=True),
    Case("a beta in the address", plain, t.WireRequest, lambda event: replace(event, path="/v1/messages?beta=true"),
         {("request-address", "wire"): "$.request.path"}),
    Case("text instead of a list of blocks", plain, t.WireRequest,
         _set(("messages", 0, "content"), "How is bed 3?"),
         {("request-form", "wire"): "$.request.body.messages[0].content"}, form=True),
    Case("a smaller limit", plain, t.WireRequest, _set(("max_tokens",), 100),
         {("request-settings", "wire"): "$.request.body.max_tokens"}),
    Case("another spelling of a name", plain, t.WireRequest, _renamed_field("max_tokens", "maxTokens"),
         {("field-spelling", "wire"): "$.request.body.max_tokens"}, form=True),
    Case("bytes in the other alphabet", pictures, t.WireRequest,
         _set(("messages", 0, "content", 3, "source", "data"), "JVBERi0xLjcgbGlzdA"),
         {("base64-alphabet", "wire"): "$.request.body.messages[0].content[3].source.data"}, form=True),
    Case("a field that says nothing", plain, t.WireRequest, _set(("metadata",), {}),
         {("empty-fields", "wire"): "$.request.body.metadata"}, form=True),
    Case("other words", plain, t.WireRequest, _set(("messages", 0, "content", 0, "text"), "How is bed 4?"),
         {("requests-differ", "wire"): "$.request.body.messages[0].content[0].text"}),
    Case("a lost result", tools, t.WireRequest, _body(_lose_result),
         {("requests-differ", "wire"): "$.request.body.messages[2].content[1]"}, nth=1),
    Case("one request more", plain, t.WireRequest, lambda event: replace(event, operation="count_tokens"),
         {("more-requests", "wire"): "$", ("more-requests", "requests"): "$.count_tokens"}),
    Case("a connection that was closed", plain, t.WireResponse,
         lambda event: replace(event, ended="cut-by-peer", body=event.body.partition("event: message_delta")[0]),
         {("responses-cut", "wire"): "$.response.ended"}),
    Case("another answer of the service", plain, t.WireResponse,
         lambda event: replace(event, body=event.body.replace("end_turn", "max_tokens")),
         {("responses-differ", "wire"): "$.response.finish"}),
    # -- what calls return
    Case("an id of the adapter's own", tools, t.Response, _parts(lambda parts: map(_renamed, parts)),
         {("ids-made-up", "answers"): "$.parts[1].id"}),
    Case("a thought without its signature", thinking, t.Response, _parts(lambda parts: map(_unsigned, parts)),
         {("signatures-missing", "answers"): "$.parts[0].provider_data"}),
    Case("a text in two parts", plain, t.Response, _parts(lambda parts: [Text("Bed 3 "), Text("is moist.")]),
         {("contents-split-per-chunk", "answers"): "$.parts[0].text"}, form=True),
    Case("a blank text more", plain, t.Response, _parts(lambda parts: [*parts, Text("\n")]),
         {("blank-text", "answers"): "$.parts[1]"}, form=True),
    Case("a thought less", thinking, t.Response, _parts(lambda parts: parts[1:]),
         {("thoughts-missing", "answers"): "$.parts[0]"}),
    Case("another reason to end", plain, t.Response, response_with(finish_reason=FinishReason.MAX_TOKENS),
         {("answers-differ", "answers"): "$.finish"}),
    Case("a call less", tools, t.Response, _parts(lambda parts: parts[:2]),
         {("answers-differ", "answers"): "$.parts[2]"}),
    # -- callbacks
    Case("other pieces", plain, t.Chunk, _chunk("Bed "), {("pieces-cut-otherwise", "callbacks"): "$.pieces[0]"},
         then=(t.Chunk, _chunk("3 is "), 1), form=True),
    Case("a lost piece", plain, t.Chunk, lambda event: None, {("callbacks-differ", "callbacks"): "$.text",
         ("pieces-cut-otherwise", "callbacks"): "$.pieces[0]"}),
    Case("a call announced behind the text", interleaved, t.FunctionCallDetected, _chunk("One moment."),
         {("callbacks-at-the-end", "callbacks"): "$.order[2]"}, then=(t.Chunk, _announced, 2)),
    Case("two calls announced the other way round", tools, t.FunctionCallDetected, _announcing(1),
         {("callbacks-out-of-order", "callbacks"): "$.order[1]"}, then=(t.FunctionCallDetected, _announcing(0), 1)),
    Case("no usage", plain, t.UsageUpdate, lambda event: None, {("stream-usage-late", "callbacks"): "$.usage.updates"}),
    Case("a call not announced", tools, t.FunctionCallDetected, lambda event: None,
         {("callbacks-differ", "callbacks"): "$.order[1]"}),
    # -- histories
    Case("a history in pieces", plain, t.HistorySnapshot, replace_messages(_split_model),
         {("contents-split-per-chunk", "history"): "$.kept[1].parts[0].text"}, nth=nth_snapshot(0, "provider"),
         form=True),
    Case("a history without ids", tools, t.HistorySnapshot,
         replace_messages(lambda messages: [Message(m.role, tuple(map(_renamed, m.parts))) for m in messages]),
         {("history-kept-by-the-sdk", "history"): "$.kept[1].parts[1].id"}, nth=nth_snapshot(0, "provider")),
    Case("a thought from elsewhere", plain, t.HistorySnapshot, replace_messages(_beside_a_thought),
         {("foreign-history", "history"): "$.kept[1].parts[0]"}, nth=nth_snapshot(0, "provider")),
    Case("a result made up for a call that has one", tools, t.HistorySnapshot, replace_messages(_with_made_up_result),
         {("histories-differ", "history"): "$.kept[3]"}, nth=nth_snapshot(0, "provider")),
    Case("a history that lost its end", plain, t.HistorySnapshot, replace_messages(lambda messages: messages[:-1]),
         {("histories-differ", "history"): "$.kept[1]"}, nth=nth_snapshot(0, "provider")),
    Case("a cancelled turn that is gone", cancelled, t.HistorySnapshot, replace_messages(lambda messages: []),
         {("cancelled-turn-dropped", "history"): "$.kept[0]"}, nth=nth_snapshot(0, "provider")),
    # -- figures, errors, outcomes
    Case("no figures in a stream", plain, t.Response, response_with(usage=TokenUsage()),
         {("stream-usage-late", "usage"): "$.prompt_tokens"}),
    Case("no figures in one piece", plain, t.Response, response_with(usage=TokenUsage()),
         {("usage-differs", "usage"): "$.prompt_tokens"}, mode="batch"),
    Case("other words for an error", cut_off_once, t.Failed, lambda event: replace(event, message="it broke"),
         {("error-words", "errors"): "$.message"}, form=True),
    Case("an error of another class", cut_off_once, t.Failed,
         lambda event: replace(event, error="OSError", typed=False), {("errors-differ", "errors"): "$.error"}),
    Case("an error where the other returns", plain, t.Response,
         lambda event: t.Failed(scope="call", error="X", message="x", typed=True, turn=event.turn, call=event.call),
         {("only-one-fails", "answers"): "$", ("only-one-fails", "errors"): "$", ("only-one-fails", "usage"): "$"}),
    Case("another outcome", plain, t.TurnEnded, lambda event: replace(event, outcome="error"),
         {("outcomes-differ", "outcome"): "$.outcome"}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_difference_is_found_where_it_was_made(case: Case) -> None:
    changes = [(case.kind, case.change, case.nth), *([case.then] if case.then else [])]
    comparison = compared(case.conversation, *changes, mode=case.mode)
    assert not comparison.problem
    first: dict[tuple[str, str], str] = {}
    for found in comparison.differences:
        first.setdefault((found.name, found.aspect), found.path)
    assert first == case.found
    assert {found.form for found in comparison.differences if found.name == next(iter(case.found))[0]} == {case.form}


@pytest.mark.parametrize("conversation", [plain, tools, thinking, cancelled, cut_off_once, interleaved])
@pytest.mark.parametrize("mode", ["stream", "batch"])
def test_what_does_the_same_has_no_difference(conversation: Conversation, mode: str) -> None:
    comparison = compared(conversation, mode=mode)
    assert comparison.equal
    assert comparison.compared["wire"] == comparison.compared["answers"] + comparison.compared["errors"]
    assert all(comparison.compared[aspect] for aspect in ("wire", "history", "requests", "outcome"))


def test_who_leaves_with_the_end_of_the_answer_does_what_others_do() -> None:
    """Whether the server had written all by then is a matter of moments."""
    view = plain(path="legacy")
    events = [
        replace(one, ended="cut-by-peer") if isinstance(one, t.WireResponse) else one for one in view.transcript.events
    ]
    assert compare_views(
        plain(), View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)
    ).equal


def test_every_kind_is_shown_by_a_case() -> None:
    shown = {name for case in CASES for name, _ in case.found}
    # By dialects that have them (`test_adapters.py`), and by the test below.
    elsewhere = {"kept-by-the-service", "managed-cache", "retried-elsewhere"}
    assert set(KIND_NAMES) - shown == elsewhere


def test_how_often_usage_came_in_a_cancelled_call_says_nothing() -> None:
    """Who stops reading a moment later may have heard once more."""
    view = cancelled(path="legacy")
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, t.UsageUpdate))
    once_more = (*view.transcript.events[: at + 1], *view.transcript.events[at:])
    legacy = View(replace(view.transcript, events=once_more), view.dialect, view.scenario)
    assert legacy.calls[0].usages != view.calls[0].usages
    assert compare_views(cancelled(), legacy).equal


def _tried_again_within_the_call(view: View) -> View:
    """The same exchanges in one call that does not fail."""
    events = [
        replace(event, call=0) if event.call == 1 else event
        for event in view.transcript.events
        if not isinstance(event, t.Failed | t.Retried) and not (isinstance(event, t.CallBegan) and event.call == 1)
    ]
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def test_who_tries_again_is_one_difference_and_not_many() -> None:
    legacy = _tried_again_within_the_call(cut_off_once(path="legacy"))
    comparison = compare_views(cut_off_once(), legacy)
    assert comparison.names == {"retried-elsewhere"}
    assert "$.retries[0]" in {found.path for found in comparison.differences}
