"""What stands beside the conversation: sampling, thinking, effort, output limit, tool choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...base import Refusal
from ...catalogue import dated
from .. import rules
from .context import Context, refuse

_MINIMUM_BUDGET = 1024
_OF_NAMED_SCHEMAS = ("properties", "$defs", "definitions")
_OF_SCHEMAS = ("anyOf", "allOf")


def check(context: Context) -> Iterator[Refusal]:
    """Settings that contradict each other or the model."""
    for sequence in context.body.get("stop_sequences") or ():
        if isinstance(sequence, str) and not sequence.strip():
            message = "stop_sequences: each stop sequence must contain non-whitespace"
            yield refuse(rules.BLANK_STOP_SEQUENCE, message, "stop_sequences")
    yield from _effort(context)
    yield from _format(context)
    yield from _thinking(context)
    yield from _sampling(context)
    yield from _output_limit(context)
    yield from _tool_names(context)


def _effort(context: Context) -> Iterator[Refusal]:
    config = context.body.get("output_config")
    effort = config.get("effort") if isinstance(config, dict) else None
    if effort is None or context.facts is None:
        return
    supported = sorted(each[7:] for each in context.facts.features if each.startswith("effort:"))
    if supported and effort not in supported:
        names = ", ".join(supported)
        message = f"This model does not support effort level '{effort}'. Supported levels: {names}."
        yield refuse(rules.EFFORT_UNSUPPORTED, message, "output_config.effort")


def _format(context: Context) -> Iterator[Refusal]:
    config, where = context.body.get("output_config"), "output_config.format"
    answer_format = config.get("format") if isinstance(config, dict) else None
    if not isinstance(answer_format, dict):
        return
    for field in ("type", "schema"):
        if field not in answer_format:
            yield refuse(rules.MISSING_FIELD, f"{where}.{field}: Field required", f"{where}.{field}")
    if answer_format.get("type", "json_schema") != "json_schema":
        yield refuse(rules.OUTPUT_FORMAT, f"{where}.type: Input should be 'json_schema'", f"{where}.type")
    if _is_open(answer_format.get("schema")):
        message = f"{where}.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
        yield refuse(rules.OPEN_SCHEMA, message, f"{where}.schema")


def _is_open(schema: Any) -> bool:
    """Whether a schema, or one inside it, is an object that may have properties it does not name."""
    left = [schema]
    while left:
        one = left.pop()
        if not isinstance(one, dict):
            continue
        if one.get("type") == "object" and one.get("additionalProperties") is not False:
            return True
        left.append(one.get("items"))
        for key in _OF_NAMED_SCHEMAS:
            left += named.values() if isinstance(named := one.get(key), dict) else ()
        for key in _OF_SCHEMAS:
            left += choices if isinstance(choices := one.get(key), list) else ()
    return False


def _thinking(context: Context) -> Iterator[Refusal]:
    if context.thinking != "enabled":
        return
    if context.has("adaptive-only"):
        message = (
            "`thinking.type.enabled` is not supported for this model. Use `thinking.type.adaptive` and "
            "`output_config.effort` to control thinking behavior."
        )
        yield refuse(rules.BUDGET_UNSUPPORTED, message, "thinking.type")
    budget = context.body["thinking"].get("budget_tokens")
    where = "thinking.enabled.budget_tokens"
    if budget is None:
        yield refuse(rules.MISSING_FIELD, f"{where}: Field required", "thinking.budget_tokens")
    elif isinstance(budget, int):
        if budget < _MINIMUM_BUDGET:
            message = f"{where}: Input should be greater than or equal to {_MINIMUM_BUDGET}"
            yield refuse(rules.BUDGET_MINIMUM, message, "thinking.budget_tokens")
        limit = context.body.get("max_tokens")
        if isinstance(limit, int) and 0 < limit <= budget:
            message = "`max_tokens` must be greater than `thinking.budget_tokens`"
            yield refuse(rules.BUDGET_OVER_MAX, message, "thinking.budget_tokens")
    if _forced(context):
        message = "Thinking may not be enabled when tool_choice forces tool use."
        yield refuse(rules.THINKING_FORCED_TOOL, message, "tool_choice")


def _forced(context: Context) -> bool:
    choice = context.body.get("tool_choice")
    return isinstance(choice, dict) and choice.get("type") in ("any", "tool")


def _sampling(context: Context) -> Iterator[Refusal]:
    if context.new_version or context.counting:
        return  # Refused as fields already.
    temperature = context.body.get("temperature")
    if temperature is None:
        return
    if context.has("no-sampling"):
        message = "`temperature` is deprecated for this model."
        yield refuse(rules.TEMPERATURE_DEPRECATED, message, "temperature")
    if context.thinking == "enabled" and temperature != 1:
        message = "`temperature` may only be set to 1 when thinking is enabled"
        yield refuse(rules.THINKING_TEMPERATURE, message, "temperature")
    if context.has("one-sampling") and context.body.get("top_p") is not None:
        message = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        yield refuse(rules.TEMPERATURE_AND_TOP_P, message, "temperature")


def _output_limit(context: Context) -> Iterator[Refusal]:
    limit = context.body.get("max_tokens")
    if not isinstance(limit, int) or context.counting:
        return
    if limit == 0:
        yield from _warm_up(context)
    if context.facts is not None and limit > context.facts.max_output_tokens:
        message = (
            f"max_tokens: {limit} > {context.facts.max_output_tokens}, which is the maximum allowed number of output "
            f"tokens for {dated(context.facts)}"
        )
        yield refuse(rules.MAX_TOKENS_CAP, message, "max_tokens")


def _warm_up(context: Context) -> Iterator[Refusal]:
    """`max_tokens: 0` only fills the cache, and excludes whatever asks for output."""
    output = context.body.get("output_config")
    against = {
        "stream": context.call.stream,
        "thinking": context.thinking == "enabled",
        "output_config.format": isinstance(output, dict) and output.get("format") is not None,
        "tool_choice": _forced(context),
    }
    for field, present in against.items():
        if present:
            yield refuse(rules.WARM_UP, f"max_tokens: 0 is not supported together with `{field}`", "max_tokens")


def _tool_names(context: Context) -> Iterator[Refusal]:
    names = [tool.get("name") for tool in context.body.get("tools") or () if tool.get("name")]
    if len(names) != len(set(names)):
        yield refuse(rules.DUPLICATE_TOOL_NAMES, "tools: Tool names must be unique.", "tools")
