"""`run.ndjson`: one line per thing that happened in a run, written as it happens; every report derives from it.

A run begins with a `header`, tells of requirements, adapters, transcripts and results, and ends with a `footer`. It is
only ever appended to and flushed line by line, so that a run that was cut is visibly cut: it has no footer. The footer
holds one digest over the evidence and the verdicts; the same seed gives the same digest.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import platform, python_version
from typing import Any, Literal, TypeAlias

import msgspec

from .._base.canonical import canonical
from .._base.closeable import Closeable
from .._base.depth import Depth
from .._base.foreign_files import read_regular
from .._base.whole_files import part_of, writing
from ..errors import HarnessError, UsageError
from ..run.tracebacks import Frame
from ..run.transcript import RunKey
from ..subject import SubjectKind
from .finding import UNSTRUCTURED, Finding
from .finding_words import Template, Words, words_of
from .requirements import AllowedOnly, Requirement
from .verdict import NOTHING, Status, Verdict
from .verdict_words import message_of

SCHEMA = "turnproof.run/2"

EARLIER = "turnproof.run/1"
"""What can be read, too: a verdict there is a message, with `where` and `detail`, in place of findings."""


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
    are not the suite's, by absolute path. `docs` is the address of the site that explains the names, or empty.
    `allowed_only` are the scenarios in which the service does what its API allows and no service is known to do; None
    in logs from before. `sources` is a digest of the code that takes part: turnproof, the suite and the subjects.
    """

    turnproof: str
    profiles: str
    backend: str
    depth: Depth
    seed: int
    started: str
    environment: Environment
    command: tuple[str, ...] = ()
    reproduce: tuple[str, ...] = ()
    compares: Literal["", "paths", "adapters"] = ""
    controls: tuple[ControlResult, ...] = ()
    files: tuple[str, ...] = ()
    docs: str = ""
    allowed_only: tuple[AllowedOnly, ...] | None = None
    sources: str = ""
    schema: str = SCHEMA


class RequirementLine(_Line, frozen=True, kw_only=True, tag="requirement"):
    """A requirement of the catalogue, whether or not this run measured it, so that a report needs nothing else.

    `provider` says what the provider does, `code` what the adapter's code likely did. `findings` are the words for what
    its check may find, by code. `counts` is what the `asked` of its verdicts counts, `effect` what a user notices of a
    violation; both are empty in logs from before.
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
    counts: str = ""
    effect: str = ""
    findings: dict[str, Template] = {}

    @property
    def remedy(self) -> str:
        """Both, in one piece."""
        return " ".join(filter(None, (self.provider, self.code)))

    @classmethod
    def of(cls, requirement: Requirement, templates: Mapping[str, Template]) -> RequirementLine:
        """The line for a requirement of the catalogue; `templates` are the words for all codes there are."""
        own = f"{requirement.id}/"
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
            counts=requirement.asks,
            effect=requirement.effect,
            findings={code: template for code, template in templates.items() if code.startswith(own)},
        )


class AdapterLine(_Line, frozen=True, kw_only=True, tag="adapter"):
    """An adapter that takes part, or a session. `spec` is how the user named it: an installed name or
    `module:attribute`.

    Of a session, `run_with` is the adapter whose provider it was given, and `operations` what can be done with it.
    `paths` are all that it has, also those this run left out; a requirement without a result for one of them counts
    as unmeasured. `backend` is what answered it; `recorded` says of a replay what the cassettes were recorded from
    (`emulated`, or `live, 2026-11-02`). `service` is the host of the real service, with its port. `real` says where
    the recorded answers of imported scenarios come from (`api.anthropic.com, 2026-11-02`), and `real_only` that no
    other scenario was run. `declared` names the differences between its paths that are intended, `reasons` say why, by
    name.
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
    service: str = ""
    real: tuple[str, ...] = ()
    real_only: bool = False
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
    had. `opened` is where the class of what was opened is defined. None of them is a part of the run's digest.
    """

    adapter: str
    key: RunKey
    digest: str
    how: str = "completed"
    program: str = ""
    processes: Processes | None = None
    opened: Frame | None = None


DecidedOn: TypeAlias = Literal["", "answers", "faults"]


class ResultLine(_Line, frozen=True, kw_only=True, tag="result"):
    """The verdict on one requirement for one path: `stateless`, `legacy` or `parity`.

    Behind a real service `decided_on` says what decided it: the service's `answers`, or runs in all of which turnproof
    made faults of its own (`faults`). Empty where nothing was decided, and elsewhere.
    """

    adapter: str
    requirement: str
    path: str
    verdict: Verdict
    decided_on: DecidedOn = ""


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


@dataclass(frozen=True)
class Run:
    """A run as read from its file. `complete` is False when it was cut: then nothing in it certifies anything.

    `lines` is the digest of every line before the footer, as they are; `digest` that of its evidence and verdicts, to
    be held against the footer's.
    """

    header: Header
    requirements: dict[str, RequirementLine]
    adapters: dict[str, AdapterLine]
    transcripts: tuple[TranscriptLine, ...]
    results: tuple[ResultLine, ...]
    footer: Footer | None
    lines: str = ""
    digest: str = ""

    @property
    def earlier(self) -> bool:
        """Whether it was written in the earlier format, whose violations are told in words alone."""
        return self.header.schema == EARLIER

    @cached_property
    def templates(self) -> dict[str, Template]:
        """The words for findings, by code."""
        return {code: words for line in self.requirements.values() for code, words in line.findings.items()}

    def words(self, finding: Finding) -> Words:
        """A finding in words."""
        return words_of(finding, self.templates)

    def message(self, verdict: Verdict) -> str:
        """What a verdict says, in a sentence: its first finding and how many there are more, or why it is none."""
        return message_of(verdict, self.templates)

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return self.footer is not None

    def digest_of(self, adapter: str, key: str) -> str | None:
        """The digest of an adapter's transcript, by the text form of its run key."""
        digests = (line.digest for line in self.transcripts if line.adapter == adapter and str(line.key) == key)
        return next(digests, None)


_WITHOUT_DIGEST = {"transcript": ("program", "processes", "opened"), "result": ()}
"""Lines that a run's digest covers, and what it leaves out of them."""


def run_digest(rows: Iterable[Mapping[str, Any]]) -> str:
    """One digest over all evidence and verdicts, whatever order they were written in.

    `rows` are lines as JSON objects; those of other kinds are passed over. Frames of exceptions are no part of it: the
    lines of a library are not what it did.
    """
    # In the order of their fields: so they were written.
    lines = sorted(msgspec.json.encode(_covered(row)) for row in rows if row.get("line") in _WITHOUT_DIGEST)
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def _covered(row: Mapping[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in row.items() if name not in _WITHOUT_DIGEST[row["line"]]}
    verdict = bare.get("verdict", {})
    for field in ("findings", "accepted", "undecided"):
        if field in verdict:
            verdict = bare["verdict"] = {**verdict, field: [_without_lines(finding) for finding in verdict[field]]}
    return bare


def _without_lines(finding: Mapping[str, Any]) -> dict[str, Any]:
    """A finding without frames, and its root without the line of code that it names."""
    bare = {name: value for name, value in finding.items() if name != "raised"}
    return {**bare, "root": bare["root"].partition("@")[0]} if "root" in bare else bare


class RunWriter(Closeable):
    """Writes one run, a line at a time, each flushed before `write` returns. Replaces an older file of that name.

    The first line must be the header; the file gets its name with it. `finish` writes the footer, and nothing can
    follow it. Raises UsageError where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._part = part_of(self.path)
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("wb", buffering=0)
        self._rows: list[dict[str, Any]] = []
        self._counts: Counter[str] = Counter()
        self._state: Literal["new", "open", "finished"] = "new"
        self._lines = hashlib.sha256()

    def write(self, line: Line) -> None:
        """Append one line."""
        if self._state == "finished" or (self._state == "new") != isinstance(line, Header):
            raise HarnessError(f"a {type(line).__name__} cannot be written to a run that is {self._state}")
        row = canonical(line) + b"\n"
        if isinstance(line, TranscriptLine | ResultLine):
            self._rows.append(msgspec.json.decode(row))
        if isinstance(line, ResultLine):
            self._counts[str(line.verdict.status)] += 1
        self._lines.update(row)
        with writing(self.path):
            self._append(row)
            if self._state == "new":
                self._part.replace(self.path)
            if isinstance(line, Footer):
                os.fsync(self._file.fileno())
        self._state = "finished" if isinstance(line, Footer) else "open"

    def finish(self, exit_code: int, duration_s: float, problems: tuple[str, ...] = ()) -> Footer:
        """Write the footer, with the counts and the digest of what was written before."""
        footer = Footer(
            exit_code=exit_code,
            duration_s=round(duration_s, 3),
            counts={str(status): self._counts[status] for status in Status},
            digest=run_digest(self._rows),
            problems=problems,
            lines=self._lines.hexdigest(),
        )
        self.write(footer)
        return footer

    def close(self) -> None:
        """Close the file, finished or not. One without a header is removed."""
        self._file.close()
        if self._state == "new":
            self._part.unlink(missing_ok=True)

    def _append(self, row: bytes) -> None:
        rest = memoryview(row)
        while rest:  # a disk that is nearly full takes a part of it, and refuses the rest
            rest = rest[self._file.write(rest) :]


def read_run(path: Path) -> Run:
    """A run from its file. A cut file gives the part that is there, with `complete=False`.

    Only the last line may be incomplete. Raises UsageError, with the line's number, for anything else that is wrong:
    what cannot be read is never left out silently.
    """
    try:
        text = read_regular(Path(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot read the run: {error.strerror}") from error
    rows = text.split(b"\n")
    lines: list[Line] = []
    digested: list[Any] = []
    read: Callable[[bytes], Line] = _decoder.decode
    for number, row in enumerate(rows, 1):
        if not row and number == len(rows):
            break
        try:
            lines.append(read(row))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if number == len(rows):  # no newline after it: the writer was stopped in the middle of this line
                break
            raise UsageError(f"{path}: line {number} is damaged: {error}") from error
        if number == 1 and isinstance(lines[0], Header):
            if lines[0].schema not in (SCHEMA, EARLIER):
                known = f"{SCHEMA!r} and {EARLIER!r}"
                raise UsageError(f"{path}: this run is of format {lines[0].schema!r}; this turnproof reads {known}")
            read = _decoder.decode if lines[0].schema == SCHEMA else read_earlier_line
        if isinstance(lines[-1], TranscriptLine | ResultLine):
            digested.append(msgspec.json.decode(row))
    before = rows[: len(lines) - 1] if lines and isinstance(lines[-1], Footer) else rows
    digest_before = hashlib.sha256(b"".join(row + b"\n" for row in before)).hexdigest()
    return _assemble(path, lines, digest_before, run_digest(digested))


def read_earlier_line(row: bytes) -> Line:
    """A line of the earlier format. Its violations are told in words: each becomes one finding in free words."""
    data = msgspec.json.decode(row)
    if isinstance(data, dict) and data.get("line") == "result" and isinstance(data.get("verdict"), dict):
        data = {**data, "verdict": _with_finding(str(data.get("requirement", "")), data["verdict"])}
    line: Line = msgspec.convert(data, Line)
    return line


def _with_finding(requirement: str, verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict of the earlier format as one of today."""
    message, detail, where = (str(verdict.get(name, "")) for name in ("message", "detail", "where"))
    fields = {name: value for name, value in verdict.items() if name not in ("where", "more")}
    if verdict.get("status") == Status.INCONCLUSIVE and message == NOTHING:
        fields["empty"] = True
    if verdict.get("status") not in (Status.VIOLATED, Status.KNOWN_ISSUE):
        return fields
    accepted, dash, rest = message.partition(" — ") if verdict["status"] == Status.KNOWN_ISSUE else ("", "", message)
    scenario, path, mode, repeat = _run_of(where.partition(" and ")[0])
    place = {"side": "process", "scenario": scenario, "path": path, "mode": mode, "repeat": repeat}
    facts = {"message": rest if dash or not accepted else message, **({"detail": detail} if detail else {})}
    total = int(verdict.get("more") or 0) + 1
    finding = {"code": f"{requirement}/{UNSTRUCTURED}", "place": place, "facts": facts}
    failing = {where.partition(" and ")[0]: total} if where else {}
    fields.pop("detail", None)
    return {**fields, "message": accepted, "findings": [finding], "total": total, "failing": failing}


def _run_of(key: str) -> tuple[str, str, str, int]:
    """Scenario, path, mode and repeat of a run's key, as text; empty where it is none."""
    parts = key.rsplit("/", 2)
    if len(parts) != 3:
        return "", "", "", 0
    mode, _, repeat = parts[2].partition("#")
    return parts[0], parts[1], mode, int(repeat or 0)


def _assemble(path: Path, lines: list[Line], whole: str, digest: str) -> Run:
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
        lines=whole,
        digest=digest,
    )
