"""What an object holds, directly or through others, by strong references: a look at a provider's own state.

A memo that is weak on messages holds none of them. Modules, classes, running code and the machinery of Python's own
libraries are not looked into, nor are turnproof's own objects: what those hold is not the provider's.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...messages import Message

MOST = 100_000
"""Objects after which a look ends: no provider that keeps to itself holds as many."""

_ATOMS = (int, float, complex, bool, type(None), range, slice, memoryview)
_CLOSED = (
    type,
    types.ModuleType,
    types.FrameType,
    types.CodeType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    weakref.ReferenceType,
    weakref.ProxyType,
    weakref.CallableProxyType,
)
_LEAVES = (str, bytes, bytearray, Message)
_NOT_THEIRS = frozenset(
    {
        "_thread",
        "abc",
        "asyncio",
        "concurrent",
        "contextvars",
        "importlib",
        "inspect",
        "logging",
        "multiprocessing",
        "queue",
        "select",
        "selectors",
        "socket",
        "ssl",
        "threading",
        "turnproof",
        "typing",
    }
)
"""Packages whose objects are not looked into; functions and containers of theirs are."""

_OPEN = (
    dict,
    deque,
    list,
    tuple,
    set,
    frozenset,
    types.FunctionType,
    types.MethodType,
    types.CellType,
    types.GeneratorType,
    types.SimpleNamespace,
    types.MappingProxyType,
)


@dataclass(frozen=True, slots=True)
class Reached:
    """One object, and the place at which it was found first, from the root: `._chat.history[0]`."""

    value: Any
    place: str


def reached(root: object, most: int = MOST) -> Iterator[Reached]:
    """Everything that the object holds, nearest first, itself excluded; ends after `most` objects.

    With it counts what its class keeps for all its objects, and the containers of the module that the class stands in.
    """
    ids = {id(root)}
    alive: list[object] = []  # so that no id is given to another object meanwhile
    waiting = deque([Reached(root, "")])
    waiting.extend(_shared(root))
    while waiting:
        current = waiting.popleft()
        for value, place in _held_by(current.value, current.place):
            if id(value) in ids or isinstance(value, _ATOMS):
                continue
            if len(ids) > most:
                return
            ids.add(id(value))
            alive.append(value)
            found = Reached(value, place)
            yield found
            if _is_open(value):
                waiting.append(found)


def _shared(root: object) -> Iterator[Reached]:
    """What is kept beside the object: by its classes, and by the modules that these stand in."""
    for cls in type(root).__mro__:
        if cls.__module__.partition(".")[0] in (*_NOT_THEIRS, "builtins"):
            continue
        module = getattr(sys.modules.get(cls.__module__), "__dict__", {})
        yield Reached(_containers(vars(cls)), f" {cls.__name__}")
        yield Reached(_containers(module), f" {cls.__module__}")


def _containers(names: Mapping[str, Any]) -> types.SimpleNamespace:
    """Those of some names that hold a container which may grow."""
    containers = {key: value for key, value in names.items() if isinstance(value, list | dict | set | deque)}
    return types.SimpleNamespace(**{key: value for key, value in containers.items() if not key.startswith("__")})


def _is_open(value: object) -> bool:
    if isinstance(value, (*_CLOSED, *_LEAVES)):
        return False
    if isinstance(value, _OPEN):
        return True
    return type(value).__module__.partition(".")[0] not in _NOT_THEIRS


def _held_by(value: object, place: str) -> Iterator[tuple[Any, str]]:
    named: set[int] = set()
    for item, where in _named_values(value, place):
        named.add(id(item))
        yield item, where
    if isinstance(value, types.FunctionType):
        return  # its globals are its module's, not its own
    for item in gc.get_referents(value):
        if id(item) not in named and not isinstance(item, _CLOSED):
            yield item, f"{place}→{type(item).__name__}" if not isinstance(item, dict) else place


def _named_values(value: object, place: str) -> Iterator[tuple[Any, str]]:
    """What an object holds under a name, so that a person finds it again."""
    if isinstance(value, Mapping) and isinstance(value, dict | types.MappingProxyType):
        for key, item in list(value.items()):
            yield key, f"{place}[key]"
            yield item, f"{place}[{_short(key)}]"
    elif isinstance(value, list | tuple | deque | set | frozenset):
        for index, item in enumerate(list(value)):
            yield item, f"{place}[{index}]"
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            yield cell, f"{place}()"
        for item in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
            yield item, f"{place}()"
    else:
        for name, item in attributes(value):
            yield item, f"{place}.{name}"


def attributes(value: object) -> Iterator[tuple[str, Any]]:
    """What an object itself holds, by name: its `__dict__` and the slots of its classes. Calls none of its code."""
    try:
        own = dict(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        own = {}
    yield from own.items()
    for cls in type(value).__mro__:
        for name, slot in vars(cls).items():
            if isinstance(slot, types.MemberDescriptorType):
                try:
                    yield name, slot.__get__(value)
                except AttributeError:
                    continue


def _short(key: object) -> str:
    return repr(key) if isinstance(key, str | int) and len(repr(key)) <= 40 else f"a {type(key).__name__}"
