"""Settings and tools: what the model takes, what a strict schema must say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....messages import JSON
from ...base import Refusal, Rule
from .. import rules
from ..models import LEGAL_NAME, NO_SAMPLING
from .context import Context, refuse

_PATTERN = "^[a-zA-Z0-9_-]+$"
_NO_INPUT = "One of input / previous_response_id / prompt / conversation_id must be provided."
_INPUTS = ("previous_response_id", "prompt", "conversation")


def check(context: Context) -> Iterator[Refusal]:
    """Rules about what stands beside the conversation, and that there is one."""
    if not context.sent and not any(context.body.get(name) for name in _INPUTS):
        yield refuse(rules.NO_INPUT, _NO_INPUT, "$", "missing_required_parameter")
    elif context.call.action == "compact" and context.body.get("input") == "" and not context.carried:
        yield refuse(rules.EMPTY_COMPACTION, "There is nothing to compact in an empty text.", "input")
    yield from _sampling(context)
    for n, tool in enumerate(context.body.get("tools") or ()):
        yield from _tool(tool, f"tools[{n}]")
    for placed in context.sent:
        if placed.kind == "function_call":
            yield from _name(placed.item.get("name"), f"{placed.path}.name")
    yield from _format(context)


def _sampling(context: Context) -> Iterator[Refusal]:
    effort = (context.body.get("reasoning") or {}).get("effort")
    if context.has(NO_SAMPLING) and effort != "none":
        for name in ("temperature", "top_p"):
            if context.body.get(name) is not None:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                yield refuse(rules.NO_SAMPLING, message, name, "unsupported_parameter")


def _name(name: object, where: str) -> Iterator[Refusal]:
    if not isinstance(name, str) or LEGAL_NAME.fullmatch(name):
        return
    if name and LEGAL_NAME.fullmatch(name[:64]):
        message = (
            f"Invalid '{where}': string too long. Expected a string with maximum length 64, but got a string with "
            f"length {len(name)} instead."
        )
        yield refuse(rules.LONG_TOOL_NAME, message, where, "string_above_max_length")
        return
    message = (
        f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern '{_PATTERN}'."
    )
    yield refuse(rules.TOOL_NAME, message, where, "invalid_value")


def _tool(tool: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    if tool.get("type", "function") != "function":
        return
    yield from _name(tool.get("name"), f"{where}.name")
    if tool.get("strict") is True:
        subject, place = f"function '{tool.get('name')}'", f"{where}.parameters"
        yield from _strict(
            rules.STRICT_PARAMETERS, tool.get("parameters"), subject, place, "invalid_function_parameters"
        )


def _format(context: Context) -> Iterator[Refusal]:
    match (context.body.get("text") or {}).get("format"):
        case {"type": "json_schema", "strict": True, "name": name, "schema": schema}:
            subject = f"response_format '{name}'"
            yield from _strict(rules.STRICT_FORMAT, schema, subject, "text.format.schema", "invalid_json_schema")


def _strict(rule: Rule, schema: JSON, subject: str, where: str, code: str) -> Iterator[Refusal]:
    """What a strict schema lacks: the first thing, as the service says it."""
    if (fault := _fault(schema, ())) is not None:
        yield refuse(rule, f"Invalid schema for {subject}: {fault}", where, code)


def _fault(schema: JSON, path: tuple[str, ...]) -> str | None:
    if not isinstance(schema, dict):
        return None
    context = f"In context={path!r}"
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        if schema.get("additionalProperties") is not False:
            return f"{context}, 'additionalProperties' is required to be supplied and to be false."
        named = schema.get("required")
        missing = [name for name in properties or () if name not in (named or ())]
        if missing:
            return (
                f"{context}, 'required' is required to be supplied and to be an array including every key in "
                f"properties. Missing '{missing[0]}'."
            )
    for name, each in (properties or {}).items():
        if (fault := _fault(each, (*path, "properties", name))) is not None:
            return fault
    return _fault(schema.get("items"), (*path, "items"))
