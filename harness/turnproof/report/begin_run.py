"""The beginning of a run in a folder: nothing of an earlier run is beside it from its first line on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .._base.whole_files import PART, remove, writing
from ..judge.run_log import RunWriter
from ..run.evidence import EvidenceStore
from .run_folders import RUN_FILE
from .write import CERTIFICATION_REPORTS


def begin_run(folder: Path, store: EvidenceStore, reports: Iterable[str] = ()) -> RunWriter:
    """The writer of a new run in `folder`, whose evidence goes into `store`; whoever calls holds the folder's lock.

    Removes what an earlier run left: first its reports (of a certification, and those that match `reports`), then its
    log, then its evidence, but for what this store has put already. So a process that is killed here leaves the
    earlier run without reports, or a run without an end, and never reports that speak for another run.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    remove(folder, *CERTIFICATION_REPORTS, *reports, f"*{PART}")
    remove(folder, RUN_FILE)
    store.drop_earlier()
    return RunWriter(folder / RUN_FILE)
