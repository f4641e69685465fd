"""What the server answers in its own way: less than Anthropic does, and thinking that nobody signs."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, Text, Thought, TokenUsage, ToolResult

from ..anthropic.kit import call_block, text, text_block, thinking_block, tool_use
from ..call_modes import HI, CallMode
from ..callback_recorder import CallbackRecorder
from .kit import MODEL, MODES, Server, answer, issued, legacy, stateless, stream, thinking

each_way = pytest.mark.parametrize("way", MODES.all.values(), ids=MODES.all)
each_stream = pytest.mark.parametrize("way", MODES.stream.values(), ids=MODES.stream)

COUNTED = TokenUsage(212, 31, 243)


@each_way
def test_the_figures_are_those_of_the_end_and_no_estimate(way: CallMode) -> None:
    recorder = CallbackRecorder()
    response = way(Server().transport, recorder)
    assert response.usage == COUNTED
    assert recorder.usage in ([], [TokenUsage(198, 0, 198), COUNTED])


@each_stream
def test_an_estimate_that_was_too_high_does_not_fall_while_it_is_heard(way: CallMode) -> None:
    recorder = CallbackRecorder()
    events = stream(text_block(0, "hi"), head={"input_tokens": 500, "output_tokens": 0})
    response = way(Server(events=events).transport, recorder)
    assert response.usage == COUNTED
    assert [usage.prompt_tokens for usage in recorder.usage] == [500, 500]


@each_way
@pytest.mark.parametrize("content", [None, []], ids=["null", "empty"])
def test_an_answer_of_nothing_has_no_parts(content: Any, way: CallMode) -> None:
    response = way(Server(answer(content), stream()).transport)
    assert (response.parts, response.finish_reason) == ((), FinishReason.STOP)


@each_way
@pytest.mark.parametrize("fields", [{"usage": None}, {"usage": {}}], ids=["null", "empty"])
def test_figures_that_are_missing_count_as_nothing(fields: dict[str, Any], way: CallMode) -> None:
    events = [each for each in stream(text_block(0, "hi")) if b"message_delta" not in each]
    events[0] = events[0].replace(b'"input_tokens": 198, "output_tokens": 0', b"")
    response = way(Server(answer([text("hi")], **fields), events).transport)
    assert (response.text, response.usage) == ("hi", TokenUsage())


@each_way
@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("max_tokens", FinishReason.MAX_TOKENS),
        ("stop_sequence", FinishReason.STOP),
        (None, FinishReason.UNKNOWN),
        ("of_tomorrow", FinishReason.UNKNOWN),
    ],
)
def test_why_an_answer_ended_is_told_and_may_not_be_known(
    stop: str | None, reason: FinishReason, way: CallMode
) -> None:
    response = way(Server(answer([text("hi")], stop), stream(text_block(0, "hi"), stop=stop)).transport)
    assert (response.text, response.finish_reason, response.raw_finish) == ("hi", reason, stop)


@each_way
@pytest.mark.parametrize("args", [{"port": "Brest"}, {}], ids=["some", "none"])
def test_a_call_comes_whole(args: dict[str, Any], way: CallMode) -> None:
    """`{}` stands for no arguments, where Anthropic sends an empty string."""
    recorder = CallbackRecorder()
    call = call_block(0, "call_x7k2m9qa", "tide", json.dumps(args))
    called = answer([tool_use("call_x7k2m9qa", "tide", args)], "tool_use")
    response = way(Server(called, stream(call, stop="tool_use")).transport, recorder)
    assert response.parts == (FunctionCall("call_x7k2m9qa", "tide", args),)
    assert response.finish_reason is FinishReason.TOOL_USE
    assert recorder.calls in ([], [FunctionCall("call_x7k2m9qa", "tide", args)])


@each_way
def test_thinking_is_kept_and_goes_back_as_it_came(way: CallMode) -> None:
    events = stream(thinking_block(0, "Look ", "it up.", signature=None), text_block(1, "At six."))
    response = way(Server(answer([thinking("Look it up."), text("At six.")]), events).transport)
    assert response.parts == (issued("Look it up."), Text("At six."))

    server, history = Server(), [*HI, Message("model", response.parts), Message.user("Sure?")]
    stateless(transport=server.transport).complete(history)
    assert server.body["messages"][1]["content"] == [thinking("Look it up."), text("At six.")]
    stateless(model="gpt-oss:20b", transport=server.transport).complete(history)
    assert server.body["messages"][1]["content"] == [text("At six.")], "another model did not think that"


@pytest.mark.parametrize(
    ("thought", "model", "sent"),
    [
        (issued("Hm."), MODEL, True),
        (issued("Hm.", "qwen3"), "qwen3:latest", True),
        (issued("Hm.", "qwen3:latest"), "qwen3", True),
        (issued("Hm.", "qwen3"), MODEL, False),
        (issued("Hm.", dialect="anthropic-messages"), MODEL, False),
        (issued("Hm.", dialect="zai"), MODEL, False),
        (Thought("Hm."), MODEL, False),
    ],
)
def test_only_its_own_thinking_goes_back_to_a_model(thought: Thought, model: str, sent: bool) -> None:
    server = Server()
    history = [*HI, Message.model(thought, "So."), Message.user("And?")]
    stateless(model=model, transport=server.transport).complete(history)
    first = server.body
    owner = legacy(model=model, transport=server.transport)
    owner.create_session(None, None, history[:-1])
    owner.send_message("And?")
    assert first == server.body
    assert first["messages"][1]["content"] == ([thinking("Hm.")] if sent else []) + [text("So.")]


def test_thinking_goes_back_within_a_tool_loop() -> None:
    server = Server()
    call = FunctionCall("call_1", "tide", {})
    message = Message.model(issued("Look it up."), call)
    stateless(transport=server.transport).complete([*HI, message, Message.tool(ToolResult("call_1", "tide", "06:12"))])
    assert server.body["messages"][1]["content"] == [thinking("Look it up."), tool_use("call_1", "tide", {})]


def test_a_cancelled_batch_answer_keeps_its_thinking_too() -> None:
    """It came in one piece, so that its thinking is whole."""
    token = CancelToken()
    server = Server(answer([thinking("Look it up."), tool_use("call_1", "tide", {})], "tool_use"))

    def cancelling(request: Any) -> Any:
        token.cancel()
        return server.transport.handle_request(request)

    provider = stateless(transport=httpx2.MockTransport(cancelling))
    response = provider.complete(HI, cancel_token=token)
    assert (response.parts, response.finish_reason) == ((issued("Look it up."),), FinishReason.CANCELLED)
