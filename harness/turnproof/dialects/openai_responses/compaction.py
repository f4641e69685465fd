"""A conversation made shorter by the service: what the user said, and one item that nobody but the service can read.

A service that was asked to does so within an answer, too, once the prompt is longer than a threshold: the item then
comes in front of what the model says and has all that was said before it (developers.openai.com, guide compaction).

Recorded (PA test_openai_responses_compact_messages_direct): all messages of the user in their order, each with an id,
then the item; the answers, calls and outputs in between are in it.
"""

from __future__ import annotations

from typing import Any

from ..base import PromptUsage, World
from ..catalogue import dated
from .items import kind_of
from .store import remember_encrypted, remember_items, seal
from .stored_items import stored_form
from .stored_response import COMPACTION
from .surfaces import ResponsesCall
from .writing import item_id

_SUMMARY_TOKENS = 180
"""What the item costs to write: about as much as the recorded ones."""


def threshold_of(call: ResponsesCall) -> int | None:
    """The tokens of a prompt behind which the service makes it shorter by itself; None where nobody asked for that."""
    entries = call.settings.get("context_management")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("type") == "compaction":
            found = entry.get("compact_threshold")
            return found if isinstance(found, int) else None
    return None


def within_answer(call: ResponsesCall, usage: PromptUsage, model: str, seed: str) -> dict[str, Any] | None:
    """The item with which an answer begins whose prompt was made shorter; None for any other answer."""
    threshold = threshold_of(call)
    if threshold is None or usage.whole <= threshold:
        return None
    return _sealed(call, model, seed)


def _sealed(call: ResponsesCall, model: str, seed: str) -> dict[str, Any]:
    content = seal(repr(call.items), model, seed)
    return {"id": item_id("cmp", seed), "type": COMPACTION, "encrypted_content": content}


def compacted(call: ResponsesCall, usage: PromptUsage, world: World, seed: str) -> dict[str, Any]:
    """The object that a compaction answers with. The world knows its encrypted item again."""
    facts = world.models.get(call.model or "")
    model = dated(facts) if facts else str(call.model)
    user_items = [item for item in call.items if kind_of(item) == "message" and item.get("role") == "user"]
    output = [*stored_form(user_items, seed), _sealed(call, model, seed)]
    remember_items(output, world, stored=False)
    remember_encrypted(output, model, world)
    return {
        "id": item_id("resp", seed, "compaction"),
        "object": "response.compaction",
        "created_at": int(world.clock()),
        "output": output,
        "usage": {
            "input_tokens": usage.whole,
            "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
            "output_tokens": _SUMMARY_TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.whole + _SUMMARY_TOKENS,
        },
    }
