"""A page for each module of the contract: its types, functions and errors, read from the source."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

from .markdown import code, fenced, page, prose, table

MODULES = {
    "turnproof.messages": "messages, parts, responses",
    "turnproof.provider": "the contract of adapters, claims, bindings",
    "turnproof.errors": "the tree of errors",
    "turnproof.cancel": "cancelling a turn",
    "turnproof.tokens": "estimates of token counts",
    "turnproof.subject": "the contract of sessions",
    "turnproof.agents": "the contract of agents",
    "turnproof.sessions": "sources of stored sessions",
    "turnproof.foreign": "adapters of another calling form",
    "turnproof.reproducer": "how a library is called without turnproof",
}
"""The modules by their addresses; `docs/api.md` promises that these stay."""

_LITERAL = re.compile(r"^\s|[├└│]|\S {2,}\S", re.MULTILINE)


def api_pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page, and of their list."""
    for name in MODULES:
        yield f"reference/api/{name.partition('.')[2]}.md", module_page(name)
    rows = [[f"[{code(name)}](api/{name.partition('.')[2]}.md)", what] for name, what in MODULES.items()]
    yield (
        "reference/contract.md",
        page(
            "Contract: types and errors",
            "What adapters, sessions and agents get and return. What is asked of them, sentence by sentence: "
            "[the contract](../contract.md). Other modules that stay where they are: [import paths](../api.md).",
            table(["Module", "What it has"], rows),
        ),
    )


def module_page(name: str) -> str:
    """The page of a module: its docstring, its public classes, functions, aliases and constants in their order."""
    module = importlib.import_module(name)
    tree = ast.parse(inspect.getsource(module))
    parts = [part for node in [*_documented(tree.body), *_exported(tree, module)] for part in _member(*node)]
    return page(code(name), *docstring(ast.get_docstring(tree)), *parts)


def docstring(text: str | None) -> Iterator[str]:
    """A docstring as Markdown: lists stay lists; what is indented, aligned or drawn is a block."""
    for paragraph in re.split(r"\n{2,}", text or ""):
        if paragraph.startswith("- "):
            items = re.split(r"^- ", paragraph, flags=re.MULTILINE)[1:]
            yield "\n".join(f"- {prose(item)}" for item in items)
        elif _LITERAL.search(paragraph):
            yield fenced(inspect.cleandoc("\n" + paragraph), "text")
        elif paragraph:
            yield prose(paragraph)


def _exported(tree: ast.Module, module: ModuleType) -> Iterator[tuple[ast.stmt, str | None]]:
    """What a module passes on under its own name (`from .frozen import thaw as thaw`), and what a package passes on
    of its own modules."""
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level == 1 and hasattr(module, "__path__"):
            source = inspect.getsource(importlib.import_module(f".{node.module}", module.__name__))
            names = {each.name for each in node.names}
            yield from (found for found in _documented(ast.parse(source).body) if _defines(found[0]) in names)
        for each in node.names:
            if each.asname == each.name:
                yield ast.parse(inspect.getsource(getattr(module, each.name))).body[0], None


def _defines(node: ast.stmt) -> str:
    """The name that a statement defines; empty for another statement."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return ""


def _documented(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str | None]]:
    """Each statement with the docstring of the constant or field that it is."""
    for index, node in enumerate(body):
        after = body[index + 1] if index + 1 < len(body) else None
        text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else None
        yield node, inspect.cleandoc(text) if isinstance(text, str) else None


def _member(node: ast.stmt, text: str | None) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) if not name.startswith("_"):
            yield f"## {name}"
            yield from docstring(ast.get_docstring(node))
            yield _class(node)
            for each in node.body:
                yield from _method(each)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("_"):
            yield f"## {name}()"
            yield fenced(signature(node), "python")
            yield from docstring(ast.get_docstring(node))
        case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_") and name != "__all__":
            yield f"## {name}"
            yield fenced(ast.unparse(node), "python")
            yield from docstring(text)


def _class(node: ast.ClassDef) -> str:
    """The head of a class with its decorators and its fields; their docstrings are comments."""
    lines = [f"@{ast.unparse(each)}" for each in node.decorator_list]
    bases = ", ".join([*map(ast.unparse, node.bases), *map(ast.unparse, node.keywords)])
    lines.append(f"class {node.name}({bases}):" if bases else f"class {node.name}:")
    fields = []
    for each, text in _documented(node.body):
        names = (
            each.targets if isinstance(each, ast.Assign) else [each.target] if isinstance(each, ast.AnnAssign) else []
        )
        if names and not ast.unparse(names[0]).startswith("_"):
            fields += [f"    # {line}" for line in (text or "").splitlines()]
            fields.append(f"    {ast.unparse(each)}")
    return fenced("\n".join([*lines, *(fields or ["    ..."])]), "python")


def _method(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef) and node.name == "__init__":
        yield fenced(signature(node), "python")
        yield from docstring(ast.get_docstring(node))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
        yield f"### {node.name}()" if not _is_property(node) else f"### {node.name}"
        yield fenced(signature(node), "python")
        yield from docstring(ast.get_docstring(node))


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(each) == "property" for each in node.decorator_list)


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The head of a function with its decorators; one argument per line where it is long."""
    decorators = "".join(f"@{ast.unparse(each)}\n" for each in node.decorator_list)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    head = f"{word} {node.name}({ast.unparse(node.args)}){returns}"
    if len(head) > 100:
        pieces = _split_arguments(ast.unparse(node.args))
        head = f"{word} {node.name}(\n" + "".join(f"    {each},\n" for each in pieces) + f"){returns}"
    return decorators + head


def _split_arguments(text: str) -> list[str]:
    """Arguments at the commas that are inside of no bracket."""
    pieces, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += char
    return [piece.strip() for piece in pieces]
