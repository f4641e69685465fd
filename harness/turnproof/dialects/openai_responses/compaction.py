"""A conversation made shorter by the service: what the user said, and one item that nobody but the service can read.

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
from .surfaces import ResponsesCall
from .writing import item_id

_SUMMARY_TOKENS = 180
"""What the item costs to write: about as much as the recorded ones."""


def compacted(call: ResponsesCall, usage: PromptUsage, world: World, seed: str) -> dict[str, Any]:
    """The object that a compaction answers with. The world knows its encrypted item again."""
    facts = world.models.get(call.model or "")
    model = dated(facts) if facts else str(call.model)
    asked = [item for item in call.items if kind_of(item) == "message" and item.get("role") == "user"]
    sealed = {
        "id": item_id("cmp", seed),
        "type": "compaction",
        "encrypted_content": seal(repr(call.items), model, seed),
    }
    output = [*stored_form(asked, seed), sealed]
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
