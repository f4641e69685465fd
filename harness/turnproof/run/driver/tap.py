"""Taps between session and adapter: they record every call, callback, answer and error, and change nothing.

A tap is where "the adapter's fault" is told from "the session's": what it sees is exactly what the adapter was
given and what it gave back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from ..._base.canonical import canonical
from ...cancel import CancelToken
from ...errors import Cancelled as CancelledError
from ...errors import ContextLimitError, ProviderError, is_wait
from ...foreign import no_answer
from ...messages import FunctionCall, Message, Part, ProviderResponse, Text, TokenUsage, ToolResult, ToolSchema
from ...provider import Path
from ...session.ports import takes
from ..tracebacks import Raised, text_of
from ..transcript import CallBegan, Failed, Response
from .recorder import Callbacks, Recorder

_encode = msgspec.json.Encoder(enc_hook=repr).encode
_decoder = msgspec.json.Decoder(ProviderResponse)


class Tap:
    """What both taps share: number the call, run it, record how it ended."""

    def __init__(self, provider: Any, recorder: Recorder) -> None:
        self.provider = provider
        self.recorder = recorder

    def __getattr__(self, name: str) -> Any:
        # What else a session may ask (a model's name, its window) the adapter answers, on both paths alike.
        return getattr(self.provider, name)

    def _run(
        self,
        began: CallBegan,
        callbacks: Callbacks,
        watched: dict[str, Any],
        action: Callable[[], ProviderResponse],
    ) -> ProviderResponse:
        before = {name: _fingerprint(value) for name, value in watched.items()}
        self.recorder.begin(began)
        self.recorder.at_work("")
        where = self.recorder.place
        try:
            response = action()
            if not isinstance(response, ProviderResponse):
                raise no_answer(response, "complete" if began.path == "stateless" else "send_message")
            plain = plain_response(response)
        except BaseException as error:
            callbacks.close()
            self.recorder.end()
            ours = _comes_from(error, callbacks.raised)
            self.recorder.event(
                failed(
                    "call",
                    error,
                    self.recorder.raised(error),
                    mutated=_mutated(before, watched),
                    from_callback=ours,
                    **where,
                )
            )
            raise
        callbacks.close()
        self.recorder.end()
        self.recorder.last_calls = response.calls
        raised = isinstance(callbacks.raised, Exception) and not isinstance(callbacks.raised, CancelledError)
        self.recorder.event(
            Response(response=plain, mutated=_mutated(before, watched), callback_raised=raised, **where)
        )
        return response


class StatelessTap(Tap):
    """Records `complete()`."""

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: str | Text | None = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        response_schema: Any = None,
        cancel_token: CancelToken | None = None,
        on_chunk: Callable[[str], None] | None = None,
        on_usage_update: Callable[[TokenUsage], None] | None = None,
        on_function_call: Callable[[FunctionCall], None] | None = None,
        on_thinking: Callable[[str], None] | None = None,
    ) -> ProviderResponse:
        arguments = (messages, system_instruction, tools)
        call = partial(self.provider.complete, *arguments, response_schema=response_schema, cancel_token=cancel_token)
        if self.recorder.is_beside(messages):
            answer: ProviderResponse = call(
                on_chunk=on_chunk,
                on_usage_update=on_usage_update,
                on_function_call=on_function_call,
                on_thinking=on_thinking,
            )
            return answer
        self.recorder.call += 1
        self.recorder.streamed = on_chunk is not None
        callbacks = Callbacks(self.recorder, on_chunk, on_usage_update, on_function_call, on_thinking)
        streamed = on_chunk is not None
        began = _began(self.recorder, "stateless", messages, system_instruction, tools, streamed, response_schema)
        watched = {"messages": messages, "tools": tools, "response_schema": response_schema}
        return self._run(
            began,
            callbacks,
            watched,
            lambda: call(
                on_chunk=callbacks.on_chunk,
                on_usage_update=callbacks.on_usage_update,
                on_function_call=callbacks.on_function_call,
                on_thinking=callbacks.on_thinking,
            ),
        )

    def shutdown(self) -> None:
        """Passed on."""
        self.provider.shutdown()


class LegacyTap(Tap):
    """Records the legacy calls. `history` gives the session's own view of the history, to judge the wire by."""

    def __init__(self, provider: Any, recorder: Recorder, history: Callable[[], Sequence[Message]]) -> None:
        super().__init__(provider, recorder)
        self._history = history
        self._system: str | Text | None = None
        self._tools: Sequence[ToolSchema] | None = None

    def create_session(
        self,
        system_instruction: str | Text | None = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None:
        self._system, self._tools = system_instruction, tools
        self.provider.create_session(system_instruction, tools, history)

    def get_history(self) -> list[Message]:
        history: list[Message] = self.provider.get_history()
        return history

    def send_message(
        self, message: str, response_schema: Any = None, cancel_token: CancelToken | None = None
    ) -> ProviderResponse:
        return self._batch("send_message", Message.user(message), message, response_schema, cancel_token)

    def send_message_with_parts(
        self, parts: Sequence[Part], response_schema: Any = None, cancel_token: CancelToken | None = None
    ) -> ProviderResponse:
        return self._batch("send_message_with_parts", Message.user(*parts), parts, response_schema, cancel_token)

    def send_tool_results(
        self, results: Sequence[ToolResult], response_schema: Any = None, cancel_token: CancelToken | None = None
    ) -> ProviderResponse:
        return self._batch("send_tool_results", Message.tool(*results), results, response_schema, cancel_token)

    def _batch(
        self, name: str, new: Message, content: Any, response_schema: Any, token: CancelToken | None
    ) -> ProviderResponse:
        method = getattr(self.provider, name)
        # The published batch methods take no token; an adapter whose methods do can be cancelled there too.
        extra = {"cancel_token": token} if takes(method, "cancel_token") else {}
        if self.recorder.is_beside([new]):
            answer: ProviderResponse = method(content, response_schema, **extra)
            return answer
        return self._send(new, None, lambda _: method(content, response_schema, **extra), response_schema, content)

    def send_message_streaming(self, message: str, on_chunk: Callable[[str], None], **options: Any) -> ProviderResponse:
        return self._stream(
            Message.user(message),
            on_chunk,
            options,
            lambda chunk, opts: self.provider.send_message_streaming(message, chunk, **opts),
        )

    def send_tool_results_streaming(
        self, results: Sequence[ToolResult], on_chunk: Callable[[str], None], **options: Any
    ) -> ProviderResponse:
        return self._stream(
            Message.tool(*results),
            on_chunk,
            options,
            lambda chunk, opts: self.provider.send_tool_results_streaming(results, chunk, **opts),
            results,
        )

    def __getattr__(self, name: str) -> Any:
        # Optional methods (streaming with parts, cancellable batch calls) exist exactly where the adapter has them.
        inner = super().__getattr__(name)
        if name == "send_message_with_parts_streaming":
            return lambda parts, on_chunk, **options: self._stream(
                Message.user(*parts), on_chunk, options, lambda chunk, opts: inner(parts, chunk, **opts), parts
            )
        return inner

    def _stream(
        self,
        new: Message,
        on_chunk: Callable[[str], None],
        options: dict[str, Any],
        action: Callable[[Any, dict[str, Any]], ProviderResponse],
        watched: Any = None,
    ) -> ProviderResponse:
        if self.recorder.is_beside([new]):
            return action(on_chunk, options)
        names = ("on_usage_update", "on_function_call", "on_thinking")
        callbacks = Callbacks(self.recorder, on_chunk, *(options.get(name) for name in names))
        opts = dict(options)
        for name in names:
            if name in opts:
                opts[name] = getattr(callbacks, name)
        return self._send(new, callbacks, lambda c: action(c.on_chunk, opts), options.get("response_schema"), watched)

    def _send(
        self,
        new: Message,
        callbacks: Callbacks | None,
        action: Callable[[Callbacks], ProviderResponse],
        response_schema: Any,
        watched: Any = None,
    ) -> ProviderResponse:
        self.recorder.call += 1
        self.recorder.streamed = callbacks is not None
        used = callbacks or Callbacks(self.recorder, None, None, None, None)
        used._where = self.recorder.place
        history = list(self._history())
        if not (history and history[-1].role == new.role and history[-1].parts == new.parts):
            history.append(new)
        streamed = callbacks is not None
        began = _began(self.recorder, "legacy", history, self._system, self._tools, streamed, response_schema)
        return self._run(began, used, {"arguments": watched}, lambda: action(used))


def plain_response(response: ProviderResponse) -> ProviderResponse:
    """A response as the evidence has it. Raises for one that could not be read again."""
    plain = msgspec.structs.replace(response, raw=None, structured_output=_plain(response.structured_output))
    _decoder.decode(canonical(plain))
    return plain


def _comes_from(error: BaseException, callback_error: BaseException | None) -> bool:
    """Whether an error is that of a callback, or was raised because of it: a library may wrap whatever it meets, also
    into a group, as the tasks of an event loop do."""
    seen: set[int] = set()
    links: list[BaseException | None] = [error]
    while links and callback_error is not None:
        link = links.pop()
        if link is callback_error:
            return True
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            links += [link.__cause__ or link.__context__]
            links += link.exceptions if isinstance(link, BaseExceptionGroup) else ()
    return False


def _began(
    recorder: Recorder,
    path: Path,
    messages: Sequence[Message],
    system: str | Text | None,
    tools: Sequence[ToolSchema] | None,
    streamed: bool,
    response_schema: Any,
) -> CallBegan:
    rounds = 0
    for message in reversed(messages):
        if message.role == "user":
            break
        rounds += message.role == "tool"
    return CallBegan(
        messages=tuple(messages),
        system=system.text if isinstance(system, Text) else system,
        tools=tuple(tools or ()),
        round=rounds,
        streamed=streamed,
        response_schema=response_schema,
        path=path,
        **recorder.place,
    )


def failed(
    scope: Literal["call", "turn"], error: BaseException, raised: Raised, *, mutated: tuple[str, ...] = (), **where: Any
) -> Failed:
    """An exception as an event. Types, status and hints are kept; its text is kept as the adapter wrote it."""
    typed = isinstance(error, ProviderError | CancelledError)
    provider_error = error if isinstance(error, ProviderError) else None
    return Failed(
        scope=scope,
        error=type(error).__name__,
        message=text_of(error),
        typed=typed,
        retryable=provider_error is not None and provider_error.retryable is True,
        status=_integer(provider_error.status) if provider_error else None,
        retry_after=_wait(provider_error.retry_after) if provider_error else None,
        bases=tuple(base.__name__ for base in type(error).__mro__[1:-2]),
        mutated=mutated,
        limit=_integer(error.limit) if isinstance(error, ContextLimitError) else None,
        requested=_integer(error.requested) if isinstance(error, ContextLimitError) else None,
        kind=provider_error.kind if provider_error and isinstance(provider_error.kind, str) else None,
        partial=_parts(provider_error.partial) if provider_error else (),
        raised=raised,
        **where,
    )


def _parts(values: object) -> tuple[Part, ...]:
    """What of these are parts: an error of somebody else's may have anything there."""
    return tuple(one for one in values if isinstance(one, Part)) if isinstance(values, list | tuple) else ()


def _integer(number: object) -> int | None:
    return int(number) if isinstance(number, int) and number.bit_length() < 64 else None


def _wait(seconds: float | None) -> float | None:
    return float(seconds) if seconds is not None and is_wait(seconds) else None


def _fingerprint(value: Any) -> tuple[object, ...]:
    """What tells a changed argument from the one it was: for messages which ones they are, and what each says."""
    if isinstance(value, Sequence) and value and all(isinstance(item, Message) for item in value):
        return tuple(id(item) for item in value), _digest(list(value))
    return (_digest(value),)


def _digest(value: Any) -> bytes:
    try:
        text = _encode(value)
    except UnicodeEncodeError:
        text = canonical(value)
    return blake2b(text, digest_size=16).digest()


def _mutated(before: dict[str, tuple[object, ...]], watched: dict[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, value in watched.items() if _fingerprint(value) != before[name])


def _plain(value: Any) -> Any:
    """Structured output as the evidence will have it: JSON, or the text that stands for something else."""
    try:
        value = msgspec.to_builtins(value)
    except TypeError:
        value = repr(value)
    return None if value is None else msgspec.json.decode(canonical(value))
