"""Whether a subject's files changed while runs were made: a worker that starts later imports them anew.

What such a run shows is about no version of the subject, so it accuses nobody.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..project_folder import project_folder

_Stamp = tuple[int, int]


class SourceFiles:
    """The files of the project that this process has imported, as they were when they were first noted."""

    def __init__(self) -> None:
        self._stamps: dict[Path, _Stamp | None] = {}
        self._modules: set[str] = set()

    def note(self) -> None:
        """Note the files of modules that were imported since the last time. A module is the project's if its file is in
        the command's folder, and not in an environment there."""
        new = sys.modules.keys() - self._modules  # thousands are imported, and this is done for each run
        if not new:
            return
        self._modules |= new
        root = f"{project_folder()}/"
        for name in new:
            file = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(file, str) and file.startswith(root) and "site-packages" not in (path := Path(file)).parts:
                self._stamps[path] = _stamp(path)

    def changed(self) -> str:
        """The first noted file that is another one now, from the command's folder on; empty where there is none."""
        root = project_folder()
        stamps = list(self._stamps.items())  # other runs begin meanwhile, and note theirs
        changed = (path for path, stamp in stamps if _stamp(path) != stamp)
        return next((str(path.relative_to(root)) for path in changed), "")


def _stamp(path: Path) -> _Stamp | None:
    """When a file was written last, and its size; None for one that is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
