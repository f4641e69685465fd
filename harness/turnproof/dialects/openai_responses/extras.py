"""Operations that no script speaks of: token counts, the store, and the model list of either surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import JSON, FinishReason
from ..base import Call, ModelFacts, PromptUsage, Rendered, Reply, World
from ..catalogue import dated
from ..openai_common import issue_copilot_token
from .errors import render_refusal
from .render import render
from .socket_memory import socket_of
from .stored_operations import render_stored
from .surface_table import SURFACE_TABLE
from .surfaces import ResponsesCall, Surface
from .validate.size import missing_model
from .writing import body_event, request_id


def render_extra(call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `count_tokens`, `list_models`, `get_model` (404 for a model the world lacks), `authenticate`, or an
    operation on what is stored. A handshake opens a socket, and a warm-up is an empty response."""
    own_call = ResponsesCall.from_call(call)
    headers = {"content-type": "application/json", "x-request-id": request_id(seed)}
    match call.operation:
        case "count_tokens":
            body: JSON = {"object": "response.input_tokens", "input_tokens": usage.whole}
        case "connect":
            socket_of(world, own_call)
            return Rendered(101, {"upgrade": "websocket"}, ())
        case "stored" if (socket := socket_of(world, own_call)) is not None and own_call.warms_up:
            place = f"{seed}/warm-up/{own_call.socket}/{len(socket.issued)}"
            return render(call, Reply((), FinishReason.STOP), usage, world, place)
        case "stored":
            return render_stored(own_call, usage, world, seed)
        case "list_models":
            body = {"object": "list", "data": _model_entries(world.models, own_call.surface)}
        case "authenticate":
            body = issue_copilot_token(world, seed)
        case _:
            facts = world.models.get(call.model or "")
            if facts is None:
                return render_refusal(missing_model(str(call.model)), seed)
            body = _model(facts)
    return Rendered(200, headers, (body_event(body),))


def _model_entries(models: Mapping[str, ModelFacts], surface: Surface) -> list[dict[str, Any]]:
    if surface is Surface.COPILOT:
        served = (facts for facts in models.values() if facts.alias_of is not None or "-20" not in facts.id)
        return [_copilot_model(facts) for facts in served]
    head = SURFACE_TABLE[surface].model_head
    return [_model(facts, head) for facts in models.values()]


def _model(facts: ModelFacts, head: str = "") -> dict[str, Any]:
    """openai 3.54, `Model`. An alias is listed under its own name."""
    return {"id": f"{head}{facts.id}", "object": "model", "created": 0, "owned_by": "system"}


def _copilot_model(facts: ModelFacts) -> dict[str, Any]:
    """The members that the wire sheet names (`openai-chat.md` §6)."""
    limits = {
        "max_prompt_tokens": facts.context_tokens - facts.max_output_tokens,
        "max_output_tokens": facts.max_output_tokens,
        "max_context_window_tokens": facts.context_tokens,
    }
    supports = {"tool_calls": True, "parallel_tool_calls": True, "vision": True, "streaming": True}
    return {
        "id": facts.id,
        "object": "model",
        "version": dated(facts),
        "capabilities": {"limits": limits, "supports": supports},
        "supported_endpoints": ["/responses"],
    }
