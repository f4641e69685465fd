"""The runs of a gate that was interrupted, kept for each value of the migration flag."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from ..._base.canonical import canonical
from ...run.driver.run_place import RunPlace
from ..certify.resumable_place import ResumablePlace
from ..certify.run_store import MadeWith, RunStore


class GateRunStore:
    """A folder with the runs of a gate, those of each environment in a folder of their own: a run that found the flag
    set in another way is another one."""

    def __init__(self, folder: Path, made_with: MadeWith) -> None:
        self._folder = folder
        self._made_with = made_with
        self._places: list[ResumablePlace] = []

    def place(self, place: RunPlace, environment: Mapping[str, str | None]) -> RunPlace:
        """A place that keeps what it makes in another one, and makes nothing that is kept.

        Raises UsageError for runs that were made with other sources, versions or settings.
        """
        name = hashlib.sha256(canonical(dict(environment))).hexdigest()[:16]
        found = ResumablePlace(place, RunStore(self._folder / name, self._made_with))
        self._places.append(found)
        return found

    @property
    def taken_over(self) -> int:
        """Runs that the interrupted gate had made."""
        return sum(place.taken_over for place in self._places)

    def remove(self) -> None:
        """Forget all of them."""
        shutil.rmtree(self._folder, ignore_errors=True)
