"""What stands beside the conversation: tools, sampling, limits, the form of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ....messages import JSON
from ...base import Refusal, Rule
from .. import rules
from ..models import COMPLETION_TOKENS, FIXED_SAMPLING, LONGEST_NAME, NAME_PATTERN
from ..surfaces import Surface
from .context import Context

_MAXIMUM_TOOLS = 128
_LONGEST_DESCRIPTION = 1024

_encode = msgspec.json.Encoder().encode


def tools(context: Context) -> Iterator[Refusal]:
    """The declared tools and what is said about them."""
    declared = context.body.get("tools")
    yield from number_of_tools(context)
    if declared == []:
        yield empty(context, "tools", rules.EMPTY_TOOLS)
    for n, tool in enumerate(declared or ()):
        if tool.get("type", "function") == "function":
            yield from name(context, tool["function"]["name"], f"tools[{n}].function.name")
            yield from _description(context, tool["function"].get("description"), f"tools[{n}].function.description")
            yield from _strict_function(context, tool["function"], f"tools[{n}].function.parameters")
    if not declared:
        for field in ("tool_choice", "parallel_tool_calls"):
            if context.body.get(field) is not None:
                message = f"Invalid value for '{field}': '{field}' is only allowed when 'tools' are specified."
                yield context.refuse(rules.ONLY_WITH_TOOLS, "invalid_request_error", message, field)


def number_of_tools(context: Context) -> Iterator[Refusal]:
    """No more tools than the API takes."""
    declared = context.body.get("tools") or ()
    if len(declared) > _MAXIMUM_TOOLS:
        message = (
            f"Invalid 'tools': array too long. Expected an array with maximum length {_MAXIMUM_TOOLS}, but got an "
            f"array with length {len(declared)} instead."
        )
        yield context.refuse(rules.TOO_MANY_TOOLS, "array_above_max_length", message, "tools")


def empty(context: Context, path: str, rule: Rule = rules.EMPTY_LIST) -> Refusal:
    """A list that has nothing in it."""
    message = f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    return context.refuse(rule, "empty_array", message, path)


def name(context: Context, value: str, path: str) -> Iterator[Refusal]:
    """A tool's name, wherever it stands."""
    if len(value) > LONGEST_NAME:
        yield too_long(context, rules.TOOL_NAME_LENGTH, value, LONGEST_NAME, path)
    elif not NAME_PATTERN.fullmatch(value):
        message = (
            f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
            f"'^{NAME_PATTERN.pattern}$'."
        )
        yield context.refuse(rules.TOOL_NAME, "invalid_value", message, path)


def _description(context: Context, value: JSON, path: str) -> Iterator[Refusal]:
    """A tool's description, which only OpenAI's own servers are known to measure."""
    measured = context.surface in (Surface.OPENAI, Surface.AZURE)
    if measured and isinstance(value, str) and len(value) > _LONGEST_DESCRIPTION:
        yield too_long(context, rules.TOOL_DESCRIPTION_LENGTH, value, _LONGEST_DESCRIPTION, path)


def too_long(context: Context, rule: Rule, value: str, longest: int, path: str) -> Refusal:
    """A string that is longer than the API takes."""
    message = (
        f"Invalid '{path}': string too long. Expected a string with maximum length {longest}, but got a string with "
        f"length {len(value)} instead."
    )
    return context.refuse(rule, "string_above_max_length", message, path)


def sampling(context: Context) -> Iterator[Refusal]:
    """A temperature where the model has only one."""
    value = context.body.get("temperature")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if context.has(FIXED_SAMPLING) and value != 1:
        message = (
            f"Unsupported value: 'temperature' does not support {value:g} with this model. Only the default (1) value "
            "is supported."
        )
        yield context.refuse(rules.FIXED_TEMPERATURE, "unsupported_value", message, "temperature")


def limits(context: Context) -> Iterator[Refusal]:
    """How many tokens the answer may have, under either of the two names."""
    if context.has(COMPLETION_TOKENS) and context.body.get("max_tokens") is not None:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        yield context.refuse(rules.MAX_TOKENS_UNSUPPORTED, "unsupported_parameter", message, "max_tokens")
        return
    for field in ("max_tokens", "max_completion_tokens"):
        limit = context.body.get(field)
        if isinstance(limit, int) and context.facts is not None and limit > context.facts.max_output_tokens:
            message = (
                f"{field} is too large: {limit}. This model supports at most {context.facts.max_output_tokens} "
                f"completion tokens, whereas you provided {limit}."
            )
            yield context.refuse(rules.MAX_TOKENS_CAP, "invalid_value", message, field)


def streaming(context: Context) -> Iterator[Refusal]:
    """Options of a stream stand beside a stream."""
    if context.body.get("stream_options") is not None and not context.call.stream:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield context.refuse(rules.STREAM_OPTIONS, "invalid_request_error", message, "stream_options")


def form(context: Context) -> Iterator[Refusal]:
    """The form of the answer: JSON that somebody has asked for, or a schema that is closed."""
    response_format = context.body.get("response_format") or {}
    if response_format.get("type") == "json_object" and b"json" not in _encode(context.messages).lower():
        message = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
        yield context.refuse(rules.JSON_WORD, "invalid_request_error", message, "messages")
    named: Any = response_format.get("json_schema") if response_format.get("type") == "json_schema" else None
    strict = isinstance(named, dict) and named.get("strict") is True
    if strict and (fault := open_place(named.get("schema"))):
        message = f"Invalid schema for response_format '{named.get('name', '')}': {fault}"
        yield context.refuse(rules.STRICT_FORMAT, "invalid_request_error", message, "response_format")


def _strict_function(context: Context, function: Mapping[str, Any], path: str) -> Iterator[Refusal]:
    if function.get("strict") is True and (fault := open_place(function.get("parameters"))):
        message = f"Invalid schema for function '{function['name']}': {fault}"
        yield context.refuse(rules.STRICT_FUNCTION, "invalid_function_parameters", message, path)


def open_place(schema: object, place: tuple[str, ...] = ()) -> str | None:
    """What a strict schema lacks, where it is not closed: each object lists and requires all it may have."""
    if not isinstance(schema, dict):
        return None
    properties = schema.get("properties")
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return f"In context={place!r}, 'additionalProperties' is required to be supplied and to be false."
        missing = [key for key in properties or () if key not in (schema.get("required") or ())]
        if missing:
            return (
                f"In context={place!r}, 'required' is required to be supplied and to be an array including every key "
                f"in properties. Missing '{missing[0]}'."
            )
    inside: list[tuple[tuple[str, ...], object]] = [(("items",), schema.get("items"))]
    for key in ("properties", "$defs", "definitions"):
        if isinstance(named := schema.get(key), dict):
            inside += [((key, each), value) for each, value in named.items()]
    return next((fault for step, each in inside if (fault := open_place(each, (*place, *step)))), None)
