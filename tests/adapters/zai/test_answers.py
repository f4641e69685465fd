"""What this service answers in its own way: figures at the end of a stream alone, and thinking signed or not."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.messages import FinishReason, Message, Text, Thought, TokenUsage

from ..anthropic.kit import call_block, event, text, text_block, thinking_block
from ..call_modes import HI, CallMode
from ..callback_recorder import CallbackRecorder
from .kit import MODEL, MODES, USAGE, ZERO, Service, answer, issued, legacy, stateless, stream

each_way = pytest.mark.parametrize("way", MODES.all.values(), ids=MODES.all)
each_stream = pytest.mark.parametrize("way", MODES.stream.values(), ids=MODES.stream)

COUNTED = TokenUsage(78, 9, 87, cache_read_tokens=64)


@each_way
def test_the_prompt_is_counted_wherever_the_figures_stand(way: CallMode) -> None:
    recorder = CallbackRecorder()
    response = way(Service(events=stream(text_block(0, "hi"))).transport, recorder)
    assert response.usage == COUNTED
    assert recorder.usage in ([], [TokenUsage(), COUNTED])


@each_stream
def test_figures_at_the_head_count_once_where_the_service_comes_to_give_them(way: CallMode) -> None:
    """As Anthropic does: those of the end take the place of those of the head."""
    events = stream(text_block(0, "hi"))
    events[0] = event("message_start", message=answer(stop=None, usage=USAGE))
    assert way(Service(events=events).transport).usage == COUNTED


@each_way
@pytest.mark.parametrize("usage", [{}, dict.fromkeys(USAGE), ZERO], ids=["none", "null", "nothing"])
def test_figures_that_are_missing_count_as_nothing(usage: dict[str, Any], way: CallMode) -> None:
    service = Service(answer(text("hi"), usage=usage), stream(text_block(0, "hi"), usage=usage))
    response = way(service.transport)
    assert (response.text, response.usage) == ("hi", TokenUsage())


@each_way
def test_an_answer_of_nothing_has_no_parts(way: CallMode) -> None:
    response = way(Service(answer(), stream()).transport)
    assert (response.parts, response.finish_reason) == ((), FinishReason.STOP)


@each_way
def test_a_window_that_is_full_is_an_ending_and_no_error(way: CallMode) -> None:
    stop = "model_context_window_exceeded"
    response = way(Service(answer(stop=stop), stream(stop=stop)).transport)
    assert (response.parts, response.finish_reason, response.raw_finish) == ((), FinishReason.CONTEXT_LIMIT, stop)


@each_way
@pytest.mark.parametrize("signature", [None, "", "opaque=="])
def test_thinking_is_kept_signed_or_not_and_goes_back_to_its_model_as_it_came(
    signature: str | None, way: CallMode
) -> None:
    block = {"type": "thinking", "thinking": "Bed 2?"} | ({} if signature is None else {"signature": signature})
    events = stream(thinking_block(0, "Bed ", "2?", signature=signature), text_block(1, "Bed 2."))
    response = way(Service(answer(block, text("Bed 2.")), events).transport)
    data = {"signature": signature} if signature else {}
    assert response.parts == (issued("Bed 2?", **data), Text("Bed 2."))

    service, history = Service(), [*HI, Message("model", response.parts), Message.user("Sure?")]
    stateless(transport=service.transport).complete(history)
    content = service.body["messages"][1]["content"]
    assert content == [{"type": "thinking", "thinking": "Bed 2?", **data}, text("Bed 2.")]
    stateless(model="glm-5.3", transport=service.transport).complete(history)
    assert service.body["messages"][1]["content"] == [text("Bed 2.")], "another model did not think that"


@pytest.mark.parametrize(
    ("thought", "sent"),
    [
        (issued("Hm."), {"type": "thinking", "thinking": "Hm."}),
        (issued("Hm.", "GLM-4.7"), {"type": "thinking", "thinking": "Hm."}),
        (issued("", signature="s"), {"type": "thinking", "thinking": "", "signature": "s"}),
        (issued(""), None),
        (Thought("Hm."), None),
        (issued("Hm.", "glm-4.6"), None),
        (issued("Hm.", dialect="anthropic-messages", signature="s"), None),
        (issued("Hm.", dialect="ollama"), None),
    ],
)
def test_only_its_own_thinking_goes_back_to_a_model(thought: Thought, sent: Any) -> None:
    service = Service()
    legacy_one = legacy(transport=service.transport)
    history = [*HI, Message.model(thought, "So."), Message.user("And?")]
    stateless(transport=service.transport).complete(history)
    first = service.body
    legacy_one.create_session(None, None, history[:-1])
    legacy_one.send_message("And?")
    assert first == service.body
    assert first["messages"][1]["content"] == ([sent] if sent else []) + [text("So.")]


THOUGHT = thinking_block(0, "Bed ", "2?", signature=None)


def test_a_request_begins_with_the_bytes_of_the_one_before() -> None:
    """By which the service's own cache knows it."""
    events = stream(THOUGHT, text_block(1, "Look."), call_block(2, "call_1", "read", "{}"), stop="tool_use")
    service = Service(events=events)
    provider = stateless(transport=service.transport)
    response = provider.complete(HI, "rules", **CallbackRecorder().callbacks)
    assert response.model == MODEL
    shared = service.requests[-1].content.partition(b'],"model"')[0]
    provider.complete([*HI, Message("model", response.parts)], "rules", **CallbackRecorder().callbacks)
    assert service.requests[-1].content.startswith(shared)
