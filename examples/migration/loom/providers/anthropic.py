"""The Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..http import Http, ModelError, Stop
from ..notes import Answer, Call, Note
from .base import OnText, Provider

_PATH = "/v1/messages"


class AnthropicProvider(Provider):
    """A conversation with Claude."""

    def __init__(self, base_url: str, api_key: str, model: str) -> None:
        super().__init__(Http(base_url, {"x-api-key": api_key, "anthropic-version": "2023-06-01"}), model)

    def get_context_limit(self) -> int:
        return 200_000

    def _is_too_long(self, error: ModelError) -> bool:
        return error.status == 400 and str(error).startswith("prompt is too long")

    # -- the wire

    def _body(self) -> dict[str, Any]:
        messages = [_message(note) for note in self._history]
        if self._cache is not None and (marked := self._cache.last(self._history)) >= 0 and messages[marked]["content"]:
            messages[marked]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        body = {"model": self.model, "max_tokens": 4096, "messages": [one for one in messages if one["content"]]}
        if self._system:
            body["system"] = self._system
        if self._tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in self._tools
            ]
        return body

    def _send(self, body: dict[str, Any], on_text: OnText | None, stop: Stop) -> Answer | None:
        if on_text is not None:
            return _streamed(self._http.events(_PATH, body, stop), on_text, stop)
        found = self._http.whole(_PATH, body, stop)
        return _whole(found) if found is not None else None


def _message(note: Note) -> dict[str, Any]:
    if note.who == "tools":
        results = [
            {"type": "tool_result", "tool_use_id": one.call_id, "content": one.text, "is_error": one.failed}
            for one in note.outcomes
        ]
        return {"role": "user", "content": results}
    content: list[dict[str, Any]] = [{"type": "text", "text": note.text}] if note.text.strip() else []
    content += [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.input} for call in note.calls]
    return {"role": "user" if note.who == "human" else "assistant", "content": content}


def _whole(found: dict[str, Any]) -> Answer:
    blocks = found.get("content", [])
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = tuple(Call(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use")
    usage = found["usage"]
    return _answer(text, calls, usage["input_tokens"], usage["output_tokens"])


def _streamed(events: Iterable[dict[str, Any]], on_text: OnText, stop: Stop) -> Answer:
    text, arguments, tokens_in, tokens_out, ended = "", "", 0, 0, False
    calls: list[dict[str, Any]] = []
    for event in events:
        match event["type"]:
            case "message_start":
                tokens_in = event["message"]["usage"]["input_tokens"]
            case "content_block_start" if event["content_block"]["type"] == "tool_use":
                calls.append(event["content_block"])
                arguments = ""
            case "content_block_delta" if "text" in event["delta"]:
                text += event["delta"]["text"]
                on_text(event["delta"]["text"])
            case "content_block_delta":
                arguments += event["delta"].get("partial_json", "")
            case "content_block_stop" if arguments:
                calls[-1]["input"], arguments = _parsed(arguments), ""
            case "message_delta":
                tokens_out = event["usage"]["output_tokens"]
            case "message_stop":
                ended = True
            case "error":
                raise ModelError(529, str(event["error"]["message"]))
    if stop.pressed:
        # What was called in an answer that was stopped is not done, so it was not called.
        return Answer(Note("bot", text) if text else None, tokens_in, tokens_out, stopped=True)
    if not ended:
        raise ModelError(0, "the stream ended before the answer did")
    called = tuple(Call(one["id"], one["name"], one["input"]) for one in calls)
    return _answer(text, called, tokens_in, tokens_out)


def _parsed(arguments: str) -> dict[str, Any]:
    try:
        found = json.loads(arguments)
    except ValueError as error:
        raise ModelError(0, f"the input of a call is not JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def _answer(text: str, calls: tuple[Call, ...], tokens_in: int, tokens_out: int) -> Answer:
    return Answer(Note("bot", text, calls) if text or calls else None, tokens_in, tokens_out)
