"""An adapter for OpenAI's chat completions on plain httpx, without an SDK: streaming, tools, typed errors, cancels."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from zlib import crc32

import httpx

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage, ToolSchema, thaw

FINISH = {"stop": "stop", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "safety"}
ERRORS: dict[Any, type[errors.ProviderError]] = {  # by status, else by the code of an error inside a stream
    **dict.fromkeys(("invalid_api_key", "permission_denied", 401, 403), errors.AuthenticationError),
    **dict.fromkeys(("rate_limit_exceeded", 429), errors.RateLimitError),
    **dict.fromkeys(("invalid_request_error", 400, 404, 413, 422), errors.InvalidRequestError),
    408: errors.TransportError,
}
LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")  # a chunk may end between CR and LF
TLS = httpx.create_ssl_context()  # loading the authorities takes longer than everything else in a call


def wire_name(name: str, pattern: str = r"[a-zA-Z0-9_-]{1,64}") -> str:
    """A name that the API takes. Another one is made legal, and told apart from its like by a checksum."""
    if re.fullmatch(pattern, name):
        return name
    return f"{re.sub(r'[^a-zA-Z0-9_-]', '_', name)[:28]}_{crc32(name.encode()):08x}"


def wire_id(id: str) -> str:
    """The id of a call. Those of other providers can be longer than the 40 characters that the API takes."""
    return wire_name(id, r"(?s).{1,40}")


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False)


def wire_messages(history: Sequence[Message]) -> Iterator[dict[str, Any]]:
    for message in history:
        if message.role == "model":
            calls = [
                {
                    "id": wire_id(call.id),
                    "type": "function",
                    "function": {"name": wire_name(call.name), "arguments": as_text(call.args)},
                }
                for call in message.calls
            ]
            if calls or message.text:
                yield {"role": "assistant", "content": message.text or None} | ({"tool_calls": calls} if calls else {})
            continue
        for result in message.results:
            text = as_text(result.result)
            content = f"Error: {text}" if result.is_error else text
            yield {"role": "tool", "tool_call_id": wire_id(result.call_id), "content": content}
        if message.text:
            yield {"role": message.role, "content": message.text}


def check_pairs(history: Sequence[Message]) -> None:
    """Refuse a history that the API would refuse now and in each later turn."""
    calls = sorted(call.id for message in history for call in message.calls)
    results = sorted(result.call_id for message in history for result in message.results)
    if calls != results:
        raise errors.InvalidRequestError(f"the history has calls {calls}, and results of the calls {results}")


def wire_tool(tool: ToolSchema) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}} | thaw(tool.parameters)
    function = {"name": wire_name(tool.name), "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of each server-sent event. `aiter_lines` also splits at U+2028, which JSON may contain."""
    rest, data = b"", []
    async for chunk in chunks:
        *lines, rest = LINE_END.split(rest + chunk)
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data = []


def error_of(status: int, body: Any, headers: httpx.Headers) -> errors.ProviderError:
    """The typed error of a refusal, or of an error inside a stream, which has the status 200."""
    error = body.get("error") if isinstance(body, dict) else None
    error = error if isinstance(error, dict) else {"message": str(body)}
    text, kind = str(error.get("message")), error.get("code") or error.get("type")
    if kind == "context_length_exceeded":
        limit, requested = re.search(r"length is (\d+)", text), re.search(r"(?:in|requested) (\d+) tokens", text)
        figures = {"limit": limit and int(limit[1]), "requested": requested and int(requested[1])}
        return errors.ContextLimitError(text, status=status, kind=kind, **figures)
    wait = headers.get("retry-after", "")
    try:
        seconds = (
            float(wait)
            if wait.isdigit()
            else (parsedate_to_datetime(wait) - parsedate_to_datetime(headers["date"])).total_seconds()
        )
    except (KeyError, ValueError):
        seconds = None
    error_class = ERRORS.get(status) or ERRORS.get(kind) or errors.OverloadedError
    return error_class(text, status=status, kind=kind, retry_after=seconds)


@dataclass
class Answer:
    """An answer as it grows, from one JSON object or from many."""

    names: dict[str, str]
    text: str = ""
    refused: bool = False
    raw_finish: str | None = None
    model: str | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    calls: dict[int, list[str]] = field(default_factory=dict)

    def add(self, chunk: dict[str, Any]) -> str:
        """Take an object of the API; returns the text in it."""
        added = ""
        self.model = chunk.get("model") or self.model
        for choice in chunk.get("choices", ()):
            delta = choice.get("delta") or choice.get("message") or {}
            added += delta.get("content") or delta.get("refusal") or ""
            self.refused = self.refused or bool(delta.get("refusal"))
            self.raw_finish = choice.get("finish_reason") or self.raw_finish
            for place, piece in enumerate(delta.get("tool_calls") or ()):
                call = self.calls.setdefault(piece.get("index", place), ["", "", ""])
                call[0] = piece.get("id") or call[0]
                call[1] = piece["function"].get("name") or call[1]
                call[2] += piece["function"].get("arguments") or ""
        if usage := chunk.get("usage"):
            prompt, output = usage["prompt_tokens"], usage["completion_tokens"]
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            thinking = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
            self.usage = TokenUsage(prompt, output, prompt + output, cached, 0, thinking)
        self.text += added
        return added

    def response(self, *, cancelled: bool = False) -> ProviderResponse:
        """The answer so far. Calls of an answer that was cut are not in it: they may be incomplete."""
        parts: list[Any] = [Text(self.text)] if self.text else []
        if not cancelled and self.raw_finish in ("stop", "tool_calls"):
            for id, name, arguments in self.calls.values():
                parts.append(FunctionCall(id, self.names.get(name, name), json.loads(arguments or "{}")))
        word = "refusal" if self.refused else FINISH.get(self.raw_finish or "", "unknown")
        word = "cancelled" if cancelled else word
        return ProviderResponse(tuple(parts), self.usage, FinishReason(word), self.raw_finish, model=self.model)


class HttpxChat:
    """The stateless path: each call sends the whole conversation."""

    def __init__(
        self, base_url: str, api_key: str, model: str, max_tokens: int | None = None, timeout: float = 600.0
    ) -> None:
        self._url, self._key, self._model = f"{base_url.rstrip('/')}/chat/completions", api_key, model
        self._max_tokens, self._timeout = max_tokens, httpx.Timeout(timeout, connect=5.0)
        self._loop: asyncio.AbstractEventLoop | None = None

    def _connected(self) -> httpx.AsyncClient:
        """The client of the running event loop: its connections end with the loop."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._client = loop, httpx.AsyncClient(verify=TLS, timeout=self._timeout)
        return self._client

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **options: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`. A cancel ends the `await` that it finds the call in."""
        check_pairs(messages)
        system = getattr(system_instruction, "text", system_instruction)
        body: dict[str, Any] = {"model": self._model, "messages": list(wire_messages(messages))}
        if system:
            body["messages"].insert(0, {"role": "system", "content": system})
        if tools:
            body["tools"] = [wire_tool(tool) for tool in tools]
        if options.get("on_chunk"):
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self._max_tokens:
            body["max_completion_tokens"] = self._max_tokens
        answer = Answer({wire_name(tool.name): tool.name for tool in tools or ()})
        try:
            with (options.get("cancel_token") or CancelToken()).interrupting():
                await self._ask(body, answer, options)
                return announced(answer.response(), options)
        except httpx.HTTPError as error:
            raise errors.TransportError(f"{type(error).__name__}: {error}") from error
        except ValueError as error:
            raise errors.TransportError(f"the answer is not what the API promises: {error}") from error
        return answer.response(cancelled=True)

    async def _ask(self, body: dict[str, Any], answer: Answer, options: dict[str, Any]) -> None:
        headers = {"authorization": f"Bearer {self._key}"}
        async with self._connected().stream("POST", self._url, json=body, headers=headers) as response:
            if response.status_code != 200 or not body.get("stream"):
                found = json.loads(await response.aread())
                if response.status_code != 200 or "error" in found:
                    raise error_of(response.status_code, found, response.headers)
                answer.add(found)
                return
            async for data in events(response.aiter_bytes()):
                if data == b"[DONE]":
                    break
                chunk = json.loads(data)
                if "error" in chunk:
                    raise error_of(response.status_code, chunk, response.headers)
                if text := answer.add(chunk):
                    options["on_chunk"](text)
                    await asyncio.sleep(0)  # where a cancel in the callback ends the call
            if answer.raw_finish is None:
                raise errors.TransportError("the stream ended before the answer did")


def announced(response: ProviderResponse, options: dict[str, Any]) -> ProviderResponse:
    """The response, after its callbacks."""
    if on_call := options.get("on_function_call"):
        for call in response.calls:
            on_call(call)
    if on_usage := options.get("on_usage_update"):
        on_usage(response.usage)
    return response
