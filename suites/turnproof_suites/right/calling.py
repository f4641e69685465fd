"""Freedoms of the adapter: what it calls things on the wire and in its own answers, and how it passes them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

from msgspec.structs import replace as changed

from turnproof.dialects.pictures import picture_of
from turnproof.messages import (
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Part,
    ProviderData,
    ProviderResponse,
    TokenUsage,
    ToolResult,
    ToolSchema,
)

from ..mutants import Broken, CallInputs, Proceed
from ..mutants._png import png
from ._right import right


class _ChangedParts(Broken):
    """Changes parts on the way out, and changes them back on the way in."""

    def part_out(self, part: Part) -> Part:
        """The part as the wire is to have it."""
        return part

    def part_in(self, part: Part) -> Part:
        """The part as the caller is to have it."""
        return part

    def change_message(self, message: Message) -> Message:
        parts = tuple(map(self.part_out, message.parts))
        return message if parts == message.parts else changed(message, parts=parts)

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        def back(callback: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda call: callback(self.part_in(call))

        return super().change_inputs(inputs).with_callback("on_call", back)

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return changed(response, parts=tuple(map(self.part_in, response.parts)))


class _RenamedTools(_ChangedParts):
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


_TOOLS = ("tools/*", "thinking/*", "gc/tool_pairs", "history/*")


@right("tools-prefixed", scenarios=_TOOLS, capability=("tools",), paths=("stateless",))
class ToolsPrefixed(_RenamedTools):
    """Every tool is `fn_NAME` on the wire, in definitions, calls and results, and has its own name in answers."""

    def wire_name(self, name: str) -> str:
        return f"fn_{name}"


@right("tools-hashed", scenarios=_TOOLS, capability=("tools",), paths=("stateless",))
class ToolsHashed(_RenamedTools):
    """Every tool has a hash as its name on the wire, and a table leads back."""

    def wire_name(self, name: str) -> str:
        return f"t{sha256(name.encode()).hexdigest()[:12]}"


@right("own-call-ids", scenarios=_TOOLS, capability=("tools",), paths=("stateless",))
class OwnCallIds(_ChangedParts):
    """Calls have ids of the adapter's own in the history; the service gets its ids back."""

    def part_in(self, part: Part) -> Part:
        return changed(part, id=f"own:{part.id}") if isinstance(part, FunctionCall) else part

    def part_out(self, part: Part) -> Part:
        match part:
            case FunctionCall(id=known):
                return changed(part, id=known.removeprefix("own:"))
            case ToolResult(call_id=known):
                return changed(part, call_id=known.removeprefix("own:"))
        return part


@right(
    "signatures-under-another-key", scenarios=("thinking/*", *_TOOLS), capability=("thinking",), paths=("stateless",)
)
class SignaturesElsewhere(_ChangedParts):
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


@right("usage-once", scenarios=("basics/*", "usage/*", "tools/*"), capability=("streaming",))
class UsageOnce(Broken):
    """Token counts are reported once, at the end of the answer."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        updates: list[TokenUsage] = []
        response = self.change_response(inputs, proceed(inputs.with_callback("on_usage", lambda _: updates.append)))
        if updates and inputs.on_usage is not None:
            inputs.on_usage(updates[-1])
        return response


@right("tools-kept-for-history", scenarios=("tools/appear_change_vanish",), capability=("tools",))
class _ToolsKeptForHistory(Broken):
    """Where no tool is in force and the history has calls, the last definitions go out again: some services refuse
    calls in a request without tools (autogen's client for Anthropic does so)."""

    def __init__(self, inner: Any, path: Any) -> None:
        super().__init__(inner, path)
        self.last: list[ToolSchema] = []

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        self.last = list(inputs.tools or self.last)
        called = {call.name for message in inputs.messages for call in message.calls}
        kept = [tool for tool in self.last if tool.name in called]
        return replace(inputs, tools=kept) if kept and not inputs.tools else inputs


@right("images-written-again", scenarios=("media/*",), capability=("images",))
class _ImagesWrittenAgain(_ChangedParts):
    """Images are opened and written again as PNG, as libraries do that resize or convert what is too large: the same
    picture in other bytes."""

    def part_out(self, part: Part) -> Part:
        if isinstance(part, ToolResult):
            return changed(part, attachments=tuple(map(_written_again, part.attachments)))
        return _written_again(part) if isinstance(part, InlineData) else part


def _written_again(image: InlineData | FileRef) -> InlineData | FileRef:
    shown = picture_of(image.data) if isinstance(image, InlineData) else None
    if shown is None:
        return image
    # A JPEG of the suite is of one colour; which one it is written again in, the size does not tell.
    pixels = shown.pixels or b"\x8b\x5a\x2b" * shown.width * shown.height
    return InlineData(mime_type="image/png", data=png(shown.width, shown.height, pixels))
