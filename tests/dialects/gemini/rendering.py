"""What tests of answers are made of: calls to answer, replies, and what went out for them."""

from __future__ import annotations

import json
from typing import Any

from turnproof.dialects.base import PromptUsage, Rendered, Reply, ReplyPart, WireAnswer, World
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.surfaces import GeminiCall, Surface
from turnproof.messages import FinishReason, FunctionCall, Part, Text, Thought, ToolSchema

from ..requests import Json
from .builders import MODEL, world

OLDEST = "gemini-2.0-flash"
PROMPT = PromptUsage(31, cache_read=1520)
FORMS = ("batch", "sse", "array")


def asked(form: str = "batch", model: str = MODEL, *, thoughts: bool = True, vertex: bool = False) -> GeminiCall:
    return GeminiCall(
        "generate",
        model,
        form != "batch",
        tools=(ToolSchema("read_sensor"),),
        body={},
        settings={"thinkingConfig": {"includeThoughts": thoughts}},
        surface=Surface.VERTEX if vertex else Surface.AI_STUDIO,
        sse=form != "array",
    )


def reply(*parts: Part | ReplyPart, finish: FinishReason = FinishReason.STOP, **more: Any) -> Reply:
    wrapped = tuple(part if isinstance(part, ReplyPart) else ReplyPart(part) for part in parts)
    return Reply(wrapped, finish, **more)


def render(said: Reply, call: GeminiCall, *, seed: str = "s", at: World | None = None) -> Rendered:
    return DIALECT.render(call, said, PROMPT, at or world(), seed)


def data(rendered: Rendered) -> bytes:
    return b"".join(event.data for event in rendered.events)


def read(rendered: Rendered) -> WireAnswer:
    return DIALECT.read_response(rendered.status, rendered.headers, data(rendered))


def chunks(rendered: Rendered) -> list[Json]:
    """The chunks of a rendered answer; one for a batch answer."""
    body = data(rendered)
    if body.startswith(b"data: "):
        return [json.loads(event.data.removeprefix(b"data: ")) for event in rendered.events]
    found = json.loads(body)
    return found if isinstance(found, list) else [found]


def ending(rendered: Rendered) -> Json:
    """The candidate that has the finish."""
    found: Json = chunks(rendered)[-1]["candidates"][0]
    return found


def parts_of(rendered: Rendered) -> list[Json]:
    return [part for each in chunks(rendered) for part in each["candidates"][0]["content"].get("parts", [])]


def signatures(rendered: Rendered) -> list[str | None]:
    return [part.get("thoughtSignature") for part in parts_of(rendered)]


LOOK = (
    Thought("Bed 3 needs the sensor."),
    Text("Let me look at bed 3. 🌱"),
    FunctionCall("", "read_sensor", {"bed": "3", "unit": "°C", "leaf": "🍃"}),
    FunctionCall("call_9", "read_sensor"),
)
SPOKEN = reply(Thought("Hm."), ReplyPart(Text("41 %"), ("41", " %")))
