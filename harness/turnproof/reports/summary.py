"""`summary.md`: the certification on one page of GitHub-flavoured Markdown, for a job summary or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..runlog import AdapterLine, ResultLine, Run
from ..verdict import Status
from ._text import LOOKS, one_line, printable, shortened
from .certification import Certification, reproduce
from .standing import profile_standing, standing

_FAILING = (Status.VIOLATED, Status.INCONCLUSIVE, Status.KNOWN_ISSUE)
_ESCAPES = {ord(mark): f"\\{mark}" for mark in "\\`*_{}[]|~"} | {ord(mark): f"&#{ord(mark)};" for mark in "<>&@#"}


def summary_md(run: Run, report: Certification) -> str:
    """The page. What adapters wrote is escaped: it can neither make markup nor mention anybody."""
    return "\n".join(_lines(run, report)) + "\n"


def _lines(run: Run, report: Certification) -> Iterator[str]:
    yield "# turnproof"
    yield ""
    if not report.complete:
        yield "> **This run was cut.** What follows is what was there when it stopped. It certifies nothing."
        yield ""
    for problem in report.problems:
        yield f"> **Problem:** {_safe(problem)}"
        yield ""
    yield (
        f"Profiles {_safe(report.profiles)} · backend {_safe(report.backend)} · depth {_safe(report.depth)} · "
        f"seed {report.seed} · {_safe(report.started)}"
    )
    for adapter in run.adapters.values():
        yield ""
        yield from _adapter(run, report, adapter)


def _adapter(run: Run, report: Certification, adapter: AdapterLine) -> Iterator[str]:
    found = report.adapters[adapter.name]
    yield f"## {_safe(adapter.name)}: {standing(found, complete=report.complete)}"
    yield ""
    yield f"{_safe(found.dialect)}, model {_safe(found.model)}, {_safe(found.claim)}"
    yield ""
    yield "| profile | standing | MUST held | SHOULD held |"
    yield "|---|---|---|---|"
    for name, profile in found.profiles.items():
        must, should = ("/".join(map(str, pair)) for pair in (profile.must, profile.should))
        yield f"| {_safe(name)} | {profile_standing(profile, complete=report.complete)} | {must} | {should} |"
    failing = [line for line in run.results if line.adapter == adapter.name and line.verdict.status in _FAILING]
    for status in _FAILING:
        lines = [line for line in failing if line.verdict.status is status]
        if lines:
            look = LOOKS[status]
            yield ""
            yield f"### {look.symbol} {look.word} ({len(lines)})"
            for line in lines:
                yield ""
                yield from _failure(run, adapter, line)


def _failure(run: Run, adapter: AdapterLine, line: ResultLine) -> Iterator[str]:
    requirement = run.requirements[line.requirement]
    should = "" if requirement.level == "MUST" else " (SHOULD)"
    yield f"**{_safe(line.requirement)}** on {_safe(line.path)}{should}: {_safe(line.verdict.message)}"
    if line.verdict.detail:
        yield ""
        yield from _fenced(shortened(printable(line.verdict.detail), 2000), "diff")
    if requirement.remedy:
        yield ""
        yield f"What to do: {_safe(requirement.remedy)}"
    yield ""
    yield from _fenced(reproduce(run, adapter, line.requirement), "sh")


def _safe(text: str) -> str:
    """Text on one line in which nothing is Markdown or HTML, and no one is mentioned."""
    return one_line(text).translate(_ESCAPES).replace("://", ":&#47;&#47;")


def _fenced(text: str, kind: str) -> Iterator[str]:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{kind}"
    yield from printable(text).splitlines()
    yield fence
