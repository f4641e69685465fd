"""The transcripts of one adapter, read from the evidence when they are asked for."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from ...dialects import dialect as dialect_named
from ...errors import TurnproofError, UsageError
from ...judge.run_log import Run
from ...judge.view import View
from ...run.evidence import EvidenceStore, digest
from ...run.transcript import Transcript
from ...scenarios import Scenario
from ..limits import TRANSCRIPTS_IN_MEMORY


@dataclass(frozen=True, slots=True)
class Source:
    """A transcript with its digest, and the view of it; or the `problem` because of which there is none."""

    digest: str = ""
    transcript: Transcript | None = None
    view: View | None = None
    problem: str = ""


class Transcripts:
    """Transcripts by the key of their run, as text. What is missing or was changed is named, and nothing is raised."""

    def __init__(self, run: Run, adapter: str, store: EvidenceStore) -> None:
        self._store = store
        self.lines = {str(line.key): line for line in run.transcripts if line.adapter == adapter}
        self._read: OrderedDict[str, Source] = OrderedDict()

    def of(self, key: str) -> Source:
        """The transcript of the run with this key."""
        if key in self._read:
            self._read.move_to_end(key)
            return self._read[key]
        source = self._read[key] = self._source(key)
        if len(self._read) > TRANSCRIPTS_IN_MEMORY:
            self._read.popitem(last=False)
        return source

    def _source(self, key: str) -> Source:
        line = self.lines.get(key)
        if line is None:
            return Source(problem=f"{key}: the run's transcript is not part of this report")
        try:
            transcript = self._store.get(line.digest)
        except UsageError as error:
            return Source(line.digest, problem=str(error))
        if (found := digest(transcript)) != line.digest:  # what was edited since is no evidence
            problem = f"evidence {self._store.path(line.digest)} was changed: its content has {found[:12]}"
            return Source(line.digest, problem=problem)
        try:
            view = View(transcript, dialect_named(transcript.dialect), Scenario(transcript.key.scenario, "", ()))
        except TurnproofError as error:
            return Source(line.digest, transcript, problem=str(error))
        return Source(line.digest, transcript, view)
