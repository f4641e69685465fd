"""What tests of answers are made of: calls to answer, and what went out for them."""

from __future__ import annotations

from functools import partial

from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply, World
from turnproof.dialects.zai import DIALECT
from turnproof.messages import FinishReason, ToolSchema

from ..answers import CALLS, AnswerKit, read_back, reply
from .refusals import MODEL, world

PROMPT = PromptUsage(31, cache_read=1520)


def new_call(stream: bool, model: str = MODEL) -> Call:
    return Call("generate", model, stream, tools=(ToolSchema("read_sensor"), ToolSchema("water")), body={})


def render(script: Reply, *, stream: bool, model: str = MODEL, seed: str = "s", at: World | None = None) -> Rendered:
    return DIALECT.render(new_call(stream, model), script, PROMPT, at or world(), seed)


read = partial(read_back, DIALECT)

ANSWERS = AnswerKit(
    DIALECT,
    lambda form: new_call(form == "stream"),
    world,
    PROMPT,
    made_up_id="call_.+",
    raw_finish="tool_use",
    replies={"calls": reply(*CALLS, finish=FinishReason.TOOL_USE)},
)
