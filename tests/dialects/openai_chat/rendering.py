"""What tests of answers are made of: replies as each surface writes them, and what is read of them again."""

from __future__ import annotations

from typing import Any

from turnproof.dialects.base import PromptUsage, Rendered, Reply, WireAnswer
from turnproof.dialects.openai_chat import DIALECT, SURFACES
from turnproof.dialects.openai_chat.surfaces import ChatCall, Surface
from turnproof.messages import FunctionCall, Text

from ..answers import TOOLS, AnswerKit, data
from .asks import MODELS, world

PROMPT = PromptUsage(70, cache_read=128)
FIGURES: dict[str, Any] = {"stream_options": {"include_usage": True}}


def new_call(surface: Surface, stream: bool, **settings: Any) -> ChatCall:
    model = settings.pop("model", MODELS[surface])
    return ChatCall("generate", model, stream, tools=TOOLS, settings=settings, surface=surface)


def rendered(
    script: Reply, surface: Surface = Surface.OPENAI, *, stream: bool = False, seed: str = "seed", **settings: Any
) -> Rendered:
    return SURFACES[surface].render(new_call(surface, stream, **settings), script, PROMPT, world(), seed)


def read(answer: Rendered) -> WireAnswer:
    return DIALECT.read_response(answer.status, answer.headers, data(answer))


def _kit(surface: Surface) -> AnswerKit:
    return AnswerKit(
        SURFACES[surface],
        lambda form: new_call(surface, form == "stream", **FIGURES),
        world,
        PROMPT,
        made_up_id=".+",
        raw_finish="tool_calls",
        shows=(Text, FunctionCall),
        optional_events=2,
        issues=False,
    )


ANSWERS = tuple(map(_kit, (Surface.OPENAI, Surface.AZURE, Surface.GITHUB)))
"""Of the surfaces that show no thinking."""
