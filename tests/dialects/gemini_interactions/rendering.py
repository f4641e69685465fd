"""What tests of answers are made of: calls to answer, replies, and what went out for them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from turnproof.dialects.base import PromptUsage, Rendered, World
from turnproof.dialects.gemini_interactions import DIALECT
from turnproof.dialects.gemini_interactions.addresses import InteractionsCall
from turnproof.messages import Opaque, Text

from ..answers import COMMON, AnswerKit, read_back, renderer, reply
from ..requests import Json
from .asks import Ask, ask, world
from .builders import OPENING, function

PROMPT = PromptUsage(31, cache_read=1536)


def new_call(*, stream: bool = False, at: World | None = None, **body: Any) -> InteractionsCall:
    """A request that asks for summaries and has one tool, as the dialect reads it."""
    usual = {"generation_config": {"thinking_summaries": "auto"}, "tools": [function()], "stream": stream}
    return read_request(ask(*body.pop("steps", (OPENING,)), **usual | body), at)


def read_request(request: Ask, at: World | None = None) -> InteractionsCall:
    """A request as the dialect reads it."""
    read = DIALECT.parse(request.request(), at or world())
    assert isinstance(read, InteractionsCall), read
    return read


render = renderer(DIALECT, lambda stream: new_call(stream=stream), world, PROMPT)
read = partial(read_back, DIALECT)


def events(rendered: Rendered, name: str = "") -> list[Json]:
    """What the events of that type say (all events without one), but for the word at the end."""
    found = [json.loads(each.data.split(b"data: ", 1)[1]) for each in rendered.events[:-1]]
    return [each for each in found if name in ("", each["event_type"])]


SEARCHED = Opaque(
    "scenario", "search", {"gemini-interactions": {"type": "google_search_call", "id": "s_1", "arguments": {}}}
)
REPLIES = {
    **COMMON,
    "two-texts": reply(Text("One."), Text("Two.")),
    "searched": reply(SEARCHED, Text("41 %")),
}
"""Every kind of answer that there is."""

ANSWERS = AnswerKit(
    DIALECT,
    lambda form: new_call(stream=form == "stream"),
    world,
    PROMPT,
    made_up_id=".{8}",
    raw_finish="requires_action",
    replies=REPLIES,
    stores=True,
    optional_events=1,
)
