"""What tests of answers are made of: calls to answer, replies, and what went out for them."""

from __future__ import annotations

import json
from typing import Any

from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply, ReplyPart, WireAnswer, World
from turnproof.dialects.openai_responses import DIALECT
from turnproof.dialects.openai_responses.output import ENCRYPTED
from turnproof.dialects.openai_responses.surfaces import ResponsesCall
from turnproof.messages import FinishReason, FunctionCall, Opaque, Text, Thought

from ..answers import LOOK, data, reply
from ..requests import Json
from .builders import ASKED, ask, function, world

DATED = "gpt-5-2025-08-07"
PROMPT = PromptUsage(31, cache_read=1536)


def asked(*, stream: bool = False, at: World | None = None, **body: Any) -> ResponsesCall:
    """A request that asks for summaries and for encrypted reasoning and has one tool, as the dialect reads it."""
    usual = {"reasoning": {"summary": "auto"}, "include": [ENCRYPTED], "tools": [function()], "stream": stream}
    request = ask(*body.pop("items", (ASKED,)), **usual | body).request()
    read = DIALECT.parse(request, at or world())
    assert isinstance(read, ResponsesCall), read
    return read


def render(
    said: Reply, call: Call | None = None, *, stream: bool = False, seed: str = "s", at: World | None = None
) -> Rendered:
    """The answer with this reply."""
    return DIALECT.render(call or asked(stream=stream), said, PROMPT, at or world(), seed)


def read(rendered: Rendered) -> WireAnswer:
    return DIALECT.read_response(rendered.status, rendered.headers, data(rendered))


def payloads(rendered: Rendered, name: str = "") -> list[Json]:
    """What the events of that name say (all events without one)."""
    found = [json.loads(each.data.split(b"data: ", 1)[1]) for each in rendered.events]
    return [each for each in found if name in ("", each["type"])]


def final(rendered: Rendered) -> Json:
    """The response as a whole: the body, or what the last event holds."""
    if rendered.headers["content-type"] == "application/json":
        found: Json = json.loads(data(rendered))
        return found
    last: Json = payloads(rendered)[-1]["response"]
    return last


CLIPPED = ReplyPart(FunctionCall("", "write"), ('{"path": "a", "te',), broken=True)
SEARCHED = Opaque(
    "scenario", "search", {"openai-responses": {"type": "web_search_call", "id": "ws_1", "status": "completed"}}
)
SAID = {
    "text": reply(Text("41 % 🌱")),
    "in-pieces": reply(ReplyPart(Text("41 %"), ("41", " %"))),
    "thinking-and-text": reply(Thought("Hm."), Text("41 %")),
    "calls": reply(*LOOK, finish=FinishReason.TOOL_USE),
    "interleaved": reply(Thought("One."), Text("Two."), Thought("Three."), Text("Four.")),
    "nothing": reply(),
    "cut-off": reply(Text("I write."), finish=FinishReason.MAX_TOKENS),
    "cut-off-in-a-call": reply(Text("I write."), CLIPPED, finish=FinishReason.MAX_TOKENS),
    "cut-off-while-thinking": reply(Thought("Hm."), finish=FinishReason.MAX_TOKENS),
    "filtered": reply(Text("I"), finish=FinishReason.SAFETY),
    "refused": reply(Text("No."), finish=FinishReason.REFUSAL),
    "failed": reply(Text("I"), finish=FinishReason.ERROR),
    "paused": reply(Text("I"), finish=FinishReason.PAUSED),
    "window-full": reply(Text("I"), finish=FinishReason.CONTEXT_LIMIT),
    "unknown-finish": reply(Text("Sunny."), finish=FinishReason.UNKNOWN, raw_finish="sundown"),
    "searched": reply(SEARCHED, Text("41 %")),
    "no-figures": reply(Text("a"), usage={"fresh": 0, "cache_read": 0, "output": 0}),
}
"""Every kind of answer that there is."""
