"""Providers of every published calling form, as somebody else would write them."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from turnproof import foreign
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Message,
    ProviderResponse,
    Text,
    Thought,
    TokenUsage,
    ToolSchema,
)
from turnproof.provider import Outcome, StatelessProvider
from turnproof.session import Tool

CALL = FunctionCall("c1", "look", {"x": 1})


USAGE = TokenUsage(10, 2, 12)


ASKS = ProviderResponse((Thought("hm"), Text("Let me look."), CALL), USAGE, FinishReason.TOOL_USE)


ANSWERS = ProviderResponse((Text("Seen."),), USAGE, FinishReason.STOP)


HI = [Message.user("Hi")]


LOOK = Tool(ToolSchema("look"), lambda args, token: "seen")


def act(messages: Any, on_chunk: Any, on_usage: Any, on_call: Any, on_thinking: Any) -> ProviderResponse:
    """Asks for a tool first and answers its result, telling every callback it was given."""
    response = ASKS if messages[-1].role == "user" else ANSWERS
    for part in response.parts:
        match part:
            case Text() if on_chunk:
                on_chunk(part.text)
            case Thought() if on_thinking:
                on_thinking(part.text)
            case FunctionCall() if on_call:
                on_call(part)
            case _:
                pass
    if on_usage:
        on_usage(USAGE)
    return response


class Full:
    def complete(
        self,
        messages: Any,
        system_instruction: Any = None,
        tools: Any = None,
        *,
        response_schema: Any = None,
        cancel_token: Any = None,
        on_chunk: Any = None,
        on_usage_update: Any = None,
        on_function_call: Any = None,
        on_thinking: Any = None,
    ) -> Any:
        return act(messages, on_chunk, on_usage_update, on_function_call, on_thinking)


class Short:
    def complete(
        self,
        messages: Any,
        system: Any,
        tools: Any,
        schema: Any = None,
        token: Any = None,
        on_chunk: Any = None,
        on_usage: Any = None,
        on_thinking: Any = None,
    ) -> Any:
        return act(messages, on_chunk, on_usage, None, on_thinking)


class FullCoroutine(Full):
    async def complete(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return Full.complete(self, *args, **kwargs)


class ShortCoroutine(Short):
    async def complete(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return Short.complete(self, *args, **kwargs)


class PlainFunctionReturningAwaitable(Full):
    def complete(self, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        return FullCoroutine().complete(*args, **kwargs)


class Returned(Full):
    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return Outcome(Full.complete(self, *args, **kwargs))


class ShortCoroutineReturned(ShortCoroutine):
    async def complete(self, *args: Any, **kwargs: Any) -> Any:
        return Outcome(await ShortCoroutine.complete(self, *args, **kwargs))


class Ended(enum.Enum):
    DONE = "done"
    ERROR = "error"


@dataclass
class TurnOutcome:
    """The shape of the published result object: an outcome, and a response or an error beside it."""

    outcome: Any
    response: ProviderResponse | None = None
    error: Any = None


class ReturnedTurn(Full):
    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return TurnOutcome(Ended.DONE, Full.complete(self, *args, **kwargs))


@dataclass(frozen=True)
class Form:
    id: str
    provider: Callable[[], Any]
    signature: foreign.Signature = "full"
    errors: foreign.Errors = "raised"


FORMS = [
    Form("full", Full),
    Form("short", Short, signature="short"),
    Form("full-coroutine", FullCoroutine),
    Form("short-coroutine", ShortCoroutine, signature="short"),
    Form("awaitable-from-a-plain-function", PlainFunctionReturningAwaitable),
    Form("outcome", Returned, errors="returned"),
    Form("turn-outcome", ReturnedTurn, errors="returned"),
    Form("bare-response-though-outcomes-are-announced", Full, errors="returned"),
    Form("all-at-once", ShortCoroutineReturned, "short", "returned"),
]


def normalised(form: Form) -> foreign.ForeignStateless:
    provider = foreign.normalise(form.provider(), signature=form.signature, errors=form.errors)
    assert isinstance(provider, StatelessProvider)
    assert isinstance(provider, foreign.ForeignStateless)
    return provider


def answering(returned: Any, *, coroutine: bool = False) -> Any:
    """A provider whose `complete` returns this, or raises it."""

    def complete(*args: Any, **kwargs: Any) -> Any:
        if isinstance(returned, BaseException):
            raise returned
        return returned

    async def complete_later(*args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return complete()

    return SimpleNamespace(complete=complete_later if coroutine else complete)
