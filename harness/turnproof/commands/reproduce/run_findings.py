"""The findings of a run that a user means, each with the transcript of its run, shortest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ..._base.suggestions import did_you_mean
from ...errors import TurnproofError, UsageError
from ...judge.finding import Finding
from ...judge.run_log import AdapterLine, Run
from ...judge.verdict import Status
from ...report.run_folders import certified_run
from ...run.evidence import EvidenceStore
from ...run.transcript import CallBegan, Transcript, WireResponse


class UnreproducibleError(TurnproofError):
    """No file can show this finding with the library alone. The text is the reason."""


@dataclass(frozen=True)
class Found:
    """A finding of an adapter, and the run that it was made in."""

    run: Run
    adapter: AdapterLine
    finding: Finding
    transcript: Transcript


def find(
    folder: Path, code: str, *, adapter: str | None, scenarios: Sequence[str], path: str | None, most: int
) -> list[Found]:
    """The findings with this code, or of this requirement, in the run in a folder: at most so many, one of each run.

    Raises UsageError where the run has none, and says what it has instead.
    """
    run, store = certified_run(folder), EvidenceStore(folder / "evidence")
    every = [
        (run.adapters[line.adapter], finding)
        for line in run.results
        if line.verdict.status in (Status.VIOLATED, Status.KNOWN_ISSUE)
        for finding in (*line.verdict.findings, *line.verdict.accepted)
    ]
    fitting = [
        (line, finding)
        for line, finding in every
        if code in (finding.code, finding.requirement) and adapter in (None, line.name, line.spec)
    ]
    fitting = [
        (line, finding)
        for line, finding in fitting
        if (not scenarios or any(fnmatchcase(finding.place.scenario, one) for one in scenarios))
        and path in (None, finding.place.path)
    ]
    if not fitting:
        raise UsageError(_nothing(folder, code, [finding.code for _, finding in every]))
    runs: dict[tuple[str, str, str], tuple[AdapterLine, Finding]] = {}
    for line, finding in fitting:
        runs.setdefault((line.name, finding.code, finding.place.run), (line, finding))
    found = [Found(run, line, finding, transcript) for line, finding, transcript in _with_transcripts(run, store, runs)]
    return sorted(found, key=_length)[:most]


def _with_transcripts(
    run: Run, store: EvidenceStore, runs: dict[tuple[str, str, str], tuple[AdapterLine, Finding]]
) -> Iterator[tuple[AdapterLine, Finding, Transcript]]:
    digests = {(line.adapter, str(line.key)): line.digest for line in run.transcripts}
    for line, finding in runs.values():
        if (digest := digests.get((line.name, finding.place.run))) is not None:
            yield line, finding, store.get(digest)


def _length(found: Found) -> tuple[int, int]:
    """How much there is to read: messages of the conversation at the place, and calls of the run.

    Where no call is shown, it is turns up to the place, and bytes of the answers in them.
    """
    place = found.finding.place
    if found.adapter.kind != "adapter":
        responses = [event for event in found.transcript.of(WireResponse) if event.turn <= place.turn]
        return place.turn, sum(len(event.bytes_sent) for event in responses)
    began = [event for event in found.transcript.of(CallBegan) if not event.probe]
    at = [event for event in began if event.call == place.call] or began[-1:]
    return sum(len(event.messages) for event in at), len(began)


def _nothing(folder: Path, code: str, codes: Sequence[str]) -> str:
    known = sorted(set(codes))
    if not known:
        return f"the run in {folder} has no findings: there is nothing to reproduce"
    if code in known or code in {one.rpartition("/")[0] for one in known}:
        return f"the run in {folder} has no finding {code!r} of that adapter, scenario and path"
    return f"the run in {folder} has no finding {code!r}{did_you_mean(code, known)}; it has {', '.join(known)}"
