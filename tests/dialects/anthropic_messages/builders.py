"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.anthropic_messages.signing import digest
from turnproof.dialects.base import World
from turnproof.messages import ProviderData

from .. import refusals, requests
from ..requests import Json

KEY = "key-of-the-pairs"
MODEL = "claude-sonnet-4-5"
NEWEST = "claude-opus-4-8"
BEFORE_45 = "claude-sonnet-4-0"
THOUGHT, SIGNATURE, REDACTED = (
    "Bed 3 needs the sensor.",
    "c2lnbmVkLWJ5LXRoZS1zZXJ2aWNl",
    "cmVkYWN0ZWQtYnktdGhlLXNlcnZpY2U=",
)
SIGNATURE_OF_NOTHING = "c2lnbmVkLWhpZGRlbi10aGlua2luZw=="
FOREIGN_SIGNATURE = "c2lnbmVkLWZvci1hbm90aGVyLW1vZGVs"
UNREACHABLE = "https://garden.example/gone.png"


def world() -> World:
    """The world of the pairs: one key, all models, two signatures and a redacted block issued, one dead URL."""
    return World(
        keys=frozenset({KEY}),
        models=DIALECT.models,
        clock=lambda: 0.0,
        issued={
            SIGNATURE: (digest(THOUGHT), f"{MODEL}-20250929"),
            SIGNATURE_OF_NOTHING: (digest(""), f"{MODEL}-20250929"),
            FOREIGN_SIGNATURE: (digest(THOUGHT), NEWEST),
            REDACTED: (digest(""), f"{MODEL}-20250929"),
        },
        unreachable_urls=frozenset({UNREACHABLE}),
    )


@dataclass(frozen=True)
class Ask(requests.Ask):
    """One request to the Messages API."""

    path: str = "/v1/messages"

    @property
    def usual_headers(self) -> Mapping[str, str]:
        return {"x-api-key": KEY, "anthropic-version": "2023-06-01"}


Pair = refusals.Pair[Ask]


def issued(by: str = MODEL, **data: Any) -> ProviderData:
    """What a part carries that the API gave."""
    return ProviderData(DIALECT.name, by, data)


# -- words to build bodies with


def user(*content: str | Json) -> Json:
    return {"role": "user", "content": _content(content)}


def assistant(*content: str | Json) -> Json:
    return {"role": "assistant", "content": _content(content)}


def system(text: str) -> Json:
    return {"role": "system", "content": text}


def _content(content: tuple[str | Json, ...]) -> Any:
    return content[0] if len(content) == 1 and isinstance(content[0], str) else [_block(each) for each in content]


def _block(each: str | Json) -> Json:
    return text(each) if isinstance(each, str) else each


def text(words: Any, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def call(call_id: str = "call_1", **more: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "read_sensor", "input": {"bed": "3"}, **more}


def result(call_id: str = "call_1", content: Any = "41 %", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def thinking(words: str = THOUGHT, signature: str | None = SIGNATURE) -> Json:
    block = {"type": "thinking", "thinking": words}
    return block if signature is None else block | {"signature": signature}


def image(source: Json) -> Json:
    return {"type": "image", "source": source}


def mark(ttl: str | None = None) -> Json:
    return {"cache_control": {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})}


OPENING = user("How moist is bed 3?")
TOOL: Json = {"name": "read_sensor", "description": "Read one sensor", "input_schema": {"type": "object"}}
THINKING: Json = {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 1024}}


def body(*messages: Json, **more: Any) -> Json:
    """A request of these messages (one question where there are none)."""
    return {"model": MODEL, "max_tokens": 256, "messages": list(messages or (OPENING,))} | more


def ask(*messages: Json, **more: Any) -> Ask:
    return Ask(body(*messages, **more))


def loop(*answer: Json, **more: Any) -> Ask:
    """A running tool loop: asked, called, answered with these blocks."""
    return ask(OPENING, assistant(call()), user(*answer), tools=[TOOL], **more)


def counted(**more: Any) -> Ask:
    return Ask({"model": MODEL, "messages": [OPENING], **more}, "/v1/messages/count_tokens")


def without(name: str) -> Ask:
    return Ask({key: value for key, value in body().items() if key != name})


def new_version(*messages: Json, **more: Any) -> Ask:
    return Ask(body(*messages, **more), headers={"anthropic-version": "2026-10-21"})
