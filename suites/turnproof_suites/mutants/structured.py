"""Adapters that take a schema and do something else with it."""

from __future__ import annotations

from dataclasses import replace as given_with

from msgspec.structs import replace

from turnproof.messages import ProviderResponse

from ._broken import Broken, CallInputs
from ._mutant import mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


@mutant(
    "schema-not-sent",
    "inputs",
    caught_by="structured/schema-is-on-the-wire",
    scenarios="structured/with_tools",
    sources="defects:SO2",
)
class SchemaNotSent(Broken):
    """The schema is accepted, and goes nowhere."""

    def given(self, given: CallInputs) -> CallInputs:
        return given_with(given, schema=None)


@mutant(
    "schema-replaces-tools",
    "wire",
    caught_by="structured/tools-and-system-stay-in-force",
    scenarios="structured/with_tools",
    sources="defects:LS4",
)
class SchemaReplacesTools(Rewriting):
    """A call with a schema is configured anew: system text and tools are gone from it."""

    def sent(self, wire: Wire, body: Json) -> None:
        if wire.has_schema(body):
            wire.drop_system(body)
            wire.drop_tools(body)


@mutant(
    "structured-output-not-parsed",
    "outputs",
    caught_by="structured/output-is-parsed",
    scenarios="structured/with_tools",
    sources="behaviours:B10",
)
class StructuredOutputNotParsed(Broken):
    """The answer is left as text."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, structured_output=None)
