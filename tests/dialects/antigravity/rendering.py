"""What tests of answers are made of: calls to answer, and what went out for them."""

from __future__ import annotations

from functools import partial

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.antigravity.call import AntigravityCall
from turnproof.dialects.base import PromptUsage, Rendered, Reply, World
from turnproof.messages import FunctionCall, Text, Thought

from ..answers import AnswerKit, read_back
from .builders import CLAUDE, GEMINI, OPENING, SENSOR, Ask, envelope, read, world

FORMS = ("batch", "sse", "array")
PROMPT = PromptUsage(31, cache_read=20)
LOOK = (Thought("Bed 3 needs the sensor."), Text("Let me look. 🌱"), FunctionCall("", "read_sensor", {"bed": "3"}))


def new_call(form: str = "batch", name: str = CLAUDE, *, thoughts: bool = True) -> AntigravityCall:
    """A call as it is read: in one piece, as a stream of events, or as a stream of one array."""
    config = {"thinkingConfig": {"includeThoughts": thoughts}}
    body = envelope(
        {"contents": [OPENING], "tools": [{"functionDeclarations": [SENSOR]}], "generationConfig": config}, name
    )
    verb = "generateContent" if form == "batch" else "streamGenerateContent"
    return read(Ask(body, f"/v1internal:{verb}", query={"alt": "sse"} if form == "sse" else {}))


def render(script: Reply, to: AntigravityCall, *, seed: str = "s", at: World | None = None) -> Rendered:
    return DIALECT.render(to, script, PROMPT, at or world(), seed)


understood = partial(read_back, DIALECT)


def _kit(model: str, raw_finish: str) -> AnswerKit:
    return AnswerKit(
        DIALECT,
        lambda form: new_call(form, model),
        world,
        PROMPT,
        made_up_id=".+",
        raw_finish=raw_finish,
        whole="batch",
        streams=("sse", "array"),
    )


ANSWERS = (_kit(GEMINI, "STOP"), _kit(CLAUDE, "OTHER"))
