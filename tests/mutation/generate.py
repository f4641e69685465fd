"""Mutants of one file, made with the operators of mutmut.

mutmut knows what to change; the rest of it, its copies of a project and its test loop, is left aside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import libcst as cst
import libcst.matchers as m
from libcst.metadata import (
    CodePosition,
    CodeRange,
    MetadataWrapper,
    ParentNodeProvider,
    PositionProvider,
    WhitespaceInclusivePositionProvider,
)
from mutmut.mutation.file_mutation import Mutation, MutationVisitor
from mutmut.mutation.mutators import mutation_operators, operator_string
from mutmut.mutation.pragma_handling import IgnoredCode

from .mutant import Mutant

Operator: TypeAlias = Callable[[Any], Iterable[cst.CSTNode]]

_TOKEN = re.compile(r"\w+|\s+|[-+*/<>=!]=|.")
_NAMED = (cst.FunctionDef, cst.ClassDef)
_HEADED = (cst.BaseCompoundStatement, cst.ExceptHandler, cst.Else, cst.Finally, cst.MatchCase)
_FOR_TYPES = m.AnnAssign(annotation=m.Annotation(m.Name("TypeAlias"))) | m.Assign(value=m.Call(m.Name("TypeVar")))
_WORDS = re.compile(r"f?\"")


def mutants(path: Path, file: str) -> list[Mutant]:
    """Every mutant of a module, from its top to its end; `file` is what they call it.

    What has no meaning to a run is not mutated: annotations, aliases of types, and the words of an exception; nor,
    since mutmut passes them by, functions under a decorator other than `staticmethod` and `classmethod`. No argument is
    taken out from before others that go by their place.
    """
    module = _Module(file, path.read_text("utf-8"))
    every = dict(module.mutants())
    return [every[place] for place in sorted(every)]


class _Module:
    """A parsed module, and where everything in it stands."""

    def __init__(self, file: str, source: str) -> None:
        self._file = file
        self._source = source
        self._lines = source.splitlines()
        self._starts = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
        self._wrapper = MetadataWrapper(cst.parse_module(source))
        self._tree = self._wrapper.module
        self._parents: Mapping[cst.CSTNode, cst.CSTNode] = self._wrapper.resolve(ParentNodeProvider)
        self._ranges: Mapping[cst.CSTNode, CodeRange] = self._wrapper.resolve(PositionProvider)
        self._whole: Mapping[cst.CSTNode, CodeRange] = self._wrapper.resolve(WhitespaceInclusivePositionProvider)

    def mutants(self) -> Iterator[tuple[tuple[int, str], Mutant]]:
        """The mutants by their place and change: two operators may come to the same."""
        for kind, operator in mutation_operators:
            # Of a text, one change is enough: another case of it says no more than another text.
            chosen = _first_of(operator) if operator is operator_string else operator
            visitor = MutationVisitor([(kind, chosen)], IgnoredCode(set(), set(), set()))
            self._wrapper.visit(visitor)
            for mutation in visitor.mutations:
                found = self._mutant(operator.__name__.removeprefix("operator_"), mutation)
                if found is not None:
                    yield found

    def _mutant(self, operator: str, mutation: Mutation) -> tuple[tuple[int, str], Mutant] | None:
        node = mutation.original_node
        around = [node, *self._around(node)]
        old, new = (_TOKEN.findall(self._tree.code_for_node(one)) for one in (node, mutation.mutated_node))
        same, before, after = _difference(old, new)
        worded = _WORDS.match(before) is not None or operator == "string"
        if worded and any(isinstance(one, cst.Raise) for one in around):
            return None
        if any(m.matches(one, _FOR_TYPES) for one in around) or _moves_arguments(node, mutation.mutated_node):
            return None
        start = self._whole[node].start
        alike = "".join(old[:same])
        line, offset = start.line + alike.count("\n"), self._offset(start) + len(alike)
        mutant = Mutant(
            file=self._file,
            function=".".join(one.name.value for one in reversed(around) if isinstance(one, _NAMED)),
            operator=operator,
            line=line,
            text=self._lines[line - 1].strip(),
            change=f"{_short(before)} -> {_short(after)}".strip(),
            lines=self._span(around),
            offset=offset,
            make=partial(self._changed, mutation),
        )
        return (offset, f"{before} -> {after}"), mutant

    def _changed(self, mutation: Mutation) -> str:
        if isinstance(mutation.original_node, cst.Match):
            changed = self._tree.deep_replace(mutation.original_node, mutation.mutated_node)
            assert isinstance(changed, cst.Module)
            return changed.code
        # Ten times as fast, and enough for all that is no block of its own.
        where = self._whole[mutation.original_node]
        new = self._tree.code_for_node(mutation.mutated_node)
        return self._source[: self._offset(where.start)] + new + self._source[self._offset(where.end) :]

    def _around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        while (above := self._parents.get(node)) is not None:
            yield above
            node = above

    def _span(self, around: Iterable[cst.CSTNode]) -> range:
        """The lines of the innermost statement; where others are nested in it, those of its head."""
        for node in around:
            first = self._ranges[node].start.line
            if isinstance(node, cst.SimpleStatementLine):
                return range(first, self._ranges[node].end.line + 1)
            if isinstance(node, cst.Match):
                return range(first, self._ranges[node.cases[0]].start.line)
            if isinstance(node, _HEADED):
                return range(first, max(first + 1, self._ranges[node.body].start.line))
        return range(1, len(self._lines) + 1)

    def _offset(self, position: CodePosition) -> int:
        return self._starts[position.line - 1] + position.column


def _first_of(operator: Operator) -> Operator:
    return lambda node: list(operator(node))[:1]


def _moves_arguments(old: cst.CSTNode, new: cst.CSTNode) -> bool:
    """Whether an argument was dropped from before others that have no name: each of those goes to a parameter of its
    neighbour, which fails as a rule, and says little where it does not."""
    if not isinstance(old, cst.Call) or not isinstance(new, cst.Call) or len(new.args) == len(old.args):
        return False
    pairs = enumerate(zip(old.args, new.args, strict=False))
    place = next((at for at, (one, other) in pairs if one is not other), len(new.args))
    return any(argument.keyword is None and not argument.star for argument in old.args[place + 1 :])


def _difference(old: list[str], new: list[str]) -> tuple[int, str, str]:
    """How many tokens two texts begin with alike, and what of each the other has not."""
    most = min(len(old), len(new))
    same = next((at for at in range(most) if old[at] != new[at]), most)
    alike = next((at for at in range(most - same) if old[-1 - at] != new[-1 - at]), most - same)
    return same, "".join(old[same : len(old) - alike]), "".join(new[same : len(new) - alike])


def _short(code: str) -> str:
    first, *more = code.strip().splitlines() or [""]
    return f"{first} ..." if more else first
