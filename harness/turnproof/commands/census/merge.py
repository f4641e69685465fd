"""`turnproof census --merge`: what all contributors saw, and what follows for the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from ..._base.printable import one_line
from ...dialects import dialect
from ...dialects.census import Decision
from ...errors import BindingError, UsageError
from .observation import Observation, read_observations

ENOUGH = 2
"""Contributors who have to see a refusal, each by themselves, before it counts as recorded."""


@dataclass(slots=True)
class Row:
    """What was seen of one rule at one host: who saw what, on which days."""

    rule: str
    host: str
    vendor: bool
    agree: set[str] = field(default_factory=set)
    deny: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)
    days: set[str] = field(default_factory=set)

    @property
    def verdict(self) -> Literal["recorded", "denied", "open"]:
        """Whether the vendor's own service was seen to refuse, or to accept. Of anybody else's nothing follows."""
        if not self.vendor:
            return "open"
        if self.deny:
            return "denied"
        return "recorded" if len(self.agree) >= ENOUGH else "open"


def merge(files: Iterable[Path]) -> list[Row]:
    """The rows of all lines, by rule and host. A contributor counts once for a rule, whatever the number of lines.

    Raises UsageError for a file that is no census, or that names a dialect or a rule that there is not.
    """
    rows: dict[tuple[str, str], Row] = {}
    variants: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for file in files:
        for one in read_observations(file):
            _check(file, one)
            row = rows.setdefault((one.rule, one.host), Row(one.rule, one.host, _is_vendor(one)))
            row.days.add(one.day)
            variants[one.rule, one.host, one.contributor].add(one.agreement)
    for (rule, host, contributor), seen in variants.items():
        row = rows[rule, host]
        # Who saw one variant accepted has seen that the rule does not hold as it is.
        column = row.deny if "denies" in seen else row.agree if "agrees" in seen else row.unclear
        column.add(contributor)
    return [rows[key] for key in sorted(rows)]


def table(rows: Iterable[Row]) -> Iterator[str]:
    """The rows as lines of a table in Markdown."""
    yield "| Rule | Service | Agree | Deny | Unclear | Days | Result |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        counts = " | ".join(str(len(one)) for one in (row.agree, row.deny, row.unclear))
        days = f"{min(row.days)} to {max(row.days)}" if len(row.days) > 1 else next(iter(row.days))
        yield one_line(f"| `{row.rule}` | {row.host} | {counts} | {days} | {row.verdict} |")


def decisions(rows: Iterable[Row], address: str) -> list[Decision]:
    """What follows for the rules, as the dialects read it. `address` is where the contributions can be read."""
    return [
        Decision(row.rule, row.verdict, row.host, max(row.days), len(row.agree | row.deny), address)
        for row in rows
        if row.verdict != "open"
    ]


def _check(file: Path, one: Observation) -> None:
    try:
        wire = dialect(one.dialect)
    except BindingError as error:
        raise UsageError(f"{file}: {error}") from error
    if all(rule.id != one.rule for rule in wire.rules):
        raise UsageError(f"{file}: {one.dialect} has no rule {one.rule!r}")


def _is_vendor(one: Observation) -> bool:
    """Whether the vendor's own service answered, and not one that imitates it or runs on somebody's machine."""
    return not one.loopback and one.host == urlsplit(dialect(one.dialect).default_host).netloc
