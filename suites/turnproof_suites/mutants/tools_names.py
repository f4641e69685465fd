"""Adapters that lose their way between the names tools have and the names an API takes."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace as replace_inputs

from msgspec.structs import replace

from turnproof.messages import FunctionCall, Message, ProviderResponse

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire
from .tools_incoming import with_calls


def _legal(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


@suite_mutant("names-not-restored")
class NamesNotRestored(Broken):
    """Calls come back under the names that went over the wire."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return with_calls(response, lambda call: replace(call, name=_legal(call.name)))


@suite_mutant("names-collide")
class NamesCollide(Broken):
    """Illegal characters become underscores, so that two tools get one name, and the last of them gets the calls."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        inputs = super().change_inputs(inputs)
        if inputs.tools is None:
            return inputs
        return replace_inputs(inputs, tools=[replace(tool, name=_legal(tool.name)) for tool in inputs.tools])

    def change_message(self, message: Message) -> Message:
        if not message.calls:
            return message
        parts = [
            replace(part, name=_legal(part.name)) if isinstance(part, FunctionCall) else part for part in message.parts
        ]
        return replace(message, parts=tuple(parts))


@suite_mutant("names-sent-as-they-are")
class NamesSentAsTheyAre(Rewriting):
    """A name that the API does not take goes out unchanged."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for place, key in itertools.chain(wire.declared_names(body), wire.replayed_names(body)):
            place[key] += "!v1"


@suite_mutant("replayed-names-differ")
class ReplayedNamesDiffer(Rewriting):
    """Names are rewritten in the declarations and not in the history beside them."""

    def change_request(self, wire: Wire, body: Json) -> None:
        declared = {place[key] for place, key in wire.declared_names(body)}
        for place, key in wire.replayed_names(body):
            if place[key] in declared:
                place[key] = place[key].upper()
