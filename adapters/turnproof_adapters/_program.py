"""A program of the user's machine, before it runs as a child process: where it is, and what it may see."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from turnproof.errors import UsageError

_PASSED_ON = frozenset(
    {"PATH", "LANG", "LC_ALL", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"}
)


def find_program(wanted: str, install: str) -> str:
    """The path of a program, given by its name on PATH or by a path. `install` says how one gets it.

    Raises UsageError where there is none, or where it cannot be run.
    """
    path = shutil.which(wanted)
    if path is not None:
        return str(Path(path).absolute())  # it is run in another folder
    if Path(wanted).is_file():
        raise UsageError(f"{wanted} cannot be run: it is not executable")
    raise UsageError(f"there is no program {wanted!r}: install it ({install}), or say with `program` where it is")


def passed_environment() -> dict[str, str]:
    """All that a program sees of the caller's variables: no key of another service, nothing that changes its ways."""
    return {name: value for name, value in os.environ.items() if name.upper() in _PASSED_ON}


def start_error(program: str, folder: Path, error: OSError) -> UsageError:
    """The error for a program that could not be started in a folder."""
    where = f" in {folder}" if error.filename == folder else ""
    return UsageError(f"{program} cannot be run{where}: {error.strerror or error}")
