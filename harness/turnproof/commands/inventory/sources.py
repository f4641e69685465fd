"""Where the code of a class is: modules, classes and functions as syntax trees.

Classes are found as the imported objects that they are, their code in the source alone: nothing of it is run. Followed
are the modules of the class's own package and of other packages that lie in the project; the standard library and what
is installed (SDKs) are not, unless they are named.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal, TypeAlias

from ...errors import UsageError

Def: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Kind: TypeAlias = Literal["function", "method", "static", "class", "property", "setter"]


class Source:
    """One module's text and tree."""

    def __init__(self, module: ModuleType, file: str) -> None:
        self.module = module
        self.file = file
        text = Path(file).read_text("utf-8")
        self.lines = text.splitlines()
        self.tree = ast.parse(text)

    def line(self, number: int) -> str:
        """One line, counted from 1, without the blanks around it."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Names of the module that functions bind anew."""
        return frozenset(name for node in ast.walk(self.tree) if isinstance(node, ast.Global) for name in node.names)

    @cached_property
    def assigned(self) -> frozenset[str]:
        """Names that the module itself gives a value."""
        targets = (target for node in statements(self.tree.body) for target in _targets(node))
        return frozenset(target.id for target in targets if isinstance(target, ast.Name))

    @cached_property
    def functions(self) -> dict[str, Def]:
        """The functions of the module itself."""
        return {node.name: node for node in statements(self.tree.body) if isinstance(node, Def)}

    def classes(self, qualname: str) -> list[ast.ClassDef]:
        """The definitions of a class by its qualified name."""
        scopes: list[ast.AST] = [self.tree]
        for name in qualname.replace("<locals>.", "").split("."):
            scopes = [node for scope in scopes for node in ast.walk(scope) if _is_named(node, name)]
        return [scope for scope in scopes if isinstance(scope, ast.ClassDef)]


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the project. `cls` is the class in whose body it stands, or None."""

    node: Def
    source: Source
    cls: type | None
    kind: Kind

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name

    @property
    def owner(self) -> str:
        """The class or the module that it belongs to."""
        return self.source.module.__name__ if self.cls is None else self.cls.__qualname__

    @property
    def is_bound(self) -> bool:
        """Whether its first parameter is filled by what it is looked up on."""
        return self.kind not in ("function", "static")


@dataclass(frozen=True, slots=True)
class Body:
    """What stands in the body of a class: functions by name (a property's setter apart), and fields in their order."""

    functions: dict[str, Function]
    setters: dict[str, Function]
    fields: dict[str, ast.AnnAssign | ast.Assign]


class Sources:
    """The source around one class. `packages` are followed although they are installed."""

    def __init__(self, root: type, packages: Iterable[str] = ()) -> None:
        self.root = root
        self._followed = {root.__module__.partition(".")[0], *packages}
        self._modules: dict[str, Source | None] = {}
        self._bodies: dict[type, Body | None] = {}
        self._functions: dict[tuple[str, str], Function] = {}
        self._homes: dict[tuple[str, str], str] = {}
        source = self.source_of(root.__module__)
        if source is None or self.body(root) is None:
            raise UsageError(f"{root.__module__}.{root.__qualname__} has no Python source to look at")
        self.file = source.file

    def source_of(self, name: str) -> Source | None:
        """A module's source, if it is one that is followed."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def body(self, cls: type) -> Body | None:
        """What stands in a class, if its source is followed."""
        if cls not in self._bodies:
            source = self.source_of(cls.__module__)
            found = source.classes(cls.__qualname__) if source is not None else []
            self._bodies[cls] = _body(cls, _the_one(cls, found), source) if source and found else None
        return self._bodies[cls]

    def bases(self, cls: type) -> list[type]:
        """The class and its bases, as attributes are looked up, as far as their source is followed."""
        return [base for base in cls.__mro__ if self.body(base) is not None]

    def lookup(self, cls: type, name: str, *, after: type | None = None) -> Function | None:
        """The function of that name that an object of `cls` has; behind the class `after`, if that is given."""
        order = cls.__mro__[cls.__mro__.index(after) + 1 :] if after in cls.__mro__ else cls.__mro__
        for base in order:
            body = self.body(base)
            if body is not None and name in body.functions:
                return body.functions[name]
            if name in vars(base):
                return self._attached(base, name, body) if body is not None else None
        return None

    def setter(self, cls: type, name: str) -> Function | None:
        """The setter of a property."""
        bodies = (self.body(base) for base in cls.__mro__)
        return next((body.setters[name] for body in bodies if body is not None and name in body.setters), None)

    def function(self, found: object) -> Function | None:
        """A function of a module."""
        if not isinstance(found, FunctionType):
            return None
        inner: Any = inspect.unwrap(found)
        key = (inner.__module__, inner.__qualname__)
        if key not in self._functions:
            source = self.source_of(inner.__module__)
            node = source.functions.get(inner.__qualname__) if source is not None else None
            if source is None or node is None:
                return None
            self._functions[key] = Function(node, source, None, "function")
        return self._functions[key]

    def home(self, found: object, name: str, module: ModuleType) -> str:
        """The module in which an object was made that another module imported, by name."""
        if (known := self._homes.get((module.__name__, name))) is not None:
            return known
        here = self._homes[module.__name__, name] = self._home(found, name) or module.__name__
        return here

    def _home(self, found: object, name: str) -> str | None:
        for module in list(sys.modules.values()):
            source = self.source_of(module.__name__) if vars(module).get(name) is found else None
            if source is not None and name in source.assigned:
                return module.__name__
        return None

    def _attached(self, base: type, name: str, body: Body) -> Function | None:
        """A method that was given to the class from elsewhere, as `send = _send` in its body does."""
        value = vars(base)[name]
        found = self.function(getattr(value, "__func__", value))
        if found is None:
            return None
        kind: Kind = "static" if isinstance(value, staticmethod) else "method"
        body.functions[name] = Function(found.node, found.source, base, kind)
        return body.functions[name]

    def _read(self, name: str) -> Source | None:
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if module is None or file is None or not file.endswith(".py") or not self._is_followed(name, file):
            return None
        try:
            return Source(module, file)
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: cannot read the source of {name}: {error}") from error

    def _is_followed(self, name: str, file: str) -> bool:
        package = name.partition(".")[0]
        if package in self._followed:
            return True
        # Installed or not: what an inventory says of a class must not depend on how turnproof was installed.
        if package in sys.stdlib_module_names or package == __name__.partition(".")[0]:
            return False
        return not {"site-packages", "dist-packages"} & set(Path(file).parts)


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module's or a class's body, those under `if` and `try` among them."""
    for node in body:
        yield node
        match node:
            case ast.If():
                yield from statements([*node.body, *node.orelse])
            case ast.Try():
                yield from statements([*node.body, *(s for h in node.handlers for s in h.body), *node.orelse])
            case ast.With():
                yield from statements(node.body)


def _targets(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target):
            return [target]
    return []


def dotted(node: ast.expr) -> str:
    """The dotted name of an expression; what is called or computed on the way is left out."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{before}.{name}" if (before := dotted(value)) else name
    return ""


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.ClassDef | Def) and node.name == name


def _the_one(cls: type, found: list[ast.ClassDef]) -> ast.ClassDef:
    """Of definitions of one name, that which the class was made from: it has the lines of the class's functions."""
    lines = {value.__code__.co_firstlineno for value in vars(cls).values() if isinstance(value, FunctionType)}
    within = [node for node in found if any(node.lineno <= line <= (node.end_lineno or 0) for line in lines)]
    return (within or found)[-1]


def _body(cls: type, node: ast.ClassDef, source: Source) -> Body:
    body = Body({}, {}, {})
    for each in statements(node.body):
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                function = Function(each, source, cls, _kind(each))
                (body.setters if function.kind == "setter" else body.functions)[each.name] = function
            case ast.AnnAssign(target=ast.Name(id=name)):
                body.fields[name] = each
            case ast.Assign(targets=[ast.Name(id=name)]):
                body.fields[name] = each
    return body


def _kind(node: Def) -> Kind:
    kinds: dict[str, Kind] = {
        "property": "property",
        "cached_property": "property",
        "abstractproperty": "property",
        "getter": "property",
        "setter": "setter",
        "deleter": "setter",
        "staticmethod": "static",
        "classmethod": "class",
    }
    for decorator in node.decorator_list:
        name: Any = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if (kind := kinds.get(name.rpartition(".")[2])) is not None:
            return kind
    return "method"
