"""A wrapper around any adapter, on either path, that can be broken in one place.

A subclass overrides one of four hooks: `message` (one message on its way in), `given` (everything a call is given),
`answer` (what it gives back) or `call` (the call as a whole). What no hook changes passes through untouched, the very
same objects included, and whatever else the adapter offers stays reachable.

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
from turnproof.provider import JSONSchema, OnChunk, OnFunctionCall, OnThinking, OnUsage, Path, SystemInstruction

CallbackName: TypeAlias = Literal["on_chunk", "on_usage", "on_call", "on_thinking"]


@dataclass(frozen=True, slots=True)
class CallInputs:
    """What a call is given.

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

    `opened` are the system text and tools that a legacy session was last created with.
    """

    opened: tuple[SystemInstruction, Sequence[ToolSchema] | None] = (None, None)

    def __init__(self, inner: Any, path: Path) -> None:
        self.inner = inner
        self.path = path

    def message(self, message: Message) -> Message:
        """The message that goes in instead."""
        return message

    def given(self, given: CallInputs) -> CallInputs:
        """What the call is given instead; also asked when a legacy session is created."""
        messages = [self.message(message) for message in given.messages]
        if all(new is old for new, old in zip(messages, given.messages, strict=True)):
            return given
        return replace(given, messages=messages)

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        """What comes back instead."""
        return response

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        """The call as a whole."""
        return self.answer(given, proceed(given))

    # The stateless path

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        response_schema: JSONSchema | None = None,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
    ) -> ProviderResponse:
        """The adapter's `complete()`, broken."""

        def proceed(given: CallInputs) -> ProviderResponse:
            response: ProviderResponse = self.inner.complete(
                given.messages,
                given.system,
                given.tools,
                response_schema=given.schema,
                cancel_token=given.token,
                on_chunk=given.on_chunk,
                on_usage_update=given.on_usage,
                on_function_call=given.on_call,
                on_thinking=given.on_thinking,
            )
            return response

        given = CallInputs(
            messages,
            system_instruction,
            tools,
            response_schema,
            cancel_token,
            on_chunk,
            on_usage_update,
            on_function_call,
            on_thinking,
        )
        return self.call(self.given(given), proceed)

    # The legacy path

    def create_session(
        self,
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None:
        """The adapter's `create_session()`, with what `given` makes of its arguments."""
        given = self.given(CallInputs(history or (), system_instruction, tools, opens=True))
        self.opened = given.system, given.tools
        self.inner.create_session(given.system, given.tools, list(given.messages) or None)

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

        def proceed(given: CallInputs) -> ProviderResponse:
            passed = {option: getattr(given, field) for option, field in _OPTIONS.items() if option in options}
            new = given.messages[-1]
            sent = content if new is message else _as_content(name, new)
            chunk = (given.on_chunk,) if streaming else ()
            response: ProviderResponse = method(sent, *chunk, *rest, **{**options, **passed})
            recorded[:] = [response]
            return response

        taken = {field: options[option] for option, field in _OPTIONS.items() if option in options}
        given = self.given(CallInputs((message,), on_chunk=second if streaming else None, **taken))
        try:
            response = self.call(given, proceed)
        except BaseException:
            if recorded:
                self.set_history(before)
            raise
        if not recorded or recorded[0].parts != response.parts:
            answer = (Message("model", response.parts),) if response.parts else ()
            self.set_history([*before, *given.messages, *answer])
        return response

    def set_history(self, messages: Sequence[Message]) -> None:
        """Make the wrapped legacy adapter hold this conversation."""
        self.inner.create_session(*self.opened, list(messages) or None)


_OPTIONS = {
    "response_schema": "schema",
    "cancel_token": "token",
    "on_usage_update": "on_usage",
    "on_function_call": "on_call",
    "on_thinking": "on_thinking",
}
"""The keyword arguments of the legacy calls, and where `CallInputs` has them."""


def _as_message(method: str, content: Any) -> Message:
    if "tool_results" in method:
        return Message.tool(*content)
    return Message.user(*((content,) if isinstance(content, str) else content))


def _as_content(method: str, message: Message) -> Any:
    if "tool_results" in method:
        return list(message.results)
    return list(message.parts) if "with_parts" in method else message.text


@dataclass(slots=True)
class Heard:
    """What the callbacks of one call were told so far."""

    text: list[str] = field(default_factory=list)
    calls: list[FunctionCall] = field(default_factory=list)
    usage: TokenUsage = field(default_factory=TokenUsage)


def overheard(given: CallInputs) -> tuple[CallInputs, Heard]:
    """The same call with its callbacks listened to; silent ones stay silent."""
    heard = Heard()

    def usage(value: TokenUsage) -> None:
        heard.usage = value

    return replace(
        given,
        on_chunk=also(heard.text.append, given.on_chunk),
        on_call=also(heard.calls.append, given.on_call),
        on_usage=also(usage, given.on_usage),
    ), heard


def also(first: Callable[[Any], None], then: Callable[[Any], None] | None) -> Callable[[Any], None] | None:
    """A callback that does one thing before the other; None where there was none."""
    if then is None:
        return None

    def both(value: Any) -> None:
        first(value)
        then(value)

    return both


def trimmed(response: ProviderResponse) -> ProviderResponse:
    """The response without white space at the borders of its texts."""
    parts = (changed(part, text=part.text.strip()) if isinstance(part, Text) else part for part in response.parts)
    return changed(response, parts=tuple(parts))
