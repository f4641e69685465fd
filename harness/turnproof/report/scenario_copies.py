"""The scenarios of a run that are not the suite's: kept in its folder, so that whoever verifies it opens no other path.

Each is at `scenarios/<number>/<folder>/<name>.yaml`, in the order of the header's `files`: its name is made of both.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from .._base.foreign_files import read_regular, refuse_links
from .._base.whole_files import write_whole, writing
from ..errors import UsageError

FOLDER = "scenarios"


def copy_scenarios(folder: Path, files: Sequence[str]) -> None:
    """Copy the files into the folder of their run, in place of those that an earlier run kept.

    Whatever else is in that folder stays: the run may be made in a project that has scenarios of its own there.
    """
    contents = [Path(file).read_bytes() for file in files]  # before anything goes: one of them may be such a copy
    with writing(folder / FOLDER):
        refuse_links(folder, FOLDER)
        for copy in filter(_is_copy, (folder / FOLDER).glob("*")):
            shutil.rmtree(copy)
        if (folder / FOLDER).is_dir() and not any((folder / FOLDER).iterdir()):
            (folder / FOLDER).rmdir()
    for number, (file, content) in enumerate(zip(files, contents, strict=True)):
        write_whole(_place(folder, number, file), content)


def scenario_copies(folder: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Where the folder of a run has its files. Raises UsageError for one that it lacks, or that is no regular file."""
    found = []
    for number, file in enumerate(files):
        path = _place(folder, number, file)
        refuse_links(folder, FOLDER, f"{FOLDER}/{number}", f"{FOLDER}/{number}/{Path(file).parent.name}")
        try:
            read_regular(path)
        except OSError as error:
            raise UsageError(
                f"{path}: the run's own scenario is not in its folder ({error.strerror}): certify again"
            ) from error
        found.append(str(path))
    return tuple(found)


def _is_copy(place: Path) -> bool:
    return place.name.isdecimal() and place.is_dir() and not place.is_symlink()


def _place(folder: Path, number: int, file: str) -> Path:
    own = Path(file)
    return folder / FOLDER / str(number) / own.parent.name / own.name
