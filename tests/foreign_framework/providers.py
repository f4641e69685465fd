"""The framework's providers, from the one that keeps every conversation to the one that keeps none.

A conversation is a list of the API's own messages: `{"role": ..., "content": [blocks]}`.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .service import Service, ServiceError, StopSign

Chat: TypeAlias = list[dict[str, Any]]
OnText: TypeAlias = Callable[[str], object]
Tools: TypeAlias = dict[str, dict[str, Any]]

_PATH = "/v1/messages"


@dataclass
class Answer:
    """What the model said: the blocks of its message."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    stopped: bool = False

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.blocks if block["type"] == "text")

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [block for block in self.blocks if block["type"] == "tool_use"]


class TokenMeter:
    """Asks in the background how many tokens a conversation takes. It keeps the figure, and no conversation."""

    def __init__(self, service: Service) -> None:
        self.last = 0
        self._service = service
        self._pool = ThreadPoolExecutor(1)

    def measure(self, body: dict[str, Any]) -> None:
        """Ask, and do not wait for the answer."""
        counted = {name: value for name, value in body.items() if name in ("model", "messages", "system", "tools")}
        self._pool.submit(self._ask, counted)

    def close(self) -> None:
        """Wait for what is under way."""
        self._pool.shutdown()

    def _ask(self, body: dict[str, Any]) -> None:
        time.sleep(0.02)  # as on a busy machine: it goes out in the middle of what is done next
        try:
            self.last = self._service.ask(f"{_PATH}/count_tokens", body)["input_tokens"]
        except (ServiceError, KeyError):
            self.last = 0  # the turn does not fail by it


class Wire:
    """What all of them share: one request, and its answer."""

    def __init__(self, base_url: str, key: str, model: str) -> None:
        self.model = model
        self.service = Service(base_url, key)
        self.meter = TokenMeter(self.service)

    def ask(self, body: dict[str, Any], on_text: OnText | None, stop: StopSign) -> Answer:
        if stop.up:
            return Answer(stopped=True)
        if on_text is None:
            found = self.service.ask(_PATH, body)
            usage = found.get("usage", {})
            answer = Answer(found["content"], str(found["stop_reason"]), usage["input_tokens"], usage["output_tokens"])
        else:
            answer = _streamed(self.service.events(_PATH, body, stop), on_text, stop)
        if answer.blocks and not answer.stopped:
            self.meter.measure(body)
        return answer

    def body(self, chat: Chat, system: str | None, tools: Tools) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "max_tokens": 4096, "messages": chat}
        if system:
            body["system"] = system
        if tools:
            body["tools"] = [
                {"name": name, "description": tool["description"], "input_schema": tool["schema"]}
                for name, tool in self.order(tools)
            ]
        return body

    def order(self, tools: Tools) -> list[tuple[str, dict[str, Any]]]:
        return list(tools.items())

    # -- what stays when the history goes

    def get_context_limit(self) -> int:
        return 200_000

    def count_tokens(self, chat: Chat) -> int:
        """About as many tokens as the conversation takes."""
        return len(json.dumps(chat)) // 4

    def classify_error(self, error: ServiceError) -> str:
        return "transient" if error.transient else "final"

    def serialize_history(self, chat: Chat) -> str:
        return json.dumps(chat)

    def deserialize_history(self, text: str) -> Chat:
        found: Chat = json.loads(text)
        return found

    def shutdown(self) -> None:
        self.meter.close()
        self.service.close()


class KeepsHistory(Wire):
    """Keeps the conversation: the framework before its migration."""

    def __init__(self, base_url: str, key: str, model: str) -> None:
        super().__init__(base_url, key, model)
        self.create_session()

    def create_session(self, system: str | None = None, tools: Tools | None = None, chat: Chat | None = None) -> None:
        self._system, self._tools = system, dict(tools or {})
        self._chat: Chat = copy.deepcopy(chat or [])

    def get_history(self) -> Chat:
        return copy.deepcopy(self._chat)

    def send_message(self, text: str, on_text: OnText | None, stop: StopSign) -> Answer:
        return self._turn({"role": "user", "content": [{"type": "text", "text": text}]}, on_text, stop)

    def send_tool_results(self, results: Sequence[dict[str, Any]], on_text: OnText | None, stop: StopSign) -> Answer:
        return self._turn({"role": "user", "content": list(results)}, on_text, stop)

    def _turn(self, message: dict[str, Any], on_text: OnText | None, stop: StopSign) -> Answer:
        chat = [*self._chat, message]
        answer = self.ask(self.body(chat, self._system, self._tools), on_text, stop)
        if answer.blocks:
            chat.append({"role": "assistant", "content": answer.blocks})
        self._chat = chat
        return answer


class Completes:
    """The call that knows nothing but its arguments."""

    def complete(
        self,
        chat: Chat,
        system: str | None = None,
        tools: Tools | None = None,
        on_text: OnText | None = None,
        stop: StopSign | None = None,
    ) -> Answer:
        own: Any = self
        return own.ask(own.body(chat, system, tools or {}), on_text, stop or StopSign())  # type: ignore[no-any-return]


class Both(Completes, KeepsHistory):
    """Has the old path and the new one, which lists its tools by name."""

    def complete(self, chat: Chat, system: str | None = None, tools: Tools | None = None, *rest: Any) -> Answer:
        return super().complete(chat, system, dict(sorted((tools or {}).items())), *rest)


class LosesResults(Both):
    """Wrong: the new path sends what tools gave without its text."""

    def body(self, chat: Chat, system: str | None, tools: Tools) -> dict[str, Any]:
        if chat is not self._chat and not self._in_turn:
            chat = [{**one, "content": [_without_text(block) for block in one["content"]]} for one in chat]
        return super().body(chat, system, tools)

    _in_turn = False

    def _turn(self, *arguments: Any) -> Answer:
        self._in_turn = True
        try:
            return super()._turn(*arguments)
        finally:
            self._in_turn = False


def _without_text(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "content": ""} if block["type"] == "tool_result" else block


class Stateless(Completes, Wire):
    """Keeps nothing: the framework after its migration."""


class Remembers(Stateless):
    """Wrong: keeps what was last asked, for its log."""

    def complete(self, chat: Chat, *rest: Any) -> Answer:
        self._last_request = list(chat)
        return super().complete(chat, *rest)


def _streamed(events: Any, on_text: OnText, stop: StopSign) -> Answer:
    answer, ended = Answer(), False
    arguments = ""
    for event in events:
        match event["type"]:
            case "message_start":
                answer.tokens_in = event["message"]["usage"]["input_tokens"]
            case "content_block_start":
                answer.blocks.append(dict(event["content_block"]))
                arguments = ""
            case "content_block_delta" if "text" in event["delta"]:
                answer.blocks[-1]["text"] += event["delta"]["text"]
                on_text(event["delta"]["text"])
            case "content_block_delta":
                arguments += event["delta"].get("partial_json", "")
            case "content_block_stop" if answer.blocks[-1]["type"] == "tool_use":
                answer.blocks[-1]["input"] = _arguments(arguments)
            case "message_delta":
                answer.stop_reason = str(event["delta"]["stop_reason"])
                answer.tokens_out = event["usage"]["output_tokens"]
            case "message_stop":
                ended = True
            case "error":
                raise ServiceError(str(event["error"]["message"]), 529, str(event["error"]["type"]))
    if stop.up:
        # A call in an answer that was stopped is never made.
        answer.blocks = [block for block in answer.blocks if block["type"] == "text" and block["text"].strip()]
        answer.stopped = True
    elif not ended:
        raise ServiceError("the answer broke off")
    return answer


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise ServiceError(f"the arguments of a call are not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ServiceError("the arguments of a call are no object")
    return found
