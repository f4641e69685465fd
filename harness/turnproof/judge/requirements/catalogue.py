"""The catalogue: requirements as data, held against the registered checks and the frozen profiles.

An id is an address that others cite, so it is never renamed or reused: a dated profile file lists the ids it was
frozen with, and a catalogue that lacks one of them is refused.
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from ..._base.suggestions import did_you_mean
from ...errors import CatalogueError
from ..parity import KIND_NAMES
from .allowed_only import AllowedOnly, load_allowed_only
from .model import PROFILES, Requirement
from .registry import REGISTRY, Registry
from .scenario_index import SHOWN_FILE, Shown


class ProfileSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dated, frozen set of requirement ids, by profile."""

    name: str
    profiles: dict[str, tuple[str, ...]]

    @classmethod
    def load(cls, path: Path) -> ProfileSet:
        """Read `profiles/<name>.toml`. Raises CatalogueError with the file and the reason."""
        try:
            found = msgspec.convert(_toml(path), cls)
        except msgspec.ValidationError as error:
            raise CatalogueError(f"{path}: {error}") from error
        for profile, ids in found.profiles.items():
            if profile not in PROFILES:
                raise CatalogueError(f"{path}: no profile {profile!r}{did_you_mean(profile, PROFILES)}")
            for name in ids:
                if not name.startswith(f"{profile}/"):
                    raise CatalogueError(f"{path}: {name!r} is under profile {profile!r}")
            if len(set(ids)) != len(ids):
                raise CatalogueError(f"{path}: profile {profile!r} names an id twice")
        return found

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids, in order."""
        return tuple(name for ids in self.profiles.values() for name in ids)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All requirements in the order of the file, by id."""

    requirements: tuple[Requirement, ...]

    @classmethod
    def load(cls, path: Path, registry: Registry = REGISTRY) -> Catalogue:
        """Read `requirements.toml`.

        Raises CatalogueError for unknown keys, malformed ids, missing sources, an id used twice, a difference of no
        known kind, a requirement without a registered check, and a check without a requirement.
        """
        data = _toml(path)
        unknown = sorted(set(data) - {"requirement"})
        if unknown:
            raise CatalogueError(f"{path}: unknown key {unknown[0]!r}; the file is a list of [[requirement]]")
        requirements = tuple(_requirement(path, entry) for entry in data.get("requirement", ()))
        catalogue = cls(requirements)
        catalogue._check_ids(path)
        catalogue._check_differences(path)
        catalogue.check_against(registry)
        return catalogue

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements)

    def __len__(self) -> int:
        return len(self.requirements)

    def __getitem__(self, name: str) -> Requirement:
        """A requirement by id. Raises CatalogueError, with the nearest id, when there is none."""
        for requirement in self.requirements:
            if requirement.id == name:
                return requirement
        known = [requirement.id for requirement in self.requirements]
        raise CatalogueError(f"no requirement {name!r}{did_you_mean(name, known)}")

    def __contains__(self, name: object) -> bool:
        return any(requirement.id == name for requirement in self.requirements)

    def check_against(self, registry: Registry) -> None:
        """Raise CatalogueError unless requirements and checks answer to each other, one to one."""
        ids = {requirement.id for requirement in self.requirements}
        checks = set(registry.checks)
        if missing := sorted(ids - checks):
            raise CatalogueError(f"no check is registered for {missing[0]!r}{did_you_mean(missing[0], checks - ids)}")
        if orphans := sorted(checks - ids):
            raise CatalogueError(f"a check is registered for {orphans[0]!r}, which is no requirement")

    def check_frozen(self, frozen: ProfileSet) -> None:
        """Raise CatalogueError when an id of the frozen set is gone, or has moved to another profile."""
        vanished = [name for name in frozen.ids if name not in self]
        if vanished:
            raise CatalogueError(
                f"profiles {frozen.name} name {vanished[0]!r}, which is no longer in the catalogue: ids are never "
                "renamed or removed; retire a requirement by leaving it in place"
            )

    def _check_ids(self, path: Path) -> None:
        seen: set[str] = set()
        for requirement in self.requirements:
            if requirement.id in seen:
                raise CatalogueError(f"{path}: requirement {requirement.id!r} is there twice")
            seen.add(requirement.id)

    def _check_differences(self, path: Path) -> None:
        for requirement in self.requirements:
            for name in requirement.differences:
                if name not in KIND_NAMES:
                    hint = did_you_mean(name, KIND_NAMES)
                    raise CatalogueError(f"{path}: {requirement.id!r}: no kind of difference is named {name!r}{hint}")


@dataclass(frozen=True, slots=True)
class Suite:
    """A catalogue with the profile set it is certified under, and the package it came from.

    `shown` says which scenarios show which requirement; None for a suite that has no such index. `allowed_only` are the
    scenarios in which the service does what no service is known to do today.
    """

    package: str
    catalogue: Catalogue
    profiles: ProfileSet
    registry: Registry = REGISTRY
    shown: Shown | None = None
    allowed_only: tuple[AllowedOnly, ...] = ()

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements of the frozen profiles, in catalogue order: what a certification is about."""
        frozen = set(self.profiles.ids)
        return tuple(requirement for requirement in self.catalogue if requirement.id in frozen)


def load_suite(package: str | ModuleType = "turnproof_suites", profiles: str | None = None) -> Suite:
    """Import a suite's `checks_*` modules and load its catalogue and profiles (the newest unless named).

    Raises CatalogueError when the package is no suite, or its parts do not fit together.
    """
    module = _module(package)
    folder = Path(next(iter(module.__path__)))
    for found in pkgutil.iter_modules([str(folder)]):
        if found.name.startswith("checks_"):
            importlib.import_module(f"{module.__name__}.{found.name}")
    catalogue = Catalogue.load(folder / "requirements.toml")
    available = sorted(path.stem for path in (folder / "profiles").glob("*.toml"))
    if not available:
        raise CatalogueError(f"{folder / 'profiles'}: no profile file")
    name = profiles or available[-1]
    if name not in available:
        raise CatalogueError(f"no profiles {name!r} in {folder}{did_you_mean(name, available)}")
    frozen = ProfileSet.load(folder / "profiles" / f"{name}.toml")
    catalogue.check_frozen(frozen)
    index = folder / SHOWN_FILE
    shown = Shown.load(index, (one.id for one in catalogue)) if index.exists() else None
    return Suite(module.__name__, catalogue, frozen, shown=shown, allowed_only=load_allowed_only(folder))


def _module(package: str | ModuleType) -> ModuleType:
    if isinstance(package, ModuleType):
        return package
    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise CatalogueError(f"no suite {package!r}: {error}") from error
    if not getattr(module, "__path__", None):
        raise CatalogueError(f"suite {package!r} is a module, not a package")
    return module


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CatalogueError(f"{path}: {error}") from error


def _requirement(path: Path, entry: Any) -> Requirement:
    name = entry.get("id", "?") if isinstance(entry, dict) else "?"
    try:
        return msgspec.convert(entry, Requirement)
    except CatalogueError as error:
        raise CatalogueError(f"{path}: {error}") from error
    except msgspec.ValidationError as error:
        raise CatalogueError(f"{path}: requirement {name!r}: {error}") from error
