"""How the coverage of a dialect reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from .._base.counts import counted
from ._inline_text import one_line, printable
from .limits import COVERAGE_FIELDS
from .wire_coverage import AdapterCoverage, Coverage, Fields


def coverage_text(report: Coverage, *, verbose: bool = False) -> str:
    """The report for a terminal; with `verbose` every field and rule by name."""
    return printable("\n".join(_lines(report, verbose=verbose)) + "\n")


def _lines(report: Coverage, *, verbose: bool) -> Iterator[str]:
    for name, found in report.adapters.items():
        yield f"{one_line(name)}: {found.dialect}, {counted(found.exchanges, 'request')}"
        yield from _fields("fields of requests", found.requests, verbose=verbose)
        yield from _fields("fields of answers", found.answers, verbose=verbose)
        yield from _rules(found, verbose=verbose)
        for problem in found.missing:
            yield f"  not counted: {one_line(problem)}"
        yield ""
    yield f"Fields are compared with {report.yardstick}: not against everything that the API has."
    yield "That a rule was never broken says that no request broke it, not that one had what the rule is about."


def _fields(what: str, fields: Fields, *, verbose: bool) -> Iterator[str]:
    every = len(fields.seen) + len(fields.never_seen)
    beyond = f", and {len(fields.beyond)} others" if fields.beyond else ""
    yield f"  {what:<20}{len(fields.seen)} of {every} seen{beyond}"
    yield from _named("never seen", fields.never_seen, verbose=verbose)
    if verbose:
        yield from _named("others", fields.beyond, verbose=True)


def _rules(found: AdapterCoverage, *, verbose: bool) -> Iterator[str]:
    rules = found.rules
    yield f"  {'rules':<20}{len(rules.broken)} of {len(rules.broken) + len(rules.never_broken)} broken by a request"
    yield from _named("broken", [f"{rule} ({count})" for rule, count in rules.broken.items()], verbose=verbose)
    if verbose:
        yield from _named("never broken", rules.never_broken, verbose=True)


def _named(label: str, names: tuple[str, ...] | list[str], *, verbose: bool) -> Iterator[str]:
    if not names:
        return
    shown = names if verbose else names[:COVERAGE_FIELDS]
    more = f" and {len(names) - len(shown)} more; -v names all" if len(names) > len(shown) else ""
    yield f"    {label}: {', '.join(map(one_line, shown))}{more}"
