"""What the server refuses of a request that it can read; and what it does about a prompt that is too long."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Call, HttpRequest, ModelFacts, Refusal, World
from ..base_dialect import enforced_first
from . import rules
from .errors import refuse, unknown_model
from .models import THINKING, TOOLS, full_name
from .surfaces import OllamaCall, Surface
from .window import count, first_kept, truncates, window_of

_LEVELS = ("high", "medium", "low", "max")


def validate(request: HttpRequest, call: Call, world: World) -> list[Refusal]:
    """Every refusal, the one that the server would give first in front; what is not enforced last."""
    own_call = OllamaCall.from_call(call)
    if own_call.operation not in ("generate", "get_model"):
        return []
    facts = world.models.get(own_call.model or "")
    if facts is None:
        return [unknown_model(own_call.surface, own_call.model or "")]
    if own_call.operation == "get_model":
        return []
    found = [*_settings(own_call, facts), *_prompt(own_call, facts)]
    return enforced_first(found)


def _settings(call: OllamaCall, facts: ModelFacts) -> Iterator[Refusal]:
    think, form = (call.settings.get(name) if call.surface is Surface.NATIVE else None for name in ("think", "format"))
    if think and THINKING not in facts.features:
        yield refuse(call.surface, rules.NO_THINKING, f'"{call.model}" does not support thinking', "$.think")
    elif isinstance(think, str) and think and think not in _LEVELS:
        message = f'invalid think value: "{think}" (must be "high", "medium", "low", "max", true, or false)'
        yield refuse(call.surface, rules.THINK_VALUE, message, "$.think")
    if form not in (None, "", "json") and not isinstance(form, dict):
        message = 'invalid format: expected "json" or a valid JSON Schema object'
        yield refuse(call.surface, rules.FORMAT, message, "$.format")
    if call.tools and TOOLS not in facts.features:
        message = f"{full_name(call.model or '')} does not support tools"
        yield refuse(call.surface, rules.NO_TOOLS, message, "$.tools")


def _prompt(call: OllamaCall, facts: ModelFacts) -> Iterator[Refusal]:
    prompt, window = count(call), window_of(call, facts)
    if prompt <= window:
        return
    if not truncates(call):
        message = f"request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it"
        yield refuse(call.surface, rules.CONTEXT_EXCEEDED, message, "$.messages")
        return
    dropped = sum(each.role != "system" for each in call.messages[: first_kept(call, window)])
    message = f"{prompt} tokens do not fit into num_ctx {window}: the {dropped} oldest messages were dropped"
    yield refuse(call.surface, rules.PROMPT_TRUNCATED, message, "$.messages", 200)
