"""Classes by name, and what stands in their source."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache

from ...errors import TurnproofError, UsageError
from ...run.bindings import find_class
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
        return callable(getattr(find_class(self.name), method, None))


def configured(key: str, name: str) -> Source:
    """The class that a setting names, by its own name. Raises UsageError, with the setting, where there is none."""
    try:
        cls = find_class(name)
    except UsageError as error:
        raise UsageError(f"gates: {key}: {error}") from error
    own = f"{cls.__module__}:{cls.__qualname__}"
    return Source(own if "<locals>" not in own else name)


@cache
def inventory_of(source: Source) -> Inventory | str:
    """What the class's source has to do with history; or why it cannot be read."""
    try:
        return take_inventory(find_class(source.name))
    except TurnproofError as error:
        return str(error)


def line_of(source: Source, method: str) -> Spot | None:
    """Where a method of the class stands; None where that cannot be told."""
    try:
        found = inspect.unwrap(getattr(find_class(source.name), method))
        file, line = inspect.getsourcefile(found), found.__code__.co_firstlineno
    except (TurnproofError, AttributeError, TypeError, OSError):
        return None
    return Spot(file, line, f"{source}.{method}()") if file else None
