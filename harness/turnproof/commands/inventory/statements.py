"""Reads statements: a function from its first line to its last, with both ways of every branch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .calls import Calls, Keywords
from .facts import NOTHING, Class, Local, Mark, Object, Place, Value, copied, elements, joined, places
from .knowledge import Key, World
from .vocabulary import HISTORY_GETTERS, is_provider_name


class Reading(Calls):
    """One reading of one function."""

    def __init__(self, world: World, key: Key) -> None:
        super().__init__(world, key)
        self._rebinds: set[str] = set()
        self._within: list[Local] = []
        self._returned: list[Value] = []

    def read(self) -> None:
        """Note what the function does, is given and gives back."""
        function = self.key.function
        takes = function.node.args
        every = [*takes.posonlyargs, *takes.args, *takes.kwonlyargs, takes.vararg, takes.kwarg]
        for parameter in every:
            if parameter is not None:
                self.env[parameter.arg] = self._parameter_value(parameter)
        if function.is_bound and self.key.cls is not None and (own := [*takes.posonlyargs, *takes.args]):
            fact = Class(self.key.cls) if function.kind == "class" else Object(self.key.cls)
            self.env[own[0].arg] = frozenset({fact})
        self._run(function.node.body)

    def _parameter_value(self, parameter: ast.arg) -> Value:
        value = self.world.parameters[self.key, parameter.arg]
        named = parameter.annotation is not None and _names_provider(parameter.annotation)
        if (named or is_provider_name(parameter.arg)) and self._may_be_provider(value):
            return value | {Mark.PROVIDER}
        return value

    def inline(self, node: Local, arguments: Sequence[Value], keywords: Keywords) -> Value:
        """What a function within this one gives back."""
        if node in self._within:
            return NOTHING
        takes = node.node.args
        names = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs)]
        outer, self.env = self.env, {**self.env, **dict.fromkeys(names, NOTHING)}
        self.env |= dict(zip(names, arguments, strict=False))
        self.env |= {name: value for name, value in keywords.items() if name in names}
        self._within.append(node)
        if isinstance(node.node, ast.Lambda):
            value = self.value(node.node.body)
        else:
            outer_returned, self._returned = self._returned, []
            self._run(node.node.body)
            value, self._returned = joined(self._returned), outer_returned
        self._within.pop()
        self.env = outer
        return value

    def bind(self, target: ast.expr, value: Value, line: int) -> None:
        """Give a name, an attribute, a subscript or each of several a value."""
        match target:
            case ast.Name(id=name) if name in self._rebinds:
                place = Place(self.source.module.__name__, name)
                self.touch("writes", place, line)
                self.world.store(place, value)
            case ast.Name(id=name):
                self.env[name] = value
            case ast.Attribute(value=base, attr=attribute):
                self.assigned(self.value(base, quiet=True), attribute, value, line)
            case ast.Subscript(value=base, slice=index):
                self.value(index)
                base_value = self.value(base, quiet=True)
                self.changed(base_value, line)
                self.given_to_field(index, value)
                for place in places(base_value):
                    self.world.grow(place, value)
            case ast.Starred(value=inner):
                self.bind(inner, copied(value), line)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for each in targets:
                    self.bind(each, elements(value), line)

    # -- statements ----------------------------------------------------------------------------------------------------

    def _run(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=expression):
                self._assign(targets, expression, node.lineno)
            case ast.AnnAssign(target=target, annotation=annotation, value=expression):
                self._annotate(target, annotation)
                if expression is not None:
                    self.bind(target, self.value(expression), node.lineno)
            case ast.AugAssign(target=target, value=expression):
                self._augment(target, self.value(expression), node.lineno, isinstance(expression, ast.Constant))
            case ast.Delete(targets=targets):
                for target in targets:
                    self._delete(target, node.lineno)
            case ast.Return(value=expression):
                self._give_back(self.value(expression) if expression is not None else NOTHING)
            case ast.Global(names=names):
                self._rebinds.update(names)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                local = Local(node)
                self.env[node.name] = frozenset({local})
                self.inline(local, (), {})
            case ast.If(test=test, body=body, orelse=orelse):
                self.value(test)
                self._either([body, orelse])
            case ast.While(test=test, body=body, orelse=orelse):
                for _ in range(2):
                    self.value(test)
                    self._either([body, []])
                self._run(orelse)
            case ast.For(target=target, iter=iterated) | ast.AsyncFor(target=target, iter=iterated):
                for _ in range(2):
                    self.bind(target, elements(self.value(iterated)), node.lineno)
                    self._either([node.body, []])
                self._run(node.orelse)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    entered = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, entered, node.lineno)
                self._run(node.body)
            case ast.Try() | ast.TryStar():
                self._either([node.body, []])
                self._either([[], *(handler.body for handler in node.handlers), node.orelse])
                self._run(node.finalbody)
            case ast.Match(subject=subject, cases=cases):
                self._match(self.value(subject), cases)
            case ast.ClassDef() | ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Break() | ast.Continue():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child)

    def _either(self, ways: Iterable[Sequence[ast.stmt]]) -> None:
        before, after = self.env, []
        for way in ways:
            self.env = dict(before)
            self._run(way)
            after.append(self.env)
        self.env = {name: joined(env.get(name, NOTHING) for env in after) for name in {n for env in after for n in env}}

    def _match(self, subject: Value, cases: Sequence[ast.match_case]) -> None:
        for case in cases:
            for node in ast.walk(case.pattern):
                if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
                    self.env[node.name] = elements(subject)
            if case.guard is not None:
                self.value(case.guard)
        self._either([*(case.body for case in cases), []])

    def _assign(self, targets: Sequence[ast.expr], expression: ast.expr, line: int) -> None:
        for target in targets:
            match target, expression:
                case (ast.Tuple(elts=names), ast.Tuple(elts=parts)) if len(names) == len(parts):
                    values = [self.value(part) for part in parts]
                    for name, value in zip(names, values, strict=True):
                        self.bind(name, value, line)
                case _:
                    self.bind(target, self.value(expression), line)

    def _augment(self, target: ast.expr, added: Value, line: int, is_number: bool) -> None:
        target_value = self.value(target, quiet=True)
        self.changed(target_value, line)
        for place in places(target_value):
            if not is_number:
                self.world.grow(place, elements(added))
        if isinstance(target, ast.Name) and not places(target_value):
            self.bind(target, target_value | added, line)

    def _delete(self, target: ast.expr, line: int) -> None:
        match target:
            case ast.Attribute():
                self.changed(self.value(target, quiet=True), line)
            case ast.Subscript(value=base, slice=index):
                self.value(index)
                self.changed(self.value(base, quiet=True), line)
            case _:
                pass

    def _annotate(self, target: ast.expr, annotation: ast.expr) -> None:
        if isinstance(target, ast.Attribute):
            for place in places(self.value(target, quiet=True)):
                self.annotated(place, annotation)

    def _give_back(self, value: Value) -> None:
        if self._within:
            self._returned.append(value)
            return
        self.world.give_back(self.key, value)


def is_history_getter(key: Key, root: type) -> bool:
    """Whether what a function gives back is the root's history."""
    return key.function.name in HISTORY_GETTERS and key.cls is root


def _names_provider(annotation: ast.expr) -> bool:
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    names = str(text).replace("[", " ").replace("|", " ").replace("]", " ").replace('"', " ").replace("'", " ").split()
    return "Callable" not in names and any(name.rpartition(".")[2].endswith("Provider") for name in names)
