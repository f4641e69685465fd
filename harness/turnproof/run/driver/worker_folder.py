"""The folder that a worker works in, kept by the parent: the subject's working directory and temporary files.

The parent looks into it after each run, because a subject may have spoiled the worker's own functions.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

MOST_NAMES = 20
"""Files that are named of those which a run left behind."""


class WorkerFolder:
    """A new folder with two in it, until `clear`."""

    def __init__(self) -> None:
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="turnproof-worker-"))
        self.work = os.path.join(self.root, "work")  # noqa: PTH118 (texts: they go to another process)
        self.temporary = os.path.join(self.root, "tmp")  # noqa: PTH118
        for folder in (self.work, self.temporary):
            os.mkdir(folder)  # noqa: PTH102

    def files_left(self) -> tuple[str, ...]:
        """The first files and empty folders in it, as `work/notes.txt`, sorted."""
        return tuple(sorted(islice(self._files(), MOST_NAMES)))

    def clear(self) -> None:
        """Remove it, whatever rights the subject took from it. Does nothing the second time."""
        shutil.rmtree(self.root, onerror=_with_rights)

    def _files(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            names = files if folders or files or folder in (self.root, self.work, self.temporary) else [""]
            for name in names:
                yield os.path.join(inside, name)  # noqa: PTH118


def enter(folder: str, temporary: str) -> None:
    """Work in this folder from now on, and make temporary files in the other."""
    for each in (folder, temporary):
        os.makedirs(each, exist_ok=True)  # noqa: PTH103 (an adapter may have spoiled `Path`)
    os.environ["TMPDIR"] = temporary
    tempfile.tempdir = None  # it may have been looked up before this process was forked
    os.chdir(folder)


def _with_rights(remove: Callable[[str], object], path: str, _: Any) -> None:
    """Try again with the rights to, and leave what cannot be removed even so."""
    with contextlib.suppress(OSError):
        Path(path).parent.chmod(0o700)
        if not Path(path).is_symlink():
            Path(path).chmod(0o700)
        if remove in (os.rmdir, os.unlink):
            remove(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
