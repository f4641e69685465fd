"""Files of a folder that somebody else made: read only where they are what they seem, and no larger than expected."""

from __future__ import annotations

import os
import stat
import zlib
from pathlib import Path

from ..errors import UsageError

MOST = 1024 * 1024 * 1024
"""Bytes of a file of a run that are read at all."""

MOST_UNPACKED = 256 * 1024 * 1024
"""Bytes that a compressed file of a run may have when it is unpacked."""

_GZIP = 31


def read_regular(path: Path, most: int = MOST) -> bytes:
    """The content of a regular file. Raises OSError, UsageError for a link, a pipe, a device, or one over `most` bytes.

    A pipe is neither waited for nor read, and no link is followed: it may lead out of the folder.
    """
    if path.is_symlink():
        raise UsageError(f"{path} is a link, which may lead out of the folder: it is not followed")
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:  # noqa: PTH123 (a descriptor)
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(21, "is a folder", str(path))
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{path} is no regular file: it is not read")
        content = file.read(most + 1)
    if len(content) > most:
        raise UsageError(f"{path} has more than {most:,} bytes: it is not read")
    return content


def unpack(packed: bytes, most: int = MOST_UNPACKED) -> bytes:
    """The content of a gzip file. Raises zlib.error for one that is damaged, cut, or has more than `most` bytes."""
    unpacker = zlib.decompressobj(_GZIP)
    content = unpacker.decompress(packed, most + 1)
    if len(content) > most:
        raise zlib.error(f"it unpacks to more than {most:,} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise zlib.error("it is cut, or something follows it")
    return content


def refuse_links(folder: Path, *names: str) -> None:
    """Raise UsageError where a folder of this name in `folder` is a link."""
    for name in names:
        if (folder / name).is_symlink():
            raise UsageError(f"{folder / name} is a link, which may lead out of the folder: it is not followed")
