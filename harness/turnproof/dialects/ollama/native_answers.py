"""A reply as the server's own API writes it: one object, or lines of JSON of which the last has the figures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ...messages import FunctionCall, Text, Thought, thaw
from ...tokens import json_tokens, text_tokens
from ..anthropic_messages.models import LEGAL_NAME
from ..base import EventKind, PromptUsage, Rendered, Reply, ReplyPart, WireEvent, World
from ..naming import spoken_name
from ..seeded_random import seeded_number
from ..stream_cuts import cut_text
from .finishes import done_reason
from .reply_message import in_one
from .surfaces import OllamaCall
from .writing import body_event, encode

JSON_HEADERS = {"content-type": "application/json; charset=utf-8"}
LINES_HEADERS = {"content-type": "application/x-ndjson"}

_TICK = 0.031
"""Seconds between two lines, as recorded for a small model."""

_MOST_CONTEXT = 4_096
"""Numbers of `context` that are made up at most: nobody reads them."""


def moment(world: World, ticks: int = 0) -> str:
    """A time as the server writes it."""
    return datetime.fromtimestamp(world.clock() + ticks * _TICK, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def render(call: OllamaCall, reply: Reply, usage: PromptUsage, world: World, seed: str, *, call_ids: bool) -> Rendered:
    """The answer to a call of `/api/chat` or `/api/generate`, in lines unless it was asked for whole."""
    answer = _Answer(call, in_one(reply, seed, call_ids=call_ids), usage, world, seed)
    if call.stream:
        return Rendered(200, LINES_HEADERS, tuple(answer.lines()))
    return Rendered(200, JSON_HEADERS, (body_event(answer.body()),))


def loaded(call: OllamaCall, world: World) -> Rendered:
    """The answer to a request without a conversation, which only loads the model, or unloads it: never in lines."""
    body = {"model": call.model, "created_at": moment(world)} | _texts(call, "")
    unloads = (call.body or {}).get("keep_alive") in (0, "0", "0s")
    return Rendered(
        200, JSON_HEADERS, (body_event(body | {"done": True, "done_reason": "unload" if unloads else "load"}),)
    )


def _texts(call: OllamaCall, content: str, **more: Any) -> dict[str, Any]:
    if call.verb == "generate":
        return {"response": content} | more
    return {"message": {"role": "assistant", "content": content} | more}


class _Answer:
    """One reply; both forms say the same."""

    def __init__(self, call: OllamaCall, reply: Reply, usage: PromptUsage, world: World, seed: str) -> None:
        self._call, self._reply, self._world, self._seed = call, reply, world, seed
        self._prompt = sum(reply.usage.get(name, 0) for name in ("fresh", "cache_read", "cache_write")) or usage.whole
        self._output = reply.usage.get("output", sum(map(weight, reply.parts)) or 1)

    def body(self) -> dict[str, Any]:
        """The whole answer as one object."""
        members: dict[str, Any] = {"content": "", "tool_calls": []}
        for n, part in enumerate(self._reply.parts):
            match part.part:
                case Thought(text=text):
                    members["thinking"] = text
                case Text(text=text):
                    members["content"] = text
                case FunctionCall() as call:
                    members["tool_calls"].append(self._call_object(call, n))
        content = members.pop("content")
        more = {name: value for name, value in members.items() if value}
        return self._head(len(self._reply.parts)) | _texts(self._call, content, **more) | self._end()

    def lines(self) -> Iterator[WireEvent]:
        """The answer in lines: pieces of thinking and text, each call whole, and the end."""
        ticks = 0
        for n, part in enumerate(self._reply.parts):
            for kind, piece, members in self._pieces(part, n):
                yield self._line(ticks, members | {"done": False}, kind, piece if kind == "text" else "")
                ticks += 1
        yield self._line(ticks, _texts(self._call, "") | self._end(), "end")

    def _pieces(self, part: ReplyPart, n: int) -> Iterator[tuple[EventKind, str, dict[str, Any]]]:
        match part.part:
            case Thought(text=text):
                for piece in part.pieces or cut_text(text, seeded_number(self._seed, "cut", n)):
                    yield "thinking", piece, _texts(self._call, "", thinking=piece)
            case Text(text=text):
                for piece in part.pieces or cut_text(text, seeded_number(self._seed, "cut", n)):
                    yield "text", piece, _texts(self._call, piece)
            case FunctionCall() as call:
                yield "args", "", _texts(self._call, "", tool_calls=[self._call_object(call, n)])

    def _call_object(self, call: FunctionCall, n: int) -> dict[str, Any]:
        first = next(k for k, part in enumerate(self._reply.parts) if isinstance(part.part, FunctionCall))
        name = spoken_name(call.name, self._call.tools, LEGAL_NAME)
        function = {"index": n - first, "name": name, "arguments": thaw(call.args)}
        return ({"id": call.id} if call.id else {}) | {"function": function}

    def _line(self, ticks: int, members: dict[str, Any], kind: EventKind, text: str = "") -> WireEvent:
        return WireEvent(encode(self._head(ticks) | members) + b"\n", kind, text)

    def _head(self, ticks: int) -> dict[str, Any]:
        return {"model": self._call.model, "created_at": moment(self._world, ticks)}

    def _end(self) -> dict[str, Any]:
        reason = done_reason(self._reply.finish, self._reply.raw_finish)
        end: dict[str, Any] = {"done": True, "done_reason": reason}
        if self._call.verb == "generate" and not (self._call.body or {}).get("raw"):
            length = min(self._prompt + self._output, _MOST_CONTEXT)
            end["context"] = [seeded_number(self._seed, "context", n) % 128_256 for n in range(length)]
        end |= {"total_duration": 0, "load_duration": 1_797_788, "prompt_eval_count": self._prompt}
        end |= {"prompt_eval_duration": 33_781_000 + self._prompt * 7_840_000, "eval_count": self._output}
        end["eval_duration"] = self._output * 31_720_450
        end["total_duration"] = sum(end[name] for name in ("load_duration", "prompt_eval_duration", "eval_duration"))
        # Recorded: a count of nothing is left out (a prompt that the cache had whole), its duration is not.
        return {name: value for name, value in end.items() if value != 0}


def weight(part: ReplyPart) -> int:
    """The tokens that a part has in the output."""
    match part.part:
        case Text(text=text) | Thought(text=text):
            return text_tokens(text)
        case FunctionCall() as call:
            return text_tokens(call.name) + json_tokens(call.args) + 8
        case _:
            return 0
