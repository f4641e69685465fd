"""Classes by name, and what stands in their source."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from .._suggest import did_you_mean
from ..errors import TurnproofError, UsageError
from ..inventory import Inventory, take_inventory
from .decision import Spot


@dataclass(frozen=True, slots=True)
class Source:
    """A class as `module:name`."""

    name: str

    def __str__(self) -> str:
        return self.name.replace(":", ".", 1)

    def has(self, method: str) -> bool:
        """Whether the class has a method of that name. One that is set to None is none."""
        return callable(getattr(load_class(self.name), method, None))


def load_class(name: str) -> type:
    """The class `module:name`; dots in the name are followed. Raises UsageError for anything else."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise UsageError(f"{name!r} is not module:class")
    here = str(Path.cwd())
    if here not in sys.path:  # as bindings are found
        sys.path.insert(0, here)
    try:
        value: Any = import_module(module)
    except Exception as error:
        raise UsageError(f"{name!r}: importing {module} failed: {type(error).__name__}: {error}") from error
    for step in attribute.split("."):
        if not hasattr(value, step):
            raise UsageError(f"{name!r}: there is no {attribute!r}{did_you_mean(step, list(vars(value)))}")
        value = getattr(value, step)
    if not isinstance(value, type):
        raise UsageError(f"{name!r} is a {type(value).__name__}, not a class")
    return value


def configured(key: str, name: str) -> Source:
    """The class that a setting names, by its own name. Raises UsageError, with the setting, where there is none."""
    try:
        cls = load_class(name)
    except UsageError as error:
        raise UsageError(f"gates: {key}: {error}") from error
    own = f"{cls.__module__}:{cls.__qualname__}"
    return Source(own if "<locals>" not in own else name)


@cache
def inventory_of(source: Source) -> Inventory | str:
    """What the class's source has to do with history; or why it cannot be read."""
    try:
        return take_inventory(load_class(source.name))
    except TurnproofError as error:
        return str(error)


def line_of(source: Source, method: str) -> Spot | None:
    """Where a method of the class stands; None where that cannot be told."""
    try:
        found = inspect.unwrap(getattr(load_class(source.name), method))
        file, line = inspect.getsourcefile(found), found.__code__.co_firstlineno
    except (TurnproofError, AttributeError, TypeError, OSError):
        return None
    return Spot(file, line, f"{source}.{method}()") if file else None
