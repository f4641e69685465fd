"""A wrapper around any adapter, on either path, that can be broken in one place.

A subclass overrides one of five hooks: `change_endpoint` (what the adapter is opened with), `change_message` (one
message that goes in), `change_inputs` (all inputs of a call), `change_response` (what comes back) or `call` (the call
as a whole). What no hook changes passes through untouched, as the same objects, and whatever else the adapter offers
stays reachable.

A legacy adapter records what it returns. So where a mutant returns something else than the adapter it wraps, or fails
where that succeeded, the adapter's history is set to what the mutant would have recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace as changed

from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall, Message, ProviderResponse, Text, TokenUsage, ToolSchema
from turnproof.provider import (
    Endpoint,
    JSONSchema,
    OnChunk,
    OnFunctionCall,
    OnThinking,
    OnUsage,
    Path,
    SystemInstruction,
)

CallbackName: TypeAlias = Literal["on_chunk", "on_usage", "on_call", "on_thinking"]


@dataclass(frozen=True, slots=True)
class CallInputs:
    """The inputs of a call.

    `messages` is the whole conversation on the stateless path and what is new on the legacy one; a legacy session
    being created has the history there, and `opens` set. `system` and `tools` are set where the path passes them.
    """

    messages: Sequence[Message]
    system: SystemInstruction = None
    tools: Sequence[ToolSchema] | None = None
    schema: JSONSchema | None = None
    token: CancelToken | None = None
    on_chunk: OnChunk | None = None
    on_usage: OnUsage | None = None
    on_call: OnFunctionCall | None = None
    on_thinking: OnThinking | None = None
    opens: bool = False

    @property
    def has_answers(self) -> bool:
        """Whether the model has said something in the conversation."""
        return any(message.role == "model" for message in self.messages)

    def with_callback(self, name: CallbackName, change: Callable[[Callable[[Any], None]], Any]) -> CallInputs:
        """The same call with what `change` makes of a callback. One that is None stays None."""
        callback = getattr(self, name)
        return self if callback is None else replace(self, **{name: change(callback)})


Proceed: TypeAlias = Callable[[CallInputs], ProviderResponse]


class Broken:
    """Passes everything on. `path` is the one that the wrapped adapter was opened for.

    `session_arguments` are the system text and tools that a legacy session was last created with.
    """

    session_arguments: tuple[SystemInstruction, Sequence[ToolSchema] | None] = (None, None)

    def __init__(self, inner: Any, path: Path) -> None:
        self.inner = inner
        self.path = path

    @classmethod
    def change_endpoint(cls, endpoint: Endpoint) -> Endpoint:
        """What the adapter is opened with instead."""
        return endpoint

    def change_message(self, message: Message) -> Message:
        """The message that goes in instead."""
        return message

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        """The inputs instead; also used when a legacy session is created."""
        messages = [self.change_message(message) for message in inputs.messages]
        if all(new is old for new, old in zip(messages, inputs.messages, strict=True)):
            return inputs
        return replace(inputs, messages=messages)

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        """What comes back instead."""
        return response

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        """The call as a whole."""
        return self.change_response(inputs, proceed(inputs))

    # The stateless path

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        **options: Any,
    ) -> ProviderResponse:
        """The adapter's `complete()`, broken."""

        def proceed(inputs: CallInputs) -> ProviderResponse:
            passed = {option: getattr(inputs, field) for option, field in _OPTIONS.items()}
            response: ProviderResponse = self.inner.complete(inputs.messages, inputs.system, inputs.tools, **passed)
            return response

        inputs_by_field = {_OPTIONS[option]: value for option, value in options.items()}
        inputs = CallInputs(messages, system_instruction, tools, **inputs_by_field)
        return self.call(self.change_inputs(inputs), proceed)

    # The legacy path

    def create_session(
        self,
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None:
        """The adapter's `create_session()`, with what `change_inputs` makes of its arguments."""
        inputs = self.change_inputs(CallInputs(history or (), system_instruction, tools, opens=True))
        self.session_arguments = inputs.system, inputs.tools
        self.inner.create_session(inputs.system, inputs.tools, list(inputs.messages) or None)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if not name.startswith("send_"):
            return found

        # The signature stays the adapter's own: sessions look at it to see what a method takes.
        @functools.wraps(found)
        def send(content: Any, on_chunk: OnChunk | None = None, *rest: Any, **options: Any) -> ProviderResponse:
            return self._send(name, found, content, on_chunk, rest, options)

        return send

    def _send(
        self, name: str, method: Callable[..., Any], content: Any, second: Any, rest: tuple[Any, ...], options: Any
    ) -> ProviderResponse:
        """One legacy call. The second argument is the chunk callback, or a batch call's response schema."""
        streaming = name.endswith("_streaming")
        if not streaming and second is not None:
            options = {"response_schema": second, **options}
        message = _as_message(name, content)
        before: list[Message] = list(self.inner.get_history())
        recorded: list[ProviderResponse] = []

        def proceed(inputs: CallInputs) -> ProviderResponse:
            passed = {option: getattr(inputs, field) for option, field in _OPTIONS.items() if option in options}
            new = inputs.messages[-1]
            sent = content if new is message else _as_content(name, new)
            chunk = (inputs.on_chunk,) if streaming else ()
            response: ProviderResponse = method(sent, *chunk, *rest, **{**options, **passed})
            recorded[:] = [response]
            return response

        inputs_by_field = {field: options[option] for option, field in _OPTIONS.items() if option in options}
        inputs = self.change_inputs(CallInputs((message,), on_chunk=second if streaming else None, **inputs_by_field))
        try:
            response = self.call(inputs, proceed)
        except BaseException:
            if recorded:
                self.set_history(before)
            raise
        if not recorded or recorded[0].parts != response.parts:
            answer = (Message("model", response.parts),) if response.parts else ()
            self.set_history([*before, *inputs.messages, *answer])
        return response

    def set_history(self, messages: Sequence[Message]) -> None:
        """Make the wrapped legacy adapter hold this conversation."""
        self.inner.create_session(*self.session_arguments, list(messages) or None)


_OPTIONS = {
    "response_schema": "schema",
    "cancel_token": "token",
    "on_chunk": "on_chunk",
    "on_usage_update": "on_usage",
    "on_function_call": "on_call",
    "on_thinking": "on_thinking",
}
"""The keyword arguments of a call, and where `CallInputs` has them."""


def _as_message(method: str, content: Any) -> Message:
    if "tool_results" in method:
        return Message.tool(*content)
    return Message.user(*((content,) if isinstance(content, str) else content))


def _as_content(method: str, message: Message) -> Any:
    if "tool_results" in method:
        return list(message.results)
    return list(message.parts) if "with_parts" in method else message.text


@dataclass(slots=True)
class CallbackRecord:
    """What the callbacks of one call got so far."""

    text: list[str] = field(default_factory=list)
    calls: list[FunctionCall] = field(default_factory=list)
    usage: TokenUsage = field(default_factory=TokenUsage)


def record_callbacks(inputs: CallInputs) -> tuple[CallInputs, CallbackRecord]:
    """The same call with its callbacks listened to; silent ones stay silent."""
    record = CallbackRecord()

    def usage(value: TokenUsage) -> None:
        record.usage = value

    return replace(
        inputs,
        on_chunk=chain_callbacks(record.text.append, inputs.on_chunk),
        on_call=chain_callbacks(record.calls.append, inputs.on_call),
        on_usage=chain_callbacks(usage, inputs.on_usage),
    ), record


def chain_callbacks(first: Callable[[Any], None], then: Callable[[Any], None] | None) -> Callable[[Any], None] | None:
    """A callback that does one thing before the other; None where there was none."""
    if then is None:
        return None

    def both(value: Any) -> None:
        first(value)
        then(value)

    return both


def trim_texts(response: ProviderResponse) -> ProviderResponse:
    """The response without white space at the borders of its texts."""
    parts = (changed(part, text=part.text.strip()) if isinstance(part, Text) else part for part in response.parts)
    return changed(response, parts=tuple(parts))


class BrokenCount(Broken):
    """Passes everything on but `count_tokens()`: a subclass says what that returns."""

    def count(self, inputs: CallInputs) -> int:
        """The count of a prompt."""
        raise NotImplementedError

    def count_tokens(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
    ) -> int:
        """The count instead of the adapter's."""
        return self.count(CallInputs(messages, system_instruction, tools))
