"""What a shell offers while a command line is typed: the names that commands take.

A shell waits for the answer, so names come from where they are read quickest: entry points, profiles and file names. No
adapter, no check and no scenario is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

import typer

_SUITE = "turnproof_suites"


def adapters(incomplete: str) -> list[str]:
    """Installed adapters."""
    return _beginning(incomplete, _installed("adapters"))


def subjects(incomplete: str) -> list[str]:
    """Whatever can be certified: adapters, sessions, agents, and behind `SESSION@` the adapters."""
    session, at, rest = incomplete.rpartition("@")
    if at:
        return _beginning(rest, _installed("adapters"), f"{session}@")
    return _beginning(incomplete, (name for kind in ("adapters", "sessions", "agents") for name in _installed(kind)))


def agents(incomplete: str) -> list[str]:
    """Installed agents."""
    return _beginning(incomplete, _installed("agents"))


def first_agent(ctx: typer.Context, incomplete: str) -> list[str]:
    """Installed agents as the first word; what follows is the user's own."""
    return [] if ctx.params.get("words") else agents(incomplete)


def requirements(incomplete: str) -> list[str]:
    """Requirement ids of the newest profiles."""
    return _beginning(incomplete, (id for ids in _profiles().values() for id in ids))


def profiles(incomplete: str) -> list[str]:
    """The newest profiles."""
    return _beginning(incomplete, _profiles())


def scenarios(incomplete: str) -> list[str]:
    """Scenarios of the suite, which are named after their files."""
    root = Path(str(files(_SUITE))) / "scenarios"
    return _beginning(incomplete, (file.relative_to(root).with_suffix("").as_posix() for file in root.rglob("*.yaml")))


def mutants(incomplete: str) -> list[str]:
    """Mutants of the installed suites."""
    from ...run.driver.mutation import all_mutants

    return _beginning(incomplete, all_mutants())


def dialects(incomplete: str) -> list[str]:
    """Dialects that the emulator speaks."""
    from ...dialects import dialect_names

    return _beginning(incomplete, dialect_names())


def _beginning(incomplete: str, names: Iterable[str], before: str = "") -> list[str]:
    return [f"{before}{name}" for name in sorted(set(names)) if name.startswith(incomplete)]


def _installed(kind: str) -> Iterator[str]:
    return (entry.name for entry in entry_points(group=f"turnproof.{kind}"))


def _profiles() -> dict[str, list[str]]:
    import tomllib

    folder = Path(str(files(_SUITE))) / "profiles"
    newest = max(folder.glob("*.toml"), key=lambda file: file.stem)
    return {name: list(ids) for name, ids in tomllib.loads(newest.read_text("utf-8"))["profiles"].items()}
