"""Operations that no script speaks of: model lists, one model, and Copilot's exchange of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...messages import JSON
from ..base import ModelFacts, Rendered, World
from ..catalogue import dated
from ..openai_common import issue_copilot_token
from .errors import render_refusal
from .models import RETIRED, THINKS
from .surface_table import SURFACE_TABLE
from .surfaces import ChatCall, Surface
from .validate.arguments import unknown_model
from .validate.context import facts_of
from .writing import body_event, json_headers

_OWNERS = {Surface.OLLAMA: "library"}


def render_extra(call: ChatCall, world: World, seed: str) -> Rendered:
    """The answer to `list_models`, `get_model` (404 for one that is not there), or an exchange of tokens."""
    surface = call.surface
    match call.operation:
        case "authenticate":
            body: JSON = issue_copilot_token(world, seed)
        case "list_models":
            body = _listing(surface, list(_served_models(surface, world)))
        case _:
            facts = facts_of(call, world)
            if facts is None:
                return render_refusal(unknown_model(call), surface, seed)
            body = _model(surface, facts)
    return Rendered(200, json_headers(surface, seed), (body_event(body),))


def _served_models(surface: Surface, world: World) -> Iterator[ModelFacts]:
    for facts in world.models.values():
        if f"on:{surface}" in facts.features and RETIRED not in facts.features:
            yield facts


def _listing(surface: Surface, models: list[ModelFacts]) -> JSON:
    match surface:
        case Surface.GITHUB:
            return [_catalogue_entry(facts) for facts in models]
        case Surface.COPILOT:
            return {"object": "list", "data": [_copilot_entry(facts) for facts in models]}
        case _:
            return {"object": "list", "data": [_model(surface, facts) for facts in models]}


def _model(surface: Surface, facts: ModelFacts) -> dict[str, Any]:
    owner = _OWNERS.get(surface, "system")
    return {"id": facts.id, "object": "model", "created": 1_700_000_000, "owned_by": owner}


def _catalogue_entry(facts: ModelFacts) -> dict[str, Any]:
    publisher, _, name = facts.id.rpartition("/")
    window = SURFACE_TABLE[Surface.GITHUB].window
    return {
        "id": facts.id,
        "name": name,
        "publisher": publisher,
        "limits": {
            "max_input_tokens": min(window or facts.context_tokens, facts.context_tokens),
            "max_output_tokens": facts.max_output_tokens,
        },
        "capabilities": ["streaming", "tool-calling"],
        "rate_limit_tier": "low",
    }


def _copilot_entry(facts: ModelFacts) -> dict[str, Any]:
    window = SURFACE_TABLE[Surface.COPILOT].window
    return {
        "id": facts.id,
        "name": facts.id,
        "object": "model",
        "version": dated(facts),
        "capabilities": {
            "limits": {
                "max_context_window_tokens": facts.context_tokens,
                "max_prompt_tokens": min(window or facts.context_tokens, facts.context_tokens),
                "max_output_tokens": facts.max_output_tokens,
            },
            "supports": {
                "tool_calls": True,
                "parallel_tool_calls": True,
                "streaming": True,
                "vision": False,
                **({"thinking": True} if THINKS in facts.features else {}),
            },
            "type": "chat",
        },
        "supported_endpoints": ["/chat/completions"],
    }
