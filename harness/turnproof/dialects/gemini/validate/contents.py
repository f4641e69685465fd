"""What is asked, and of whom: the model, contents and their parts, who speaks, the tools, and the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...base import Refusal, Rule
from .. import rules
from ..fields import PART_DATA
from ..models import JSON_WITH_TOOLS, LEGAL_NAME
from ..surfaces import GeminiCall, Surface
from ..tools import declarations
from .context import Context, refuse
from .schemas import schema_faults

_ROLES = frozenset({"user", "model", "function"})
_METHODS = {"generate": "generateContent", "count_tokens": "countTokens", "cache": "createCachedContent"}
_JSON = "application/json"
_MOST_SEQUENCES = 5
_USUAL_TOP_K = 65
ILLEGAL_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)


def unknown_model(call: GeminiCall) -> Refusal:
    """404, also for a model that is only asked about."""
    if call.surface is Surface.VERTEX:
        where = f"{call.parent}/" if call.parent else ""
        message = f"Publisher Model `{where}publishers/google/models/{call.model or ''}` not found."
    else:
        method = _METHODS.get(call.operation, "getModel")
        listing = "ModelService.ListModels" if call.operation == "generate" else "ListModels"
        message = (
            f"models/{call.model or ''} is not found for API version {call.version}, or is not supported for {method}. "
            f"Call {listing} to see the list of available models and their supported methods."
        )
    return Refusal(rules.UNKNOWN_MODEL, 404, "NOT_FOUND", message, "$.model")


def model(context: Context) -> Iterator[Refusal]:
    """The model must be one the service has."""
    if context.facts is None:
        yield unknown_model(context.call)


def check(context: Context) -> Iterator[Refusal]:
    """Rules about contents as such, their order aside."""
    yield from _missing(context)
    yield from _roles(context)
    yield from _tools(context)


def _missing(context: Context) -> Iterator[Refusal]:
    if not context.contents:
        if context.call.operation == "generate":
            message = f"* {context.message}.contents: contents is not specified\n"
            yield refuse(rules.NO_CONTENTS, message, "contents")
        elif context.call.operation == "count_tokens":
            message = "CountTokens requires generate_content_request or contents to be set."
            yield refuse(rules.NOTHING_TO_COUNT, message, "contents")
        return
    # The service names all of these faults at once, a line for each.
    faults = list(_empty(context))
    if faults:
        lines = "".join(f"* {context.message}.{refusal.message}\n" for refusal in faults)
        yield refuse(faults[0].rule, lines, faults[0].path)


def _empty(context: Context) -> Iterator[Refusal]:
    for n, content in enumerate(context.contents):
        path = f"contents[{n}].parts"
        if not content.get("parts"):
            yield refuse(rules.EMPTY_CONTENT, f"{path}: contents.parts must not be empty.", path)
        for m, part in enumerate(content.get("parts", ())):
            if part.keys().isdisjoint(PART_DATA) and not part.get("thought"):
                problem = "required oneof field 'data' must have one initialized field"
                yield refuse(rules.EMPTY_PART, f"{path}[{m}].data: {problem}", f"{path}[{m}]")


def _roles(context: Context) -> Iterator[Refusal]:
    for n, content in enumerate(context.contents):
        if content.get("role", "user") not in _ROLES:
            yield refuse(rules.INVALID_ROLE, "Please use a valid role: user, model.", f"contents[{n}].role")
            return


def _tools(context: Context) -> Iterator[Refusal]:
    seen: set[str] = set()
    for path, declared in declarations(context.content.get("tools", ())):
        name = declared.get("name", "")
        if not LEGAL_NAME.fullmatch(name):
            yield refuse(rules.TOOL_NAME, f"* {context.message}.{path}.name: {ILLEGAL_NAME}\n", f"{path}.name")
        elif name in seen:
            yield refuse(rules.DUPLICATE_TOOL, f"Duplicate function declaration found: {name}", path)
        seen.add(name)
    yield from _schemas(context)


def _schemas(context: Context) -> Iterator[Refusal]:
    """What the service's own kind of schema lacks. It names all faults of a kind at once, a line for each."""
    faults: dict[Rule, list[tuple[str, str]]] = {}
    for path, declared in declarations(context.content.get("tools", ())):
        if isinstance(schema := declared.get("parameters"), dict):
            for rule, where, problem in schema_faults(schema, f"{path}.parameters"):
                faults.setdefault(rule, []).append((where, problem))
    for rule, found in faults.items():
        lines = "".join(f"* {context.message}.{where}: {problem}\n" for where, problem in found)
        yield refuse(rule, lines, found[0][0])


def _ranges(context: Context, config: Mapping[str, Any]) -> Iterator[Refusal]:
    most = context.facts.max_output_tokens if context.facts is not None else None
    stops = config.get("stopSequences")
    settings: tuple[tuple[Rule, str, Any, float, float | None], ...] = (
        (rules.TEMPERATURE, "temperature", config.get("temperature"), 0, 2.0001),
        (rules.SETTING_RANGE, "topK", config.get("topK"), 1, None),
        (rules.SETTING_RANGE, "maxOutputTokens", config.get("maxOutputTokens"), 1, most + 1 if most else None),
        (rules.STOP_SEQUENCES, "stopSequences", len(stops) if stops else None, 1, _MOST_SEQUENCES + 1),
    )
    for rule, name, value, least, end in settings:
        if value is None or (float(value) >= least and (end is None or float(value) < end)):
            continue
        above = _USUAL_TOP_K if end is None else end
        message = (
            f"Unable to submit request because it has a {name} value of {value} but the supported range is from "
            f"{least} (inclusive) to {above} (exclusive). Update the value and try again."
        )
        yield refuse(rule, message, f"generationConfig.{name}")


def settings(context: Context) -> Iterator[Refusal]:
    """What stands beside the conversation and contradicts itself or the model: sampling, and JSON beside tools."""
    config = context.content.get("generationConfig", {})
    yield from _ranges(context, config)
    wants_json = config.get("responseMimeType") == _JSON
    if not wants_json or context.vertex or context.facts is None or context.has(JSON_WITH_TOOLS):
        return
    tools = context.cache.body.get("tools", ()) if context.cache else context.content.get("tools", ())
    if next(declarations(tools), None) is not None:
        message = f"Function calling with a response mime type: '{_JSON}' is unsupported"
        yield refuse(rules.JSON_WITH_TOOLS, message, "generationConfig.responseMimeType")
