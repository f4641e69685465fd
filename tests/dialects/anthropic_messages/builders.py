"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from typing import Any

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.messages import ProviderData

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
