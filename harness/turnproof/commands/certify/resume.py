"""What an interrupted certification has already measured, for `turnproof certify --resume`.

Its runs are taken over where nothing that they depend on has changed: turnproof, suite and subject by the digest of
their sources, Python and packages by their versions, the seed, the model, the backend and the service's host. Anything
else is measured anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..._base.canonical import canonical
from ..._base.whole_files import write_whole
from ...dialects import api_of
from ...errors import UsageError
from ...judge.run_log import AdapterLine, ControlResult, Header, Run, TranscriptLine, read_run
from ...report.run_folders import RUN_FILE
from ...run.evidence import EvidenceStore
from ...run.transcript import RunKey

ASIDE = "resumed.ndjson"
"""What the interrupted run has, until the new one is over."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The runs that are there, by adapter and key, and the controls."""

    lines: Mapping[tuple[str, RunKey], TranscriptLine] = field(default_factory=dict)
    controls: tuple[ControlResult, ...] | None = None
    head: Header | None = None
    adapters: tuple[AdapterLine, ...] = ()


def earlier_runs(folder: Path, head: Header, adapters: Sequence[AdapterLine], store: EvidenceStore) -> Earlier:
    """What can be taken over from a folder for a run that begins with this header and these adapters.

    Evidence that is damaged or missing counts as not measured. Raises UsageError, with what differs, where nothing of
    the run in the folder can be used.
    """
    runs = [read_run(file) for name in (RUN_FILE, ASIDE) if (file := folder / name).exists()]
    if not runs:
        return Earlier()
    for run in runs:
        if difference := _difference(run.header, head):
            raise UsageError(f"{folder}: --resume cannot go on with the run there: {difference}. Certify without it")
    now = {one.name: _measured_as(one) for one in adapters}
    lines: dict[tuple[str, RunKey], TranscriptLine] = {}
    for run in runs:
        usable = {name for name, one in run.adapters.items() if now.get(name) == _measured_as(one)}
        for line in run.transcripts:
            if line.adapter in usable and _keep_evidence(store, line.digest):
                lines.setdefault((line.adapter, line.key), line)
    controls = _controls(runs[0], {api_of(one.dialect) for one in adapters}, store)
    return Earlier(
        lines,
        controls,
        runs[0].header,
        tuple({name: one for run in runs for name, one in run.adapters.items()}.values()),
    )


def set_aside(folder: Path, earlier: Earlier) -> None:
    """Keep what is taken over under another name, whole, before the log is begun anew.

    It stays until the run is over: a process that is killed leaves both, and the next `--resume` reads both.
    """
    if earlier.head is not None:
        rows = (earlier.head, *earlier.adapters, *earlier.lines.values())
        write_whole(folder / ASIDE, b"".join(canonical(row) + b"\n" for row in rows))


def _difference(before: Header, now: Header) -> str:
    for what, one, other in (
        ("the version of turnproof", before.turnproof, now.turnproof),
        ("the sources of turnproof, of the suite or of a subject", before.sources, now.sources),
        ("the seed", before.seed, now.seed),
        ("Python", before.environment.python, now.environment.python),
        ("the packages", *_in_both(before.environment.packages, now.environment.packages)),
        ("the scenarios of your own", before.files, now.files),
    ):
        if one != other:
            shown = f" ({one!r} then, {other!r} now)" if not what.startswith("the sources") else ""
            return f"{what} changed{shown}"
    return ""


def _in_both(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The packages whose versions differ; one that only one run has belongs to an adapter that the other lacks."""
    names = [name for name in one if name in other and one[name] != other[name]]
    return {name: one[name] for name in names}, {name: other[name] for name in names}


def _measured_as(adapter: AdapterLine) -> tuple[object, ...]:
    return (
        *(adapter.spec, adapter.dialect, adapter.model, adapter.backend),
        *(adapter.recorded, adapter.service, adapter.run_with),
    )


def _controls(run: Run, dialects: set[str], store: EvidenceStore) -> tuple[ControlResult, ...] | None:
    """The controls, where all that are needed are there, right and with their evidence."""
    found = {one.dialect: one for one in run.header.controls if not one.problem}
    if not dialects <= found.keys():
        return None
    needed = [one for one in run.header.controls if one.dialect in dialects]
    return (
        tuple(needed)
        if all(_keep_evidence(store, digest) for one in needed for digest in one.evidence.values())
        else None
    )


def _keep_evidence(store: EvidenceStore, digest: str) -> bool:
    try:
        store.keep(digest)
    except UsageError:
        return False
    return True
