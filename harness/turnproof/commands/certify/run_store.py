"""Runs that are kept as they end, so that a command which was interrupted goes on where it stopped.

A folder with a file for each run, and a log with a line for each. What the runs were made with is in its first line:
runs that were made with anything else are refused.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ... import __version__
from ..._base.canonical import canonical
from ..._base.foreign_files import read_regular
from ..._base.whole_files import write_whole, writing
from ...errors import UsageError
from ...judge.requirements import Suite
from ...judge.run_log import Environment
from ...run.driver import RunSpec
from ...run.emulation import Issued
from ...run.evidence import decoded, digest, encoded
from ...run.transcript import Transcript
from ...subject import Subject
from .run_head import sources_of


class MadeWith(msgspec.Struct, frozen=True):
    """What runs depend on, beside their own names."""

    turnproof: str
    sources: str
    environment: Environment
    seed: int
    subjects: dict[str, str]

    @classmethod
    def here(cls, suite: Suite, subjects: Iterable[Subject], seed: int, modules: Iterable[str] = ()) -> MadeWith:
        """What runs of these subjects are made with now; `modules` take part beside the subjects' own."""
        found = list(subjects)
        return cls(
            turnproof=__version__,
            sources=sources_of(suite, found, modules),
            environment=Environment.here(package for subject in found for package in subject.packages),
            seed=seed,
            subjects={subject.name: subject.adapter.model for subject in found},
        )


class _Line(msgspec.Struct, frozen=True):
    run: str
    digest: str
    issued: dict[str, tuple[str, str]] = {}


def run_name(spec: RunSpec, number: int = 0) -> str:
    """The name of a run, by all that it follows from; with the `number` of times that it was asked for before."""
    scenario = msgspec.structs.replace(spec.scenario, file="")
    identity = (spec.adapter, spec.mutant, spec.key, spec.flag, spec.watch, spec.issued, scenario, number)
    return hashlib.sha256(canonical(identity)).hexdigest()


class RunStore:
    """The runs in a folder, which is made if it is not there. Raises UsageError for one that was made otherwise."""

    def __init__(self, folder: Path, made_with: MadeWith) -> None:
        self._folder = folder
        self._log = folder / "runs.ndjson"
        self._lines: dict[str, _Line] = {}
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
            self._lines[line.run] = line

    def find(self, run: str) -> Transcript | None:
        """The run of that name, if it is there and its evidence is whole."""
        line = self._lines.get(run)
        if line is None:
            return None
        try:
            found = decoded(zlib.decompress(read_regular(self._file(run))))
        except (OSError, zlib.error, msgspec.MsgspecError, RecursionError):
            return None
        return found if digest(found) == line.digest else None

    def issued(self, run: str) -> Issued:
        """What the service of a run that is there had issued when it was over."""
        return self._lines[run].issued

    def add(self, run: str, transcript: Transcript, issued: Issued | None = None) -> None:
        """Keep a run that has ended."""
        write_whole(self._file(run), zlib.compress(encoded(transcript), 1))
        line = _Line(run, digest(transcript), dict(issued or {}))
        self._append(msgspec.json.encode(line))
        self._lines[run] = line

    def remove(self) -> None:
        """Forget all of them."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _file(self, run: str) -> Path:
        return self._folder / f"{run}.json.zlib"

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
