"""What GitHub Actions shows of a run: annotations beside the lines they are about, and the job's summary.

An annotation is a workflow command, a line that the runner reads wherever a step writes it. Texts come from sessions,
adapters and models: whatever could end a command, or begin another one, is escaped as the runner's toolkit does it
(docs.github.com, "Workflow commands for GitHub Actions").
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from .._base.printable import one_line, printable
from .._base.workflow_commands import commands, runs_on_github
from ..judge.run_log import Run
from ..judge.verdict import Status, Verdict

Level: TypeAlias = Literal["error", "warning", "notice"]

_MOST = 10
"""GitHub shows so many annotations of each level for a step."""

_SUMMARY_BYTES = 1024 * 1024
"""GitHub refuses the summary of a step that has more."""

_CUT = "\n\n… The rest is in the reports of the run.\n"


@dataclass(frozen=True, slots=True)
class Annotation:
    """One remark. `file` is relative to the repository, or empty where it is about no file; lines count from 1."""

    level: Level
    title: str
    message: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = {"file": self.file, "line": str(self.line) if self.line else "", "title": one_line(self.title)}
        properties = ",".join(f"{key}={_property(value)}" for key, value in place.items() if value)
        return f"::{self.level} {properties}::{_data(self.message)}"


def run_annotations(run: Run) -> list[Annotation]:
    """What a job shows of a certification: a violated MUST is an error, whatever else is not held a warning."""
    found = []
    for line in run.results:
        must = run.requirements[line.requirement].level == "MUST"
        level = _LEVELS.get(line.verdict.status)
        if level is None or (line.verdict.status is Status.INCONCLUSIVE and not must):
            continue
        title = f"{line.adapter}: {line.requirement} [{line.path}] is {line.verdict.status}"
        level = level if must or level == "notice" else "warning"
        file, number = _line_of(line.verdict)
        found.append(Annotation(level, title, run.message(line.verdict), file, number))
    problems = run.footer.problems if run.footer is not None else ()
    return [*found, *(Annotation("error", "known issues", problem) for problem in problems)]


def _line_of(verdict: Verdict) -> tuple[str, int]:
    """The deepest line of the subject's own code that an exception behind a verdict went through; none without one."""
    for finding in verdict.findings:
        frame = finding.raised.own_frame if finding.raised is not None else None
        if frame is not None and frame.in_project:
            return frame.file, frame.line
    return "", 0


_LEVELS: Mapping[Status, Level] = {
    Status.VIOLATED: "error",
    Status.INCONCLUSIVE: "warning",
    Status.KNOWN_ISSUE: "notice",
}


def on_github(requested: bool = False) -> bool:
    """Whether annotations are wanted: by an option, or because GitHub Actions runs this."""
    return requested or runs_on_github()


def write(annotations: Sequence[Annotation], stream: TextIO) -> None:
    """Write them, a line each: of each level as many as GitHub shows, and how many there are more."""
    levels: tuple[Level, ...] = ("error", "warning", "notice")
    with commands(stream):
        for level in levels:
            found = [one for one in annotations if one.level == level]
            shown = found if len(found) <= _MOST else found[: _MOST - 1]
            for one in shown:
                print(one, file=stream)
            if left := len(found) - len(shown):
                print(Annotation(level, "turnproof", f"and {left} more in the summary"), file=stream)


def add_to_step_summary(markdown: str) -> None:
    """Append to the summary of the step that runs, if there is one. What is too long for it is cut.

    A summary that cannot be written is told of, and fails nothing.
    """
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    file = Path(name)
    try:
        room = _SUMMARY_BYTES - (file.stat().st_size if file.exists() else 0)
        with file.open("ab") as stream:
            stream.write(_fitting(markdown, room))
    except OSError as error:
        print(f"the step summary cannot be written to {file}: {error.strerror or error}", file=sys.stderr)


def relative_to(file: str, root: Path) -> str:
    """A file as annotations name it: from the root of the checkout, else from `root`; as it is where it is outside."""
    base = Path(os.environ.get("GITHUB_WORKSPACE") or root).resolve()
    path = Path(file).resolve()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


def _fitting(markdown: str, room: int) -> bytes:
    data = markdown.encode()
    if len(data) <= room:
        return data
    cut = _CUT.encode()
    return data[: max(0, room - len(cut))].decode(errors="ignore").encode() + cut if room > len(cut) else b""


def _data(text: str) -> str:
    shown = "\r".join(map(printable, text.split("\r")))
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
