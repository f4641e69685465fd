"""Structured output: the schema is asked for beside everything else, and the answer comes back as an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from turnproof.messages import JSON, FinishReason
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import View
from turnproof.view.diff import differences, show

from .reading import answered, by_place, calls_in, requested, spoken_text, system_text


@check("structured/schema-is-on-the-wire")
def schema_is_on_the_wire(view: View) -> Findings:
    """Anywhere in the request: as an output format, or as the schema of a tool."""
    for request in requested(view):
        schema = request.call.began.response_schema
        if schema is None:
            continue
        if _has_schema(request.exchange.body, schema):
            yield "schemas"
        else:
            wanted = sorted(schema.get("properties", ()))
            yield violated(f"{request.where}: the schema with {wanted} is nowhere in the request, or not as a whole")


def _has_schema(value: JSON, wanted: Mapping[str, Any]) -> bool:
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and _keeps(value, wanted):
            return True
        return any(_has_schema(item, wanted) for item in value.values())
    return isinstance(value, list) and any(_has_schema(item, wanted) for item in value)


def _keeps(sent: Any, wanted: Any) -> bool:
    """Whether all properties are there, as deep as one can see, and those that have to be given still have to be.

    An API has its own spelling of types, objects may be closed, and what is inside may be written somewhere else.
    """
    if not isinstance(wanted, Mapping):
        return True
    if not isinstance(sent, dict):
        return False
    properties, required = sent.get("properties"), sent.get("required")
    if isinstance(properties, dict):
        named = wanted.get("properties", {}).items()
        if not all(name in properties and _keeps(properties[name], inner) for name, inner in named):
            return False
    if isinstance(required, list) and not all(name in required for name in wanted.get("required", ())):
        return False
    return "items" not in sent or _keeps(sent["items"], wanted.get("items"))


@check(
    "structured/output-is-parsed",
    aspect=lambda view: by_place(
        view,
        ((one.call, one.response.structured_output) for one in answered(view) if one.call.began.response_schema),
    ),
)
def output_is_parsed(view: View) -> Findings:
    """`structured_output` is the JSON that the model wrote."""
    for one in answered(view):
        ended = one.wire.finish is FinishReason.STOP
        if one.call.began.response_schema is None or not ended or calls_in(one.wire.parts):
            continue
        text = spoken_text(one.wire.parts)
        try:
            wanted = msgspec.json.decode(text)
        except msgspec.DecodeError:
            continue  # the model did not keep to the schema
        found = differences(wanted, one.response.structured_output, names=("wire", "structured_output"))
        if found:
            yield violated(f"{one.where}: the model wrote {show(text)}: {found[0]}", detail="\n".join(found))
        else:
            yield "structured outputs"


@check("structured/tools-and-system-stay-in-force")
def tools_and_system_stay_in_force(view: View) -> Findings:
    """A schema adds to the request and replaces nothing."""
    for request in requested(view):
        began = request.call.began
        if began.response_schema is None or not (began.tools or began.system):
            continue
        missing = [tool.name for tool in began.tools if tool.name not in request.call.wire_names]
        if missing:
            yield violated(f"{request.where}: with a schema given, the tool {missing[0]!r} is not in the request")
        elif began.system and began.system.strip() not in system_text(request.sent):
            yield violated(f"{request.where}: with a schema given, the system text is not in the request")
        else:
            yield "requests with a schema"
