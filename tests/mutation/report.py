"""What a run has shown, as data and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from rich.console import Console
from rich.table import Table

from .examine import Fate, Outcome
from .mutant import Mutant
from .survivors import Review, Survivor

_COLUMNS = ("all", "run", *map(str, Fate), "in full", "open")
_LEGEND = (
    "in full: killed, and by a full certification only; tested: the likeliest scenarios let it live, a test of the "
    "adapter does not; open: it lives, and is not reviewed"
)


class Row(Outcome, frozen=True, kw_only=True):
    """One mutant as it stands in `mutation.json`; `why` is what the review says of one that lives."""

    file: str
    function: str
    operator: str
    line: int
    text: str
    change: str
    why: str = ""

    @property
    def lives(self) -> bool:
        """Whether nothing noticed it."""
        return self.fate.lives


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """`mutation.json`. `generated` counts the mutants of each file, of which `mutants` has those that were run.

    `gone` and `disproved` are the review's entries that fit no mutant any more, and whose mutants are all killed.
    """

    schema: str = "turnproof.mutation/1"
    adapters: tuple[str, ...]
    seed: int
    generated: dict[str, int]
    mutants: tuple[Row, ...]
    gone: tuple[str, ...] = ()
    disproved: tuple[str, ...] = ()
    duration_s: float = 0.0

    @property
    def unreviewed(self) -> list[Row]:
        """The mutants that live, and of which the review says nothing."""
        return [row for row in self.mutants if row.lives and not row.why]

    @property
    def right(self) -> bool:
        """Whether everything that lives is reviewed, and everything reviewed lives."""
        return not (self.unreviewed or self.gone or self.disproved)


def document(
    adapters: Sequence[str],
    seed: int,
    generated: Sequence[Mutant],
    judged: Mapping[Mutant, Outcome],
    review: Review,
    duration_s: float,
) -> Document:
    """The document of a run; its mutants in the order of their files and lines."""
    killed = [mutant for mutant, outcome in judged.items() if not outcome.fate.lives]
    return Document(
        adapters=tuple(adapters),
        seed=seed,
        generated=dict(Counter(mutant.file for mutant in generated)),
        mutants=tuple(_row(mutant, judged[mutant], review.of(mutant)) for mutant in generated if mutant in judged),
        gone=tuple(map(str, review.obsolete(generated))),
        disproved=tuple(map(str, review.disproved(generated, killed))),
        duration_s=round(duration_s, 1),
    )


def _row(mutant: Mutant, outcome: Outcome, known: Survivor | None) -> Row:
    return Row(
        file=mutant.file,
        function=mutant.function,
        operator=mutant.operator,
        line=mutant.line,
        text=mutant.text,
        change=mutant.change,
        **msgspec.structs.asdict(outcome),
        why=known.why if known is not None and outcome.fate.lives else "",
    )


def print_report(document: Document, console: Console) -> None:
    """The table of the files, what killed the most, and everything that has to be looked at."""
    table = Table("file", *_COLUMNS, title="mutants of the adapters")
    for column in table.columns:
        column.no_wrap, column.justify = True, "right" if column is not table.columns[0] else "left"
    for file, count in document.generated.items():
        table.add_row(*_cells(file, count, [row for row in document.mutants if row.file == file]))
    table.add_section()
    table.add_row(*_cells("all", sum(document.generated.values()), document.mutants))
    console.print(table, _LEGEND)
    killers = Counter(row.by for row in document.mutants if row.fate is Fate.KILLED)
    for requirement, count in killers.most_common(10):
        console.print(f"{count:6} killed by {requirement}")
    for row in document.unreviewed:
        console.print(f"not reviewed: {row.file}:{row.line} in {row.function or 'the module'}, {row.fate}")
        console.print(f"    {row.text}\n    {row.change}", soft_wrap=True)
    for entry in document.gone:
        console.print(f"no such mutant any more: {entry}", soft_wrap=True)
    for entry in document.disproved:
        console.print(f"survives no longer: {entry}", soft_wrap=True)


def _cells(name: str, generated: int, rows: Sequence[Row]) -> Iterable[str]:
    fates = Counter(row.fate for row in rows)
    unreviewed = sum(row.lives and not row.why for row in rows)
    in_full = sum(row.depth == "full" for row in rows)
    return [name, *map(str, (generated, len(rows), *(fates[fate] for fate in Fate), in_full, unreviewed))]
