"""Wire APIs, one module (or package) each, found by name."""

from __future__ import annotations

from importlib import import_module

from ..errors import BindingError
from .contract import Dialect

_MODULES = {
    "anthropic-messages": "anthropic_messages",
    "antigravity": "antigravity",
    "gemini": "gemini",
    "gemini-interactions": "gemini_interactions",
    "ollama": "ollama",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "zai": "zai",
}


def dialect(name: str) -> Dialect:
    """The dialect of that name, perhaps at one of its surfaces: `openai-chat`, `openai-chat@ollama`.

    A module whose addresses do not always tell the surface names those that can be asked for in `SURFACES`. Raises
    BindingError naming the known dialects, or the known surfaces.
    """
    base, _, surface = name.partition("@")
    try:
        module = import_module(f"{__name__}.{_MODULES[base]}")
    except KeyError:
        known = ", ".join(sorted(_MODULES))
        raise BindingError(f"unknown dialect {name!r}; known: {known}") from None
    found: Dialect | None = module.DIALECT if base == name else getattr(module, "SURFACES", {}).get(surface)
    if found is None:
        known = ", ".join(getattr(module, "SURFACES", ())) or "none to choose from"
        raise BindingError(f"unknown surface {surface!r} of {base!r}; known: {known}")
    return found


def api_of(name: str) -> str:
    """The name of a dialect without the surface that may stand behind it."""
    return name.partition("@")[0]


def surface_names(name: str) -> list[str]:
    """The surfaces of a dialect that can be asked for, as in `NAME@SURFACE`: services and programs that speak the API
    with differences of their own."""
    return list(getattr(import_module(f"{__name__}.{_MODULES[name]}"), "SURFACES", {}))


def dialect_names() -> list[str]:
    """All known dialect names, sorted."""
    return sorted(_MODULES)
