"""`run.ndjson`: one line per thing that happened in a run, written as it happens; every report derives from it.

A run begins with a `header`, tells of requirements, adapters, transcripts and results, and ends with a `footer`. It is
only ever appended to and flushed line by line, so that a run that was cut is visibly cut: it has no footer. The footer
holds one digest over the evidence and the verdicts; the same seed gives the same digest.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import platform, python_version
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import msgspec

from ._canonical import canonical
from .errors import HarnessError, UsageError
from .requirements import Requirement
from .subject import SubjectKind
from .transcript import RunKey
from .verdict import Status, Verdict

SCHEMA = "turnproof.run/1"


class Environment(msgspec.Struct, frozen=True):
    """Where a run took place. `packages` maps each provider package that took part to its version."""

    python: str
    platform: str
    packages: dict[str, str] = {}

    @classmethod
    def here(cls, packages: Iterable[str]) -> Environment:
        """This interpreter and machine, and the installed versions of these packages."""
        return cls(python_version(), platform(), {package: _version(package) for package in packages})


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


class _Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", omit_defaults=True):
    pass


class ControlResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the control adapter of a dialect, which was judged before anybody else.

    `held` counts its verdicts; `evidence` maps its runs to their digests. With a `problem` the harness is broken, and
    nobody else was judged.
    """

    dialect: str
    held: int = 0
    evidence: dict[str, str] = {}
    problem: str = ""


class Header(_Line, frozen=True, kw_only=True, omit_defaults=False, tag="header"):
    """What was started. `started` is ISO 8601 in UTC; `profiles` the date of the frozen profiles (`2026.11`).

    `backend` is what was asked for, or `mixed` where adapters chose differently. `command` is the command line, word
    for word; `reproduce` the options that a single requirement needs to be run again in the same way. `compares` is set
    where the run was made to compare: the two `paths` of one adapter, or two `adapters`, the first with the second.
    `controls` has the control of each dialect that takes part, in a run that certifies. `files` are the scenarios that
    are not the suite's, by absolute path.
    """

    turnproof: str
    profiles: str
    backend: str
    depth: str
    seed: int
    started: str
    environment: Environment
    command: tuple[str, ...] = ()
    reproduce: tuple[str, ...] = ()
    compares: Literal["", "paths", "adapters"] = ""
    controls: tuple[ControlResult, ...] = ()
    files: tuple[str, ...] = ()
    schema: str = SCHEMA


class RequirementLine(_Line, frozen=True, kw_only=True, tag="requirement"):
    """A requirement of the catalogue, whether or not this run measured it, so that a report needs nothing else.

    `provider` says what the provider does, `code` what the adapter's code likely did.
    """

    id: str
    title: str
    level: Literal["MUST", "SHOULD"]
    profile: str
    subject: SubjectKind = "adapter"
    capability: str | None = None
    reason: str = ""
    provider: str = ""
    code: str = ""
    sources: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        """Both, in one piece."""
        return " ".join(filter(None, (self.provider, self.code)))

    @classmethod
    def of(cls, requirement: Requirement) -> RequirementLine:
        """The line for a requirement of the catalogue."""
        return cls(
            id=requirement.id,
            title=requirement.title,
            level=requirement.level.value,
            profile=requirement.profile,
            subject=requirement.subject,
            capability=", ".join(requirement.capability) or None,
            reason=requirement.reason,
            provider=requirement.provider,
            code=requirement.code,
            sources=requirement.sources,
        )


class AdapterLine(_Line, frozen=True, kw_only=True, tag="adapter"):
    """An adapter that takes part, or a session. `spec` is how the user named it: an installed name or
    `module:attribute`.

    Of a session, `run_with` is the adapter whose provider it was given, and `operations` what can be done with it.
    `paths` are all that it has, also those this run left out; a requirement without a result for one of them counts as
    unmeasured. `backend` is what answered it; `recorded` says of a replay what the cassettes were recorded
    from (`emulated`, or `live, 2026-11-02`). `declared` names the differences between its paths that are intended,
    `reasons` say why, by name.
    """

    name: str
    spec: str
    dialect: str
    model: str
    backend: str
    kind: SubjectKind = "adapter"
    run_with: str = ""
    paths: tuple[str, ...] = ()
    recorded: str | None = None
    capabilities: dict[str, Any] = {}
    declared: tuple[str, ...] = ()
    reasons: dict[str, str] = {}
    operations: tuple[str, ...] = ()


class Processes(msgspec.Struct, frozen=True):
    """Processes that agents had: how many were seen, killed by the scenario, and still there after the end."""

    started: int = 0
    killed: int = 0
    left: int = 0


class TranscriptLine(_Line, frozen=True, kw_only=True, tag="transcript"):
    """A run of one scenario on one path is over; its evidence is stored under `digest`.

    Of an agent, `program` is what the program behind it calls itself, with its version, and `processes` counts what it
    had. Neither is a part of the run's digest.
    """

    adapter: str
    key: RunKey
    digest: str
    how: str = "completed"
    program: str = ""
    processes: Processes | None = None


class ResultLine(_Line, frozen=True, kw_only=True, tag="result"):
    """The verdict on one requirement for one path: `stateless`, `legacy` or `parity`."""

    adapter: str
    requirement: str
    path: str
    verdict: Verdict


class Footer(_Line, frozen=True, kw_only=True, tag="footer"):
    """The run came to its end. `counts` are results by status; `problems` what else made it fail, one line each.

    `digest` is that of evidence and verdicts, alike for the same seed; `lines` that of every line before this one.
    """

    exit_code: int
    duration_s: float
    counts: dict[str, int]
    digest: str
    problems: tuple[str, ...] = ()
    lines: str = ""


Line: TypeAlias = Header | RequirementLine | AdapterLine | TranscriptLine | ResultLine | Footer

_decoder = msgspec.json.Decoder(Line)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as read from its file. `complete` is False when it was cut: then nothing in it certifies anything.

    `lines` is the digest of every line before the footer, as they are.
    """

    header: Header
    requirements: dict[str, RequirementLine]
    adapters: dict[str, AdapterLine]
    transcripts: tuple[TranscriptLine, ...]
    results: tuple[ResultLine, ...]
    footer: Footer | None
    lines: str = ""

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return self.footer is not None

    def digest_of(self, adapter: str, key: str) -> str | None:
        """The digest of an adapter's transcript, by the text form of its run key."""
        wanted = (line.digest for line in self.transcripts if line.adapter == adapter and str(line.key) == key)
        return next(wanted, None)


def run_digest(transcripts: tuple[TranscriptLine, ...], results: tuple[ResultLine, ...]) -> str:
    """One digest over all evidence and verdicts, whatever order they were written in."""
    bare = (msgspec.structs.replace(line, program="", processes=None) for line in transcripts)
    lines = sorted(canonical(line) for line in (*bare, *results))
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


class RunWriter:
    """Writes one run, a line at a time, each flushed before `write` returns. Replaces an older file of that name.

    The first line must be the header; `finish` writes the footer, and nothing can follow it.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("wb")
        self._transcripts: list[TranscriptLine] = []
        self._results: list[ResultLine] = []
        self._state: Literal["new", "open", "finished"] = "new"
        self._lines = hashlib.sha256()

    def write(self, line: Line) -> None:
        """Append one line."""
        if self._state == "finished" or (self._state == "new") != isinstance(line, Header):
            raise HarnessError(f"a {type(line).__name__} cannot be written to a run that is {self._state}")
        match line:
            case TranscriptLine():
                self._transcripts.append(line)
            case ResultLine():
                self._results.append(line)
        row = canonical(line) + b"\n"
        self._lines.update(row)
        self._file.write(row)
        self._file.flush()
        self._state = "finished" if isinstance(line, Footer) else "open"

    def finish(self, exit_code: int, duration_s: float, problems: tuple[str, ...] = ()) -> Footer:
        """Write the footer, with the counts and the digest of what was written before."""
        counts = Counter(str(line.verdict.status) for line in self._results)
        footer = Footer(
            exit_code=exit_code,
            duration_s=round(duration_s, 3),
            counts={str(status): counts[status] for status in Status},
            digest=run_digest(tuple(self._transcripts), tuple(self._results)),
            problems=problems,
            lines=self._lines.hexdigest(),
        )
        self.write(footer)
        return footer

    def close(self) -> None:
        """Close the file, finished or not."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_run(path: Path) -> Run:
    """A run from its file. A cut file gives the part that is there, with `complete=False`.

    Only the last line may be incomplete. Raises UsageError, with the line's number, for anything else that is wrong:
    what cannot be read is never left out silently.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot read the run: {error.strerror}") from error
    lines: list[Line] = []
    rows = text.split(b"\n")
    for number, row in enumerate(rows, 1):
        if not row and number == len(rows):
            break
        try:
            lines.append(_decoder.decode(row))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            if number == len(rows):  # no newline after it: the writer was stopped in the middle of this line
                break
            raise UsageError(f"{path}: line {number} is damaged: {error}") from error
        if isinstance(lines[0], Header) and lines[0].schema != SCHEMA:
            raise UsageError(f"{path}: this run is of format {lines[0].schema!r}; this turnproof reads {SCHEMA!r}")
    before = rows[: len(lines) - 1] if lines and isinstance(lines[-1], Footer) else rows
    return _assemble(path, lines, hashlib.sha256(b"".join(row + b"\n" for row in before)).hexdigest())


def _assemble(path: Path, lines: list[Line], digest: str) -> Run:
    header, rest = (lines[0], lines[1:]) if lines else (None, [])
    if not isinstance(header, Header):
        raise UsageError(f"{path}: this is not a run: it has no header line")
    for number, line in enumerate(rest, 2):
        if isinstance(line, Header) or (isinstance(line, Footer) and number != len(lines)):
            raise UsageError(
                f"{path}: line {number} is damaged: a {type(line).__name__.lower()} in the middle of the run"
            )
    return Run(
        header=header,
        requirements={line.id: line for line in rest if isinstance(line, RequirementLine)},
        adapters={line.name: line for line in rest if isinstance(line, AdapterLine)},
        transcripts=tuple(line for line in rest if isinstance(line, TranscriptLine)),
        results=tuple(line for line in rest if isinstance(line, ResultLine)),
        footer=next((line for line in rest if isinstance(line, Footer)), None),
        lines=digest,
    )
