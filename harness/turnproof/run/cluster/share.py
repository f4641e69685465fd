"""The place that all machines of a cluster see: transcripts go through it, and not through the scheduler.

A folder, or whatever fsspec has a file system for (`s3://bucket/folder`).
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from ...errors import HarnessError, UsageError
from ..evidence import decoded, encoded
from ..transcript import Transcript

_PATIENCE = 10.0
"""Seconds that a file may take to be seen from another machine."""

_PAUSE = 0.05
_files = msgspec.msgpack.Decoder(list[bytes])


class Share:
    """A folder of a command's own below a place that machines share. Raises UsageError where it cannot be used."""

    def __init__(self, place: str, campaign: str) -> None:
        from fsspec.core import url_to_fs

        self.place = place
        try:
            self._files, root = url_to_fs(place)
            self._folder = f"{root.rstrip('/')}/{campaign}"
            self._files.makedirs(self._folder, exist_ok=True)
        except Exception as error:  # each file system has errors of its own
            raise UsageError(f"the shared folder {place} cannot be used: {_words(error)}") from error

    def write(self, transcripts: Iterable[Transcript]) -> tuple[str, str]:
        """Put transcripts into a file: its name, and its SHA-256."""
        return self.put(msgspec.msgpack.encode([encoded(one) for one in transcripts]))

    def read(self, name: str, sha256: str) -> list[Transcript]:
        """The transcripts of a file, which is then removed. Raises HarnessError for one that is missing or differs."""
        found = [decoded(one) for one in _files.decode(self.get(name, sha256))]
        with contextlib.suppress(Exception):  # what stays goes with the whole folder
            self._files.rm_file(f"{self._folder}/{name}")
        return found

    def sign(self) -> tuple[str, str]:
        """A file by which another machine recognises the folder: its name and its SHA-256."""
        return self.put(secrets.token_bytes(16))

    def shows(self, name: str, sha256: str) -> bool:
        """Whether the folder has that file."""
        try:
            self.get(name, sha256, patience=2.0)
        except HarnessError:
            return False
        return True

    def remove(self) -> None:
        """Remove the command's folder with all that is left in it."""
        with contextlib.suppress(Exception):
            self._files.rm(self._folder, recursive=True)

    def put(self, data: bytes) -> tuple[str, str]:
        """Put a file into the folder: its name, and its SHA-256."""
        name = secrets.token_hex(12)
        try:
            self._files.pipe_file(f"{self._folder}/{name}", data)
        except Exception as error:
            raise UsageError(f"the shared folder {self.place} cannot be written to: {_words(error)}") from error
        return name, hashlib.sha256(data).hexdigest()

    def get(self, name: str, sha256: str, patience: float = _PATIENCE) -> bytes:
        """The content of a file, once it is there: a network's file systems show it late on other machines.

        Raises HarnessError for one that is missing or differs.
        """
        until = time.monotonic() + patience
        while True:
            try:
                self._files.invalidate_cache()
                data: Any = self._files.cat_file(f"{self._folder}/{name}")
                if hashlib.sha256(data).hexdigest() == sha256:
                    return bytes(data)
                reason = "its content is not what the worker has written"
            except Exception as error:
                reason = _words(error)
            if time.monotonic() > until:
                raise HarnessError(f"a worker has put {name} into the shared folder {self.place}: {reason}")
            time.sleep(_PAUSE)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]
