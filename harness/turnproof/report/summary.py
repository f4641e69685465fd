"""`summary.md`: the certification on one page of GitHub-flavoured Markdown, for a job summary or a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..judge.run_log import AdapterLine, ResultLine, Run
from ..judge.verdict import Status
from ._inline_text import LOOKS, printable, shorten
from ._markdown import code_block, escape
from .cache_economics import RunEconomics
from .certification import Certification, reproduce, show_alone
from .failures import advice, group_rows, reasons_of
from .finding_groups import groups, scenarios
from .overview import Overview, overview
from .proof import NOT_PROVEN
from .standing import held_of_all, model_of, profile_standing, proof_of, standing, today_apart, wire_of

_FAILING = (Status.VIOLATED, Status.INCONCLUSIVE, Status.KNOWN_ISSUE)


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
        yield f"> **Problem:** {escape(problem)}"
        yield ""
    yield (
        f"Profiles {escape(report.profiles)} · backend {escape(report.backend)} · depth {escape(report.depth)} · "
        f"seed {report.seed} · {escape(report.started)}"
    )
    if report.controls:
        yield ""
        yield "Control: " + "; ".join(
            f"{escape(control.dialect)} {'failed' if control.problem else f'{control.held} held'}"
            for control in report.controls
        )
    if (matrix := overview(report)) is not None:
        yield ""
        yield from _overview(matrix)
    for adapter in run.adapters.values() if not report.broken else ():
        yield ""
        yield from _adapter(run, report, adapter)
    if run.results:
        yield ""
        yield escape(NOT_PROVEN)


def _overview(matrix: Overview) -> Iterator[str]:
    yield f"| MUST held | {' | '.join(map(escape, matrix.profiles))} |"
    yield f"|---|{'---:|' * len(matrix.profiles)}"
    for row in matrix.rows:
        cells = ["" if cell is None else held_of_all(cell.must, cell.all) for cell in row.cells]
        name = f"{escape(row.adapter)}, {row.path}"
        yield f"| {name if row.certified else f'**{name}**'} | {' | '.join(cells)} |"


def _adapter(run: Run, report: Certification, adapter: AdapterLine) -> Iterator[str]:
    found = report.adapters[adapter.name]
    yield f"## {escape(adapter.name)}: {standing(found, complete=report.complete)}"
    yield ""
    yield f"{escape(wire_of(found))}, model {escape(model_of(found))}, {escape(proof_of(found))}"
    if apart := today_apart(found):
        yield ""
        yield f"{apart[:1].upper()}{apart[1:]}"
    yield ""
    yield "| profile | standing | MUST held | SHOULD held |"
    yield "|---|---|---|---|"
    for name, profile in found.profiles.items():
        must, should = held_of_all(profile.must, profile.all), held_of_all(profile.should)
        yield f"| {escape(name)} | {profile_standing(profile, complete=report.complete)} | {must} | {should} |"
    if found.cache:
        yield ""
        yield from _cache(found.cache)
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


def _cache(runs: Sequence[RunEconomics]) -> Iterator[str]:
    yield "| prompt cache | tokens read | written | fresh | share read | cost of gc |"
    yield "|---|---:|---:|---:|---:|---:|"
    for run in runs:
        name = f"{run.scenario}, {run.path}, {run.mode}"
        if run.problem:
            yield f"| {escape(name)} | {escape(run.problem)} | | | | |"
        else:
            cost = f"{run.gc_cost:,}" if run.after_gc else "–"
            figures = f"{run.read:,} | {run.written:,} | {run.fresh:,} | {run.read_share:.0%} | {cost}"
            yield f"| {escape(name)} | {figures} |"


def _failure(run: Run, adapter: AdapterLine, line: ResultLine) -> Iterator[str]:
    requirement = run.requirements[line.requirement]
    should = "" if requirement.level == "MUST" else " (SHOULD)"
    verdict = line.verdict
    message = run.message(verdict) if not verdict.findings else verdict.message or requirement.title
    yield f"**{escape(line.requirement)}** on {escape(line.path)}{should}: {escape(message)}"
    if verdict.detail:
        yield ""
        yield from code_block(shorten(printable(verdict.detail), 2000), "")
    for group in groups(verdict.findings, run.templates):
        yield ""
        for label, text in group_rows(group):
            yield f"- {label}: {escape(text)}" if label else f"  {escape(text)}"
    if verdict.failing:
        yield ""
        yield f"In {escape(', '.join(scenarios(verdict.failing)))}"
    if rows := list(reasons_of(verdict)):
        yield ""
        for why, do in rows:
            yield f"- {escape(why)}: {escape(do)}" if do else f"- {escape(why)}"
    for label, text in advice(verdict.status, requirement, explained=bool(verdict.undecided)):
        yield ""
        yield f"{label[:1].upper()}{label[1:]}: {escape(text)}"
    yield ""
    yield from code_block(reproduce(run, adapter, line.requirement, [verdict]), "sh")
    if verdict.status is Status.VIOLATED and (alone := show_alone(run, adapter, line.requirement)):
        yield ""
        yield "Show it with the library alone:"
        yield ""
        yield from code_block(alone, "sh")
