"""Freedoms of calls: what tools and calls are called on the wire, and what an adapter keeps for the service."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from msgspec.structs import replace as changed

from turnproof.messages import FunctionCall, Part, ProviderData, ToolResult, ToolSchema

from ..mutants import Broken, CallInputs
from ..mutants._wire import Json
from ._body import OfEachAPI
from ._parts import ChangedParts
from ._right import right


class _RenamedTools(ChangedParts):
    """Tools have another name on the wire, and their own again in answers."""

    def __init__(self, inner: Any, path: Any) -> None:
        super().__init__(inner, path)
        self.own_names: dict[str, str] = {}

    def wire_name(self, name: str) -> str:
        """The name on the wire: its own."""
        return name

    def _out(self, name: str) -> str:
        wire = self.wire_name(name)
        self.own_names[wire] = name
        return wire

    def part_out(self, part: Part) -> Part:
        if isinstance(part, FunctionCall | ToolResult) and part.name:
            return changed(part, name=self._out(part.name))
        return part

    def part_in(self, part: Part) -> Part:
        return changed(part, name=self.own_names.get(part.name, part.name)) if isinstance(part, FunctionCall) else part

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        tools = inputs.tools
        if tools is not None:
            tools = [changed(tool, name=self._out(tool.name)) for tool in tools]
        return replace(super().change_inputs(inputs), tools=tools)


@right("tools-prefixed")
class _ToolsPrefixed(_RenamedTools):
    """Every tool is `fn_NAME` on the wire, in definitions, calls and results, and has its own name in answers."""

    def wire_name(self, name: str) -> str:
        return f"fn_{name}"


@right("tools-hashed")
class _ToolsHashed(_RenamedTools):
    """Every tool has a hash as its name on the wire, and a table leads back."""

    def wire_name(self, name: str) -> str:
        return f"t{_hash(name, 12)}"


@right("tools-shortened")
class _ToolsShortened(_RenamedTools):
    """A name of more than eight letters goes out as those and a hash of the whole, and a table leads back."""

    def wire_name(self, name: str) -> str:
        return name if len(name) <= 8 or not name.isascii() else f"{name[:8]}_{_hash(name, 8)}"


def _hash(name: str, digits: int) -> str:
    return sha256(name.encode()).hexdigest()[:digits]


@right("tools-kept-for-history")
class _ToolsKeptForHistory(Broken):
    """Where no tool is in force and the history has calls, the last definitions go out again: some services refuse
    calls in a request without tools."""

    def __init__(self, inner: Any, path: Any) -> None:
        super().__init__(inner, path)
        self.last: list[ToolSchema] = []

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.last = list(inputs.tools or self.last)
        called = {call.name for message in inputs.messages for call in message.calls}
        called_tools = [tool for tool in self.last if tool.name in called]
        return replace(inputs, tools=called_tools) if called_tools and not inputs.tools else inputs


class _IdsWithMore(ChangedParts):
    """Calls have longer ids in the history; the service gets its ids back."""

    before = ""
    suffix = ""

    def part_in(self, part: Part) -> Part:
        if not isinstance(part, FunctionCall):
            return part
        return changed(part, id=f"{self.before}{part.id}{self.suffix}")

    def part_out(self, part: Part) -> Part:
        match part:
            case FunctionCall(id=known):
                return changed(part, id=self._of_the_service(known))
            case ToolResult(call_id=known):
                return changed(part, call_id=self._of_the_service(known))
        return part

    def _of_the_service(self, known: str) -> str:
        return known.removeprefix(self.before).removesuffix(self.suffix)


@right("own-call-ids")
class _OwnCallIds(_IdsWithMore):
    """Calls have ids of the adapter's own in the history; the service gets its ids back."""

    before = "own:"


@right("ids-that-carry-more")
class _IdsThatCarryMore(_IdsWithMore):
    """An id has a part behind it in the history, in which a library keeps what has no place of its own; the service
    gets its ids back."""

    suffix = "__thought__c2VlZHM="


@right("ids-left-out")
class _IdsLeftOut(OfEachAPI):
    """Results have no ids on the wire, nor have calls: their order says which result is of which call."""

    def change_gemini(self, body: Json) -> None:
        for content in body["contents"]:
            for part in content.get("parts", ()):
                for holder in ("functionCall", "functionResponse"):
                    part.get(holder, {}).pop("id", None)


@right("signatures-under-another-key")
class _SignaturesElsewhere(ChangedParts):
    """What a part carries for the service is kept under keys of the adapter's own."""

    def part_in(self, part: Part) -> Part:
        if part.provider_data is None:
            return part
        data = part.provider_data
        own = {f"my_{key}": value for key, value in data.data.items()}
        return changed(part, provider_data=ProviderData(data.dialect, data.model, own))

    def part_out(self, part: Part) -> Part:
        if part.provider_data is None:
            return part
        data = part.provider_data
        theirs = {key.removeprefix("my_"): value for key, value in data.data.items()}
        return changed(part, provider_data=ProviderData(data.dialect, data.model, theirs))
