"""What tests of answers are made of: requests at either surface, and what went out for them."""

from __future__ import annotations

from functools import partial

from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply
from turnproof.dialects.ollama import DIALECT, Ollama
from turnproof.messages import FinishReason

from ..answers import CALLS, AnswerKit, read_back, reply
from ..anthropic_messages.asks import Ask
from ..anthropic_messages.builders import TOOL
from .refusals import FUNCTION, anthropic, chat, world

PROMPT = PromptUsage(198)
STREAMS = {"chat": chat(tools=[FUNCTION]), "messages": anthropic(stream=True, tools=[TOOL])}
WHOLES = {"chat": chat(stream=False, tools=[FUNCTION]), "messages": anthropic(tools=[TOOL])}


def new_call(sendable: Ask) -> Call:
    call = DIALECT.parse(sendable.request(), world())
    assert isinstance(call, Call), call
    return call


def render(script: Reply, sendable: Ask, *, seed: str = "s", wire: Ollama | None = None) -> Rendered:
    return (wire or DIALECT).render(new_call(sendable), script, PROMPT, world(), seed)


read = partial(read_back, DIALECT)


def _kit(surface: str, raw_finish: str) -> AnswerKit:
    return AnswerKit(
        DIALECT,
        lambda form: new_call((STREAMS if form == "stream" else WHOLES)[surface]),
        world,
        PROMPT,
        made_up_id="call_.{8}",
        raw_finish=raw_finish,
        replies={"calls": reply(*CALLS, finish=FinishReason.TOOL_USE)},
        issues=False,
    )


ANSWERS = (_kit("chat", "stop"), _kit("messages", "tool_use"))
"""At the surface of its own API, and at that of Anthropic's."""
