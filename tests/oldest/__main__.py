"""`python -m tests.oldest ADAPTER`: the oldest version of the adapter's SDK that it is certified with.

Installs versions into the environment it runs in, so run it in one of its own (`nox -s oldest -- anthropic`). What
works with one version is taken to work with all later ones; the version found and the one before it are both tried.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

from turnproof.run.bindings import resolve_binding

_PIP = (sys.executable, "-m", "pip")


def released(package: str) -> list[str]:
    """All versions of a package that can be installed here, the oldest first; previews where there is nothing else.

    Raises LookupError for a package that is not to be had.
    """
    for previews in ([], ["--pre"]):
        command = [*_PIP, "index", "versions", *previews, package]
        output = subprocess.run(command, capture_output=True, text=True).stdout
        if found := re.search(r"Available versions: (.+)", output):
            return found[1].split(", ")[::-1]
    raise LookupError(f"no version of {package} can be installed here")


def first_good(versions: Sequence[str], works: Callable[[str], bool]) -> tuple[str, str | None]:
    """The first version that works and the one before it, if there is one. Raises LookupError where not even the last
    works."""
    low, high = 0, len(versions) - 1
    if not works(versions[high]):
        raise LookupError(f"not even {versions[high]} works")
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(versions[middle]) else (middle + 1, high)
    return versions[low], versions[low - 1] if low else None


def certified(adapter: str, package: str, version: str) -> str:
    """Why the adapter is not certified with this version; empty if it is."""
    done = subprocess.run(
        [*_PIP, "install", "--quiet", "--disable-pip-version-check", f"{package}=={version}"],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return f"cannot be installed: {_last(done.stderr)}"
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [sys.executable, "-m", "turnproof", "certify", adapter, "--backend", "emulate", "--out", out],
            capture_output=True,
            text=True,
        )
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return f"exit code {done.returncode}: {next((line for line in lines if '✗' in line), _last(done.stderr))}"


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no word"


class Trials:
    """What was tried with one adapter: why it is not certified, by version."""

    def __init__(self, adapter: str, package: str) -> None:
        self._adapter = adapter
        self._package = package
        self.reasons: dict[str, str] = {}

    def works(self, version: str) -> bool:
        """Whether the adapter is certified with this version; says so."""
        reason = self.reasons[version] = certified(self._adapter, self._package, version)
        print(f"{self._adapter} with {self._package} {version}: {reason or 'certified'}", flush=True)
        return not reason


def main(adapters: Sequence[str]) -> int:
    """Search for each adapter; prints what goes into pyproject.toml, and why nothing older does."""
    for adapter in adapters:
        package = resolve_binding(adapter).package
        assert package is not None, f"{adapter} names no package"
        trials = Trials(adapter, package)
        found, before = first_good(released(package), trials.works)
        print(f"{adapter}: {package}>={found}" + (f"; with {before}: {trials.reasons[before]}" if before else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
