"""The calling code of an adapter that is itself the library: it is written for the contract of turnproof.

Its own types are those of `turnproof.messages`, so its file imports these. Nothing in it that judges takes part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ...messages import JSON, Message, thaw
from ...provider import Binding, Path
from ...reproducer import LibraryCall, LibraryCode

ANSWER_FIELDS = ("parts", "usage", "structured_output", "finish_reason", "raw_finish")
"""The fields of an answer that are looked at as a whole."""

_MEMBERS = {
    "text": "answer.text",
    "thoughts": "''.join(part.text for part in answer.parts if isinstance(part, Thought))",
    "chunks": "[value for kind, value in told if kind == 'chunk']",
    "calls": "[[call.name, thaw(call.args)] for call in answer.calls]",
    "finish": "answer.raw_finish",
    "finish_reason": "str(answer.finish_reason)",
    "usage": "{name: getattr(answer.usage, name) for name in TokenUsage.__struct_fields__}",
    "answer": f"{{name: to_builtins(getattr(answer, name)) for name in {ANSWER_FIELDS!r}}}",
    "told": f"[told, [to_builtins(getattr(answer, name)) for name in {ANSWER_FIELDS!r}]]",
}
"""How each member of an answer is read; `told` is what the callbacks got, in order, and the answer behind it."""

_CALLBACKS = {
    "on_chunk": "chunk",
    "on_usage_update": "usage",
    "on_function_call": "function_call",
    "on_thinking": "thinking",
}
"""The callbacks of a call, and the kinds of events that have what they got."""

BEFORE = -1
"""For `ContractCall.cancelled_after`: the call is cancelled before it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractCall(LibraryCall):
    """A call of an adapter, with what only the contract has.

    `earlier` are the calls that the same object answered before. `cancelled_after` says after how many callbacks the
    call is cancelled: `BEFORE` it begins, 0 while it waits for the first; None where it is not.
    """

    path: Path = "stateless"
    schema: JSON = None
    earlier: Sequence[ContractCall] = ()
    cancelled_after: int | None = None


class ContractCode:
    """A `Reproducer` for an adapter, on either path; `spec` is `module:attribute` of its binding."""

    def __init__(self, binding: Binding, spec: str) -> None:
        self.packages: Sequence[str] = ("turnproof", *filter(None, [binding.package]))
        self._module, _, self._attribute = spec.partition(":")

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of this call of the adapter, and of those that it answered before."""
        if not isinstance(call, ContractCall):
            call = ContractCall(**{name: getattr(call, name) for name in LibraryCall.__dataclass_fields__})
        imports = [
            f"from {self._module} import {self._attribute.partition('.')[0]}",
            "from turnproof.messages import *",
        ]
        if call.earlier:
            imports.append("from contextlib import suppress")
        if call.cancelled_after == 0:
            imports.append("from threading import Timer")
        if call.cancelled_after is not None:
            imports.append("from turnproof.cancel import CancelToken")
        return LibraryCode(
            [*imports, "from turnproof.provider import Endpoint"],
            [_source(message) for message in call.messages],
            list(_body(call)),
            opening=[f"adapter = {self._attribute}.open_{call.path}({_endpoint(call)})"],
        )


def _endpoint(call: ContractCall) -> str:
    options = {name: thaw(value) for name, value in call.options.items()}
    return f"Endpoint(url, 'key', {call.model!r}, {options!r})"


def _body(call: ContractCall) -> Iterator[str]:
    if _records(call):
        yield "told = []"
    if call.earlier:
        histories = ", ".join(_earlier(one, call) for one in call.earlier)
        yield f"for given, system, tools, more in [{histories}]:"
        yield "    with suppress(Exception):"
        yield "        answer = adapter.complete(given, system, tools, **more)"
        yield "        answer = await answer if hasattr(answer, '__await__') else answer"
    if call.tools:
        yield f"tools = [{', '.join(map(_source, call.tools))}]"
    yield from _recorder(call)
    if call.path == "legacy":
        yield f"adapter.create_session({call.system!r}, {_tools(call)}, messages[:-1] or None)"
    yield f"answer = adapter.{_called(call)}"
    yield "answer = await answer if hasattr(answer, '__await__') else answer"
    yield f"return {{{call.wanted!r}: {_MEMBERS[call.wanted]}}}"


def _tools(call: ContractCall) -> str:
    return "tools" if call.tools else "[]"


def _records(call: ContractCall) -> bool:
    """Whether what the callbacks get is looked at, or counted."""
    return call.wanted in ("chunks", "told") or (call.cancelled_after or 0) > 0


def _recorder(call: ContractCall) -> Iterator[str]:
    """The lines that keep what the callbacks get, and cancel the call where it is cancelled."""
    if call.cancelled_after is not None:
        yield "token = CancelToken()"
    if _records(call):
        yield "def tell(kind):"
        yield "    def note(value):"
        yield "        told.append([kind, to_builtins(value)])"
        if call.cancelled_after is not None:
            yield f"        token.cancel() if len(told) == {call.cancelled_after} else None"
        yield "    return note"
    if call.cancelled_after == BEFORE:
        yield "token.cancel()"
    elif call.cancelled_after == 0:
        yield "Timer(0.5, token.cancel).start()"


def _called(call: ContractCall) -> str:
    """The method and its arguments."""
    options = [f"response_schema={thaw(call.schema)!r}"] if call.schema is not None else []
    if call.cancelled_after is not None:
        options.append("cancel_token=token")
    if _records(call):
        names = [name for name in _CALLBACKS if call.streamed or (name != "on_chunk" and call.path == "stateless")]
        options += [f"{name}=tell({_CALLBACKS[name]!r})" for name in names]
    elif call.streamed:
        options.append("on_chunk=len")
    if call.path == "stateless":
        return f"complete({', '.join(['messages', repr(call.system), _tools(call), *options])})"
    return f"{_legacy_method(call)}, {', '.join(options)})".replace(", )", ")")


def _legacy_method(call: ContractCall) -> str:
    """The call of the legacy path that hands on the last message, without what follows its content."""
    new = call.messages[-1]
    method, content = "send_message", "messages[-1].text"
    if new.role == "tool":
        method, content = "send_tool_results", "list(messages[-1].results)"
    elif len(new.parts) != 1 or not new.text:
        method, content = "send_message_with_parts", "list(messages[-1].parts)"
    return f"{method}{'_streaming' if call.streamed else ''}({content}"


def _earlier(call: ContractCall, last: ContractCall) -> str:
    """An earlier call as `messages, system, tools, options`; messages that the last one has too are a part of its."""
    own, last_messages = list(map(_source, call.messages)), list(map(_source, last.messages))
    history_source = f"messages[:{len(own)}]" if last_messages[: len(own)] == own else f"[{', '.join(own)}]"
    more = {"response_schema": thaw(call.schema)} if call.schema is not None else {}
    options = f"{{**{more!r}, 'on_chunk': len}}" if call.streamed else repr(more)
    return f"({history_source}, {call.system!r}, [{', '.join(map(_source, call.tools))}], {options})"


def _source(value: Any) -> str:
    """A neutral value as Python source, without what has its default."""
    if isinstance(value, msgspec.Struct):
        return f"{type(value).__name__}({', '.join(_fields(value))})"
    if isinstance(value, tuple):
        return f"({''.join(f'{_source(item)}, ' for item in value).rstrip() if value else ''})"
    return repr(thaw(value))


def _fields(value: msgspec.Struct) -> Iterator[str]:
    for field in msgspec.structs.fields(value):
        field_value: JSON = getattr(value, field.name)
        if field.name == "message_id" and isinstance(value, Message):
            continue
        if field.required or field_value != field.default:
            yield f"{field.name}={_source(field_value)}"
