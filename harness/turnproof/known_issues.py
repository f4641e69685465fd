"""Violations a project knows of and has accepted for now, each with a reason and a day on which that ends.

An entry that expired, has no reason, speaks of something unknown, or no longer occurs fails the run: what is accepted
stays true, or goes. Whether it occurs is for a run to say that has all of the requirement's scenarios.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import msgspec

from ._suggest import did_you_mean
from .config import KnownIssue
from .runlog import ResultLine
from .verdict import Status

ACCEPTED_DAYS = 90


def apply_known_issues(
    results: Sequence[ResultLine],
    issues: Iterable[KnownIssue],
    today: date,
    requirements: Collection[str] | None = None,
    in_part: Collection[str] = (),
) -> tuple[list[ResultLine], list[str]]:
    """The results with accepted violations marked as `known-issue`, and what is wrong with the entries, a line each.

    An entry about something that this run did not measure is left alone; `in_part` has the ids of the requirements that
    were looked at in some of their scenarios only. With `requirements` (all ids there are), an entry that names none of
    them is wrong. Only a violation can be accepted: `inconclusive` stays what it is.
    """
    by_key = {(line.adapter, line.requirement, line.path): line for line in results}
    accepted: dict[tuple[str, str, str], KnownIssue] = {}
    problems: list[str] = []
    for issue in issues:
        problem = _problem(issue, by_key.get(issue.key), today, requirements, issue.requirement in in_part)
        if problem:
            problems.append(f"{issue}: {problem}")
        else:
            accepted[issue.key] = issue
    return [_marked(line, accepted.get((line.adapter, line.requirement, line.path))) for line in results], problems


def _problem(
    issue: KnownIssue, line: ResultLine | None, today: date, requirements: Collection[str] | None, in_part: bool
) -> str | None:
    if requirements is not None and issue.requirement not in requirements:
        return f"no requirement has this id{did_you_mean(issue.requirement, requirements)}"
    if not issue.reason.strip():
        return "it has no reason; write down why it is accepted"
    if issue.expires < today:
        return f"it expired on {issue.expires}; mend it, or extend it with a reason"
    gone = (Status.NOT_CLAIMED,) if in_part else (Status.HELD, Status.NOT_CLAIMED)
    if line is not None and line.verdict.status in gone:
        return f"it no longer occurs (now {line.verdict.status}); remove the entry"
    return None


def _marked(line: ResultLine, issue: KnownIssue | None) -> ResultLine:
    if issue is None or line.verdict.status is not Status.VIOLATED:
        return line
    link = f" ({issue.link})" if issue.link else ""
    message = f"accepted until {issue.expires}: {issue.reason}{link} — {line.verdict.message}"
    return msgspec.structs.replace(
        line, verdict=msgspec.structs.replace(line.verdict, status=Status.KNOWN_ISSUE, message=message)
    )


def accept(results: Iterable[ResultLine], today: date, table: str = "tool.turnproof") -> str:
    """TOML that accepts every violation for 90 days. The reasons are blank: until somebody fills them in, runs fail.

    `table` is where the settings stand in the file: `tool.turnproof`, or the empty string for `turnproof.toml`.
    """
    name = f"{table}.known-issue" if table else "known-issue"
    expires = today + timedelta(days=ACCEPTED_DAYS)
    return "".join(
        f"\n[[{name}]]\n"
        f"# {_one_line(line.verdict.message)}\n"
        f"adapter = {_quoted(line.adapter)}\n"
        f"requirement = {_quoted(line.requirement)}\n"
        f"path = {_quoted(line.path)}\n"
        f'reason = ""\n'
        f'link = ""\n'
        f"expires = {expires}\n"
        for line in results
        if line.verdict.status is Status.VIOLATED
    )


def append_accepted(file: Path, toml: str) -> None:
    """Add what `accept` wrote to the end of a settings file, which is made if it is not there."""
    before = file.read_text("utf-8") if file.exists() else ""
    gap = "" if not before or before.endswith("\n") else "\n"
    file.write_text(before + gap + (toml if before else toml.lstrip("\n")), "utf-8")


def _quoted(text: str) -> str:
    """A TOML basic string: a JSON one, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    """Text fit for a TOML comment, which may hold no control character."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:160]
