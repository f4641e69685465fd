"""A neutral reply as the API writes it: one JSON body, or the events of a stream.

Everything that the real service draws at random (ids, padding, where arguments are cut, whether a call says who
called it) is drawn from the seed, so that equal requests get equal bytes. Another service that writes this format has
an `Answer` of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import HarnessError
from ...messages import FunctionCall, Opaque, Text, Thought, thaw
from ..base import Call, EventKind, PromptUsage, Rendered, Reply, ReplyPart, WireEvent, World
from ..catalogue import dated
from ..finish_words import finish_word_of
from ..naming import spoken_name
from ..seeded_random import seeded_number
from ..stream_cuts import call_pieces, completed_members
from . import signing, stop_reasons
from .events import Block, StreamEvent, block_events
from .models import LEGAL_NAME
from .rules import NAME
from .writing import PING, body_event, identifier, request_id, sse

_SCRIPTED = "scenario"
"""The dialect of provider data in scenarios, which serve every dialect."""


class Answer:
    """One reply with its blocks made up once, so that batch and stream say the same.

    What is written here is the Messages API. A service that has the format and not the habits overrides these.
    """

    dialect = NAME
    pings_after: EventKind | None = "block_start"
    """The first event of this kind has a ping behind it (recorded: 78 of 95 streams)."""

    def __init__(self, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> None:
        self.facts = world.models.get(call.model or "")
        self.call = call
        self.reply = reply
        self.prompt = usage
        self.world = world
        self.seed = seed
        self.model = dated(self.facts) if self.facts else str(call.model)
        self.blocks = [self._block(part, n) for n, part in enumerate(reply.parts)]
        self.stop_reason = self.written_finish()

    @classmethod
    def rendered(cls, call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
        """The answer to `call`, streamed or whole. Signatures of its thinking are issued into the world."""
        if call.body is not None and call.body.get("max_tokens") == 0:
            # The cache is warmed, nothing is generated.
            reply = Reply((), stop_reasons.READ["max_tokens"])
        answer = cls(call, reply, usage, world, seed)
        headers = answer.headers()
        if call.stream:
            headers["content-type"] = "text/event-stream; charset=utf-8"
            return Rendered(200, headers, tuple(answer.events()))
        headers["content-type"] = "application/json"
        return Rendered(200, headers, (body_event(answer.body()),))

    # -- habits of the service

    def headers(self) -> dict[str, str]:
        """The headers of an answer, its content type aside."""
        organisation = "00000000-0000-4000-8000-000000000000"
        return {"request-id": request_id(self.seed), "anthropic-organization-id": organisation}

    def new_call_id(self, n: int) -> str:
        """The id of a call that the script has given none."""
        return identifier("toolu", self.seed, n)

    def caller_field(self, n: int) -> Block:
        """What a call says of who called it. Half of the recorded calls say so; clients must take both."""
        return {"caller": {"type": "direct"}} if seeded_number(self.seed, "caller", n) % 2 else {}

    def signature(self, part: Thought, data: Mapping[str, Any], n: int) -> str | None:
        """The signature of a thought, known to the world from now on; None where the service signs nothing."""
        from_script = data.get("signature")
        if not from_script:
            return signing.issue(part.text, self.model, f"{self.seed}\0{n}", self.world)
        self.world.issued[from_script] = (signing.digest(part.text), self.model)
        return str(from_script)

    def opening_usage(self) -> Block:
        """The figures of `message_start`: the input is exact, the output only begun."""
        return self._full_usage(min(self.output_tokens, 1 + seeded_number(self.seed, "opening") % 8))

    def closing_usage(self) -> Block:
        """The figures of `message_delta`."""
        return self._input_usage() | {"output_tokens": self.output_tokens} | self._details()

    def whole_usage(self) -> Block:
        """The figures of an answer in one piece."""
        return self._full_usage(self.output_tokens) | self._details()

    def _details(self) -> Block:
        """Thinking counted apart, where the script does, and of the models whose recorded answers all have it."""
        thinking = self.reply.usage.get("thinking")
        if not thinking and self.facts is not None and "thinking-figure" in self.facts.features:
            counted = sum(each.tokens for each in self.reply.parts if isinstance(each.part, Thought))
            return {"output_tokens_details": {"thinking_tokens": min(counted, self.output_tokens)}}
        return {"output_tokens_details": {"thinking_tokens": thinking}} if thinking else {}

    def message(self, usage: Block, *, content: list[Block], stop_reason: str | None) -> Block:
        """The message object, of a whole answer and of `message_start`."""
        return {
            "model": self.model,
            "id": identifier("msg", self.seed),
            "type": "message",
            "role": "assistant",
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": self._stop_sequence() if stop_reason is not None else None,
            "stop_details": None,
            "usage": usage,
        }

    def ending(self) -> Block:
        """What `message_delta` says of the end."""
        return {"stop_reason": self.stop_reason, "stop_sequence": self._stop_sequence()}

    def argument_pieces(self, reply_part: ReplyPart, draw: int) -> tuple[str, ...]:
        """The pieces in which a call's arguments are streamed. A first empty one is all there is without arguments."""
        return ("", *(reply_part.pieces or call_pieces(reply_part, draw)))

    def padding(self, serial: int) -> int:
        """Blanks in front of the last brace of an event."""
        return seeded_number(self.seed, "padding", serial) % 16

    def written_finish(self) -> str:
        """The service's word for the scripted reason, unless the script gives the word."""
        if self.reply.raw_finish:
            return self.reply.raw_finish
        return finish_word_of(stop_reasons.WRITE, self.reply.finish, dialect=self.dialect, member="stop_reason")

    # -- what is said

    def _block(self, reply_part: ReplyPart, n: int) -> Block:
        part = reply_part.part
        sealed = part.provider_data
        data = sealed.data if sealed is not None and sealed.dialect in (self.dialect, _SCRIPTED) else {}
        match part:
            case Text():
                block: Block = {"type": "text", "text": part.text}
                return block | {"citations": thaw(data["citations"])} if data.get("citations") else block
            case Thought() if data.get("redacted"):
                self.world.issued[data["redacted"]] = (signing.digest(""), self.model)
                return {"type": "redacted_thinking", "data": data["redacted"]}
            case Thought():
                signature = self.signature(part, data, n)
                block = {"type": "thinking", "thinking": part.text}
                return block if signature is None else block | {"signature": signature}
            case FunctionCall():
                block = {
                    "type": "tool_use",
                    "id": part.id or self.new_call_id(n),
                    "name": spoken_name(part.name, self.call.tools, LEGAL_NAME),
                    "input": self._broken_input(reply_part) if reply_part.broken else thaw(part.args),
                }
                return block | ({"caller": thaw(data["caller"])} if data.get("caller") else self.caller_field(n))
            case Opaque() if (own := reply_part.own_block(self.dialect)) is not None:
                return own
            case _:
                description = f"a part of type {type(part).__name__}: {part!r:.80}"
                raise HarnessError(f"{self.dialect} cannot answer with {description}")

    def _broken_input(self, reply_part: ReplyPart) -> Block:
        """A clipped call in a batch answer holds only the members that were complete."""
        return completed_members("".join(reply_part.pieces or call_pieces(reply_part, 0)))

    def _stop_sequence(self) -> str | None:
        sequences = (self.call.body or {}).get("stop_sequences") or [None]
        return sequences[0] if self.stop_reason == "stop_sequence" else None

    @property
    def output_tokens(self) -> int:
        """Tokens of the whole output."""
        return self.reply.usage.get("output", sum(part.tokens for part in self.reply.parts) or 1)

    def _input_usage(self) -> Block:
        prompt, figures = self.prompt, self.reply.usage
        return {
            "input_tokens": figures.get("fresh", prompt.fresh),
            "cache_creation_input_tokens": figures.get("cache_write", prompt.cache_write_5m + prompt.cache_write_1h),
            "cache_read_input_tokens": figures.get("cache_read", prompt.cache_read),
        }

    def _full_usage(self, output_tokens: int) -> Block:
        split = {
            "ephemeral_5m_input_tokens": self.prompt.cache_write_5m,
            "ephemeral_1h_input_tokens": self.prompt.cache_write_1h,
        }
        usage = self._input_usage() | {"cache_creation": split, "output_tokens": output_tokens}
        return usage | {"service_tier": "standard", "inference_geo": "global"}

    # -- the two forms

    def body(self) -> Block:
        """The whole answer as one JSON object."""
        return self.message(self.whole_usage(), content=self.blocks, stop_reason=self.stop_reason)

    def events(self) -> Iterator[WireEvent]:
        """The answer as events."""
        pings_after = self.pings_after
        for serial, event in enumerate(self._stream_events()):
            yield sse(event.name, {"type": event.name} | event.data, self.padding(serial), event.kind, event.text)
            if event.kind == pings_after:
                yield PING
                pings_after = None

    def _stream_events(self) -> Iterator[StreamEvent]:
        message = self.message(self.opening_usage(), content=[], stop_reason=None)
        yield StreamEvent("message_start", {"message": message}, "start")
        for n, (block, part) in enumerate(zip(self.blocks, self.reply.parts, strict=True)):
            draw = seeded_number(self.seed, "cut", n)
            arguments = self.argument_pieces(part, draw) if isinstance(part.part, FunctionCall) else ()
            yield from block_events(n, block, part, arguments, draw)
        yield StreamEvent("message_delta", {"delta": self.ending(), "usage": self.closing_usage()}, "usage")
        yield StreamEvent("message_stop", {}, "end")
