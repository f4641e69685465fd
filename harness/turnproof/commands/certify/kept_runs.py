"""Runs that are kept as they end, so that a command which was interrupted goes on where it stopped.

A folder with the evidence, and a log of a line for each run. What the runs were made with is in its first line: runs
that were made with anything else are refused.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ... import __version__
from ..._base.foreign_files import read_regular
from ..._base.whole_files import writing
from ...errors import UsageError
from ...judge.requirements import Suite
from ...judge.run_log import Environment
from ...run.driver import RunSpec
from ...run.evidence import EvidenceStore
from ...run.transcript import RunKey, Transcript
from ...subject import Subject
from .run_head import sources_of


class MadeWith(msgspec.Struct, frozen=True):
    """What runs depend on, beside their own names."""

    turnproof: str
    sources: str
    environment: Environment
    seed: int
    subject: str
    model: str

    @classmethod
    def here(cls, suite: Suite, subject: Subject, seed: int, modules: Iterable[str] = ()) -> MadeWith:
        """What runs of this subject are made with now; `modules` take part beside the subject's own."""
        return cls(
            turnproof=__version__,
            sources=sources_of(suite, [subject], modules),
            environment=Environment.here(subject.packages),
            seed=seed,
            subject=subject.name,
            model=subject.adapter.model,
        )


class _Line(msgspec.Struct, frozen=True):
    adapter: str
    mutant: str | None
    key: RunKey
    digest: str


class KeptRuns:
    """The runs in a folder, which is made if it is not there. Raises UsageError for one that was made otherwise."""

    def __init__(self, folder: Path, made_with: MadeWith) -> None:
        self._folder = folder
        self._store = EvidenceStore(folder / "evidence")
        self._log = folder / "runs.ndjson"
        self._digests: dict[tuple[str, str | None, RunKey], str] = {}
        rows = self._rows()
        if rows is None:
            with writing(self._log):
                folder.mkdir(parents=True, exist_ok=True)
            self._append(msgspec.json.encode(made_with))
            return
        try:
            if msgspec.json.decode(rows[0], type=MadeWith) != made_with:
                raise UsageError(
                    f"{folder}: these runs were made with other sources, versions, settings or another subject; remove "
                    "the folder to begin again"
                )
            lines = [msgspec.json.decode(row, type=_Line) for row in rows[1:]]
        except msgspec.MsgspecError as error:
            raise UsageError(f"{self._log} is damaged ({error}); remove {folder} to begin again") from error
        for line in lines:
            self._digests[line.adapter, line.mutant, line.key] = line.digest

    def find(self, spec: RunSpec) -> Transcript | None:
        """The run, if it is there and its evidence is whole."""
        digest = self._digests.get((spec.adapter, spec.mutant, spec.key))
        if digest is None or self._store.verify(digest):
            return None
        return self._store.get(digest)

    def add(self, spec: RunSpec, transcript: Transcript) -> None:
        """Keep a run that has ended."""
        digest = self._store.put(transcript)
        self._append(msgspec.json.encode(_Line(spec.adapter, spec.mutant, spec.key, digest)))

    def remove(self) -> None:
        """Forget all of them."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _rows(self) -> list[bytes] | None:
        """The whole rows of the log, whose last one may have been cut; None without a first one."""
        try:
            data = read_regular(self._log)
        except FileNotFoundError:
            return None
        rows = data.split(b"\n")
        if rows[-1]:
            with writing(self._log):
                os.truncate(self._log, len(data) - len(rows[-1]))
        return rows[:-1] or None

    def _append(self, row: bytes) -> None:
        with writing(self._log), self._log.open("ab", buffering=0) as file:
            file.write(row + b"\n")
