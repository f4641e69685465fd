"""`index.html`: one self-contained page. It fetches nothing, runs no script, and can be mailed.

A matrix of requirements and paths, and the economics of prompt caching; below them, for everything that is not held,
what was seen, the wire diff, why it matters, what to do, how to reproduce it, and the conversation of the run it was
seen in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from ..errors import UsageError
from ..evidence import EvidenceStore
from ..runlog import AdapterLine, RequirementLine, ResultLine, Run
from ..verdict import Status, Verdict
from ._text import LOOKS, printable
from .cache_bars import bars
from .certification import AdapterReport, Certification, RequirementReport, reproduce
from .conversation import Entry, conversation
from .overview import PATHS, overview
from .standing import profile_standing, proof_of, standing, wire_of

_SHOWN = (Status.VIOLATED, Status.INCONCLUSIVE, Status.KNOWN_ISSUE)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the matrix. `verdicts` has None where a path was not measured."""

    requirement: RequirementLine
    report: RequirementReport
    verdicts: tuple[Verdict | None, ...]


@dataclass(frozen=True, slots=True)
class _Failure:
    """A result that is not held. `diff` are lines with their kind; `runs` the keys of the runs it was seen in."""

    requirement: RequirementLine
    line: ResultLine
    diff: tuple[tuple[str, str], ...]
    reproduce: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    """The conversation of one run, or why it cannot be told."""

    key: str
    digest: str
    entries: tuple[Entry, ...]
    problem: str


@dataclass(frozen=True, slots=True)
class _Section:
    """Everything about one adapter."""

    adapter: AdapterLine
    report: AdapterReport
    paths: tuple[str, ...]
    groups: tuple[tuple[str, tuple[_Row, ...]], ...]
    failures: tuple[_Failure, ...]
    told: tuple[_Told, ...]


def index_html(run: Run, report: Certification, store: EvidenceStore) -> str:
    """The page. Evidence that is missing or damaged is said on the page, where its conversation would stand."""
    return template("index.html.j2").render(
        run=run,
        report=report,
        overview=overview(report),
        sections=[_section(run, report, adapter, store) for adapter in run.adapters.values()],
        counts={status: sum(line.verdict.status is status for line in run.results) for status in Status},
        shown=_SHOWN,
        looks=LOOKS,
        standing=standing,
        profile_standing=profile_standing,
        wire_of=wire_of,
        proof_of=proof_of,
        anchor=anchor,
        bars=bars,
    )


@cache
def template(name: str) -> Template:
    """One of the pages of this package. What is put into it is escaped, and made printable."""
    environment = Environment(
        loader=PackageLoader("turnproof.reports", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    return environment.get_template(name)


def _printable(value: object) -> object:
    # Only plain text: what jinja has escaped already is a str too, but a Markup, and has no control characters left.
    return printable(value) if type(value) is str else value


def _section(run: Run, report: Certification, adapter: AdapterLine, store: EvidenceStore) -> _Section:
    found = report.adapters[adapter.name]
    lines = [line for line in run.results if line.adapter == adapter.name]
    failures = [_failure(run, adapter, line) for line in lines if line.verdict.status in _SHOWN]
    paths = tuple(sorted({line.path for line in lines}, key=_path_order))
    rows = _rows(run, found, lines, paths)
    return _Section(
        adapter=adapter,
        report=found,
        paths=paths,
        groups=tuple((name, tuple(group)) for name, group in groupby(rows, key=lambda row: row.requirement.profile)),
        failures=tuple(sorted(failures, key=_weight(found))),
        told=tuple(_tell(run, adapter, key, store) for key in dict.fromkeys(k for f in failures for k in f.runs)),
    )


def _weight(found: AdapterReport) -> Callable[[_Failure], tuple[int, str, int]]:
    """The heaviest requirements first, and all paths of one requirement together."""

    def weight(failure: _Failure) -> tuple[int, str, int]:
        name = failure.requirement.id
        return _SHOWN.index(found.requirements[name].status), name, _SHOWN.index(failure.line.verdict.status)

    return weight


def _rows(run: Run, found: AdapterReport, lines: Sequence[ResultLine], paths: Sequence[str]) -> list[_Row]:
    verdicts = {(line.requirement, line.path): line.verdict for line in lines}
    rows = [
        _Row(requirement, report, tuple(verdicts.get((requirement.id, path)) for path in paths))
        for requirement in run.requirements.values()
        if (report := found.requirements.get(requirement.id))
    ]
    order = list(found.profiles)
    return sorted(rows, key=lambda row: order.index(row.requirement.profile))


def _failure(run: Run, adapter: AdapterLine, line: ResultLine) -> _Failure:
    return _Failure(
        requirement=run.requirements[line.requirement],
        line=line,
        diff=tuple((_diff_kind(text), text) for text in line.verdict.detail.splitlines()),
        reproduce=reproduce(run, adapter, line.requirement),
        # A verdict over two runs names both, joined by "and".
        runs=tuple(key for key in line.verdict.where.split(" and ") if key),
    )


def _tell(run: Run, adapter: AdapterLine, key: str, store: EvidenceStore) -> _Told:
    digest = run.digest_of(adapter.name, key)
    if digest is None:
        return _Told(key, "", (), "The run's transcript is not part of this report.")
    try:
        return _Told(key, digest, tuple(conversation(store.get(digest))), "")
    except UsageError as error:
        return _Told(key, digest, (), str(error))


def _diff_kind(line: str) -> str:
    return {"+": "plus", "-": "minus"}.get(line[:1], "same")


def _path_order(path: str) -> tuple[int, str]:
    return (PATHS.index(path) if path in PATHS else len(PATHS)), path


def anchor(*words: str) -> str:
    """An id for a place on the page: the same words give the same id, and any words a legal one."""
    return "a" + hashlib.sha256("\0".join(words).encode("utf-8", "backslashreplace")).hexdigest()[:12]
