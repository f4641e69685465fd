"""A neutral reply as the gateway writes it: Gemini's answer in an envelope, for Claude models in Claude's manner.

Claude's thoughts carry their own signatures; its calls have ids of Anthropic's form, and may end with `OTHER`; what it
thought is counted with what it said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import JSON, FinishReason, Part, Thought
from ..anthropic_messages import signing as anthropic
from ..base import Call, PromptUsage, Rendered, Reply, World
from ..gemini.parts import standard_base64
from ..gemini.render import Answer
from ..gemini.reply_parts import Speaker, scripted
from ..gemini.usage import Figures
from ..gemini.writing import JSON_HEADERS, SSE_HEADERS, array_events, body_event, sse_event
from ..seeded_random import seeded_number, seeded_word
from . import accounts
from .call import AntigravityCall
from .models import is_claude

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_HEX = "0123456789abcdef"


def render(call: Call, reply: Reply, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `call`, streamed or whole. Signatures are issued into the world, and the answer is counted."""
    own_call = AntigravityCall.from_call(call)
    if own_call.account is not None:
        accounts.count_answer(own_call.account, own_call.model or "", world)
    written = _ClaudeAnswer if is_claude(world.models.get(own_call.model or "")) else Answer
    answer = written(own_call, reply, usage, world, seed)
    trace = seeded_word(_HEX, 16, seed, "trace")
    headers = {"x-cloudaicompanion-trace-id": trace}
    if not own_call.stream:
        return Rendered(200, {**JSON_HEADERS, **headers}, (body_event(_envelope(answer.body(), trace)),))
    chunks = [chunk._replace(body=_envelope(chunk.body, trace)) for chunk in answer.chunks()]
    if not own_call.sse:
        return Rendered(200, {**JSON_HEADERS, **headers}, tuple(array_events(chunks)))
    return Rendered(200, {**SSE_HEADERS, **headers}, tuple(map(sse_event, chunks)))


def _envelope(body: Mapping[str, Any], trace: str) -> dict[str, JSON]:
    return {"response": body, "traceId": trace}


class _ClaudeSpeaker(Speaker):
    """Thoughts are signed, and nothing else is."""

    def thought(self, part: Thought, n: int) -> dict[str, Any]:
        from_script = scripted(part).get("signature")
        seed = f"{self._seed}/{n}"
        signature = str(from_script) if from_script else anthropic.issue(part.text, self._model, seed, self._world)
        self._world.issued[standard_base64(signature)] = (anthropic.digest(part.text), self._model)
        return {"text": part.text, "thought": True, "thoughtSignature": signature}

    def call_id(self, n: int) -> str:
        return f"toolu_vrtx_01{seeded_word(_BASE58, 22, self._seed, 'call', n)}"

    def signature(self, part: Part, thinking: str, *, signed: bool) -> str | None:
        return None


class _ClaudeAnswer(Answer):
    speaker = _ClaudeSpeaker

    def figures(self, reply: Reply, usage: PromptUsage) -> Figures:
        figures = super().figures(reply, usage)
        return Figures(figures.prompt, figures.cached, figures.candidates + figures.thoughts)

    def finish(self, reply: Reply) -> str:
        if reply.finish is FinishReason.TOOL_USE and reply.raw_finish is None:
            # Both are seen: the parts decide what it was.
            return "OTHER" if seeded_number(self._seed, "finish") % 2 else "STOP"
        return super().finish(reply)

    def response_id(self) -> str:
        return f"msg_vrtx_01{seeded_word(_BASE58, 22, self._seed, 'response')}"
