"""Bindings by name: installed ones by entry point (group `turnproof.adapters`), anybody's as `module:attribute`."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from ._suggest import did_you_mean
from .errors import BindingError
from .provider import Binding

GROUP = "turnproof.adapters"


def binding_names() -> list[str]:
    """Names of the installed bindings, sorted."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def resolve_binding(name: str) -> Binding:
    """The binding of that name: an installed one, or `module:attribute` (dots in the attribute are followed).

    Modules are found from the current folder, as with `python -m`. Raises BindingError with one line that says what
    is wrong: an unknown name, a module that is missing or fails while it is imported, a missing attribute, or a
    value that is no `Binding`.
    """
    if ":" in name:
        return _load(name, name)
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none is installed"
        hint = did_you_mean(name, entries)
        raise BindingError(f"unknown adapter {name!r}{hint} (known: {known}; or name yours as module:attribute)")
    return _load(name, _target(entries[name]))


def _target(entry: EntryPoint) -> str:
    return f"{entry.module}:{entry.attr}"


def _load(name: str, target: str) -> Binding:
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute:
        raise BindingError(f"{name!r} is not module:attribute")
    value: Any = _import(name, module_name)
    for step in attribute.split("."):
        if not hasattr(value, step):
            raise BindingError(f"{name!r}: {module_name} has no attribute {attribute!r}{_suggestion(value, step)}")
        value = getattr(value, step)
    if not isinstance(value, Binding):
        raise BindingError(f"{name!r} is a {type(value).__name__}, not a turnproof.provider.Binding")
    return value


def _import(name: str, module: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module == missing or module.startswith(f"{missing}."):
            raise BindingError(f"{name!r}: there is no module {missing!r} in {here} or on sys.path") from error
        raise BindingError(f"{name!r} needs the module {missing!r}, which is not installed") from error
    except (Exception, SystemExit) as error:  # whatever somebody's module does on import, it is theirs to mend
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise BindingError(f"{name!r}: importing {module} failed: {reason}") from error


def _suggestion(value: object, step: str) -> str:
    bindings = (
        [key for key, item in vars(value).items() if isinstance(item, Binding)] if hasattr(value, "__dict__") else []
    )
    return did_you_mean(step, bindings) or (f" (bindings there: {', '.join(bindings)})" if bindings else "")
