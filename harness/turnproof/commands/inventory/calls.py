"""Reads calls: into the project's own functions and classes, onto what places hold, and to providers."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from ...provider import LEGACY_METHODS
from .expressions import Expressions
from .facts import (
    NOTHING,
    Class,
    Code,
    Contents,
    Degree,
    Input,
    Local,
    Mark,
    Module,
    Object,
    Super,
    Value,
    copied,
    degree_of_input,
    elements,
    joined,
    places,
    texts_of,
)
from .knowledge import Key
from .sources import dotted
from .vocabulary import (
    COPYING,
    COUNTING,
    GIVING,
    MUTATORS,
    PROVIDER_METHODS,
    WEAK_TYPES,
    is_history_name,
    makes_message,
    names_kept_answer,
    opens_chat,
)

_ADDERS = re.compile(r"(add|append|push|remember)(_|$)")
_GROWING = MUTATORS - {"clear", "discard", "pop", "popitem", "popleft", "remove", "reverse", "sort"}

Keywords = dict[str, Value]


class Calls(Expressions):
    """Reads the calls of one function."""

    def call(self, node: ast.Call) -> Value:
        """What a call returns, after whatever it does has been noted."""
        name = dotted(node.func)
        match node.func:
            case ast.Name(id=called) if called in _SPECIAL and called not in self.env:
                return _SPECIAL[called](self, node)
            case ast.Attribute(value=base, attr=attribute):
                value = self.value(base, quiet=attribute in MUTATORS)
                arguments, keywords = self._arguments(node, name)
                result = self._method(value, attribute, name, arguments, keywords, node)
            case _:
                value = self.value(node.func)
                arguments, keywords = self._arguments(node, name)
                result = self._function(value, name, arguments, keywords, node)
        if opens_chat(name):
            return result | {Mark.CHAT}
        return result | {Input(Degree.DERIVED)} if makes_message(name) else result

    def _arguments(self, node: ast.Call, name: str) -> tuple[list[Value], Keywords]:
        keywords = {keyword.arg or "**": self.value(keyword.value) for keyword in node.keywords}
        for argument, value in keywords.items():
            if names_kept_answer(argument, name):
                self.world.is_chain_id(value)
        return [self.value(argument) for argument in node.args], keywords

    # -- functions and classes ---------------------------------------------------------------------------------------

    def _function(self, value: Value, name: str, arguments: list[Value], keywords: Keywords, node: ast.Call) -> Value:
        if any(isinstance(fact, Code | Class | Local | Object) for fact in value):
            return self.call_value(value, arguments, keywords, node.lineno)
        return self._unknown(name.rpartition(".")[2], arguments, keywords, node)

    def call_value(self, value: Value, arguments: Sequence[Value], keywords: Keywords, line: int) -> Value:
        """What comes of calling a value that may be functions and classes."""
        results = []
        for fact in value:
            match fact:
                case Code():
                    results.append(self.invoke(fact, arguments, keywords, line))
                case Class(cls):
                    results.append(self._new_object(cls, arguments, keywords, line))
                case Local():
                    results.append(self.inline(fact, arguments, keywords))
                case Object(cls) if (function := self.world.sources.lookup(cls, "__call__")) is not None:
                    results.append(self.invoke(Code(function, cls), arguments, keywords, line))
                case _:
                    pass
        return joined(results)

    def invoke(self, code: Code, arguments: Sequence[Value], keywords: Keywords, line: int) -> Value:
        """What a function of the project returns."""
        function = code.function
        key = Key(code.cls, function)
        if function.is_bound and code.cls is None and arguments:
            # Looked up on its class: the object is the first argument.
            classes = [fact.cls for fact in arguments[0] if isinstance(fact, Object)]
            return joined(self.invoke(Code(function, cls), arguments[1:], keywords, line) for cls in classes)
        takes = function.node.args
        names = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)][function.is_bound :]
        for place, argument in enumerate(arguments):
            if place < len(names):
                self.world.give(key, names[place], argument)
            elif takes.vararg is not None:
                self.world.give(key, takes.vararg.arg, argument)
        known = {*names, *(parameter.arg for parameter in takes.kwonlyargs)}
        for name, argument in keywords.items():
            if name in known:
                self.world.give(key, name, argument)
            elif takes.kwarg is not None:
                self.world.give(key, takes.kwarg.arg, argument)
        return self.world.calls(self.key, key, line)

    def _new_object(self, cls: type, arguments: Sequence[Value], keywords: Keywords, line: int) -> Value:
        """A new object."""
        sources, value = self.world.sources, frozenset({Object(cls)})
        if (function := sources.lookup(cls, "__init__")) is not None:
            self.invoke(Code(function, cls), arguments, keywords, line)
            return value
        fields = [name for base in reversed(sources.bases(cls)) for name in _fields(sources.body(base))]
        for name, argument in (*zip(fields, arguments, strict=False), *keywords.items()):
            if name in fields:
                self.world.store(self.world.place(cls, name), argument)
        if (function := sources.lookup(cls, "__post_init__")) is not None:
            self.invoke(Code(function, cls), (), {}, line)
        return value

    # -- methods -----------------------------------------------------------------------------------------------------

    def _method(
        self, base: Value, method: str, name: str, arguments: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        if self.provider_in(base):
            return self._call_provider(method, node.lineno)
        found = self._own(base, method, node)
        if found is not None:
            return self.call_value(found, arguments, keywords, node.lineno)
        if any(isinstance(fact, Module) for fact in base):
            return self._unknown(method, arguments, keywords, node)
        if Mark.CHAT in base or self._is_chat(base, method):
            return self._chatted(base, method, arguments, node.lineno)
        if method in PROVIDER_METHODS and self._is_provider(base, method):
            for place in places(base):
                self.world.is_provider(place)
            return self._call_provider(method, node.lineno)
        return self._on_container(base, method, arguments, keywords, node.lineno)

    def _own(self, base: Value, method: str, node: ast.Call) -> Value | None:
        """The project's own code behind a method, if there is any."""
        owners = frozenset(fact for fact in base if isinstance(fact, Object | Class | Super | Module))
        found = self.attribute(owners, method, node, quiet=True)
        code = frozenset(fact for fact in found if isinstance(fact, Code | Class | Local | Object))
        return code or None

    def _call_provider(self, method: str, line: int) -> Value:
        if method.startswith("_"):
            self.touch("provider-private", method, line)
        else:
            self.touch("provider-call", f"{method}()", line)
        return NOTHING

    def _is_provider(self, base: Value, method: str) -> bool:
        """Whether what has this method must be a provider. In a provider, `complete()` may be an SDK's own."""
        if (
            not self.world.knows_objects
            or any(isinstance(fact, Object | Super | Class) for fact in base)
            or degree_of_input(base)
        ):
            return False
        return not self.world.is_provider_class(self.world.root) or method in LEGACY_METHODS

    def _is_chat(self, base: Value, method: str) -> bool:
        """Whether it is an SDK's chat object in a provider, that one sends messages through."""
        if method not in {"send_message", "get_history"} or not self.world.is_provider_class(self.world.root):
            return False
        return any(is_history_name(place.path.rpartition(".")[2]) for place in places(base))

    def _chatted(self, base: Value, method: str, arguments: list[Value], line: int) -> Value:
        for place in places(base):
            self.world.store(place, frozenset({Mark.CHAT}))
            self.touch("writes" if method.startswith("send") else "reads", place, line)
        content = frozenset(Contents(place, Degree.DERIVED) for place in places(base))
        return content if "history" in method else NOTHING

    def _on_container(self, base: Value, method: str, arguments: list[Value], keywords: Keywords, line: int) -> Value:
        value = joined([*arguments, *keywords.values()])
        if method in MUTATORS or (_ADDERS.match(method) and degree_of_input(value)):
            self.changed(base, line)
            if method == "setdefault":
                value = joined(arguments[1:])  # the first one is a key
            if method not in MUTATORS or method in _GROWING:
                for place in places(base):
                    self.world.grow(place, elements(value) if method in {"extend", "update"} else value)
            return elements(base) | (value if method == "setdefault" else NOTHING) if method in GIVING else NOTHING
        if method in GIVING:
            return elements(base)
        if method in COPYING:
            return copied(base)
        return self.made_of(base, value)

    # -- what Python brings ------------------------------------------------------------------------------------------

    def _unknown(self, name: str, arguments: list[Value], keywords: Keywords, node: ast.Call) -> Value:
        value = joined([*arguments, *keywords.values()])
        if name in COUNTING:
            return NOTHING
        if name in WEAK_TYPES:
            return frozenset({Mark.WEAK})
        if name in COPYING or name == "defaultdict":
            return copied(value)
        match name:
            case "partial":
                # Whoever gets it calls it, with these arguments.
                callables, *rest = arguments
                self.call_value(callables, rest, keywords, node.lineno)
                return callables
            case "map":
                function, *rest = arguments
                code = frozenset(fact for fact in function if isinstance(fact, Code | Class | Local))
                each = [elements(argument) for argument in rest]
                if not code:
                    return copied(self._unknown(dotted(node.args[0]).rpartition(".")[2], each, {}, node))
                return copied(self.call_value(code, each, {}, node.lineno))
            case "cast":
                return arguments[-1] if arguments else NOTHING
            case "next":
                return elements(value)
        return self.made_of(value)

    def _super(self, node: ast.Call) -> Value:
        cls, after = self.key.cls, self.key.function.cls
        return frozenset({Super(cls, after)}) if cls is not None and after is not None else NOTHING

    def _type(self, node: ast.Call) -> Value:
        return frozenset(Class(fact.cls) for fact in self.values(node.args) if isinstance(fact, Object))

    def _getattr(self, node: ast.Call) -> Value:
        return self._mentioned(self._by_name(node, quiet=False), node.lineno)

    def _hasattr(self, node: ast.Call) -> Value:
        self._by_name(node, quiet=True, decides=False)
        return NOTHING

    def _setattr(self, node: ast.Call) -> Value:
        target, name, value = (self.value(argument) for argument in node.args[:3])
        if names := texts_of(name):
            for each in names:
                self.assigned(target, each, value, node.lineno)
        elif self.matters(target):
            self.cannot_see("an attribute is set by a name that is computed", node.lineno)
        return NOTHING

    def _delattr(self, node: ast.Call) -> Value:
        return self._setattr(ast.copy_location(ast.Call(node.func, [*node.args, ast.Constant(None)], []), node))

    def _vars(self, node: ast.Call) -> Value:
        if self.matters(self.values(node.args)):
            self.cannot_see("all attributes are reached at once", node.lineno)
        return NOTHING

    def _exec(self, node: ast.Call) -> Value:
        self.values(node.args)
        self.cannot_see("code is run from text", node.lineno)
        return NOTHING

    def assigned(self, target: Value, attribute: str, value: Value, line: int) -> None:
        """An attribute is given a value."""
        for fact in target:
            match fact:
                case Mark.PROVIDER:
                    self._of_provider(attribute, line)
                case Object(cls) if self._is_other(cls):
                    self._of_provider(attribute, line)
                case Object(cls) | Class(cls) | Super(cls):
                    if (setter := self.world.sources.setter(cls, attribute)) is not None:
                        self.invoke(Code(setter, cls), (value,), {}, line)
                        continue
                    place = self.world.place(cls, attribute)
                    self.touch("writes", place, line)
                    self.world.store(place, value)
                case Contents(place, Degree.SAME) if not any(isinstance(one, Object | Class) for one in target):
                    self.touch("writes", place.below(attribute), line)
                    self.world.store(place.below(attribute), value)
                case _:
                    pass

    def _by_name(self, node: ast.Call, *, quiet: bool, decides: bool = True) -> Value:
        """The attributes that a `getattr` may be about."""
        target, name, *default = (self.value(argument) for argument in node.args)
        if names := texts_of(name):
            found = [self._reached(target, each, node, quiet) for each in names]
            return joined([*found, *default])
        if decides and self.matters(target):
            self.cannot_see("an attribute is reached by a name that is computed", node.lineno)
        return joined(default)

    def _reached(self, target: Value, name: str, node: ast.Call, quiet: bool) -> Value:
        if self.provider_in(target) and name in PROVIDER_METHODS:
            return self._call_provider(name, node.lineno)
        return self.attribute(target, name, node, quiet)


def _fields(body: object) -> list[str]:
    fields: dict[str, ast.AnnAssign | ast.Assign] = getattr(body, "fields", {})
    return [name for name, node in fields.items() if isinstance(node, ast.AnnAssign)]


_SPECIAL: dict[str, Callable[[Calls, ast.Call], Value]] = {
    "delattr": Calls._delattr,
    "eval": Calls._exec,
    "exec": Calls._exec,
    "getattr": Calls._getattr,
    "hasattr": Calls._hasattr,
    "setattr": Calls._setattr,
    "super": Calls._super,
    "type": Calls._type,
    "vars": Calls._vars,
}
