"""What stays of a provider when its history has gone: each of these things is tried on the adapter's own object.

They are called as turnproof's contract has them, or as the binding says (`Binding.retained`). An object that a binding
puts in front of a framework's provider need not have them: then the provider behind it is asked. What a provider does
not have is put down as such: whether it should is for the reader to say.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..._base.coroutines import LoopUser
from ...errors import RateLimitError
from ...messages import Message, same
from ...provider import RETAINED, Binding, Endpoint
from ..transcript import ProviderAsked
from .provider_surface import has_method, owns_history
from .references import attributes

METHODS: Mapping[str, tuple[str, ...]] = {
    "initialize": ("initialize",),
    "connect": ("connect",),
    "verify_auth": ("verify_auth",),
    "count_tokens": ("count_tokens",),
    "context limit": ("get_context_limit",),
    "usage": ("get_token_usage",),
    "serialisers": ("serialize_history", "deserialize_history"),
    "agent context": ("set_agent_context",),
    "thinking": ("set_thinking_config",),
    "error classification": ("classify_error", "get_retry_after"),
    "shutdown": ("shutdown",),
}
"""The methods that each of the things to try consists of."""

assert tuple(METHODS) == RETAINED

_IN_PARTS = frozenset({"error classification"})
"""What is tried with those of its methods that are there."""


class _CannotCallError(Exception):
    """It is not known how a method is called."""


def ask(own: Any, binding: Binding, endpoint: Endpoint) -> list[ProviderAsked]:
    """Try everything, shutdown last. Whatever a method raises is what is told of it."""
    provider = provider_behind(own)
    return [_outcome(what, own, provider, binding.retained.get(what), endpoint) for what in RETAINED]


def provider_behind(own: Any) -> Any:
    """The provider that an object stands in front of: an attribute of it that can be called for an answer, as
    `complete()` or by the legacy methods. None where there is none."""
    values = (value for _, value in attributes(own))
    return next((one for one in values if has_method(one, "complete") or owns_history(one)), None)


def _outcome(
    what: str, own: Any, inner: Any, own_test: Callable[[Any], object] | None, endpoint: Endpoint
) -> ProviderAsked:
    names = METHODS[what]
    target = own if any(has_method(own, name) for name in names) else inner
    lacking = [name for name in names if not has_method(target, name)] if own_test is None else []
    lacking_text = f"it has no {', '.join(f'{name}()' for name in lacking)}" if lacking else ""
    if lacking and (what not in _IN_PARTS or len(lacking) == len(names)):
        return ProviderAsked(what=what, outcome="none", said=lacking_text)
    tried = _Tried(target, endpoint, by_contract=target is own)
    try:
        problem = _by_binding(own, own_test) if own_test is not None else tried.call(what)
    except _CannotCallError as error:
        return ProviderAsked(what=what, outcome="unknown", said=str(error))
    except Exception as error:
        return ProviderAsked(what=what, outcome="fails", said=f"it raised {type(error).__name__}: {error}")
    finally:
        tried.user.release()
    return ProviderAsked(what=what, outcome="fails" if problem else "works", said=problem or lacking_text)


def _by_binding(own: Any, own_test: Callable[[Any], object]) -> str:
    return "the binding's own call of it says that it does not work" if own_test(own) is False else ""


class _Tried:
    """The calls as the contract has them; each gives what is wrong, or nothing.

    An object that is bound keeps the contract (`by_contract`). A framework's own provider behind it need not: what it
    makes of arguments in neutral form says nothing of it.
    """

    def __init__(self, own: Any, endpoint: Endpoint, *, by_contract: bool) -> None:
        self._own = own
        self._endpoint = endpoint
        self._by_contract = by_contract
        self.user = LoopUser()

    def call(self, what: str) -> str:
        """Try one of them."""
        tried: dict[str, Callable[[], str]] = {
            "initialize": self._initialize,
            "connect": self._connect,
            "verify_auth": self._verify_auth,
            "count_tokens": self._count_tokens,
            "context limit": self._context_limit,
            "usage": self._usage,
            "serialisers": self._serialisers,
            "agent context": self._agent_context,
            "thinking": self._thinking,
            "error classification": self._errors,
            "shutdown": self._shutdown,
        }
        return tried[what]()

    def _call(self, name: str, *arguments: Any) -> Any:
        method = getattr(self._own, name)
        try:
            inspect.signature(method).bind(*arguments)
        except (TypeError, ValueError) as error:
            raise _own_way(name, error) from error
        try:
            return self.user.result(method(*arguments))
        except Exception as error:
            if arguments and not self._by_contract:
                raise _own_way(name, error) from error
            raise

    def _initialize(self) -> str:
        at = self._endpoint
        self._call("initialize", {**at.options, "base_url": at.base_url, "api_key": at.api_key})
        return ""

    def _connect(self) -> str:
        self._call("connect", self._endpoint.model)
        model = getattr(self._own, "model_name", self._endpoint.model)
        return "" if model == self._endpoint.model else f"model_name is {model!r} afterwards"

    def _verify_auth(self) -> str:
        found = self._call("verify_auth")
        return "" if found is True else f"it returned {found!r} for a key that is accepted"

    def _count_tokens(self) -> str:
        first = next(iter(inspect.signature(self._own.count_tokens).parameters), "")
        question: Any = "How dry is bed 3?"
        found = self._call("count_tokens", [Message.user(question)] if first in ("messages", "history") else question)
        return "" if _is_number(found) and found > 0 else f"it returned {found!r} for a message"

    def _context_limit(self) -> str:
        found = self._call("get_context_limit")
        return "" if _is_number(found) else f"it returned {found!r}"

    def _usage(self) -> str:
        found = self._call("get_token_usage")
        return f"it returned {found!r}" if found is None else ""

    def _serialisers(self) -> str:
        history = [Message.user("How dry is bed 3?"), Message.model("Very.")]
        again = list(self._call("deserialize_history", self._call("serialize_history", history)))
        alike = len(again) == len(history) and all(
            isinstance(one, Message) and same(one, other) for one, other in zip(again, history, strict=True)
        )
        return "" if alike else f"what was serialised comes back as {again!r}"

    def _agent_context(self) -> str:
        parameters = inspect.signature(self._own.set_agent_context).parameters.values()
        needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
        self._call("set_agent_context", *("main" for _ in needed))
        return ""

    def _thinking(self) -> str:
        can = not has_method(self._own, "supports_thinking") or self._call("supports_thinking")
        if can:
            self._call("set_thinking_config", {"budget_tokens": 2048})
        self._call("set_thinking_config", None)
        return ""

    def _errors(self) -> str:
        error = RateLimitError("too many requests", status=429, retry_after=3.0)
        kind, wait = (
            self._call(name, error) if has_method(self._own, name) else None for name in METHODS["error classification"]
        )
        if self._by_contract and kind is not None and not isinstance(kind, Mapping):
            return f"classify_error() returned {kind!r}"
        return "" if wait is None or _is_number(wait) else f"get_retry_after() returned {wait!r}"

    def _shutdown(self) -> str:
        self._call("shutdown")
        try:
            self._call("shutdown")
        except Exception as error:
            return f"called twice, it raised {type(error).__name__}: {error}"
        return ""


def _own_way(name: str, error: Exception) -> _CannotCallError:
    return _CannotCallError(f"{name}() is called in a way of its own ({error}): say how in the binding's `retained`")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
