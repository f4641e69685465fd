"""Wire APIs, one module (or package) each, found by name."""

from __future__ import annotations

from importlib import import_module

from ..errors import BindingError
from .base import Dialect

_MODULES = {"anthropic-messages": "anthropic_messages", "gemini": "gemini"}


def dialect(name: str) -> Dialect:
    """The dialect of that name. Raises BindingError naming the known ones."""
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except KeyError:
        known = ", ".join(sorted(_MODULES))
        raise BindingError(f"unknown dialect {name!r}; known: {known}") from None
    found: Dialect = module.DIALECT
    return found


def dialect_names() -> list[str]:
    """All known dialect names, sorted."""
    return sorted(_MODULES)
