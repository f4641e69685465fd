"""What has to be installed for a file: the library as it was certified."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from ..bench.peers.venvs import python_with
from .run_findings import UnreproducibleError


def requirements(packages: Sequence[str], certified: Mapping[str, str]) -> tuple[str, ...]:
    """Each package with the version that it had in the run, else the installed one, as pip takes it.

    One that is installed from a folder is named by it. Raises UnreproducibleError for one whose version nobody knows.
    """
    return tuple(_requirement(package, certified) for package in packages)


def are_installed(packages: Sequence[str], certified: Mapping[str, str]) -> bool:
    """Whether this interpreter has all of them, in these versions."""
    return all(_is_installed(package, certified) for package in packages)


def clean_python(needed: Sequence[str]) -> Path:
    """A Python that has these and nothing else. What comes from a folder is installed again, as it may have changed."""
    return python_with(" ".join(needed), again=any("@file:" in one for one in needed))


def _requirement(package: str, certified: Mapping[str, str]) -> str:
    name = _name(package)
    installed = _distribution(name)
    if installed is not None and (folder := _folder(installed)) is not None:
        return f"{package}@{folder}"
    version = certified.get(name) or (installed.version if installed is not None else None)
    if version is None or not version[0].isdecimal():
        raise UnreproducibleError(f"neither the run nor this environment knows a version of {name}")
    return f"{package}=={version}"


def _is_installed(package: str, certified: Mapping[str, str]) -> bool:
    found = _distribution(_name(package))
    return found is not None and certified.get(_name(package), found.version) == found.version


def _name(package: str) -> str:
    """Without the extras."""
    return package.partition("[")[0]


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _folder(installed: Distribution) -> str | None:
    """The folder that it was installed from, as a URL; None for one from a registry."""
    url = json.loads(installed.read_text("direct_url.json") or "{}").get("url", "")
    return url if isinstance(url, str) and url.startswith("file:") else None
