"""Violations a project knows of and has accepted for now, each with a reason and a day on which that ends.

An entry that expired, has no reason, speaks of something unknown, or no longer occurs fails the run: what is accepted
stays true, or goes. Whether it occurs is for a run to say that has all of the requirement's scenarios. An entry may
name codes of findings: then nothing else is accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import tomli_w

from .._base.settings import KnownIssue
from .._base.suggestions import did_you_mean
from .._base.whole_files import write_whole
from .finding import PATHS_DIFFER, UNSTRUCTURED
from .finding_words import Template
from .run_log import ResultLine
from .verdict import Status, Verdict, accept_codes
from .verdict_words import message_of

ACCEPTED_DAYS = 90


def apply_known_issues(
    results: Sequence[ResultLine],
    issues: Iterable[KnownIssue],
    today: date,
    requirements: Collection[str] | None = None,
    in_part: Collection[str] = (),
    codes: Collection[str] | None = None,
) -> tuple[list[ResultLine], list[str]]:
    """The results with accepted violations marked as `known-issue`, and what is wrong with the entries, a line each.

    Where entries accept some of a violation's findings by their codes, it stays one with the others, and tells of them.

    An entry about something that this run did not measure is left alone; `in_part` has the ids of the requirements that
    were looked at in some of their scenarios only. With `requirements` (all ids there are), an entry that names none of
    them is wrong; with `codes` (all that are registered), one that names a code that its requirement does not have.
    Only a violation can be accepted: `inconclusive` stays what it is.
    """
    by_key = {(line.adapter, line.requirement, line.path): line for line in results}
    accepted: dict[tuple[str, str, str], list[KnownIssue]] = {}
    problems: list[str] = []
    for issue in issues:
        problem = _problem(issue, today, requirements, codes)
        problem = problem or _no_longer_occurs(issue, by_key.get(issue.key), in_part=issue.requirement in in_part)
        if problem:
            problems.append(f"{issue}: {problem}")
        else:
            accepted.setdefault(issue.key, []).append(issue)
    marked = [_mark_line(line, accepted.get((line.adapter, line.requirement, line.path), ())) for line in results]
    return marked, problems


def _problem(
    issue: KnownIssue, today: date, requirements: Collection[str] | None, codes: Collection[str] | None
) -> str | None:
    """What is wrong with an entry, whatever was found."""
    if requirements is not None and issue.requirement not in requirements:
        return f"no requirement has this id{did_you_mean(issue.requirement, requirements)}"
    if issue.codes is not None and (problem := _wrong_codes(issue.requirement, issue.codes, codes)):
        return problem
    if not issue.reason.strip():
        return "it has no reason; write down why it is accepted"
    if issue.expires < today:
        return f"it expired on {issue.expires}; mend it, or extend it with a reason"
    return None


def _wrong_codes(requirement: str, named: Sequence[str], codes: Collection[str] | None) -> str | None:
    if not named:
        return "its list of codes is empty; name one, or remove `code` to accept every finding"
    if codes is None:
        return None
    known = [f"{requirement}/{common}" for common in (PATHS_DIFFER, UNSTRUCTURED)]
    known += [code for code in codes if code.rpartition("/")[0] == requirement]
    unknown = next((code for code in named if code not in known), None)
    if unknown is None:
        return None
    if unknown in codes:
        return f"{unknown!r} is a code of another requirement, {unknown.rpartition('/')[0]}"
    hint = did_you_mean(unknown, known) or f"; it has {', '.join(sorted(known))}"
    return f"{requirement} has no code {unknown!r}{hint}"


def _no_longer_occurs(issue: KnownIssue, line: ResultLine | None, *, in_part: bool) -> str | None:
    """That what an entry is about no longer occurs. A code that occurs has a finding, however many were not kept."""
    if line is None or line.verdict.status is Status.INCONCLUSIVE:
        return None
    status = line.verdict.status
    if status is Status.NOT_CLAIMED or (status is Status.HELD and not in_part):
        return f"it no longer occurs (now {status}); remove the entry"
    if in_part or status is Status.HELD or issue.codes is None:
        return None
    found = {finding.code for finding in (*line.verdict.findings, *line.verdict.accepted)}
    absent = [code for code in issue.codes if code not in found]
    if not absent:
        return None
    what = "the entry" if absent == list(issue.codes) else "what no longer occurs from its codes"
    return f"{', '.join(absent)} no longer occur{'s' if len(absent) == 1 else ''}; remove {what}"


def _mark_line(line: ResultLine, issues: Sequence[KnownIssue]) -> ResultLine:
    return msgspec.structs.replace(line, verdict=accept_findings(line.verdict, issues)) if issues else line


def accept_findings(verdict: Verdict, issues: Sequence[KnownIssue]) -> Verdict:
    """A verdict as these entries about it leave it: a known issue, or a violation that has fewer findings left."""
    if verdict.status is not Status.VIOLATED:
        return verdict
    found = {finding.code for finding in verdict.findings}
    naming = [(issue, found if issue.codes is None else found & set(issue.codes)) for issue in issues]
    naming = [(issue, codes) for issue, codes in naming if codes]
    codes = {code for _, some in naming for code in some}
    if not codes:
        return verdict
    if codes == found:
        message = "; ".join(_reason(issue) for issue, _ in naming)
        return msgspec.structs.replace(verdict, status=Status.KNOWN_ISSUE, message=message)
    rest = accept_codes(verdict, codes)
    message = "; ".join(f"{', '.join(sorted(some))} {_reason(issue)}" for issue, some in naming)
    return msgspec.structs.replace(rest, message=f"{verdict.total - rest.total} of {verdict.total} accepted: {message}")


def _reason(issue: KnownIssue) -> str:
    link = f" ({issue.link})" if issue.link else ""
    return f"accepted until {issue.expires}: {issue.reason}{link}"


def accept(
    results: Iterable[ResultLine],
    today: date,
    table: str = "tool.turnproof",
    templates: Mapping[str, Template] = MappingProxyType({}),
) -> str:
    """TOML that accepts every violation for 90 days, by the codes of its findings. The reasons are blank: until
    somebody fills them in, runs fail.

    `table` is where the settings stand in the file: `tool.turnproof`, or the empty string for `turnproof.toml`.
    """
    name = f"{table}.known-issue" if table else "known-issue"
    expires = today + timedelta(days=ACCEPTED_DAYS)
    return "".join(
        f"\n[[{name}]]\n# {_one_line(message_of(line.verdict, templates))}\n{tomli_w.dumps(_entry(line, expires))}"
        for line in results
        if line.verdict.status is Status.VIOLATED
    )


def _entry(line: ResultLine, expires: date) -> dict[str, Any]:
    """The settings that accept a violation: all codes of its findings, one of them as text alone."""
    codes = sorted({finding.code for finding in line.verdict.findings})
    code = {"code": codes[0] if len(codes) == 1 else codes} if codes else {}
    key = {"adapter": line.adapter, "requirement": line.requirement, "path": line.path}
    return {**key, **code, "reason": "", "link": "", "expires": expires}


def append_accepted(file: Path, toml: str) -> None:
    """Add what `accept` wrote to the end of a settings file, which is made if it is not there."""
    before = file.read_text("utf-8") if file.exists() else ""
    gap = "" if not before or before.endswith("\n") else "\n"
    write_whole(file, before + gap + (toml if before else toml.lstrip("\n")))


def _one_line(text: str) -> str:
    """Text fit for a TOML comment, which may hold no control character."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:160]
