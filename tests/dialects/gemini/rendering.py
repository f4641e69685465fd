"""What tests of answers are made of: calls to answer, replies, and what went out for them."""

from __future__ import annotations

from functools import partial

from turnproof.dialects.base import PromptUsage, Rendered, Reply, ReplyPart, World
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.surfaces import GeminiCall, Surface
from turnproof.messages import Text, Thought, ToolSchema

from ..answers import AnswerKit, chunks, read_back, reply
from ..requests import Json
from .asks import world
from .builders import MODEL

OLDEST = "gemini-2.0-flash"
PROMPT = PromptUsage(31, cache_read=1520)
FORMS = ("batch", "sse", "array")


def new_call(form: str = "batch", model: str = MODEL, *, thoughts: bool = True, vertex: bool = False) -> GeminiCall:
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


def render(script: Reply, call: GeminiCall, *, seed: str = "s", at: World | None = None) -> Rendered:
    return DIALECT.render(call, script, PROMPT, at or world(), seed)


read = partial(read_back, DIALECT)


def ending(rendered: Rendered) -> Json:
    """The candidate that has the finish."""
    found: Json = chunks(rendered)[-1]["candidates"][0]
    return found


def parts_of(rendered: Rendered) -> list[Json]:
    return [part for each in chunks(rendered) for part in each["candidates"][0]["content"].get("parts", [])]


def signatures(rendered: Rendered) -> list[str | None]:
    return [part.get("thoughtSignature") for part in parts_of(rendered)]


SHORT_REPLY = reply(Thought("Hm."), ReplyPart(Text("41 %"), ("41", " %")))

ANSWERS = AnswerKit(
    DIALECT,
    new_call,
    world,
    PROMPT,
    made_up_id=".{8}",
    raw_finish="STOP",
    whole="batch",
    streams=("sse", "array"),
)
