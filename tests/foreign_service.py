"""A provider that nobody here wrote the words of: a small server for OpenAI's chat completions.

It knows no script. Ids and words are drawn, connections are kept for a second and then closed, and single requests can
be refused, answered slowly, cut or spoiled. What turnproof says of an adapter behind it has to be true.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web
from loop_thread import serving_app

Trouble = Literal[
    "refuse", "overloaded", "reset", "garbage", "slow", "pause", "endless", "key", "quota", "no-model", "huge", "stream"
]


@dataclass
class ForeignService:
    """`troubles` says what goes wrong with the request of that number, counted from 0; `always` with every one."""

    troubles: dict[int, Trouble] = field(default_factory=dict)
    always: Trouble | None = None
    broken_texts: tuple[str, ...] = ()
    """Whoever says one of these in a conversation gets status 503."""
    calls_tools: bool = True
    chooses_by_name: bool = True
    """Whether it knows a `tool_choice` that names a tool; where it does not, the choice is the model's."""
    long_arguments: bool = False
    """Whether texts in arguments have a thousand characters, which come one by one in a stream."""
    words: tuple[int, int] = (2, 6)
    """How many words an answer has: at least, and at most."""
    slow: float = 2.0
    seed: int | None = None
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    left: int = 0
    """Answers that their client left before their end."""
    open: int = 0
    """Answers that are being written just now."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        number = len(self.requests)
        self.requests.append(body)
        self.open += 1
        try:
            broken = any(text in json.dumps(body["messages"]) for text in self.broken_texts)
            trouble = "overloaded" if broken else self.always or self.troubles.get(number)
            return await self._answer(request, body, trouble)
        except (ConnectionError, asyncio.CancelledError):
            self.left += 1
            raise
        finally:
            self.open -= 1

    async def _answer(self, request: web.Request, body: Any, trouble: Trouble | None) -> web.StreamResponse:
        match trouble:
            case "refuse":
                return _error(400, "invalid_request_error", "this service does not like the request")
            case "overloaded":
                return _error(503, "server_error", "try again")
            case "key":
                return _error(401, "invalid_request_error", "Incorrect API key provided")
            case "quota":
                return _error(429, "insufficient_quota", "You exceeded your current quota")
            case "no-model":
                return _error(404, "invalid_request_error", "The model does not exist")
            case "reset":
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case "garbage":
                return web.Response(text="<html>a proxy stands here", content_type="text/html")
            case "slow":
                await asyncio.sleep(self.slow)
        words = [self._word() for _ in range(20_000 if trouble == "huge" else self._random.randint(*self.words))]
        calls = [] if not self._may_call(body) else [self._call(body)]
        limit = body.get("max_completion_tokens", body.get("max_tokens", len(words)))
        finish = "length" if len(words) > limit else "tool_calls" if calls else "stop"
        words = words[:limit]
        if body.get("stream") or trouble == "stream":
            return await self._stream(request, body, words, calls, finish, trouble)
        message = {"role": "assistant", "content": " ".join(words), **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return web.json_response({**self._head(body, "chat.completion"), "choices": [choice], "usage": _usage(words)})

    async def _stream(
        self,
        request: web.Request,
        body: Any,
        words: list[str],
        calls: list[Any],
        finish: str,
        trouble: Trouble | None,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        head = self._head(body, "chat.completion.chunk")

        async def send(delta: Any, finish: str | None = None) -> None:
            chunk = {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

        await send({"role": "assistant", "content": ""})
        if trouble == "pause":
            await asyncio.sleep(self.slow)
        while trouble == "endless":
            await send({"content": self._word() + " "})
            await asyncio.sleep(0.005)
        for word in words:
            await send({"content": word + " "})
        for number, call in enumerate(calls):
            for piece in self._pieces(call):
                await send({"tool_calls": [{"index": number, **piece}]})
        await send({}, finish)
        if (body.get("stream_options") or {}).get("include_usage"):
            chunk = {**head, "choices": [], "usage": _usage(words)}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    def _head(self, body: Any, kind: str) -> dict[str, Any]:
        name = f"chatcmpl-{self._random.getrandbits(60):x}"
        return {"id": name, "object": kind, "created": 1, "model": body["model"]}

    def _may_call(self, body: Any) -> bool:
        """Where it is left to the model, tools are called at once, and never behind their results: no conversation goes
        on for ever."""
        choice = body.get("tool_choice", "auto")
        if choice != "auto":
            return self.calls_tools and choice != "none"
        last = [message["role"] for message in body["messages"][-2:]]  # pictures of results are a message behind them
        return self.calls_tools and bool(body.get("tools")) and "tool" not in last

    def _call(self, body: Any) -> dict[str, Any]:
        choice = body.get("tool_choice")
        expected = choice["function"]["name"] if isinstance(choice, dict) and self.chooses_by_name else None
        offered = [tool["function"] for tool in body["tools"] if expected in (None, tool["function"]["name"])]
        function = self._random.choice(offered)
        schema = function.get("parameters") or {}
        args = {name: self._value(kind) for name, kind in schema.get("properties", {}).items()}
        name = f"call_{self._random.getrandbits(60):x}"
        return {"id": name, "type": "function", "function": {"name": function["name"], "arguments": json.dumps(args)}}

    def _pieces(self, call: Any) -> list[Any]:
        if not self.long_arguments:
            return [call]
        function = call["function"]
        rest = [{"function": {"arguments": character}} for character in function["arguments"]]
        return [{**call, "function": {**function, "arguments": ""}}, *rest]

    def _value(self, schema: Any) -> Any:
        match schema.get("type"):
            case "integer" | "number":
                return self._random.randint(1, 99)
            case "boolean":
                return self._random.random() < 0.5
            case "array":
                return []
            case "object":
                return {}
        return self._word() * (200 if self.long_arguments else 1)

    def _word(self) -> str:
        return "".join(self._random.choices("abcdefgäöß", k=self._random.randint(2, 7)))


def _usage(words: list[str]) -> dict[str, Any]:
    return {"prompt_tokens": 7, "completion_tokens": len(words), "total_tokens": 7 + len(words)}


def _error(status: int, kind: str, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": kind, "code": kind}}, status=status)


@contextmanager
def serving(service: ForeignService) -> Iterator[ForeignService]:
    """The service on loopback; `service.url` is its base URL."""
    app = web.Application(client_max_size=2**28)
    app.router.add_post("/v1/chat/completions", service.answer)
    with serving_app(app, keepalive_timeout=1.0) as address:
        service.url = f"{address}/v1"
        yield service
