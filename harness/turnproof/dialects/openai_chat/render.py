"""A neutral reply as a surface writes it: one JSON body, or the chunks of a stream.

Everything that a real service draws at random (ids, fillers, where texts are cut) is drawn from the seed, so that
equal requests get equal bytes. Calls come one after the other, as the maker's models write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from ..base import PromptUsage, Rendered, Reply, WireEvent, World
from ..catalogue import dated
from ..seeded_random import seeded_word
from . import finishes, usage
from .models import ONE_INDEX, ONE_TOKEN_STEPS
from .reply_parts import ReplyCall, Speech, speech
from .surface_table import SURFACE_TABLE
from .surfaces import ChatCall, Surface
from .writing import DONE, answer_id, body_event, chunk_event, json_headers, obfuscation, sse_headers

_Json = dict[str, Any]

_SAFE = {"filtered": False, "severity": "safe"}
_CATEGORIES = dict.fromkeys(("hate", "self_harm", "sexual", "violence"), _SAFE)
_ABSENT = {"detected": False, "filtered": False}
_FILTERED_PROMPT: list[_Json] = [
    {"prompt_index": 0, "content_filter_results": {**_CATEGORIES, "jailbreak": _ABSENT}},
]
_FILTERED_ANSWER: _Json = {**_CATEGORIES, "protected_material_code": _ABSENT, "protected_material_text": _ABSENT}
"""What Azure's content filter writes beside prompts and answers (recorded on Azure, reported of Copilot)."""

_FIRST_CHUNK: _Json = {
    "choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": _FILTERED_PROMPT,
}  # fmt: skip
"""How a stream begins under a content filter: with a chunk that has no choices, no id and no model."""


def render(call: ChatCall, reply: Reply, prompt: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `call`, streamed or whole."""
    answer = _Answer(call, reply, prompt, world, seed)
    if call.stream:
        return Rendered(200, sse_headers(call.surface, seed), tuple(answer.events()))
    return Rendered(200, json_headers(call.surface, seed), (body_event(answer.body()),))


class _Answer:
    """One reply with its words made up once, so that batch and stream say the same."""

    def __init__(self, call: ChatCall, reply: Reply, prompt: PromptUsage, world: World, seed: str) -> None:
        facts = world.models.get(call.model or "")
        self._surface, self._surface_facts = call.surface, SURFACE_TABLE[call.surface]
        # A local server answers under the name that it was asked by.
        self._model = dated(facts) if facts and call.surface is not Surface.OLLAMA else str(call.model)
        self._seed = seed
        self._created = int(world.clock())
        count = _count(call)
        self._speeches = tuple(speech(reply, call, seed if n == 0 else f"{seed}/{n}") for n in range(count))
        features = facts.features if facts is not None else frozenset[str]()
        self._one_index = ONE_INDEX in features
        counts_writes = ONE_TOKEN_STEPS in features
        self._usage = usage.usage_object(reply, prompt, call.surface, counts_writes=counts_writes, answers=count)
        settings = call.settings
        forced = isinstance(settings.get("tool_choice"), dict)
        self._finish = finishes.finish_word(reply.finish, reply.raw_finish, call.surface, forced=forced)
        options = settings.get("stream_options")
        self._asked_for_usage = isinstance(options, Mapping) and options.get("include_usage") is True
        self._splits = call.surface is Surface.COPILOT and (call.model or "").startswith("claude")
        self._serial = 0

    # -- in one piece

    def body(self) -> _Json:
        """The whole answer as one JSON object."""
        body = self._head("chat.completion") | {"choices": self._choices(), "usage": self._usage}
        if self._surface_facts.filters:
            body["prompt_filter_results"] = _FILTERED_PROMPT
        if self._surface is Surface.ZAI:
            body["request_id"] = body["id"]
        return body

    def _choices(self) -> list[_Json]:
        message = self._message(self._speeches[0])
        if self._splits and message["content"] and message.get("tool_calls"):
            # Reported of Claude on Copilot: the text and the calls are choices of their own.
            calls = {"role": "assistant", "tool_calls": message.pop("tool_calls")}
            return [{"finish_reason": self._finish, "message": each} for each in (message, calls)]
        messages = (message, *map(self._message, self._speeches[1:]))
        marks = self._marks(self._finish)
        return [{"index": n, "message": one, "finish_reason": self._finish} | marks for n, one in enumerate(messages)]

    def _message(self, speech: Speech) -> _Json:
        makers = self._is_makers()
        text = "".join(speech.text)
        refuses = speech.refuses and makers
        message: _Json = {"role": "assistant", "content": None if self._has_no_content(speech) else text}
        if speech.thinking and self._surface_facts.thoughts:
            message[self._surface_facts.thoughts] = "".join(speech.thinking)
        if self._surface is Surface.COPILOT and speech.sealed:
            message["reasoning_opaque"] = speech.sealed
        if speech.calls:
            message["tool_calls"] = [self._call_object(call, n) for n, call in enumerate(speech.calls)]
        if makers:
            message |= {"refusal": text if refuses else None, "annotations": []}
        return message | speech.fields

    def _call_object(self, call: ReplyCall, n: int) -> _Json:
        index = {"index": n} if self._surface in (Surface.ZAI, Surface.OLLAMA) else {}
        return {"id": call.id, **index, **call.wire_form(call.arguments)}

    # -- as a stream

    def events(self) -> Iterator[WireEvent]:
        """The answer as chunks."""
        if self._surface_facts.filters:
            yield chunk_event(_FIRST_CHUNK)
        # Several choices come abreast.
        for row in zip_longest(*map(self._deltas, self._speeches)):
            for n, delta in enumerate(row):
                if delta is not None:
                    yield chunk_event(self._chunk(n, delta))
        for n in range(len(self._speeches)):
            yield chunk_event(self._last(n))
        if self._asked_for_usage and self._surface_facts.usage_apart:
            yield chunk_event(self._frame() | {"choices": [], "usage": self._usage})
        yield DONE

    def _deltas(self, speech: Speech) -> Iterator[_Json]:
        makers = self._is_makers()
        opening: _Json = {"role": "assistant", "content": None if self._has_no_content(speech) else "", "refusal": None}
        calls = list(self._call_deltas(speech))
        if makers and len(speech.calls) == 1 and not (speech.text or speech.thinking or speech.fields):
            # Recorded: a single call starts together with the message.
            yield opening | calls.pop(0)
        elif makers:
            yield opening
        every = {"role": "assistant"} if self._surface_facts.repeats_role else {}
        blank = {"content": ""} if self._surface is Surface.OLLAMA else {}
        for piece in speech.thinking:
            yield {**every, **blank, str(self._surface_facts.thoughts): piece}
        if self._surface is Surface.COPILOT and speech.sealed:
            yield {"reasoning_opaque": speech.sealed}
        field = "refusal" if speech.refuses and makers else "content"
        for piece in speech.text:
            yield {**every, field: piece}
        if speech.fields:
            yield {**every, **speech.fields}
        for delta in calls:
            yield {**every, **blank, **delta}

    def _call_deltas(self, speech: Speech) -> Iterator[_Json]:
        if self._surface_facts.whole_calls:
            for n, call in enumerate(speech.calls):
                yield {"tool_calls": [self._call_object(call, 0 if self._one_index else n)]}
            return
        for n, call in enumerate(speech.calls):
            yield from _fragments(call, n)

    def _chunk(self, n: int, delta: _Json, finish: str | None = None) -> _Json:
        choice: _Json = {"index": n, "delta": delta}
        if finish is not None or self._surface is not Surface.ZAI:
            choice["finish_reason"] = finish
        return self._frame() | {"choices": [choice | self._marks(finish)]} | self._figures_to_come()

    def _last(self, n: int) -> _Json:
        """The chunk that ends a choice; where figures do not come apart, it has them."""
        together = not self._surface_facts.usage_apart
        last = self._chunk(n, {"role": "assistant", "content": ""} if together else {}, self._finish)
        return last | ({"usage": self._usage} if together and self._asked_for_usage else {})

    def _figures_to_come(self) -> _Json:
        """Recorded: where figures were asked for, every chunk before them says that they are not here."""
        apart = self._asked_for_usage and self._surface_facts.usage_apart and self._is_makers()
        return {"usage": None} if apart else {}

    def _frame(self) -> _Json:
        frame = self._head("chat.completion.chunk")
        if self._surface in (Surface.OPENAI, Surface.AZURE):
            self._serial += 1
            frame["obfuscation"] = obfuscation(self._seed, self._serial)
        return frame

    # -- what they share

    def _is_makers(self) -> bool:
        """Whether the answer has the form of the API's maker, as it has wherever the maker's models run."""
        return self._surface not in (Surface.ZAI, Surface.OLLAMA)

    def _has_no_content(self, speech: Speech) -> bool:
        """Whether the content is null: beside calls that came without a text, and beside a refusal."""
        return self._is_makers() and (speech.refuses or (bool(speech.calls) and not speech.text))

    def _head(self, kind: str) -> _Json:
        head: _Json = {
            "id": answer_id(self._surface, self._seed), "object": kind, "created": self._created, "model": self._model,
        }  # fmt: skip
        match self._surface:
            case Surface.OLLAMA:
                head["system_fingerprint"] = "fp_ollama"
            case Surface.OPENAI:
                head |= {"service_tier": "default", "system_fingerprint": self._fingerprint()}
            case Surface.AZURE | Surface.GITHUB | Surface.COPILOT:
                head["system_fingerprint"] = self._fingerprint()
        return head

    def _fingerprint(self) -> str:
        return f"fp_{seeded_word('0123456789abcdef', 10, self._model, 'fingerprint')}"

    def _marks(self, finish: str | None) -> _Json:
        """What stands beside a message or a delta."""
        probabilities = {"logprobs": None} if self._is_makers() else {}
        results = {"content_filter_results": _filter_results(finish)} if self._surface_facts.filters else {}
        return probabilities | results


def _count(call: ChatCall) -> int:
    """How many choices are asked for by `n`, which the services of the maker's models have."""
    number = call.settings.get("n")
    return number if type(number) is int and number > 1 and call.surface not in (Surface.ZAI, Surface.OLLAMA) else 1


def _fragments(call: ReplyCall, n: int) -> Iterator[_Json]:
    """A call in fragments: only the first one has its id and name."""
    yield {"tool_calls": [{"index": n, "id": call.id, **call.wire_form("")}]}
    for piece in call.pieces:
        yield {"tool_calls": [{"index": n, **call.wire_piece(piece)}]}


def _filter_results(finish: str | None) -> _Json:
    """The marks beside one choice; the one that was stopped says by what."""
    if finish != "content_filter":
        return _FILTERED_ANSWER
    return {**_FILTERED_ANSWER, "violence": {"filtered": True, "severity": "high"}}
