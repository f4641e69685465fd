"""A neutral reply as the API writes it: one JSON body, or the events of a stream.

The recorded streams tell of tokens in `metadata` on the way (one of two does, at its beginning and at the last piece of
a step); here every stream does.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...messages import FunctionCall, Text, Thought
from ..base import Call, EventKind, PromptUsage, Rendered, Reply, WireEvent, World
from ..catalogue import dated
from ..seeded_random import seeded_number
from ..stream_cuts import call_pieces, cut_text
from . import interaction
from .addresses import InteractionsCall
from .counting import image_tokens
from .finishes import FAILED, IN_PROGRESS, status_of
from .output import Json, SpokenStep, spoken_steps
from .store import kept_interaction, remember
from .usage import Figures, figures_of
from .writing import DONE, JSON_HEADERS, STREAM_HEADERS, body_event, interaction_id, sse


def render(call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `call`, streamed or whole. Its signatures, and what the service keeps of it, go into the world."""
    answer = _Answer(InteractionsCall.from_call(call), reply, usage, world, seed)
    if call.stream:
        events = tuple(_written(answer.events(), resumable=answer.is_resumable))
        answer.keep(events)
        return Rendered(200, STREAM_HEADERS, events)
    answer.keep(())
    return Rendered(200, JSON_HEADERS, (body_event(answer.first_answer),))


class _Answer:
    def __init__(self, call: InteractionsCall, reply: Reply, usage: PromptUsage, world: World, seed: str) -> None:
        facts = world.models.get(call.model or "")
        self._model = dated(facts) if facts else call.model or ""
        self._call, self._reply, self._world, self._seed = call, reply, world, seed
        self._figures = figures_of(reply, usage, image_tokens(call))
        self._status = status_of(reply.finish, reply.raw_finish)
        self._steps = spoken_steps(reply, call, self._model, seed)
        self.name = interaction_id(seed)
        self._final = interaction.ended(
            call, self.name, self._model, status=self._status, now=world.clock(), usage=self._figures.as_json(),
            steps=[each.step for each in self._steps if each.whole],
        )  # fmt: skip

    @property
    def is_resumable(self) -> bool:
        """Whether the stream can be taken up again: its events then have ids. Recorded streams, which nobody asked to
        have made in the background, have none."""
        return self._call.background and self._call.stored

    @property
    def _goes_on(self) -> bool:
        return self._call.background and not self._call.stream

    @property
    def first_answer(self) -> Json:
        """What is answered at once: an interaction in the background is only in progress."""
        if not self._goes_on:
            return self._final
        return interaction.ended(self._call, self.name, self._model, status=IN_PROGRESS, now=self._world.clock())

    def keep(self, events: tuple[WireEvent, ...]) -> None:
        """Let the world know the interaction."""
        call = self._call
        remember(
            self._final, call.steps[call.carried :], self._world, stored=call.stored, model=self._model,
            previous=kept_interaction(self._world, call.resource),
        )  # fmt: skip
        stored = kept_interaction(self._world, self.name)
        if stored is not None:
            stored.events = events
            if self._goes_on and stored.current is self._final:
                stored.current, stored.final = self.first_answer, self._final

    def events(self) -> Iterator[tuple[str, Json, EventKind, str]]:
        """The events of a stream: name, data, kind, visible text."""
        opening = {"interaction": interaction.opened(self._call, self.name, self._model, IN_PROGRESS)}
        yield "interaction.created", opening | _so_far(self._figures.partial(0, 0)), "start", ""
        update = {"interaction_id": self.name, "status": IN_PROGRESS}
        yield "interaction.status_update", update, "start", ""
        output = thoughts = 0
        for n, entry in enumerate(self._steps):
            is_thought = isinstance(entry.source.part, Thought)
            thoughts += entry.source.tokens if is_thought else 0
            output += 0 if is_thought else entry.source.tokens
            yield "step.start", {"index": n, "step": _shell(entry)}, "block_start", ""
            deltas = list(_deltas(entry, seeded_number(self._seed, "cut", n)))
            for m, (delta, kind, text) in enumerate(deltas, 1):
                data: Json = {"index": n, "delta": delta}
                if m == len(deltas):
                    data |= _so_far(self._figures.partial(output, thoughts))
                yield "step.delta", data, kind, text
            if entry.whole:
                yield "step.stop", {"index": n}, "block_end", ""
        final = {name: value for name, value in self._final.items() if name not in ("steps", "previous_interaction_id")}
        ends: EventKind = "error" if self._status == FAILED else "end"
        yield "interaction.completed", {"interaction": final}, ends, ""


def _so_far(figures: Figures) -> Json:
    """The token usage that an event reports in addition to its content."""
    return {"metadata": {"usage": figures.as_json()}}


def _written(events: Iterator[tuple[str, Json, EventKind, str]], *, resumable: bool) -> Iterator[WireEvent]:
    """The events, each under its type, and the word that ends a stream."""
    for n, (event_type, data, kind, text) in enumerate(events):
        metadata = {"metadata": data.pop("metadata")} if "metadata" in data else {}
        named = {"event_id": f"evt_{n}"} if resumable else {}
        yield sse(event_type, {**data, "event_type": event_type, **metadata, **named}, kind, text)
    yield DONE


def _shell(entry: SpokenStep) -> Json:
    """A step as it stands before anything has come of it."""
    match entry.step:
        case {"type": "model_output" | "thought" as kind}:
            return {"type": kind}
        case {"type": "function_call"}:
            return {**entry.step, "arguments": {}}
    return entry.step


def _deltas(entry: SpokenStep, draw: int) -> Iterator[tuple[Json, EventKind, str]]:
    """What comes between the beginning of a step and its end: delta, kind, visible text."""
    part, step = entry.source.part, entry.step
    match part:
        case Text(text=text):
            for piece in entry.source.pieces or cut_text(text, draw):
                yield {"text": piece, "type": "text"}, "text", piece
        case Thought(text=text):
            for piece in (entry.source.pieces or cut_text(text, draw)) if "summary" in step else ():
                yield {"content": {"text": piece, "type": "text"}, "type": "thought_summary"}, "thinking", ""
            yield {"signature": step["signature"], "type": "thought_signature"}, "signature", ""
        case FunctionCall():
            for piece in entry.source.pieces or call_pieces(entry.source, draw):
                yield {"arguments": piece, "type": "arguments_delta"}, "args", ""
