"""Templates of the pages, compiled once for all commands.

Compiling them takes some 0.3 s of each command that writes a page. Their code goes to where Python has that of the
modules beside them, and is subject to the same settings (`PYTHONDONTWRITEBYTECODE`, `PYTHONPYCACHEPREFIX`).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import tempfile
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class CompiledTemplates(BytecodeCache):
    """The code of templates, each in a file beside the compiled modules.

    `made_with` says what the code depends on beside the template's text, which is part of its checksum: a file that was
    made with something else is not read. What cannot be read or written is compiled, without a word.
    """

    def __init__(self, made_with: str) -> None:
        self._made_with = made_with

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        return f"{filename or name}\0{self._made_with}"

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with self._path(bucket).open("rb") as file:
                if file.readline() == self._head(bucket):
                    bucket.load_bytecode(file)
        except (OSError, EOFError, pickle.UnpicklingError):  # jinja takes what begins with its own mark for whole
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(self._head(bucket))
                    bucket.write_bytecode(file)
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink()
                raise

    def _path(self, bucket: Bucket) -> Path:
        return Path(cache_from_source(bucket.key.partition("\0")[0] + ".py"))

    def _head(self, bucket: Bucket) -> bytes:
        return repr(bucket.key).encode() + b"\n"
