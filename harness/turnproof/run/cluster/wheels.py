"""Wheels that a command sends to the workers of a cluster, for packages that are not installed there.

A wheel is unpacked into a folder of the process that makes the runs, which is on the import path of that process and of
the workers that it starts, and of nothing else on that machine. Its SHA-256 is checked first.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

import msgspec
from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from ...errors import HarnessError, UsageError
from .share import Share


class Wheel(msgspec.Struct, frozen=True):
    """A wheel on its way: its own file name, and the file of the share that has it, with the SHA-256 of its content."""

    name: str
    file: str
    sha256: str


def read_wheels(paths: Iterable[Path]) -> dict[str, bytes]:
    """The content of wheels by file name.

    Raises UsageError for what is no wheel, and for one that has to be installed because it has more than modules.
    """
    return {path.name: _read(path) for path in paths}


def send(wheels: dict[str, bytes], share: Share) -> tuple[Wheel, ...]:
    """Put wheels into the share."""
    return tuple(Wheel(name, *share.put(data)) for name, data in wheels.items())


def unpack(wheels: Iterable[Wheel], share: Share, folder: Path) -> list[str]:
    """Unpack wheels from the share into a folder; what keeps this machine from using them, a line each."""
    problems: list[str] = []
    for wheel in wheels:
        _, _, _, tags = parse_wheel_filename(wheel.name)
        if tags.isdisjoint(sys_tags()):
            problems.append(f"the wheel {wheel.name} is not for the Python and system there")
            continue
        try:
            data = share.get(wheel.file, wheel.sha256)
        except HarnessError:
            problems.append(f"the wheel {wheel.name} did not arrive there as it was sent (SHA-256 {wheel.sha256[:12]})")
            continue
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            packed.extractall(folder)
    return problems


def _read(path: Path) -> bytes:
    try:
        parse_wheel_filename(path.name)
        data = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            names = packed.namelist()
    except (InvalidWheelFilename, OSError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"cluster.wheels: {path} is no wheel ({error}); build one with `pip wheel --no-deps .`"
        ) from error
    if any(name.partition("/")[0].endswith(".data") for name in names):
        raise UsageError(
            f"cluster.wheels: {path.name} has scripts or data beside its modules, which only an installation puts into "
            "place; install it on the workers"
        )
    return data
