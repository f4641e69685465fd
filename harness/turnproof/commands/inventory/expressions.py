"""Reads expressions: what a value may be, and which places are read on the way to it."""

from __future__ import annotations

import ast
import enum
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from types import ModuleType
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from .facts import (
    NOTHING,
    Class,
    Code,
    Contents,
    Degree,
    Fact,
    Input,
    Local,
    Mark,
    Module,
    Object,
    Place,
    Super,
    Value,
    Word,
    copied,
    derived,
    elements,
    joined,
    places,
)
from .knowledge import Key, World
from .model import TouchKind
from .sources import Source
from .vocabulary import CONTENT_ATTRIBUTES, holds_messages, is_history_name, is_provider_name, names_kept_answer

_CONTAINERS = (list, dict, set, deque)
_WEAK = (WeakKeyDictionary, WeakValueDictionary, WeakSet)


class Expressions(ABC):
    """Reads the expressions of one function. `env` has what its names stand for."""

    def __init__(self, world: World, key: Key) -> None:
        self.world = world
        self.key = key
        self.env: dict[str, Value] = {}

    @property
    def source(self) -> Source:
        """The module that is read."""
        return self.key.function.source

    @abstractmethod
    def call(self, node: ast.Call) -> Value:
        """What a call returns."""

    @abstractmethod
    def invoke(self, code: Code, arguments: Sequence[Value], keywords: dict[str, Value], line: int) -> Value:
        """What a function returns for these arguments."""

    @abstractmethod
    def inline(self, node: Local, arguments: Sequence[Value], keywords: dict[str, Value]) -> Value:
        """What a function within this one returns for these arguments."""

    @abstractmethod
    def bind(self, target: ast.expr, value: Value, line: int) -> None:
        """Give a target a value."""

    def touch(self, kind: TouchKind, place: Place | str, line: int) -> None:
        """Note what the function does."""
        self.world.touches(self.key, kind, place, line)

    def cannot_see(self, problem: str, line: int) -> None:
        """Note a spot that cannot be decided."""
        self.world.cannot_see(f"{self.source.file}:{line}: {problem}: {self.source.line(line)}")

    # -- expressions -----------------------------------------------------------------------------------------------

    def values(self, nodes: Iterable[ast.expr | None]) -> Value:
        """All that these expressions may be."""
        return joined([self.value(node) for node in nodes if node is not None])

    def value(self, node: ast.expr, *, quiet: bool = False) -> Value:
        """What an expression may be. `quiet`: it is there to be changed, not to be read."""
        match node:
            case ast.Name(id=name):
                return self._value_of_name(name, node.lineno, quiet)
            case ast.Attribute(value=base, attr=name):
                value = self.value(base, quiet=quiet)
                if name == "__dict__" and self.matters(value):
                    self.cannot_see("all attributes are reached at once", node.lineno)
                return self._mentioned(self.attribute(value, name, node, quiet), node.lineno)
            case ast.Call():
                return self.call(node)
            case ast.Constant(value=text):
                return frozenset({Word(text)}) if isinstance(text, str) and text.isidentifier() else NOTHING
            case ast.Subscript(value=base, slice=index):
                self.value(index)
                base_value = self.value(base, quiet=quiet)
                return copied(base_value) if isinstance(index, ast.Slice) else elements(base_value)
            case ast.Tuple(elts=[]):
                return NOTHING
            case ast.Tuple(elts=parts) if not any(isinstance(part, ast.Starred) for part in parts):
                # So many things, each with its own meaning: no list of messages, though a message may be one of them.
                return copied(self.values(parts)) - {Mark.CONTAINER}
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return copied(self.values(parts))
            case ast.Dict():
                return self._dict(node)
            case ast.Starred(value=inner):
                return elements(self.value(inner))
            case ast.Await(value=inner):
                return self.value(inner)
            case ast.BoolOp(values=parts):
                return self.values(parts)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.value(test)
                return self.values([body, orelse])
            case ast.BinOp(left=left, right=right):
                both = self.values([left, right])
                # Two lists make another one; two texts, or two numbers, do not.
                return copied(both) if Mark.CONTAINER in both else copied(both) - {Mark.CONTAINER}
            case ast.NamedExpr(target=target, value=inner):
                value = self.value(inner)
                self.bind(target, value, node.lineno)
                return value
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return copied(self._comprehended(node.generators, [node.elt]))
            case ast.DictComp():
                return copied(self._comprehended(node.generators, [node.key, node.value]))
            case ast.Lambda():
                local = Local(node)
                self.inline(local, (), {})
                return frozenset({local})
            case ast.Yield(value=inner) | ast.YieldFrom(value=inner):
                self.world.give_back(self.key, self.value(inner) if inner is not None else NOTHING)
                return NOTHING
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return NOTHING

    def _dict(self, node: ast.Dict) -> Value:
        self.values(node.keys)
        values = [self.value(each) for each in node.values]
        value = copied(joined(values))
        for key, each in zip(node.keys, values, strict=True):
            self.given_to_field(key, each)
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        # A message as the services take it.
        return value | {Input(Degree.DERIVED)} if "role" in keys else value

    def given_to_field(self, key: ast.expr | None, value: Value) -> None:
        """A member of a dict, which may be a request, is given a value."""
        if isinstance(key, ast.Constant) and names_kept_answer(str(key.value)):
            self.world.is_chain_id(value)

    def _comprehended(self, generators: Sequence[ast.comprehension], results: Sequence[ast.expr]) -> Value:
        outer = dict(self.env)
        for each in generators:
            self.bind(each.target, elements(self.value(each.iter)), each.iter.lineno)
            self.values(each.ifs)
        value = self.values(results)
        self.env = outer
        return value

    # -- names -----------------------------------------------------------------------------------------------------

    def _value_of_name(self, name: str, line: int, quiet: bool) -> Value:
        if name in self.env:
            return self.env[name]
        if name in self.source.rebound:
            return self.load(Place(self.source.module.__name__, name), line, quiet)
        return self.module_value(vars(self.source.module).get(name), name, line, quiet)

    def module_value(self, found: object, name: str, line: int, quiet: bool) -> Value:
        """What stands in a module, told by the object that is there."""
        sources = self.world.sources
        match found:
            case type() if sources.body(found) is not None:
                return frozenset({Class(found)})
            case ModuleType():
                return frozenset({Module(found)})
            case str() if found.isidentifier():
                return frozenset({Word(found)})
            case enum.Enum():
                return NOTHING
        if (function := sources.function(found)) is not None:
            return frozenset({Code(function, None)})
        if isinstance(found, (*_CONTAINERS, *_WEAK)):
            place = Place(sources.home(found, name, self.source.module), name)
            self.world.store(place, frozenset({Mark.WEAK if isinstance(found, _WEAK) else Mark.CONTAINER}))
            return self.load(place, line, quiet)
        if not isinstance(found, type) and sources.body(type(found)) is not None:
            self.world.shared.add(type(found))
            return frozenset({Object(type(found))})
        return NOTHING

    # -- attributes ------------------------------------------------------------------------------------------------

    def attribute(self, base: Value, name: str, node: ast.expr, quiet: bool = False) -> Value:
        """An attribute of whatever `base` may be."""
        line = node.lineno
        known = any(isinstance(fact, Object | Class | Super | Module) for fact in base)
        if Mark.CHAT in base and name.startswith("send"):
            self.changed(base, line)
        if Mark.CHAT in base and name == "id":
            return frozenset({Mark.CHAT_ID})
        return joined(
            self.load(fact.place.below(name), line, quiet)
            if isinstance(fact, Contents) and fact.degree is Degree.SAME and not known and not self.provider_in(base)
            else self._attribute_value(fact, name, line, quiet)
            for fact in base
        )

    def provider_in(self, base: Value) -> bool:
        """Whether a value may be a provider other than the one that is asked about."""
        return any(fact is Mark.PROVIDER or (isinstance(fact, Object) and self._is_other(fact.cls)) for fact in base)

    def matters(self, value: Value) -> bool:
        """Whether what cannot be seen of this value may be history."""
        classes = {fact.cls for fact in value if isinstance(fact, Object | Class)}
        return self.provider_in(value) or any(cls in self.world.root.__mro__ for cls in classes)

    def _is_other(self, cls: type) -> bool:
        own = (self.world.root, self.key.cls or self.world.root)
        return self.world.is_provider_class(cls) and not any(issubclass(own_class, cls) for own_class in own)

    def _attribute_value(self, fact: Fact, name: str, line: int, quiet: bool) -> Value:
        sources = self.world.sources
        match fact:
            case Mark.PROVIDER:
                return self._of_provider(name, line)
            case Object(cls):
                if self._is_other(cls):
                    return self._of_provider(name, line)
                function = sources.lookup(cls, name)
                if function is None:
                    return self.load(self.world.place(cls, name), line, quiet)
                code = Code(function, cls)
                return self.invoke(code, (), {}, line) if function.kind == "property" else frozenset({code})
            case Super(cls, after):
                function = sources.lookup(cls, name, after=after)
                if function is None:
                    return NOTHING
                code = Code(function, cls)
                return self.invoke(code, (), {}, line) if function.kind == "property" else frozenset({code})
            case Class(cls):
                function = sources.lookup(cls, name)
                if function is not None:
                    return frozenset({Code(function, cls if function.kind == "class" else None)})
                return self.load(self.world.place(cls, name), line, quiet)
            case Module(module):
                return self.module_value(vars(module).get(name), name, line, quiet)
            case Input(degree) if is_history_name(name):
                return frozenset({Input(min(degree, Degree.COPY))})
            case Input() if name in CONTENT_ATTRIBUTES:
                return frozenset({Input(Degree.DERIVED)})
        return NOTHING

    def _of_provider(self, name: str, line: int) -> Value:
        if name.startswith("_") and not name.startswith("__"):
            self.touch("provider-private", name, line)
        return NOTHING

    def load(self, place: Place, line: int, quiet: bool = False) -> Value:
        """What a place holds."""
        self._declared(place)
        if not quiet:
            self.touch("reads", place, line)
        value = self.world.place_value(place, self.key)
        if place in self.world.providers or (is_provider_name(place.path) and self._may_be_provider(value)):
            value |= {Mark.PROVIDER}
        return value | {Contents(place, Degree.SAME)}

    def _may_be_provider(self, value: Value) -> bool:
        return not any(isinstance(fact, Object | Word) for fact in value)

    def _declared(self, place: Place) -> None:
        """Take in what the body of the class says of a field."""
        if isinstance(place.owner, str) or place in self.world.declared:
            return
        self.world.declared.add(place)
        for base in self.world.sources.bases(place.owner):
            body = self.world.sources.body(base)
            if body is None or (field := body.fields.get(place.path)) is None:
                continue
            if isinstance(field, ast.AnnAssign):
                self.annotated(place, field.annotation)
            if field.value is not None:
                self.world.store(place, self._default(field.value))

    def _default(self, node: ast.expr) -> Value:
        """What a field begins with: a value, or what its factory makes."""
        match node:
            case ast.Call(keywords=keywords) if factories := [k for k in keywords if k.arg == "default_factory"]:
                call = ast.copy_location(ast.Call(factories[0].value, [], []), node)
                return self.call(call)
        return self.value(node)

    def annotated(self, place: Place, annotation: ast.expr) -> None:
        """Take in what an annotation says of a place."""
        if holds_messages(ast.unparse(annotation)):
            self.world.typed.add(place)

    def _mentioned(self, value: Value, line: int) -> Value:
        """A function that is not called here is handed to somebody who will."""
        for fact in value:
            match fact:
                case Code(function, cls) if cls is not None and function.kind != "property":
                    self.invoke(fact, (), {}, line)
                case _:
                    pass
        return value

    def changed(self, value: Value, line: int) -> None:
        """What a value holds is changed."""
        for place in places(value):
            self.touch("writes", place, line)

    def made_of(self, *values: Value) -> Value:
        """What unknown code makes of values."""
        return derived(joined(values))
