"""Adapters that take a schema and do something else with it."""

from __future__ import annotations

from dataclasses import replace as replace_inputs

from msgspec.structs import replace

from turnproof.messages import ProviderResponse

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


@suite_mutant("schema-not-sent")
class SchemaNotSent(Broken):
    """The schema is accepted, and goes nowhere."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, schema=None)


@suite_mutant("schema-replaces-tools")
class SchemaReplacesTools(Rewriting):
    """A call with a schema is configured anew: system text and tools are gone from it."""

    def change_request(self, wire: Wire, body: Json) -> None:
        if wire.has_schema(body):
            wire.drop_system(body)
            wire.drop_tools(body)


@suite_mutant("structured-output-not-parsed")
class StructuredOutputNotParsed(Broken):
    """The answer is left as text."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, structured_output=None)
