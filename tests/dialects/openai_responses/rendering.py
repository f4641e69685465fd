"""What tests of answers are made of: calls to answer, replies, and what went out for them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from turnproof.dialects.base import PromptUsage, Rendered, World
from turnproof.dialects.openai_responses import DIALECT
from turnproof.dialects.openai_responses.output import ENCRYPTED
from turnproof.dialects.openai_responses.surfaces import ResponsesCall
from turnproof.messages import FinishReason, Opaque, Text

from ..answers import CLIPPED, COMMON, AnswerKit, data, read_back, renderer, reply
from ..requests import Json
from .asks import ask, world
from .builders import OPENING, function

DATED = "gpt-5-2025-08-07"
PROMPT = PromptUsage(31, cache_read=1536)


def new_call(*, stream: bool = False, at: World | None = None, **body: Any) -> ResponsesCall:
    """A request that asks for summaries and for encrypted reasoning and has one tool, as the dialect reads it."""
    usual = {"reasoning": {"summary": "auto"}, "include": [ENCRYPTED], "tools": [function()], "stream": stream}
    request = ask(*body.pop("items", (OPENING,)), **usual | body).request()
    read = DIALECT.parse(request, at or world())
    assert isinstance(read, ResponsesCall), read
    return read


render = renderer(DIALECT, lambda stream: new_call(stream=stream), world, PROMPT)
read = partial(read_back, DIALECT)


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


SEARCHED = Opaque(
    "scenario", "search", {"openai-responses": {"type": "web_search_call", "id": "ws_1", "status": "completed"}}
)
REPLIES = {
    **COMMON,
    "cut-off-in-a-call": reply(Text("I write."), CLIPPED, finish=FinishReason.MAX_TOKENS),
    "filtered": reply(Text("I"), finish=FinishReason.SAFETY),
    "paused": reply(Text("I"), finish=FinishReason.PAUSED),
    "searched": reply(SEARCHED, Text("41 %")),
}
"""Every kind of answer that there is."""

ANSWERS = AnswerKit(
    DIALECT,
    lambda form: new_call(stream=form == "stream"),
    world,
    PROMPT,
    made_up_id="call_.+",
    raw_finish="completed",
    replies=REPLIES,
    stores=True,
)
