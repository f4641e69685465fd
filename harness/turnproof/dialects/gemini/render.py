"""A neutral reply as the API writes it: one JSON body, SSE events, or the elements of one JSON array.

Everything that the real service draws at random (ids, where texts are cut, whether the prompt is counted anew at the
end) is drawn from the seed, so that equal requests get equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ...messages import FinishReason
from ...tokens import text_tokens
from ..base import Call, PromptUsage, Rendered, Reply, World
from ..catalogue import dated
from ..seeded_random import seeded_number
from ..stream_cuts import cut_text
from . import finishes
from .models import THINKS
from .reply_parts import Speaker, SpokenPart, unspeakable_call
from .surfaces import GeminiCall, Surface
from .usage import Figures, figures_of, tier, weight
from .writing import JSON_HEADERS, SSE_HEADERS, Chunk, array_events, body_event, response_id, sse_event

_Json = dict[str, Any]

_BLOCKED_RATINGS = [
    {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"},
    {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True},
]
_FILTERED = "The response violated Responsible AI Safety settings (Hate Speech, Harassment, Dangerous) filters."


def render(call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `call`, streamed or whole. Its thought signatures are issued into the world."""
    own_call = GeminiCall.from_call(call)
    answer = Answer(own_call, reply, usage, world, seed)
    if not own_call.stream:
        return Rendered(200, JSON_HEADERS, (body_event(answer.body()),))
    if not own_call.sse:
        return Rendered(200, JSON_HEADERS, tuple(array_events(answer.chunks())))
    return Rendered(200, SSE_HEADERS, tuple(map(sse_event, answer.chunks())))


class Answer:
    """One reply with its parts made up once, so that batch and stream say the same.

    What another model behind the same form says otherwise, a subclass says: who speaks, the figures, the word for the
    end, and the id.
    """

    speaker: type[Speaker] = Speaker

    def __init__(self, call: GeminiCall, reply: Reply, usage: PromptUsage, world: World, seed: str) -> None:
        facts = world.models.get(call.model or "")
        self._surface = call.surface
        self._model = dated(facts) if facts else str(call.model)
        # As recorded: not by models before 2.5, and rarely on Vertex.
        self._explains = bool(facts and THINKS in facts.features) and self._surface is Surface.AI_STUDIO
        self._seed = seed
        self._created = datetime.fromtimestamp(world.clock(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self._speech = self.speaker(call, self._model, facts, world, seed).speech(reply)
        self._figures = self.figures(reply, usage)
        self._unspeakable = unspeakable_call(reply)
        malformed = finishes.MALFORMED_CALL if self._unspeakable is not None else None
        self._finish = malformed or self.finish(reply)
        self._blocked = finishes.block_reason(reply.raw_finish)

    # -- what may be said otherwise

    def figures(self, reply: Reply, usage: PromptUsage) -> Figures:
        """The final figures."""
        return figures_of(reply, usage)

    def finish(self, reply: Reply) -> str:
        """The `finishReason`."""
        return finishes.finish_word(reply.finish, reply.raw_finish)

    def response_id(self) -> str:
        """The `responseId`."""
        return response_id(self._seed)

    # -- the two forms

    def body(self) -> _Json:
        """The whole answer as one JSON object."""
        if self._blocked is not None:
            return self._prompt_blocked()
        parts = [dict(each.wire) for each in self._speech.parts]
        if self._speech.closing is not None and self._closes_with_a_text():
            parts[-1]["thoughtSignature"] = self._speech.closing
        if not parts and self._finish == finishes.STOP and seeded_number(self._seed, "nothing") % 2:
            # Nothing at all has two forms: no parts, and an empty text.
            parts = [{"text": ""}]
        return self._ended(parts, finish_message=bool(self._speech.calls) and self._explains)

    def chunks(self) -> Iterator[Chunk]:
        """The answer as chunks; the last one has the finish, the final figures and no visible text."""
        if self._blocked is not None:
            yield Chunk(self._prompt_blocked(), "end")
            return
        tokens_so_far = 0
        for n, each in enumerate(self._speech.parts):
            for part, tokens in self._pieces(each, n):
                tokens_so_far += 0 if each.kind == "thinking" else tokens
                usage = self._usage_so_far(tokens_so_far)
                text = part.get("text", "") if each.kind == "text" else ""
                yield Chunk(self._response({"content": self._content([part])}, usage), each.kind, text)
        closing: list[_Json] = [{"text": ""}] if self._closes_with_a_text() else []
        if closing and self._speech.closing is not None:
            closing[0]["thoughtSignature"] = self._speech.closing
        # Recorded: behind a call, the chunk that ends a stream has no finishMessage.
        yield Chunk(self._ended(closing, finish_message=False), "end")

    def _pieces(self, each: SpokenPart, n: int) -> Iterator[tuple[_Json, int]]:
        """The parts in which a stream sends this one, with their tokens. Only texts come in pieces."""
        text = each.wire.get("text")
        if not isinstance(text, str):
            yield dict(each.wire), weight(each.source)
            return
        unsigned = {key: value for key, value in each.wire.items() if key != "thoughtSignature"}
        for piece in each.pieces or cut_text(text, seeded_number(self._seed, "cut", n)):
            yield {**unsigned, "text": piece}, text_tokens(piece)
        if len(unsigned) < len(each.wire):
            # What signs a text comes behind it, on a piece without words.
            yield {**each.wire, "text": ""}, 0

    # -- what they are made of

    def _closes_with_a_text(self) -> bool:
        """Whether a stream ends with an empty text, which may be signed. Cut short or filtered, it has no part."""
        return finishes.READ.get(self._finish) in (None, FinishReason.STOP, FinishReason.UNKNOWN)

    def _ended(self, parts: list[_Json], *, finish_message: bool) -> _Json:
        content = self._content(parts)
        candidate: _Json = {} if content is None else {"content": content}
        candidate |= {"finishReason": self._finish, **self._remarks(finish_message)}
        return self._response(candidate, self._figures.metadata(self._surface))

    def _response(self, candidate: _Json, usage: _Json) -> _Json:
        index = {"index": 0} if self._surface is Surface.AI_STUDIO else {}
        return {"candidates": [candidate | index], **self._frame(usage)}

    def _prompt_blocked(self) -> _Json:
        usage = Figures(self._figures.prompt, self._figures.cached).metadata(self._surface)
        return {"promptFeedback": {"blockReason": self._blocked}, **self._frame(usage)}

    def _frame(self, usage: _Json) -> _Json:
        created = {"createTime": self._created} if self._surface is Surface.VERTEX else {}
        return {"usageMetadata": usage, "modelVersion": self._model, **created, "responseId": self.response_id()}

    def _content(self, parts: list[_Json]) -> _Json | None:
        """The content around parts. Without any it has another shape for each way to end, as recorded."""
        if parts:
            return {"parts": parts, "role": "model"}
        if self._finish == finishes.MODEL_ARMOR:
            return None
        return {"role": "model"} if self._finish == finishes.MAX_TOKENS or self._closes_with_a_text() else {}

    def _remarks(self, finish_message: bool) -> _Json:
        """What stands beside the finish."""
        match self._finish:
            case finishes.SAFETY:
                return {"safetyRatings": _BLOCKED_RATINGS}
            case finishes.MODEL_ARMOR:
                return {"finishMessage": _FILTERED}
            case finishes.MALFORMED_CALL:
                return {"finishMessage": f"Malformed function call: {self._unspeakable or ''}"}
            case finishes.UNEXPECTED_CALL if self._speech.calls:
                called = f"Model tried to call an undeclared function: {self._speech.calls[0]['name']}"
                return {"finishMessage": f"Unexpected tool call: {called}"}
            case finishes.STOP if finish_message:
                return {"finishMessage": "Model generated function call(s)."}
        return {}

    def _usage_so_far(self, tokens: int) -> _Json:
        """The metadata of a chunk before the last: on Vertex without figures, else with those so far, cumulative.

        Thoughts count from the first chunk after them. In one answer of three the prompt is counted short until the
        last chunk: recorded are 59, then 128. (Falling figures were recorded too; they are not written, since no
        client could then report figures that only grow.)
        """
        if self._surface is Surface.VERTEX:
            return tier(self._surface)
        final = self._figures
        fresh = final.prompt - final.cached
        if seeded_number(self._seed, "recount") % 3 == 0:
            fresh = fresh * 2 // 3
        candidates, thoughts = (0, 0) if not tokens else (min(tokens, final.candidates), final.thoughts)
        return Figures(final.cached + fresh, final.cached, candidates, thoughts).metadata(self._surface)
