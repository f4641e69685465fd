"""What was found out so far: what places hold, what functions are given and return, and what they do.

It only grows. A function is read again when something is added that it depends on, until nothing is added any more.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from .facts import NOTHING, Class, Code, Contents, Degree, Mark, Object, Place, Value
from .model import TouchKind
from .sources import Function, Sources, dotted
from .vocabulary import OF_PROVIDERS_ALONE, PROVIDER_METHODS, STATELESS_METHOD, is_provider_name

K = TypeVar("K")


class Key(NamedTuple):
    """A function, and the class of the object that it works on."""

    cls: type | None
    function: Function


@dataclass(frozen=True, slots=True)
class Touched:
    """Something that a function does at a line: to a place, or, where that is a text, to a provider."""

    kind: TouchKind
    what: Place | str
    line: int


@dataclass(frozen=True, slots=True)
class Called:
    """A function that another one calls, or hands to somebody who will, at a line."""

    key: Key
    line: int


@dataclass
class World:
    """See the module.

    fields, grown:  what places are given, and what is added to what they hold.
    parameters, returns: what functions are given and give back.
    providers:      places that hold a provider, known by what is called on it.
    chain_ids:      places from which a request takes the id of what the service keeps.
    typed:          places with the annotation of a list of messages.
    declared:       places of which the class's body was read.
    shared:         classes of objects that stand in modules.
    touched, called: what each function does, by its own hand and through others.
    keys:           the functions that take part.
    pending:        those of them that have to be read (again); `readers` are those that depend on something.
    knows_objects:  all objects of the project are known. Before, what looks like a provider may turn out to be one.
    """

    sources: Sources
    fields: dict[Place, Value] = field(default_factory=lambda: defaultdict(frozenset))
    additions: dict[Place, Value] = field(default_factory=lambda: defaultdict(frozenset))
    parameters: dict[tuple[Key, str], Value] = field(default_factory=lambda: defaultdict(frozenset))
    returns: dict[Key, Value] = field(default_factory=lambda: defaultdict(frozenset))
    providers: set[Place] = field(default_factory=set)
    chain_ids: set[Place] = field(default_factory=set)
    typed: set[Place] = field(default_factory=set)
    declared: set[Place] = field(default_factory=set)
    shared: set[type] = field(default_factory=set)
    touched: dict[Key, dict[Touched, None]] = field(default_factory=lambda: defaultdict(dict))
    call_value: dict[Key, dict[Called, None]] = field(default_factory=lambda: defaultdict(dict))
    problems: dict[str, None] = field(default_factory=dict)
    keys: dict[Key, None] = field(default_factory=dict)
    pending: dict[Key, None] = field(default_factory=dict)
    readers: dict[Place | Key, dict[Key, None]] = field(default_factory=lambda: defaultdict(dict))
    knows_objects: bool = False
    _provider_classes: dict[type, bool] = field(default_factory=dict)

    @property
    def root(self) -> type:
        """The class that is asked about."""
        return self.sources.root

    def place(self, cls: type, attribute: str) -> Place:
        """An attribute of a class's objects; one of a base of the root is the root's own."""
        return Place(self.root if cls in self.root.__mro__ else cls, attribute)

    def place_value(self, place: Place, key: Key) -> Value:
        """What a place holds, for a function that depends on it."""
        self.readers[place][key] = None
        return self.fields[place]

    def store(self, place: Place, value: Value) -> None:
        """A place is given a value."""
        if _add(self.fields, place, value):
            self.pending |= self.readers[place]

    def grow(self, place: Place, value: Value) -> None:
        """What a place holds is given another element."""
        _add(self.additions, place, value)
        self.store(place, frozenset({Mark.CONTAINER, *_objects(value)}))

    def give(self, key: Key, parameter: str, value: Value) -> None:
        """A function is given an argument."""
        if _add(self.parameters, (key, parameter), value):
            self.pending[key] = None

    def give_back(self, key: Key, value: Value) -> None:
        """A function returns, or yields, a value."""
        if _add(self.returns, key, value):
            self.pending |= self.readers[key]

    def is_provider(self, place: Place) -> None:
        """What a place holds is a provider."""
        if place not in self.providers:
            self.providers.add(place)
            self.pending |= self.readers[place]

    def is_chain_id(self, value: Value) -> None:
        """A request names what the service keeps by a value: where that is held, the conversation is held."""
        self.chain_ids |= {fact.place for fact in value if isinstance(fact, Contents) and fact.degree >= Degree.COPY}

    def add_function(self, key: Key) -> None:
        """A function takes part."""
        if key not in self.keys:
            self.keys[key] = None
            self.pending[key] = None

    def objects_are_known(self) -> None:
        """Forget all that was found out, except which objects and functions there are, and begin again.

        As long as some object was unknown, it had to be taken for any container, and its methods for anything.
        """
        self.knows_objects = True
        _keep_objects(self.fields)
        _keep_objects(self.parameters)
        _keep_objects(self.returns)
        self.additions.clear()
        self.chain_ids.clear()
        self.declared.clear()
        self.read_again()

    def read_again(self) -> None:
        """Forget what functions do, and have all of them read."""
        self.touched.clear()
        self.call_value.clear()
        self.problems.clear()
        self.pending |= self.keys

    def touches(self, key: Key, kind: TouchKind, place: Place | str, line: int) -> None:
        """A function does something."""
        self.touched[key][Touched(kind, place, line)] = None

    def calls(self, key: Key, callee: Key, line: int) -> Value:
        """A function calls another one; what that returns."""
        self.add_function(callee)
        self.readers[callee][key] = None
        self.call_value[key][Called(callee, line)] = None
        return self.returns[callee]

    def cannot_see(self, source_line: str) -> None:
        """A spot that cannot be decided."""
        self.problems[source_line] = None

    def is_provider_class(self, cls: type) -> bool:
        """Whether objects of a class are providers: they have methods that nothing else has.

        What has a `complete()` and passes it on to a provider is a part of a session.
        """
        if cls not in self._provider_classes:
            names = {name for name in PROVIDER_METHODS if callable(getattr(cls, name, None))}
            alone = names & OF_PROVIDERS_ALONE
            self._provider_classes[cls] = len(names) >= 3 or bool(
                alone - {STATELESS_METHOD} or (alone and not self._asks_provider(cls))
            )
        return self._provider_classes[cls]

    def _asks_provider(self, cls: type) -> bool:
        bodies = (self.sources.body(base) for base in self.sources.bases(cls))
        functions = (function.node for body in bodies if body is not None for function in body.functions.values())
        return any(
            isinstance(node, ast.Attribute)
            and node.attr in PROVIDER_METHODS
            and is_provider_name(dotted(node.value).rpartition(".")[2])
            for function in functions
            for node in ast.walk(function)
        )


def _objects(value: Value) -> Value:
    return frozenset(fact for fact in value if isinstance(fact, Object | Class | Code))


def _keep_objects(values: dict[K, Value]) -> None:
    for key, value in values.items():
        values[key] = _objects(value)


def _add(values: dict[K, Value], key: K, value: Value) -> bool:
    before = values.get(key, NOTHING)
    if value <= before:
        return False
    values[key] = before | value
    return True
