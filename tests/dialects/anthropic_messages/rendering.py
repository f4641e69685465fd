"""What tests of answers are made of: calls to answer, replies, and what went out for them."""

from __future__ import annotations

from functools import partial
from typing import Any

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply, World

from ..answers import TOOLS, AnswerKit, read_back
from .asks import world

MODEL = "claude-sonnet-4-5"
PROMPT = PromptUsage(31, cache_read=1520, cache_write_5m=40, cache_write_1h=2)


def new_call(*, stream: bool, **body: Any) -> Call:
    return Call("generate", MODEL, stream, tools=TOOLS[:1], body={"model": MODEL, **body})


def render(script: Reply, *, stream: bool, seed: str = "s", at: World | None = None, **body: Any) -> Rendered:
    return DIALECT.render(new_call(stream=stream, **body), script, PROMPT, at or world(), seed)


read = partial(read_back, DIALECT)

ANSWERS = AnswerKit(
    DIALECT,
    lambda form: new_call(stream=form == "stream"),
    world,
    PROMPT,
    made_up_id="toolu_01.+",
    raw_finish="tool_use",
)
