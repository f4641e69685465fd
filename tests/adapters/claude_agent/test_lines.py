"""One turn, line by line: which of them count. Lines that no program here can be made to write."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from turnproof.errors import TransportError
from turnproof_adapters._answers import Listeners
from turnproof_adapters.claude_agent.turn import Turn
from turnproof_adapters.claude_cli.lifecycle import CLAUDE_CLI
from turnproof_adapters.claude_cli.lines import decode_line
from turnproof_adapters.claude_cli.tools import restorer


class TurnRecorder:
    """A turn, and what was told of it."""

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self.turn = Turn(CLAUDE_CLI, restorer((), ()), Listeners(on_chunk=self.chunks.append), "key")

    def take(self, **line: Any) -> Any:
        return self.turn.feed(decode_line(msgspec.json.encode(line)))

    def stream(self, *events: dict[str, Any], **more: Any) -> None:
        for event in events:
            self.take(type="stream_event", event=event, **more)

    def say(self, text: str, **more: Any) -> None:
        message = {"role": "assistant", "id": text, "model": "m", "content": [{"type": "text", "text": text}]}
        self.take(type="assistant", message=message, **more)


START = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}}
STOP = {"type": "message_stop"}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}


def words(text: str) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
    ]


def test_what_a_subagent_says_is_no_part_of_the_turn() -> None:
    recorder = TurnRecorder()
    recorder.stream(START, *words("Mine."), END, STOP)
    recorder.say("Mine.")
    recorder.stream(START, *words("Not mine."), END, STOP, parent_tool_use_id="toolu_1")
    recorder.say("Not mine.", parent_tool_use_id="toolu_1")
    assert recorder.take(type="result", subtype="success", parent_tool_use_id="toolu_1") is None
    result = recorder.take(type="result", subtype="success", stop_reason="end_turn", usage={"input_tokens": 3})
    assert recorder.turn.response(result).text == "Mine."
    assert recorder.chunks == ["Mine."]
    assert [message.id for message in recorder.turn.messages] == ["Mine."]


def test_an_answer_that_is_asked_for_again_after_it_broke_off_is_not_told_twice() -> None:
    recorder = TurnRecorder()
    recorder.stream(START, *words("Monday"), STOP)
    recorder.take(type="system", subtype="api_retry", attempt=1)
    with pytest.raises(TransportError, match="asked once more"):
        recorder.stream(START, *words("Monday"), END, STOP)
    assert recorder.chunks == ["Monday"]


def test_a_retry_before_anything_was_shown_is_no_failure() -> None:
    recorder = TurnRecorder()
    recorder.take(type="system", subtype="api_retry", attempt=1)
    recorder.stream(START, *words("Monday"), END, STOP)
    result = recorder.take(type="result", subtype="success", stop_reason="end_turn")
    assert recorder.turn.response(result).text == "Monday"


def test_figures_of_the_session_are_none_of_the_turn() -> None:
    recorder = TurnRecorder()
    recorder.stream(START, *words("Hi."), END, STOP)
    figures = {"input_tokens": 3, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7, "output_tokens": 5}
    of_all = {"m": {"inputTokens": 30_000, "outputTokens": 500}}
    line = {"type": "result", "subtype": "success", "stop_reason": "end_turn", "modelUsage": of_all}
    usage = recorder.turn.response(recorder.take(**line, usage=figures)).usage
    assert (usage.prompt_tokens, usage.output_tokens, usage.cache_read_tokens) == (100, 5, 90)


def test_kinds_of_lines_that_are_not_known_change_nothing() -> None:
    recorder = TurnRecorder()
    recorder.take(type="command_lifecycle", state="queued")
    recorder.take(type="system", subtype="of tomorrow", session_id="of nobody")
    assert (recorder.turn.messages, recorder.turn.parts, recorder.turn.session_id) == ([], (), None)
