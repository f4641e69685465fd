"""A wrapper for freedoms of single parts: changed on the way out, and changed back on the way in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace as changed

from turnproof.messages import Message, Part, ProviderResponse

from ..mutants import Broken, CallInputs


class ChangedParts(Broken):
    """Changes parts on the way out, and changes them back on the way in, in answers and in callbacks."""

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
