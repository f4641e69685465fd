"""The Chat Completions API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..http import Http, ModelError, Stop
from ..notes import Answer, Call, Note
from .base import OnText, Provider

_PATH = "/chat/completions"


class OpenAIProvider(Provider):
    """A conversation with a model of OpenAI's."""

    def __init__(self, base_url: str, api_key: str, model: str) -> None:
        super().__init__(Http(base_url, {"authorization": f"Bearer {api_key}"}), model)

    def get_context_limit(self) -> int:
        return 128_000

    def _is_too_long(self, error: ModelError) -> bool:
        return error.code == "context_length_exceeded"

    # -- the wire

    def _body(self) -> dict[str, Any]:
        messages = [{"role": "system", "content": self._system}] if self._system else []
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [*messages, *(one for note in self._history for one in _messages(note))],
        }
        if self._tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
                }
                for tool in self._tools
            ]
        return body

    def _send(self, body: dict[str, Any], on_text: OnText | None, stop: Stop) -> Answer | None:
        if on_text is not None:
            body["stream_options"] = {"include_usage": True}
            return _streamed(self._http.events(_PATH, body, stop), on_text, stop)
        found = self._http.whole(_PATH, body, stop)
        return _whole(found) if found is not None else None


def _messages(note: Note) -> Iterator[dict[str, Any]]:
    if note.who == "tools":
        for one in note.outcomes:
            yield {"role": "tool", "tool_call_id": one.call_id, "content": one.text}
        return
    message: dict[str, Any] = {"role": "user" if note.who == "human" else "assistant", "content": note.text}
    if note.calls:
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.tool, "arguments": json.dumps(one.input)}}
            for one in note.calls
        ]
    yield message


def _whole(found: dict[str, Any]) -> Answer:
    choice, usage = found["choices"][0], found["usage"]
    called = choice["message"].get("tool_calls") or ()
    return _answer(
        choice["message"].get("content") or "",
        [(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in called],
        (usage["prompt_tokens"], usage["completion_tokens"]),
        clipped=choice["finish_reason"] == "length",
    )


def _streamed(events: Iterable[dict[str, Any]], on_text: OnText, stop: Stop) -> Answer:
    text, tokens, ended, clipped = "", (0, 0), False, False
    calls: dict[int, list[str]] = {}
    for event in events:
        if "error" in event:
            raise ModelError(500, str(event["error"]["message"]))
        ended = ended or event.get("type") == "done"
        if usage := event.get("usage"):
            tokens = (usage["prompt_tokens"], usage["completion_tokens"])
        for choice in event.get("choices", ()):
            clipped = clipped or choice.get("finish_reason") == "length"
            if piece := choice["delta"].get("content"):
                text += piece
                on_text(piece)
            for one in choice["delta"].get("tool_calls") or ():
                call = calls.setdefault(one["index"], ["", "", ""])
                call[0] = one.get("id") or call[0]
                call[1] = one["function"].get("name") or call[1]
                call[2] += one["function"].get("arguments") or ""
    if stop.pressed:
        # What was called in an answer that was stopped is not done, so it was not called.
        return Answer(Note("bot", text) if text else None, *tokens, stopped=True)
    if not ended:
        raise ModelError(0, "the stream ended before the answer did")
    return _answer(text, calls.values(), tokens, clipped=clipped)


def _answer(text: str, called: Iterable[Sequence[str]], tokens: tuple[int, int], *, clipped: bool) -> Answer:
    calls = []
    for id, name, arguments in called:
        try:
            calls.append(Call(id, name, json.loads(arguments or "{}")))
        except ValueError as error:
            if not clipped:
                raise ModelError(0, f"the input of a call is not JSON: {error}") from error
    return Answer(Note("bot", text, tuple(calls)) if text or calls else None, *tokens)
