"""The two ways a session reaches a provider, behind one shape, so that there is one turn loop.

A port is always given the whole conversation, with what the provider is to answer as its last message. The
stateless one passes it on; the legacy one finds out what the provider does not have yet and sends just that.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakValueDictionary

from ..background_answers import BackgroundCall, BackgroundProvider, RunningAnswer
from ..cancel import CancelToken
from ..chains import ChainedProvider, ChainPolicy, ChainState
from ..errors import CacheExpiredError, ProviderError, UsageError
from ..messages import Message, Part, ProviderResponse, Text, ToolSchema
from ..provider import JSONSchema, LegacyProvider, StatelessProvider, StreamOptions, SystemInstruction
from .caching import PortCaching
from .callback_relay import CallbackRelay

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Context:
    """What stands beside the messages in every call."""

    system: SystemInstruction
    tools: tuple[ToolSchema, ...]


@dataclass(frozen=True, slots=True)
class PortCall:
    """One call of a provider: the whole conversation, what stands beside it, who listens, and what can stop it.

    With `background` the service answers in the background.
    """

    messages: Sequence[Message]
    context: Context
    relay: CallbackRelay
    token: CancelToken
    response_schema: JSONSchema | None
    background: BackgroundCall | None = None

    @property
    def options(self) -> StreamOptions:
        """The keyword arguments that both paths take."""
        return {
            "cancel_token": self.token,
            "on_usage_update": self.relay.on_usage_update,
            "on_function_call": self.relay.on_function_call,
            "on_thinking": self.relay.on_thinking,
            "response_schema": self.response_schema,
        }


class Port(Protocol):
    """How a session calls its provider."""

    continues: bool
    """Whether a conversation that ends with the model's own message can be sent, as a paused response needs."""

    caching: PortCaching

    @property
    def chain_state(self) -> ChainState | None:
        """The chain of stored answers that the provider continues; None where it has no such thing."""

    def end_chain(self) -> None:
        """Have the next call send everything, if the provider has a chain."""

    def leave(self) -> None:
        """The provider is not used any more: what the policy has deleted is deleted."""

    def sync(self, messages: Sequence[Message], context: Context) -> None:
        """Make the provider hold exactly this conversation, if it holds any."""

    def complete(self, call: PortCall) -> ProviderResponse:
        """Have the last message answered. Raises ProviderError, or Cancelled if nothing was sent."""

    def cancel_answer(self, answer: RunningAnswer) -> None:
        """Have the service cancel an answer in the background. Raises ProviderError."""


class StatelessPort:
    """Calls `complete()` with copies: what a provider does to its arguments stays with it."""

    continues = True

    def __init__(self, provider: StatelessProvider, caching: PortCaching) -> None:
        self.caching = caching
        self._provider = provider

    @property
    def chain_state(self) -> ChainState | None:
        """None: every call has the whole conversation."""
        return None

    def end_chain(self) -> None:
        """Nothing to do: there is none."""

    def leave(self) -> None:
        """Nothing to do: the provider has nothing stored."""

    def sync(self, messages: Sequence[Message], context: Context) -> None:
        """Nothing to do: the provider holds no conversation."""

    def complete(self, call: PortCall) -> ProviderResponse:
        """One `complete()` call, through the cache plugin where there is one.

        A second one where the service has lost the managed cache that the first one named: it was refused before
        anything was shown.
        """
        self.caching.sending(call.messages, call.context.system, call.context.tools)
        try:
            response = self._call(call)
        except CacheExpiredError as error:
            if not self.caching.replaces(error):
                raise
            response = self._call(call)
        self.caching.record_response(response)
        return response

    def _call(self, call: PortCall) -> ProviderResponse:
        context = call.context
        sent, system, tools = self.caching.annotated(call.messages, context.system, context.tools, call.token)
        with _in_background(self._provider, call):
            response = self._provider.complete(
                sent, system, tools or None, on_chunk=call.relay.on_chunk, **call.options
            )
        return _checked(response, "complete")

    def cancel_answer(self, answer: RunningAnswer) -> None:
        """Passed on."""
        _cancel_answer(self._provider, answer)


_HOLDERS: WeakValueDictionary[int, LegacyPort] = WeakValueDictionary()
"""Whose conversation each provider holds, by the provider's `id()`. A port keeps its provider alive, so the id of a
provider that is gone stands here for nobody."""


class LegacyPort:
    """Keeps a provider that owns its history in step with the session's.

    It remembers which messages the provider has. As long as the session's history goes on from there, only the
    new message is sent; after anything else (rollback, collection, load, calls that were not recorded, another
    system text or tool set, another session that has used the provider in between) the provider gets a new session with
    the session's history.

    Beyond the contract two things are used where a provider offers them: a `send_message_with_parts_streaming`
    method, and a `cancel_token` argument of the methods that do not stream. A `ChainedProvider` follows the chain's
    policy, if there is one.

    Raises UsageError for a policy that stores nothing, if the provider cannot be told.
    """

    continues = False

    def __init__(self, provider: LegacyProvider, caching: PortCaching, chain: ChainPolicy | None = None) -> None:
        self.caching = caching
        self._provider = provider
        self._chain = provider if isinstance(provider, ChainedProvider) else None
        if chain is not None:
            if self._chain is not None:
                self._chain.set_chain_policy(chain)
            elif not chain.store:
                raise UsageError(
                    f"ChainPolicy(store=False) cannot be followed: {type(provider).__name__} has no "
                    "set_chain_policy(). Take the stateless path, which stores nothing, or a provider that is a "
                    "turnproof.chains.ChainedProvider"
                )
        self._context: Context | None = None
        self._messages: list[Message] = []
        self._answer: tuple[Part, ...] = ()

    @property
    def chain_state(self) -> ChainState | None:
        """The provider's, if it has a chain."""
        return None if self._chain is None else self._chain.chain_state

    def end_chain(self) -> None:
        """Have the provider begin a new chain with its next request."""
        if self._chain is not None:
            self._chain.end_chain()
            self._delete_left()

    def leave(self) -> None:
        """End the chain, so that what the policy has deleted is deleted."""
        self.end_chain()

    def sync(self, messages: Sequence[Message], context: Context) -> None:
        """Create a new session in the provider unless it holds this conversation already."""
        is_held = _HOLDERS.get(id(self._provider)) is self
        if is_held and context == self._context and self._goes_on(messages):
            self._messages, self._answer = list(messages), ()
            return
        self._context = None
        _HOLDERS[id(self._provider)] = self
        self._provider.create_session(context.system, list(context.tools) or None, history=list(messages) or None)
        self._context, self._messages, self._answer = context, list(messages), ()
        self._delete_left()

    def complete(self, call: PortCall) -> ProviderResponse:
        """Send the last message by the method that fits it.

        Once more where the service has lost the managed cache that the provider named: the provider's own plugin has
        dropped the name, and nothing was shown before the refusal.
        """
        *base, pending = call.messages
        self.sync(base, call.context)
        self.caching.sending(call.messages, call.context.system, call.context.tools)
        send = self._send_results if pending.role == "tool" else self._send_user
        try:
            with _in_background(self._provider, call):
                response = send(pending, call)
        except CacheExpiredError:
            with _in_background(self._provider, call):
                response = send(pending, call)
        self._messages, self._answer = list(call.messages), response.parts
        self.caching.record_response(response)
        self._delete_left()
        return response

    def cancel_answer(self, answer: RunningAnswer) -> None:
        """Passed on."""
        _cancel_answer(self._provider, answer)

    def _delete_left(self) -> None:
        """Delete what the conversation has left at the service. What fails is tried again next time."""
        if self._chain is not None:
            try:
                self._chain.delete_left_answers()
            except ProviderError:
                _log.warning("answers that the conversation left could not be deleted", exc_info=True)

    def _goes_on(self, messages: Sequence[Message]) -> bool:
        """Whether the provider holds these messages: those it was given or sent, and the answer it gave last."""
        count = len(self._messages)
        if len(messages) < count or any(a is not b for a, b in zip(self._messages, messages, strict=False)):
            return False
        added = messages[count:]
        if not self._answer:
            return not added
        return len(added) == 1 and added[0].role == "model" and added[0].parts == self._answer

    def _send_results(self, pending: Message, call: PortCall) -> ProviderResponse:
        results = list(pending.results)
        if call.relay.on_chunk is None:
            return self._batch("send_tool_results", results, call)
        return self._stream("send_tool_results_streaming", results, call)

    def _send_user(self, pending: Message, call: PortCall) -> ProviderResponse:
        on_chunk = call.relay.on_chunk
        match pending.parts:
            case (Text(text=text, provider_data=None, cache=None),):
                if on_chunk is None:
                    return self._batch("send_message", text, call)
                return self._stream("send_message_streaming", text, call)
            case parts if on_chunk is not None and hasattr(self._provider, _PARTS_STREAMING):
                return self._stream(_PARTS_STREAMING, list(parts), call)
            case parts:
                response = self._batch("send_message_with_parts", list(parts), call)
                if on_chunk is not None and response.text:
                    on_chunk(response.text)
                return response

    def _batch(self, method: str, content: object, call: PortCall) -> ProviderResponse:
        # The contract's batch methods take no token: what was cancelled before must not be sent at all.
        call.token.raise_if_cancelled()
        send = getattr(self._provider, method)
        extra = {"cancel_token": call.token} if takes(send, "cancel_token") else {}
        return _checked(send(content, response_schema=call.response_schema, **extra), method)

    def _stream(self, method: str, content: object, call: PortCall) -> ProviderResponse:
        send = getattr(self._provider, method)
        return _checked(send(content, call.relay.on_chunk, **call.options), method)


_PARTS_STREAMING = "send_message_with_parts_streaming"


def refuse_without_background(provider: object) -> None:
    """Raise UsageError for a provider whose calls cannot be answered in the background."""
    if not isinstance(provider, BackgroundProvider):
        raise UsageError(
            f"{type(provider).__name__} has no in_background(): its calls cannot be answered in the background. Leave "
            "`background` out, or take a provider that is a turnproof.background_answers.BackgroundProvider"
        )


def _in_background(provider: object, call: PortCall) -> AbstractContextManager[None]:
    if call.background is None or not isinstance(provider, BackgroundProvider):
        return nullcontext()
    return provider.in_background(call.background)


def _cancel_answer(provider: object, answer: RunningAnswer) -> None:
    if isinstance(provider, BackgroundProvider):
        provider.cancel_answer(answer)


def takes(call: Callable[..., Any], name: str) -> bool:
    """Whether a callable accepts an argument of that name."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):  # some callables have no signature to look at
        return False
    return any(parameter.name == name or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def _checked(response: object, method: str) -> ProviderResponse:
    if isinstance(response, ProviderResponse):
        return response
    close = getattr(response, "close", None)
    if inspect.iscoroutine(response) and close is not None:
        close()  # or Python would complain later that nobody awaited it
    raise ProviderError(
        f"{method}() returned {type(response).__name__} instead of a ProviderResponse; "
        "coroutines and outcome objects are accepted through turnproof.foreign"
    )
