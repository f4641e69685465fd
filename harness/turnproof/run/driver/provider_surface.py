"""What a provider object looks like from outside: its class, and the methods that a migration is about."""

from __future__ import annotations

import inspect
from typing import Any

from ...provider import LEGACY_METHODS, Binding

_ENOUGH = 3
"""Two of these names stand in SDKs, too (a chat's `send_message` and `get_history`); three are a provider's."""

_OPTIONS = ("response_schema", "cancel_token", "on_chunk", "on_usage_update", "on_function_call", "on_thinking")


def class_name(value: object) -> str:
    """The class of an object, as `module:name`."""
    cls = type(value)
    return f"{cls.__module__}:{cls.__qualname__}"


def has_method(value: object, name: str) -> bool:
    """Whether an object has a method of that name. One that is set to None is none."""
    return callable(getattr(value, name, None))


def legacy_methods(value: object) -> tuple[str, ...]:
    """The methods of an object by which it owns a history."""
    return tuple(name for name in LEGACY_METHODS if has_method(value, name))


def owns_history(value: object) -> bool:
    """Whether an object that nobody has named has so many of them that it is a provider which owns a history."""
    return sum(callable(getattr(type(value), name, None)) for name in LEGACY_METHODS) >= _ENOUGH


def refusal(complete: Any, binding: Binding) -> str:
    """Why `complete()` cannot be called in the form that the binding says it has; empty where it can."""
    try:
        signature = inspect.signature(complete)
    except (TypeError, ValueError):
        return ""  # of C code, say: calls will tell
    try:
        if binding.signature == "short":
            signature.bind(*(None for _ in range(8)))
        else:
            signature.bind(None, None, None, **dict.fromkeys(_OPTIONS))
    except TypeError as error:
        return f"complete{signature}: {error}"
    return ""
