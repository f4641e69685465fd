"""Schemas of tools and of answers: what they demand arrives at the API, and what they explain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from turnproof.dialects.schema_members import lost_members
from turnproof.judge.finding import Compared, Finding
from turnproof.judge.requirements import FindingCode, Findings, check, finding, findings_or_compared
from turnproof.judge.view import View
from turnproof.messages import JSON, ToolSchema

from .reading import ReadRequest, read_requests, requests_with_schema

_CONSTRAINT_LOST = finding(
    "tools/schemas-keep-their-constraints/lost",
    "A constraint of a tool's parameters is missing from the request.",
    "`{member:words}` {expected} at {at:words} of the tool {tool}",
    "{observed}",
)
_ANNOTATION_LOST = finding(
    "tools/schemas-keep-their-explanations/lost",
    "A description, a default or a format of a tool's parameter is missing from the request.",
    "`{member:words}` {expected} at {at:words} of the tool {tool}",
    "{observed}",
)


@check("tools/schemas-keep-their-constraints")
def schemas_keep_their_constraints(view: View) -> Findings:
    """Types, enumerations, bounds, unions, references, nested objects and lists: at their place, or in its words."""
    yield from _find_lost_members(view, _CONSTRAINT_LOST, annotations=False)


@check("tools/schemas-keep-their-explanations")
def schemas_keep_their_explanations(view: View) -> Findings:
    """What tells the model how a parameter is meant."""
    yield from _find_lost_members(view, _ANNOTATION_LOST, annotations=True)


def _find_lost_members(view: View, code: FindingCode, *, annotations: bool) -> Findings:
    for request in read_requests(view):
        sent = {tool.name: tool for tool in request.wire.tools}
        for tool in request.call.began.tools:
            name = request.call.wire_names.get(tool.name)
            if name is None or not tool.parameters.get("properties"):
                continue
            wrong = list(_lost_of(request, tool, sent[name], code, annotations=annotations))
            yield from findings_or_compared(wrong, "schemas of tools")


def _lost_of(
    request: ReadRequest, tool: ToolSchema, sent: ToolSchema, code: FindingCode, *, annotations: bool
) -> Iterator[Finding]:
    declared, found = _schema(tool), _schema(sent)
    for lost_member in lost_members(declared, found, annotations=annotations):
        yield code(
            request.at_tool(sent.name, "parameters"),
            expected=lost_member.wanted,
            observed=lost_member.found,
            member=lost_member.member,
            at=lost_member.path.lstrip(".") or "the whole",
            tool=tool.name,
        )


def _schema(tool: ToolSchema) -> Mapping[str, Any]:
    """The parameters; what a tool says of itself counts as said above them."""
    return {**tool.parameters, "description": tool.description or tool.parameters.get("description", "")}


_ANSWER_LOST = finding(
    "structured/schema-keeps-its-constraints/lost",
    "A constraint of the schema for the answer is missing from the request.",
    "`{member:words}` {expected} at {at:words}",
    "{observed}",
)


@check("structured/schema-keeps-its-constraints")
def schema_keeps_its_constraints(view: View) -> Findings:
    """Wherever the schema stands in the request, it demands what the caller's does, or says so in words."""
    for request, schema in requests_with_schema(view):
        found = list(_alike(request.exchange.body, frozenset(schema.get("properties", {}))))
        if not found:
            continue  # `structured/schema-is-on-the-wire` says so
        missing_members = min((list(lost_members(schema, one)) for one in found), key=len)
        for one in missing_members:
            at = one.path.lstrip(".") or "the whole"
            yield _ANSWER_LOST(request.at(), expected=one.wanted, observed=one.found, member=one.member, at=at)
        if not missing_members:
            yield Compared("schemas for answers")


def _alike(value: JSON, names: frozenset[str]) -> Iterator[Mapping[str, Any]]:
    """The schemas in a request with at least these properties."""
    if isinstance(value, dict):
        properties = value.get("properties")
        if isinstance(properties, dict) and names <= properties.keys():
            yield value
        for inner in value.values():
            yield from _alike(inner, names)
    elif isinstance(value, list):
        for inner in value:
            yield from _alike(inner, names)
