"""A neutral reply as the API writes it: one JSON body, or the events of a stream.

Everything that the real service draws at random (ids, padding, where arguments are cut, whether a call says who
called it) is drawn from the seed, so that equal requests get equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import HarnessError
from ...messages import FunctionCall, Opaque, Text, Thought, thaw
from ...tokens import json_tokens, text_tokens
from ..base import Call, PromptUsage, Rendered, Reply, ReplyPart, WireEvent, World
from ..cutting import cut_text
from ..naming import spoken_name
from ..seeded import derived
from . import signing, stop_reasons
from .models import dated
from .names import LEGAL_NAME
from .pieces import arguments_json, completed_members, cut_arguments
from .rules import NAME
from .writing import body_event, identifier, request_id, sse

Block = dict[str, Any]


def render(call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `call`, streamed or whole. Signatures of its thinking are issued into the world."""
    if call.body is not None and call.body.get("max_tokens") == 0:
        # The cache is warmed, nothing is generated.
        reply = Reply((), stop_reasons.READ["max_tokens"])
    answer = _Answer(call, reply, usage, world, seed)
    headers = {"request-id": request_id(seed), "anthropic-organization-id": "00000000-0000-4000-8000-000000000000"}
    if call.stream:
        headers["content-type"] = "text/event-stream; charset=utf-8"
        return Rendered(200, headers, tuple(answer.events()))
    headers["content-type"] = "application/json"
    return Rendered(200, headers, (body_event(answer.body()),))


_SPOKEN = (NAME, "scenario")
"""Dialects whose provider data a scripted part may carry: our own, and that of scenarios, which serve every dialect."""


class _Answer:
    """One reply with its blocks made up once, so that batch and stream say the same."""

    def __init__(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> None:
        facts = world.models.get(call.model or "")
        self._call = call
        self._reply = reply
        self._prompt = usage
        self._world = world
        self._seed = seed
        self._model = dated(facts) if facts else str(call.model)
        self._blocks = [self._block(part, n) for n, part in enumerate(reply.parts)]
        self._stop_reason = reply.raw_finish or self._written_finish()

    def _written_finish(self) -> str:
        try:
            return stop_reasons.WRITE[self._reply.finish]
        except KeyError:
            raise HarnessError(f"{NAME} has no stop_reason for {self._reply.finish!r}; give raw_finish") from None

    def _block(self, reply_part: ReplyPart, n: int) -> Block:
        part = reply_part.part
        data = part.provider_data.data if part.provider_data and part.provider_data.dialect in _SPOKEN else {}
        match part:
            case Text():
                block: Block = {"type": "text", "text": part.text}
                return block | {"citations": thaw(data["citations"])} if data.get("citations") else block
            case Thought() if data.get("redacted"):
                self._world.issued[data["redacted"]] = (signing.digest(""), self._model)
                return {"type": "redacted_thinking", "data": data["redacted"]}
            case Thought():
                return {"type": "thinking", "thinking": part.text, "signature": self._signature(part, data, n)}
            case FunctionCall():
                block = {
                    "type": "tool_use",
                    "id": part.id or identifier("toolu", self._seed, n),
                    "name": spoken_name(part.name, self._call.tools, LEGAL_NAME),
                    "input": _broken_input(reply_part) if reply_part.broken else thaw(part.args),
                }
                if data.get("caller"):
                    block["caller"] = thaw(data["caller"])
                elif derived(self._seed, "caller", n) % 2:
                    # Half of the recorded calls say so; clients must take both.
                    block["caller"] = {"type": "direct"}
                return block
            case Opaque() if (own := reply_part.own_block(NAME)) is not None:
                return own
            case _:
                raise HarnessError(f"{NAME} cannot answer with a part of type {type(part).__name__}: {part!r:.80}")

    def _signature(self, part: Thought, data: Mapping[str, Any], n: int) -> str:
        given = data.get("signature")
        if not given:
            return signing.issue(part.text, self._model, f"{self._seed}\0{n}", self._world)
        self._world.issued[given] = (signing.digest(part.text), self._model)
        return str(given)

    # -- usage

    def _input_usage(self) -> Block:
        prompt, figures = self._prompt, self._reply.usage
        return {
            "input_tokens": figures.get("fresh", prompt.fresh),
            "cache_creation_input_tokens": figures.get("cache_write", prompt.cache_write_5m + prompt.cache_write_1h),
            "cache_read_input_tokens": figures.get("cache_read", prompt.cache_read),
        }

    def _start_usage(self, output_tokens: int) -> Block:
        split = {
            "ephemeral_5m_input_tokens": self._prompt.cache_write_5m,
            "ephemeral_1h_input_tokens": self._prompt.cache_write_1h,
        }
        usage = self._input_usage() | {"cache_creation": split, "output_tokens": output_tokens}
        return usage | {"service_tier": "standard", "inference_geo": "global"}

    def _output_tokens(self) -> int:
        return self._reply.usage.get("output", sum(map(_weight, self._reply.parts)) or 1)

    # -- the two forms

    def _head(self, usage: Block, *, content: list[Block], stop_reason: str | None) -> Block:
        sequences = (self._call.body or {}).get("stop_sequences") or [None]
        return {
            "model": self._model,
            "id": identifier("msg", self._seed),
            "type": "message",
            "role": "assistant",
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": sequences[0] if stop_reason == "stop_sequence" else None,
            "stop_details": None,
            "usage": usage,
        }

    def body(self) -> Block:
        """The whole answer as one JSON object."""
        usage = self._start_usage(self._output_tokens())
        return self._head(usage, content=self._blocks, stop_reason=self._stop_reason)

    def events(self) -> Iterator[WireEvent]:
        """The answer as events, padded as the service pads them."""
        output = self._output_tokens()
        opening = self._start_usage(min(output, 1 + derived(self._seed, "opening") % 8))
        message = self._head(opening, content=[], stop_reason=None)
        yield self._padded(0, "message_start", {"message": message}, "start")
        serial = 1
        for n, (block, part) in enumerate(zip(self._blocks, self._reply.parts, strict=True)):
            for name, data, kind, text in _block_events(n, block, part, derived(self._seed, "cut", n)):
                yield self._padded(serial, name, data, kind, text)
                serial += 1
                if n == 0 and kind == "block_start":
                    yield WireEvent(b'event: ping\ndata: {"type": "ping"}\n\n', "ping")
        final = self._head({}, content=[], stop_reason=self._stop_reason)
        ended = {key: final[key] for key in ("stop_reason", "stop_sequence")}
        usage = self._input_usage() | {"output_tokens": output}
        yield self._padded(serial, "message_delta", {"delta": ended, "usage": usage}, "usage")
        yield self._padded(serial + 1, "message_stop", {}, "end")

    def _padded(self, serial: int, name: str, data: Block, kind: Any, text: str = "") -> WireEvent:
        return sse(name, {"type": name} | data, derived(self._seed, "padding", serial) % 16, kind, text)


_Event = tuple[str, Block, str, str]


def _block_events(index: int, block: Block, reply_part: ReplyPart, draw: int) -> Iterator[_Event]:
    """The events of one block, as (name, data, kind, visible text)."""

    def delta(kind: str, event_kind: str, field: str, value: object, text: str = "") -> _Event:
        return "content_block_delta", {"index": index, "delta": {"type": kind, field: value}}, event_kind, text

    part = reply_part.part
    start = dict(block)
    body: list[_Event] = []
    match part:
        case Text():
            start["text"] = ""
            pieces = reply_part.pieces or cut_text(part.text, draw)
            body = [delta("text_delta", "text", "text", piece, piece) for piece in pieces]
            if "citations" in block:
                start["citations"] = []
                body += [delta("citations_delta", "text", "citation", each) for each in block["citations"]]
        case Thought() if block["type"] == "thinking":
            start |= {"thinking": "", "signature": ""}
            pieces = reply_part.pieces or cut_text(part.text, draw)
            body = [delta("thinking_delta", "thinking", "thinking", piece) for piece in pieces]
            body.append(delta("signature_delta", "signature", "signature", block["signature"]))
        case FunctionCall():
            start["input"] = {}
            pieces = reply_part.pieces or _argument_pieces(reply_part, draw)
            body = [delta("input_json_delta", "args", "partial_json", piece) for piece in ("", *pieces)]
        case Opaque() if block.get("input"):
            start["input"] = {}
            pieces = cut_arguments(arguments_json(block["input"], escaped=False), draw)
            body = [delta("input_json_delta", "args", "partial_json", piece) for piece in ("", *pieces)]
    yield "content_block_start", {"index": index, "content_block": start}, "block_start", ""
    yield from body
    if not reply_part.broken:
        # Recorded: a call clipped by the output limit is never closed.
        yield "content_block_stop", {"index": index}, "block_end", ""


def _argument_pieces(reply_part: ReplyPart, draw: int) -> tuple[str, ...]:
    assert isinstance(reply_part.part, FunctionCall)
    if not reply_part.part.args:
        return ()
    text = arguments_json(reply_part.part.args, escaped=bool(draw & 1))
    if reply_part.broken:
        text = text[: max(1, len(text) * 2 // 3)]
    return cut_arguments(text, draw)


def _broken_input(reply_part: ReplyPart) -> Block:
    """A clipped call in a batch answer holds only the members that were complete."""
    return completed_members("".join(reply_part.pieces or _argument_pieces(reply_part, 0)))


def _weight(reply_part: ReplyPart) -> int:
    match reply_part.part:
        case Text(text=text) | Thought(text=text):
            return text_tokens(text) or 1
        case FunctionCall() as call:
            return text_tokens(call.name) + json_tokens(call.args) + 8
        case part:
            return json_tokens(part.data) if isinstance(part, Opaque) else 1
