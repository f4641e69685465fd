"""Takes the inventory of a class: reads its source until nothing new is found, then tells what touches history."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, get_args

from ...provider import LEGACY_METHODS
from .facts import Degree, Input, Object, Place
from .history_places import histories
from .knowledge import Called, Key, Touched, World
from .model import Inventory, MethodUse, Touch, TouchKind
from .sources import Function, Sources
from .statements import Reading
from .vocabulary import SAID_PARAMETERS, STATELESS_METHOD, holds_messages, is_history_name

_Doing: TypeAlias = tuple[TouchKind, str]


def take_inventory(cls: type, packages: Iterable[str] = ()) -> Inventory:
    """What the methods of a class, and of its bases, have to do with history. Runs none of their code.

    Followed are helper methods, functions and objects, as far as their source belongs to the project: modules of the
    class's own package, and others that are not installed. `packages` are followed although they are.

    Raises UsageError for a class without Python source.
    """
    world = World(Sources(cls, packages))
    entries = [Key(cls, function) for function in _functions(world)]
    for key in entries:
        world.add_function(key)
    _read(world)
    world.objects_are_known()
    for key in entries:
        _begin(world, key)
    _read(world)
    # What a function does is noted in one reading, in which nothing is new any more.
    world.read_again()
    _read(world)
    return _inventory(world)


def _functions(world: World) -> Iterator[Function]:
    """The functions that the class's objects have."""
    sources, functions = world.sources, set()
    for base in sources.bases(world.root):
        body = sources.body(base)
        assert body is not None
        for name in body.functions:
            function = sources.lookup(world.root, name)
            if function is not None and name not in functions:
                functions.add(name)
                yield function
        for name, setter in body.setters.items():
            if sources.setter(world.root, name) is setter:
                yield setter


def _begin(world: World, key: Key) -> None:
    """What callers from outside give to a method: a conversation, or what is said in it."""
    function = key.function
    if function.name.startswith("_") and function.name != "__init__":
        return
    takes = function.node.args
    parameters = [*takes.posonlyargs, *takes.args][function.is_bound :] + takes.kwonlyargs
    for number, parameter in enumerate(parameters):
        if _carries(function.name, number, parameter):
            world.give(key, parameter.arg, frozenset({Input(Degree.SAME)}))


def _carries(method: str, number: int, parameter: ast.arg) -> bool:
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    if parameter.arg in ("history", "messages") or holds_messages(annotation):
        return True
    if method == STATELESS_METHOD or (method in LEGACY_METHODS and method.startswith("send")):
        return number == 0
    return method.startswith("send") and (parameter.arg in SAID_PARAMETERS or is_history_name(parameter.arg))


def _read(world: World) -> None:
    while world.pending:
        key = next(iter(world.pending))
        del world.pending[key]
        Reading(world, key).read()


# -- what is told --------------------------------------------------------------------------------------------------


def _inventory(world: World) -> Inventory:
    history_places = histories(world)
    own = {key: _own(world, key, history_places) for key in world.keys}
    is_session = _is_session(world)
    reached = _reached(world, own, ("provider-call", "provider-private") if is_session else get_args(TouchKind))
    legacy = set() if is_session else {name for name in LEGACY_METHODS if _has_method(world.root, name)}
    uses: dict[Function, MethodUse] = {}
    touched: dict[Function, dict[Touch, None]] = {}
    for key in world.keys:
        function = key.function
        touches = touched.setdefault(function, {})
        touches |= dict.fromkeys(own[key])
        if key.cls is world.root and _is_public(function.name):
            touches |= dict.fromkeys(_through(world, key, own, reached))
    for function, touches in touched.items():
        is_legacy = function.name in legacy and world.sources.lookup(world.root, function.name) is function
        if touches or is_legacy:
            uses[function] = _use(function, is_legacy, sorted(touches, key=lambda one: (one.line, one.kind, one.what)))
    there = {use.name for use in uses.values() if use.legacy}
    elsewhere = [_foreign(world.root, name) for name in sorted(legacy - there)]
    methods = (*sorted(uses.values(), key=lambda use: (use.file, use.line)), *elsewhere)
    root = world.sources.body(world.root)
    assert root is not None
    return Inventory(
        name=world.root.__qualname__,
        file=world.sources.file,
        methods=methods,
        legacy=tuple(use for use in methods if use.legacy),
        problems=(*_unread(world), *world.problems),
    )


def _own(world: World, key: Key, history_places: set[Place]) -> list[Touch]:
    """What a function touches by its own hand."""
    return [touch for one in world.touched[key] if (touch := _touch(world, key, one, history_places)) is not None]


def _touch(world: World, key: Key, touched: Touched, history_places: set[Place]) -> Touch | None:
    what = touched.what
    if isinstance(what, Place):
        whole = next((place for place in history_places if what.is_in(place)), None)
        if whole is None and touched.kind == "writes" and _holds_one(world, what, history_places):
            whole = what
        # Whoever is handed a message and reads what it says does not read the history: whoever hands it over does.
        if whole is None or (touched.kind == "reads" and what != whole):
            return None
        what = _name(world, whole)
    return Touch(touched.kind, what, touched.line, key.function.source.line(touched.line))


def _holds_one(world: World, place: Place, history_places: set[Place]) -> bool:
    """Whether another object is put there whose class keeps a history: the whole of it is exchanged."""
    classes = {fact.cls for fact in world.fields[place] if isinstance(fact, Object)}
    return bool(classes & {one.owner for one in history_places})


def _name(world: World, place: Place) -> str:
    if place.owner is world.root:
        return place.path
    owner = place.owner if isinstance(place.owner, str) else place.owner.__qualname__
    return f"{owner}.{place.path}"


def _reached(world: World, own: dict[Key, list[Touch]], kinds: Sequence[TouchKind]) -> dict[Key, set[_Doing]]:
    """What each function does of these kinds, itself or through others."""
    reached = {
        key: {(touch.kind, touch.what) for touch in touches if touch.kind in kinds} for key, touches in own.items()
    }
    changed = True
    while changed:
        changed = False
        for key in world.keys:
            for callee in world.call_value[key]:
                if not reached[callee.key] <= reached[key]:
                    reached[key] |= reached[callee.key]
                    changed = True
    return reached


def _through(world: World, key: Key, own: dict[Key, list[Touch]], reached: dict[Key, set[_Doing]]) -> Iterator[Touch]:
    """What a method touches by calling others, where it does not do so itself."""
    own_touches = {(touch.kind, touch.what) for touch in own[key]}
    for callee in world.call_value[key]:
        if callee.key == key:
            continue
        for kind, what in reached[callee.key] - own_touches:
            yield Touch(kind, _via(what, callee), callee.line, key.function.source.line(callee.line))


def _is_public(name: str) -> bool:
    """Whether callers from outside begin there. What private methods do stands where they do it."""
    return not name.startswith("_") or name == "__init__"


def _via(what: str, callee: Called) -> str:
    return f"{what} via {callee.key.function.name}()"


def _use(function: Function, legacy: bool, touches: Iterable[Touch]) -> MethodUse:
    node = function.node
    return MethodUse(function.owner, function.name, function.source.file, node.lineno, legacy, tuple(touches))


def _is_session(world: World) -> bool:
    """Whether the class calls providers and is none: methods that are named like a provider's are then its own."""
    asks = any(one.kind == "provider-call" for touched in world.touched.values() for one in touched)
    return asks and not world.is_provider_class(world.root)


def _has_method(cls: type, name: str) -> bool:
    return inspect.getattr_static(cls, name, None) is not None


def _foreign(cls: type, name: str) -> MethodUse:
    """A legacy method whose source is not followed, or is not to be found where its name is."""
    owner = next(base for base in cls.__mro__ if name in vars(base))
    code = getattr(inspect.unwrap(getattr(cls, name)), "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    return MethodUse(owner.__qualname__, name, file, line, True, ())


def _unread(world: World) -> Iterator[str]:
    """Bases whose code was not looked at, and methods that answer for any attribute."""
    sources = world.sources
    for base in world.root.__mro__:
        body = sources.body(base)
        if body is None and not _is_harmless(base):
            yield f"{sources.file}: the base {base.__module__}.{base.__qualname__} was not looked into"
        elif body is not None and (function := body.functions.get("__getattr__")) is not None:
            at = f"{function.source.file}:{function.node.lineno}"
            yield f"{at}: {base.__qualname__} passes attributes on that it does not have"


_KEEP_NOTHING = frozenset({"abc", "builtins", "collections", "contextlib", "enum", "typing", "turnproof"})
"""Packages whose classes keep no history as bases."""


def _is_harmless(base: type) -> bool:
    return base.__module__.partition(".")[0] in _KEEP_NOTHING
