"""Operations that no script speaks of: token counts and the model list."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ...messages import JSON
from ..base import Call, ModelFacts, PromptUsage, Rendered, World
from .errors import render_refusal
from .validate.size import unknown_model
from .writing import body_event, request_id


def render_extra(call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `count_tokens`, `list_models` or `get_model` (404 for a model the world lacks)."""
    headers = {"content-type": "application/json", "request-id": request_id(seed)}
    match call.operation:
        case "count_tokens":
            body: JSON = {"input_tokens": usage.whole}
        case "list_models":
            body = listing(world.models)
        case _:
            facts = world.models.get(call.model or "")
            if facts is None:
                return render_refusal(unknown_model(str(call.model)), seed)
            body = model_entry(facts)
    return Rendered(200, headers, (body_event(body),))


def listing(models: Mapping[str, ModelFacts]) -> dict[str, Any]:
    """The models of a world as one page, under their own ids."""
    current = (each for each in models.values() if each.alias_of is None and "retired" not in each.features)
    entries = [model_entry(each) for each in current]
    return {
        "data": entries,
        "has_more": False,
        "first_id": entries[0]["id"] if entries else None,
        "last_id": entries[-1]["id"] if entries else None,
    }


def model_entry(facts: ModelFacts) -> dict[str, Any]:
    """One model as the API describes it, under its own id."""
    identity = facts.alias_of or facts.id
    words = identity.split("-")
    return {
        "type": "model",
        "id": identity,
        "display_name": " ".join(word.capitalize() for word in words if not _is_date(word)),
        "created_at": _created(words[-1]),
        "lifecycle": "retired" if "retired" in facts.features else "active",
        "max_input_tokens": facts.context_tokens,
        "max_tokens": facts.max_output_tokens,
    }


def _is_date(word: str) -> bool:
    return len(word) == 8 and word.isdigit()


def _created(word: str) -> str:
    # The API gives the epoch where a release date is unknown; ours is known from the id alone.
    day = datetime.strptime(word, "%Y%m%d") if _is_date(word) else datetime(1970, 1, 1)
    return day.replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
