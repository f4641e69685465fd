"""What the service is known to refuse, which is little: everything else that Anthropic refuses is accepted here."""

from __future__ import annotations

from collections.abc import Iterator

from ..anthropic_messages.conversation import blocks_of
from ..anthropic_messages.counting import count
from ..base import Call, HttpRequest, ModelFacts, Refusal, World
from ..base_dialect import enforced_first
from . import rules
from .models import SEES
from .parse import illegal, key_refusals


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one that would be named first in front; inferred ones last."""
    found = list(_refusals(request, call, world))
    return enforced_first(found)


def _refusals(request: HttpRequest, call: Call, world: World) -> Iterator[Refusal]:
    yield from key_refusals(request, world)
    if call.operation == "list_models":
        return
    facts = world.models.get(call.model or "")
    if facts is None:
        yield unknown_model()
    if call.operation in ("generate", "count_tokens"):
        yield from _of_body(call, facts)


def unknown_model() -> Refusal:
    """A model that the service does not have, also where it is asked for by name."""
    message = "Unknown Model, please check the model code."
    return Refusal(rules.UNKNOWN_MODEL, 400, "1211", message, "$.model")


def _of_body(call: Call, facts: ModelFacts | None) -> Iterator[Refusal]:
    if not any(message["role"] == "user" for message in call.body["messages"]):
        yield illegal(rules.NO_USER_MESSAGE, "messages", "$.messages")
    if (call.body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        message = "Invalid API parameter, please check the documentation."
        yield Refusal(rules.FORCED_TOOL, 400, "1210", message, "$.tool_choice")
    if call.operation == "generate" and facts is not None and count(call) > facts.context_tokens:
        yield Refusal(rules.PROMPT_TOO_LONG, 400, "1261", "Prompt exceeds max length", "$.messages")
    if call.operation == "generate" and type(call.body.get("max_tokens")) is not int:
        message = "The max_tokens parameter was not received properly."
        yield Refusal(rules.NO_OUTPUT_LIMIT, 400, "1213", message, "$.max_tokens")
    if facts is not None and SEES not in facts.features and _has_image(call):
        message = "Invalid API parameter, please check the documentation."
        yield Refusal(rules.IMAGE_FOR_TEXT_MODEL, 400, "1210", message, "$.messages")


def _has_image(call: Call) -> bool:
    blocks = (block for message in call.body["messages"] for block in blocks_of(message.get("content")))
    return any(block.get("type") == "image" for block in blocks)
