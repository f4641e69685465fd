"""Structured output: the schema is asked for beside everything else, and the answer comes back as an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.judge.view.diff import ABSENT, walk_steps
from turnproof.messages import JSON, FinishReason

from .content import calls_in, instructs, spoken_text, system_text
from .reading import answered_calls, by_place, read_requests, requests_with_schema

_SCHEMA_MISSING = finding(
    "structured/schema-is-on-the-wire/missing",
    "The schema for the answer is missing from the request, or not there as a whole.",
    "a request with the schema {expected}",
    "one without it, or without all of its properties",
)


@check("structured/schema-is-on-the-wire")
def schema_is_on_the_wire(view: View) -> Findings:
    """Anywhere in the request: as an output format, or as the schema of a tool."""
    for request, schema in requests_with_schema(view):
        if _has_schema(request.exchange.body, schema):
            yield Compared("schemas")
        else:
            yield _SCHEMA_MISSING(request.at(), expected=schema)


def _has_schema(value: JSON, expected: Mapping[str, Any]) -> bool:
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and _has_properties(value, expected):
            return True
        return any(_has_schema(item, expected) for item in value.values())
    return isinstance(value, list) and any(_has_schema(item, expected) for item in value)


def _has_properties(sent: Any, expected: Any) -> bool:
    """Whether all properties are there, as deep as one can see, and those that have to be given still have to be.

    An API has its own spelling of types, objects may be closed, and what is inside may be written somewhere else.
    """
    if not isinstance(expected, Mapping):
        return True
    if not isinstance(sent, dict):
        return False
    properties, required = sent.get("properties"), sent.get("required")
    if isinstance(properties, dict):
        named = expected.get("properties", {}).items()
        if not all(name in properties and _has_properties(properties[name], inner) for name, inner in named):
            return False
    if isinstance(required, list) and not all(name in required for name in expected.get("required", ())):
        return False
    return "items" not in sent or _has_properties(sent["items"], expected.get("items"))


_OUTPUT_CHANGED = finding(
    "structured/output-is-parsed/changed",
    "`structured_output` is not the JSON that the model wrote.",
    "{expected} in `structured_output`",
    "{observed}",
)


@check(
    "structured/output-is-parsed",
    needs="answer",
    aspect=lambda view: by_place(
        view,
        ((one.call, one.response.structured_output) for one in answered_calls(view) if one.call.began.response_schema),
    ),
)
def output_is_parsed(view: View) -> Findings:
    """`structured_output` is the JSON that the model wrote."""
    for one in answered_calls(view):
        ended = one.wire.finish is FinishReason.STOP
        if one.call.began.response_schema is None or not ended or calls_in(one.wire.parts):
            continue
        text = spoken_text(one.wire.parts)
        try:
            expected = msgspec.json.decode(text)
        except msgspec.DecodeError:
            continue  # the model did not keep to the schema
        differing = list(walk_steps(expected, one.response.structured_output))
        for steps, wrote, parsed in differing:
            yield _OUTPUT_CHANGED(
                one.at("structured_output", *steps),
                expected=UNSET if wrote is ABSENT else wrote,
                observed=UNSET if parsed is ABSENT else parsed,
                related=(one.at_wire(),),
            )
        if not differing:
            yield Compared("structured outputs")


_TOOL_MISSING = finding(
    "structured/tools-and-system-stay-in-force/tool-missing",
    "A tool is missing from a request with a schema for the answer.",
    "the tool {expected} together with the schema",
    "the tools {observed}",
)
_SYSTEM_MISSING = finding(
    "structured/tools-and-system-stay-in-force/system-missing",
    "The system text is missing from a request with a schema for the answer.",
    "the system text {expected} together with the schema",
    "the system text {observed}",
)


@check("structured/tools-and-system-stay-in-force")
def tools_and_system_stay_in_force(view: View) -> Findings:
    """A schema adds to the request and replaces nothing."""
    for request in read_requests(view):
        began = request.call.began
        if began.response_schema is None or not (began.tools or began.system):
            continue
        missing = [tool.name for tool in began.tools if tool.name not in request.call.wire_names]
        for name in missing:
            sent = sorted(tool.name for tool in request.wire.tools)
            yield _TOOL_MISSING(request.at("tools"), expected=name, observed=sent)
        if began.system and not instructs(request.wire, began.system):
            yield _SYSTEM_MISSING(request.at("system"), expected=began.system, observed=system_text(request.wire))
        elif not missing:
            yield Compared("requests with a schema")
