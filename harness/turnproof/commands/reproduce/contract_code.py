"""The calling code of an adapter that is itself the library: it is written for the contract of turnproof.

Its own types are those of `turnproof.messages`, so its file imports these. Nothing in it that judges takes part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ...messages import JSON, Message, thaw
from ...provider import Binding
from ...reproducer import LibraryCall, LibraryCode

_MEMBERS = {
    "text": "answer.text",
    "thoughts": "''.join(part.text for part in answer.parts if isinstance(part, Thought))",
    "chunks": "chunks",
    "calls": "[[call.name, thaw(call.args)] for call in answer.calls]",
    "finish": "answer.raw_finish",
    "finish_reason": "str(answer.finish_reason)",
    "usage": "{name: getattr(answer.usage, name) for name in TokenUsage.__struct_fields__}",
}
"""How each member of an answer is read."""


class ContractCode:
    """A `Reproducer` for the stateless path of an adapter; `spec` is `module:attribute` of its binding."""

    def __init__(self, binding: Binding, spec: str) -> None:
        self.packages: Sequence[str] = ("turnproof", *filter(None, [binding.package]))
        self._module, _, self._attribute = spec.partition(":")

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of this call of the adapter."""
        options = {name: thaw(value) for name, value in call.options.items()}
        streamed = "on_chunk=chunks.append" if call.streamed else ""
        arguments = ", ".join(filter(None, ["messages", repr(call.system), "tools", streamed]))
        return LibraryCode(
            (
                f"from {self._module} import {self._attribute.partition('.')[0]}",
                "from turnproof.messages import *",
                "from turnproof.provider import Endpoint",
            ),
            [_source(message) for message in call.messages],
            (
                f"tools = [{', '.join(map(_source, call.tools))}]",
                f"endpoint = Endpoint(url, 'key', {call.model!r}, {options!r})",
                f"chunks, adapter = [], {self._attribute}.open_stateless(endpoint)",
                f"answer = adapter.complete({arguments})",
                "answer = await answer if hasattr(answer, '__await__') else answer",
                f"return {{{call.wanted!r}: {_MEMBERS[call.wanted]}}}",
            ),
        )


def _source(value: Any) -> str:
    """A neutral value as Python source, without what has its default."""
    if isinstance(value, msgspec.Struct):
        return f"{type(value).__name__}({', '.join(_fields(value))})"
    if isinstance(value, tuple):
        return f"({''.join(f'{_source(item)}, ' for item in value).rstrip() if value else ''})"
    return repr(thaw(value))


def _fields(value: msgspec.Struct) -> Iterator[str]:
    for field in msgspec.structs.fields(value):
        held: JSON = getattr(value, field.name)
        if field.name == "message_id" and isinstance(value, Message):
            continue
        if field.required or held != field.default:
            yield f"{field.name}={_source(held)}"
