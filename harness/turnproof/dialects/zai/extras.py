"""Operations that no script speaks of: a model list, and token counts that cannot be relied on."""

from __future__ import annotations

from ...messages import JSON
from ..anthropic_messages.extras import described, listing
from ..anthropic_messages.writing import body_event
from ..base import Call, PromptUsage, Rendered, World
from ..seeded_random import derived
from .errors import render_refusal, route_error
from .validate import unknown_model


def render_extra(call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to `list_models` or `get_model`; to `count_tokens` a figure, a 404, or an error under status 200, as
    the seed has it (`zai.md` §2: be ready for all of them)."""
    status = 200
    body: JSON
    if call.operation == "count_tokens":
        match derived(seed, "count") % 3:
            case 0:
                body = {"input_tokens": usage.whole}
            case 1:
                status, body = 404, route_error(404, "404 NOT_FOUND")
            case _:
                body = route_error(500, "404 NOT_FOUND")
    elif call.operation == "list_models":
        body = listing(world.models)
    else:
        facts = world.models.get(call.model or "")
        if facts is None:
            return render_refusal(unknown_model(), seed)
        body = described(facts)
    return Rendered(status, {"content-type": "application/json"}, (body_event(body),))
