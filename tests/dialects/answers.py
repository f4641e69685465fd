"""What tests of answers are made of: replies to script, and what went out for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hypothesis import strategies as st

from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply, ReplyPart, WireAnswer, World
from turnproof.dialects.contract import Dialect, PrefixCache
from turnproof.messages import FinishReason, FunctionCall, InlineData, Part, Text, Thought, ToolSchema

from .requests import Json

LOOK = (
    Thought("Bed 3 needs the sensor."),
    Text("Let me look at bed 3. 🌱"),
    FunctionCall("", "read_sensor", {"bed": "3", "unit": "°C", "leaf": "🍃"}),
    FunctionCall("call_9", "read_sensor"),
)
CALLS = (*LOOK[:2], FunctionCall("", "read_sensor", {"bed": "3", "unit": "°C"}), FunctionCall("", "water"))
TOOLS = (ToolSchema("read_sensor"), ToolSchema("water"))
IMAGE = InlineData("image/png", b"")
NO_ANSWERS = (b"", b"null", b'"text"', b"<html>")
"""Bodies that are an answer of no API."""


def reply(*parts: Part | ReplyPart, finish: FinishReason = FinishReason.STOP, **more: Any) -> Reply:
    """What the model is to say."""
    return Reply(tuple(part if isinstance(part, ReplyPart) else ReplyPart(part) for part in parts), finish, **more)


CLIPPED = ReplyPart(FunctionCall("", "write"), ('{"path": "a", "te',), broken=True)
"""A call that is cut off in its arguments."""

COMMON: Mapping[str, Reply] = {
    "text": reply(Text("41 % 🌱")),
    "in-pieces": reply(ReplyPart(Text("41 %"), ("41", " %"))),
    "thinking-and-text": reply(Thought("Hm."), Text("41 %")),
    "calls": reply(*LOOK, finish=FinishReason.TOOL_USE),
    "interleaved": reply(Thought("One."), Text("Two."), Thought("Three."), Text("Four.")),
    "nothing": reply(),
    "cut-off": reply(Text("I write."), finish=FinishReason.MAX_TOKENS),
    "cut-off-while-thinking": reply(Thought("Hm."), finish=FinishReason.MAX_TOKENS),
    "refused": reply(Text("No."), finish=FinishReason.REFUSAL),
    "failed": reply(Text("I"), finish=FinishReason.ERROR),
    "window-full": reply(Text("I"), finish=FinishReason.CONTEXT_LIMIT),
    "unknown-finish": reply(Text("Sunny."), finish=FinishReason.UNKNOWN, raw_finish="sundown"),
    "no-figures": reply(Text("a"), usage={"fresh": 0, "cache_read": 0, "output": 0}),
}
"""Answers that every service of typed items or steps may give."""


def in_words(parts: Sequence[Part]) -> list[tuple[Any, ...]]:
    """The parts of an answer as plain tuples, to compare with what an official client makes of the same bytes."""
    found: list[tuple[Any, ...]] = []
    for part in parts:
        match part:
            case Thought(text=text, provider_data=data):
                found.append(("thought", text, next(iter(data.data.values())) if data else None))
            case Text(text=text):
                found.append(("text", text))
            case FunctionCall(id=call_id, name=name, args=args):
                found.append(("call", call_id, name, dict(args)))
            case _:
                found.append(("other", getattr(part, "kind", "")))
    return found


def data(rendered: Rendered) -> bytes:
    """The body of an answer."""
    return b"".join(event.data for event in rendered.events)


def read_back(dialect: Dialect, rendered: Rendered) -> WireAnswer:
    """What the dialect reads in an answer of its own."""
    return dialect.read_response(rendered.status, rendered.headers, data(rendered))


@dataclass(frozen=True)
class AnswerKit:
    """How one dialect answers, for what every dialect's answers must do alike.

    `new_call` makes the call of a form: `whole` is an answer in one piece, `streams` come event by event. `made_up_id`
    is what the id of a call looks like that the script leaves out, and `raw_finish` how calls end. `shows` says which
    parts of `LOOK` go out. `optional_events` end a stream that is complete without them. `issues` says whether the
    service would know anything of an answer again, and `stores` whether it keeps the answer.
    """

    dialect: Dialect
    new_call: Callable[[str], Call]
    world: Callable[[], World]
    prompt: PromptUsage
    made_up_id: str
    raw_finish: str
    replies: Mapping[str, Reply] = field(default_factory=lambda: {"calls": COMMON["calls"]})
    whole: str = "whole"
    streams: tuple[str, ...] = ("stream",)
    shows: tuple[type[Part], ...] = (Thought, Text, FunctionCall)
    optional_events: int = 0
    issues: bool = True
    stores: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.whole, *self.streams)

    def render(self, script: Reply, form: str, *, seed: str = "s", at: World | None = None) -> Rendered:
        """The answer with this reply."""
        return self.dialect.render(self.new_call(form), script, self.prompt, at or self.world(), seed)

    def read(self, rendered: Rendered) -> WireAnswer:
        return read_back(self.dialect, rendered)


class Render(Protocol):
    """Makes the answer with a reply: to a call of its own, where a test gives none."""

    def __call__(
        self, script: Reply, call: Call | None = None, *, stream: bool = False, seed: str = "s", at: World | None = None
    ) -> Rendered: ...


def renderer(
    dialect: Dialect, new_call: Callable[[bool], Call], world: Callable[[], World], usage: PromptUsage
) -> Render:
    """What renders the answers of a dialect; `new_call` makes a call, streamed or not."""

    def render(
        script: Reply, call: Call | None = None, *, stream: bool = False, seed: str = "s", at: World | None = None
    ) -> Rendered:
        return dialect.render(call or new_call(stream), script, usage, at or world(), seed)

    return render


def body_of(rendered: Rendered) -> Json:
    """The body of an answer that is one object."""
    found: Json = json.loads(data(rendered))
    return found


def payloads(rendered: Rendered, kind: str) -> list[Json]:
    """What the events of a kind hold."""
    return [json.loads(each.data.split(b"data: ", 1)[1]) for each in rendered.events if each.kind == kind]


def chunks(rendered: Rendered) -> list[Json]:
    """The chunks of an answer; one for a batch answer."""
    if data(rendered).startswith(b"data: "):
        return [json.loads(event.data.removeprefix(b"data: ")) for event in rendered.events]
    found = json.loads(data(rendered))
    return found if isinstance(found, list) else [found]


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))


def any_parts(ids: str) -> st.SearchStrategy[Part]:
    """Any text, thought or call; the id of a call is of this pattern."""
    arguments = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)
    call = st.builds(FunctionCall, st.from_regex(ids, fullmatch=True), st.just("read_sensor"), arguments)
    return st.one_of(st.builds(Text, st.text(min_size=1)), st.builds(Thought, st.text()), call)


def account(dialect: Dialect, cache: PrefixCache, call: Call, now: float = 0.0) -> PromptUsage:
    """What a prompt costs, and the cache as the answer leaves it."""
    usage, commit = cache.account(call, dialect.models[call.model or ""], now)
    commit()
    return usage
