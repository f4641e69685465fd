"""Other people's calling forms, made into the one that a session uses.

Two forms of `complete()` were published, and two ways to say that it failed; either may be a coroutine function. A
binding says which its adapter has; here the difference ends. A cancel token goes through as it is: an adapter that
runs on an event loop registers with it like any other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Literal, Unpack, cast

from ._base.coroutines import LoopUser
from .errors import ContractError, ProviderError
from .messages import FunctionCall, Message, ProviderResponse, ToolSchema
from .provider import CallOptions, LegacyProvider, StatelessProvider, SystemInstruction

_LEFT_OUT: Mapping[str, None] = dict.fromkeys(sorted(CallOptions.__optional_keys__))
"""The arguments that a caller left out."""

__all__ = ["ForeignLegacy", "ForeignStateless", "normalise", "normalise_legacy"]

Signature = Literal["full", "short"]
Errors = Literal["raised", "returned"]


def normalise(provider: Any, *, signature: Signature = "full", errors: Errors = "raised") -> StatelessProvider:
    """A foreign stateless provider as the protocol wants it; everything but `complete` is the provider's own.

    `signature="short"` calls `complete(messages, system, tools, response_schema, cancel_token, on_chunk,
    on_usage_update, on_thinking)` by position. `errors="returned"` takes the answer, or the error to raise, out of
    an outcome object: something with `response` and `error`, or with an `outcome` named `error`.
    """
    return ForeignStateless(provider, signature, errors)


def normalise_legacy(provider: Any, *, errors: Errors = "raised") -> LegacyProvider:
    """A foreign legacy provider whose methods may be coroutine functions, or return outcome objects, as a plain one."""
    return cast("LegacyProvider", ForeignLegacy(provider, errors))


class _Foreign:
    """What both wrappers share: every method is the provider's, awaited where it has to be."""

    wrapped: Any = None

    def __init__(self, provider: Any, errors: Errors) -> None:
        self.wrapped = provider
        self._errors = errors
        self._user = LoopUser()

    def shutdown(self) -> None:
        """The provider's own `shutdown()`, if it has one, and then `close()`."""
        try:
            if callable(shutdown := getattr(self.wrapped, "shutdown", None)):
                self._user.result(shutdown())
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the event loop; the last provider that does stops it. Calling it twice is harmless."""
        self._user.release()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.wrapped, name)
        if not callable(found):
            return found

        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._user.result(found(*args, **kwargs))

        return call


class ForeignStateless(_Foreign):
    """See `normalise`."""

    def __init__(self, provider: Any, signature: Signature, errors: Errors) -> None:
        super().__init__(provider, errors)
        self._signature = signature

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        **options: Unpack[CallOptions],
    ) -> ProviderResponse:
        """The provider's answer; see `StatelessProvider`."""
        complete = self.wrapped.complete
        if self._signature == "short":
            returned = complete(
                messages,
                system_instruction,
                tools,
                options.get("response_schema"),
                options.get("cancel_token"),
                options.get("on_chunk"),
                options.get("on_usage_update"),
                options.get("on_thinking"),
            )
        else:
            # All of them: an adapter may have no defaults.
            returned = complete(messages, system_instruction, tools, **{**_LEFT_OUT, **options})
        response = _answer(self._user.result(returned), self._errors, "complete")
        on_function_call = options.get("on_function_call")
        if self._signature == "short" and on_function_call is not None:
            # The short form cannot tell of calls while it streams; it is done before the call returns at least.
            for part in response.parts:
                if isinstance(part, FunctionCall):
                    on_function_call(part)
        return response


class ForeignLegacy(_Foreign):
    """See `normalise_legacy`."""

    def __getattr__(self, name: str) -> Any:
        call = super().__getattr__(name)
        if not name.startswith("send_"):
            return call

        @functools.wraps(call)
        def send(*args: Any, **kwargs: Any) -> ProviderResponse:
            return _answer(call(*args, **kwargs), self._errors, name)

        return send


def _answer(returned: Any, errors: Errors, method: str) -> ProviderResponse:
    if isinstance(returned, ProviderResponse):
        return returned
    if errors == "raised":
        raise no_answer(returned, method)
    response = getattr(returned, "response", None)
    if (error := getattr(returned, "error", None)) is not None:
        raise _with_partial(error, response)
    if _names_error(getattr(returned, "outcome", None)):
        raise ProviderError(f"{method}() reported a failure without saying which: {returned!r:.200}")
    if isinstance(response, ProviderResponse):
        return response
    if response is not None:
        raise ContractError(
            f"the outcome that {method}() returned has {_kind(response)} as its response instead of a "
            f"ProviderResponse: {_advice(response)}"
        )
    raise ContractError(
        f"{method}() returned {_kind(returned)} with neither a response nor an error. The binding says "
        'errors="returned": set `response` to a ProviderResponse, or `error` to an exception (see provider.Outcome)'
    )


def no_answer(returned: Any, method: str) -> ContractError:
    """The error for a return value that is no ProviderResponse: what came, and how to make a response of it."""
    if inspect.iscoroutine(returned):
        returned.close()  # or Python warns of it, at some later place
    return ContractError(f"{method}() returned {_kind(returned)} instead of a ProviderResponse: {_advice(returned)}")


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _advice(returned: Any) -> str:
    """What makes a ProviderResponse of something else, as an instruction."""
    match returned:
        case None:
            return "end the method with `return ProviderResponse(parts, usage, finish_reason)`"
        case str():
            return "return ProviderResponse((Text(text),), usage, finish_reason)"
        case Message():
            return "return ProviderResponse(message.parts, usage, finish_reason)"
        case tuple() | list():
            return "return ProviderResponse(parts, usage, finish_reason), with parts of turnproof.messages"
        case Mapping():
            return "read the fields of the dict and return ProviderResponse(parts, usage, finish_reason)"
    if inspect.isawaitable(returned):
        return "`await` it before it is returned"
    if isinstance(returned, Iterator | AsyncIterator):
        return "iterate in the method, pass each piece of text to on_chunk, and return one ProviderResponse at the end"
    if hasattr(returned, "response") or hasattr(returned, "error"):
        return 'it looks like an outcome object; let the binding say errors="returned"'
    return "translate it in the binding: return ProviderResponse(parts, usage, finish_reason)"


def _with_partial(error: Any, response: Any) -> BaseException:
    if not isinstance(error, BaseException):
        error = ProviderError(str(error))
    if isinstance(error, ProviderError) and not error.partial and isinstance(response, ProviderResponse):
        error.partial = response.parts
    return cast("BaseException", error)


def _names_error(outcome: Any) -> bool:
    """Whether an outcome, an enum member or a word in whatever case, says "error"."""
    words = (outcome, getattr(outcome, "name", None), getattr(outcome, "value", None))
    return any(isinstance(word, str) and word.lower() == "error" for word in words)
