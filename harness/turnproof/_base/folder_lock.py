"""A folder that one process at a time writes into.

The lock is the system's: it ends with the process that holds it, however that ends. The file names that process for
those who come second; one that is left behind means that its process was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import UsageError
from .whole_files import writing

LOCK_FILE = "run.lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made if it is not there, until the block is left.

    Raises UsageError, with the process that holds it, where another one does.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    file = folder / LOCK_FILE
    descriptor = _lock(file, folder)
    try:
        with writing(file):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
        os.close(descriptor)


def _lock(file: Path, folder: Path) -> int:
    while True:
        with writing(file):
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one before us may have removed the file between our two calls: then nobody else meets this lock.
            if os.path.samestat(os.fstat(descriptor), file.stat()):
                return descriptor
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise UsageError(
                f"another run writes into {folder} (process {holder}): wait until it has ended, or use another --out"
            ) from None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
