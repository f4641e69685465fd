"""Files that are whole, or not there, at any moment: written beside their place, then renamed.

Whoever reads such a file sees the old content or the new one, also when the writer is killed or the disk is full. A
killed writer may leave `<name>.<pid>.part` behind, which no reader takes for the file.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..errors import UsageError

PART = ".part"
"""How the name of a file ends while it is being written."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise UsageError with the name of the file and the system's reason where the block cannot write it."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def write_whole(path: Path, content: bytes | str, *, foreign: bool = False) -> None:
    """Replace a file, text as UTF-8, in one step; its folder is made if it is not there.

    Raises UsageError where it cannot be written; the old one is left then. What a symbolic link leads to is replaced,
    and not the link; a device or a pipe is written to. In a `foreign` folder, which somebody else has filled, the link
    or the pipe itself is replaced: what it leads to is none of ours.
    """
    data = content.encode() if isinstance(content, str) else content
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not foreign and path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(data)
            return
        target = path if foreign else path.resolve()
        part = part_of(target)
        part.unlink(missing_ok=True)
        try:
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # otherwise a power cut may leave an empty file under the new name
            if target.is_file() and not target.is_symlink():
                shutil.copymode(target, part)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def part_of(path: Path) -> Path:
    """Where this process writes a file before it gets its name."""
    return path.with_name(f"{path.name}.{os.getpid()}{PART}")


def remove(folder: Path, *patterns: str) -> None:
    """Remove the files of a folder that match. Raises UsageError for one that cannot be removed."""
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(
                    f"cannot remove {path}, which an earlier run left: {error.strerror or error}"
                ) from error
