"""A neutral reply as the API writes it: one JSON body, or the events of a stream, numbered in sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...messages import FunctionCall
from ..base import Call, EventKind, PromptUsage, Rendered, Reply, ReplyPart, WireEvent, World
from ..catalogue import dated
from ..seeded_random import seeded_number
from ..stream_cuts import cut_text
from . import llamacpp_words, output, response_object
from .compaction import within_answer
from .output import Json
from .socket_memory import socket_of
from .store import kept_conversation, kept_response, previous_response, remember, seal, withheld
from .surfaces import ResponsesCall, Surface
from .writing import body_event, item_id, request_id, sse

_ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}


def render(call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `call`, streamed or whole. Its reasoning, and what the service keeps of it, go into the world."""
    answer = _Answer(ResponsesCall.from_call(call), reply, usage, world, seed)
    headers = {"x-request-id": request_id(seed), "openai-version": "2020-10-01", "openai-processing-ms": "15"}
    if call.stream:
        headers["content-type"] = "text/event-stream; charset=utf-8"
        events = tuple(answer.events())
        answer.keep(events)
        return Rendered(200, headers, events)
    headers["content-type"] = "application/json"
    answer.keep(())
    return Rendered(200, headers, (body_event(answer.first_answer),))


class _Unnumbered(NamedTuple):
    """An event before it has its number."""

    name: str
    data: Json
    kind: EventKind
    text: str = ""


class _Answer:
    def __init__(self, call: ResponsesCall, reply: Reply, usage: PromptUsage, world: World, seed: str) -> None:
        facts = world.models.get(call.model or "")
        # A prompt that is kept at the service names its model; ours is any.
        model = dated(facts) if facts else call.model or next(iter(world.models), "")
        features = facts.features if facts else frozenset[str]()
        ending = output.ending(reply)
        items_and_parts: list[tuple[Json, ReplyPart | None]] = list(
            zip(output.items(reply, call, model, features, seed), reply.parts, strict=True)
        )
        if shorter := within_answer(call, usage, model, seed):
            items_and_parts.insert(0, (shorter, None))
        items = [item for item, _ in items_and_parts]
        self._call, self._world = call, world
        self._seed, self._model, self._items = seed, model, items_and_parts
        name, created = item_id("resp", seed), int(world.clock())
        self._started_response = response_object.response(call, name, model, created=created, status="in_progress")
        self._queued = call.background and not call.stream
        self.final = response_object.response(
            call, name, model, created=created, status=ending.status, output=items, reason=ending.reason,
            usage=response_object.usage_of(reply, usage),
        )  # fmt: skip
        if removed := withheld(call.items, model, world):
            self.final["input_transformations"] = removed

    @property
    def first_answer(self) -> Json:
        """What is answered at once: a response in the background is only queued."""
        if self._call.surface is Surface.LLAMACPP:
            return llamacpp_words.response(self.final)
        return self._started_response | {"status": "queued"} if self._queued else self.final

    def keep(self, events: tuple[WireEvent, ...]) -> None:
        """Let the world have the response, and the events of a stream that can be taken up again."""
        call, world = self._call, self._world
        remember(
            self.final, call.items[call.carried :], world, stored=call.stored, model=self._model,
            previous=previous_response(world, (call.body or {}).get("previous_response_id"), call.socket),
            conversation=kept_conversation(world, call.conversation),
            socket=socket_of(world, call), lane=call.lane,
        )  # fmt: skip
        stored = kept_response(world, self.final["id"])
        if stored is not None and call.background:
            stored.events = events
            stored.current, stored.final = (self.first_answer, self.final) if self._queued else (self.final, None)

    def events(self) -> Iterator[WireEvent]:
        """The events, each with its place in the sequence."""
        if self._call.surface is Surface.LLAMACPP:
            yield from self._events_of_llamacpp()
            return
        for number, event in enumerate(self._unnumbered_events()):
            yield sse(
                event.name, {"type": event.name} | event.data | {"sequence_number": number}, event.kind, event.text
            )

    def _events_of_llamacpp(self) -> Iterator[WireEvent]:
        found = list(self._unnumbered_events())
        for n, name, data in llamacpp_words.events((event.name, event.data) for event in found):
            yield sse(name, {"type": name} | data, found[n].kind, found[n].text)

    def _unnumbered_events(self) -> Iterator[_Unnumbered]:
        yield _Unnumbered("response.created", {"response": self._started_response}, "start")
        yield _Unnumbered("response.in_progress", {"response": self._started_response}, "start")
        for n, (item, part) in enumerate(self._items):
            yield _Unnumbered(
                "response.output_item.added", {"output_index": n, "item": self._item_at_start(item)}, "block_start"
            )
            inside = () if part is None else _inside(item, part, seeded_number(self._seed, "cut", n))
            for name, data, kind, text in inside:
                yield _Unnumbered(name, {"item_id": item["id"], "output_index": n} | data, kind, text)
            ends: EventKind = "signature" if item["type"] == "reasoning" else "block_end"
            yield _Unnumbered("response.output_item.done", {"output_index": n, "item": item}, ends)
        name = _ENDS.get(self.final["status"], "response.completed")
        yield _Unnumbered(name, {"response": self.final}, "error" if name == "response.failed" else "end")

    def _item_at_start(self, item: Json) -> Json:
        """An item as it stands before anything has come of it."""
        match item["type"]:
            case "message":
                return item | {"status": "in_progress", "content": []}
            case "function_call":
                return item | {"status": "in_progress", "arguments": ""}
            case "reasoning":
                # Documented: what stands here may be incomplete. It is other content than the one to send back.
                other = seal("", self._model, f"{self._seed}\0opened")
                return item | {"summary": []} | ({"encrypted_content": other} if "encrypted_content" in item else {})
            case _:
                return item


def _inside(item: Json, part: ReplyPart, draw: int) -> Iterator[tuple[str, Json, EventKind, str]]:
    """The events between the opening and the end of an item: name, data, kind, visible text."""
    match item:
        case {"type": "message", "content": [{"type": kind} as block]}:
            yield from _content(block, str(kind), part, draw)
        case {"type": "reasoning", "summary": [dict(summary)]}:
            yield from _summary(summary, part, draw)
        case {"type": "function_call", "arguments": str(arguments)} if isinstance(part.part, FunctionCall):
            for piece in part.pieces or cut_text(arguments, draw):
                yield "response.function_call_arguments.delta", {"delta": piece}, "args", ""
            if not part.broken:
                yield "response.function_call_arguments.done", {"arguments": arguments}, "args", ""


def _content(block: Json, kind: str, part: ReplyPart, draw: int) -> Iterator[tuple[str, Json, EventKind, str]]:
    member = "refusal" if kind == "refusal" else "text"
    text: str = block[member]
    place: Json = {"content_index": 0}
    more: Json = {} if kind == "refusal" else {"logprobs": []}
    yield "response.content_part.added", place | {"part": block | {member: ""}}, "block_start", ""
    for piece in part.pieces or cut_text(text, draw):
        yield f"response.{kind}.delta", place | {"delta": piece} | more, "text", piece
    yield f"response.{kind}.done", place | {member: text} | more, "block_end", ""
    yield "response.content_part.done", place | {"part": block}, "block_end", ""


def _summary(summary: Any, part: ReplyPart, draw: int) -> Iterator[tuple[str, Json, EventKind, str]]:
    place: Json = {"summary_index": 0}
    text: str = summary["text"]
    yield "response.reasoning_summary_part.added", place | {"part": summary | {"text": ""}}, "block_start", ""
    for piece in part.pieces or cut_text(text, draw):
        yield "response.reasoning_summary_text.delta", place | {"delta": piece}, "thinking", ""
    yield "response.reasoning_summary_text.done", place | {"text": text}, "block_end", ""
    yield "response.reasoning_summary_part.done", place | {"part": summary}, "block_end", ""
