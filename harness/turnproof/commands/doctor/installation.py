"""What is installed: turnproof itself, what it needs, what the adapters need, and what gets in its way."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from ... import __version__
from ..._base.counts import counted
from ...errors import TurnproofError
from ...judge.requirements import load_suite
from ...run.backends import cassette_roots
from ...run.bindings import binding_names, resolve_binding, resolve_session, session_names
from ..certify.scenarios import suite_scenarios
from .model import Diagnostic, ok, warning, wrong

AREA = "installation"
_PACKAGE = "turnproof"
_OLDEST = (3, 11)
_CLASHES = (("pytest-recording", "pytest-vcr"),)
"""pytest plugins that cannot be loaded together: both want the same options."""


def installation(adapters: Sequence[str]) -> Iterator[Diagnostic]:
    """Everything that is installed. `adapters` are those that are to be run: what they lack is wrong."""
    yield _python()
    yield from _turnproof()
    yield from _needs("", f"pip install --upgrade {_PACKAGE}")
    yield from _collections()
    yield from _adapters(adapters)
    yield from _plugins()


def _python() -> Diagnostic:
    message = f"Python {sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < _OLDEST:
        return wrong(
            AREA, "Python", message, f"turnproof needs {'.'.join(map(str, _OLDEST))} or newer: use another venv"
        )
    return ok(AREA, "Python", message)


def _turnproof() -> Iterator[Diagnostic]:
    place = Path(__file__).resolve().parents[2]
    try:
        installed = version(_PACKAGE)
    except PackageNotFoundError:
        advice = (
            "pip install turnproof, or pip install -e . in a checkout: its adapters and suites are found by metadata"
        )
        yield wrong(AREA, "turnproof", f"{__version__} at {place}, which is not installed", advice)
        return
    message = f"{installed} at {place}"
    if installed != __version__:
        advice = "reinstall it (pip install --force-reinstall turnproof): two versions lie over each other"
        yield wrong(AREA, "turnproof", f"{message}, whose code is {__version__}", advice)
    else:
        yield ok(AREA, "turnproof", message)


def _needs(extra: str, advice: str) -> Iterator[Diagnostic]:
    """The packages that turnproof, or one of its extras, needs: missing ones, and those that are too old."""
    found = 0
    for requirement in _requirements(extra):
        problem = _problem(requirement)
        if problem:
            yield wrong(AREA, requirement.name, problem, advice)
        found += not problem
    if not extra:
        yield ok(AREA, "packages", f"{found} that turnproof needs are installed, and new enough")


def _requirements(extra: str) -> list[Requirement]:
    try:
        requirements = [Requirement(line) for line in requires(_PACKAGE) or ()]
    except PackageNotFoundError:
        return []
    return [
        one
        for one in requirements
        if (one.marker is None and not extra)
        or (one.marker is not None and one.marker.evaluate({"extra": extra}) and bool(extra) == _has_extra(one))
    ]


def _has_extra(requirement: Requirement) -> bool:
    return "extra ==" in str(requirement.marker)


def _problem(requirement: Requirement) -> str:
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"not installed; {requirement.name}{requirement.specifier} is needed"
    if not requirement.specifier.contains(Version(installed), prereleases=True):
        return f"{installed} is installed; {requirement.specifier} is needed"
    return ""


def _collections() -> Iterator[Diagnostic]:
    """Suites, scenarios, sessions and cassettes: what is found by entry point, and whether it loads."""
    yield _loaded("suites", _suites)
    yield _loaded("sessions", lambda: ", ".join(resolve_session(name).name for name in session_names()) or "none")
    yield _loaded(
        "cassettes", lambda: counted(sum(1 for root in cassette_roots() for _ in root.glob("[!_]*/")), "adapter")
    )


def _suites() -> str:
    suite = load_suite()
    scenarios = suite_scenarios(suite)
    return (
        f"{suite.package}, profiles {suite.profiles.name}: "
        f"{counted(len(suite.requirements), 'requirement')}, {counted(len(scenarios), 'scenario')}"
    )


def _loaded(subject: str, load: Callable[[], str]) -> Diagnostic:
    try:
        return ok(AREA, subject, load())
    except TurnproofError as error:
        return wrong(AREA, subject, str(error), "reinstall turnproof, or whatever installed them")
    except Exception as error:  # whatever somebody's package does on import
        message = f"{type(error).__name__}: {error}"
        return wrong(AREA, subject, message, "reinstall turnproof, or whatever installed them")


def _adapters(names: Sequence[str]) -> Iterator[Diagnostic]:
    """Each installed adapter: whether its binding loads, and whether what it needs is there.

    With `names`, the other adapters that lack packages are listed in one line.
    """
    good: list[str] = []
    lacking: list[str] = []
    packages = {spec.partition("=")[0] for spec in names}
    for name in binding_names():
        problems = list(_of_adapter(name, required=name in packages))
        if problems and packages and name not in packages:
            lacking.append(name)
            continue
        yield from problems
        good += [] if problems else [name]
    if good:
        yield ok(AREA, "adapters", f"{len(good)} can be run here: {', '.join(good)}")
    if lacking:
        yield ok(AREA, "other adapters", f"{len(lacking)} lack packages: {', '.join(lacking)} (`turnproof doctor`)")


def _of_adapter(name: str, *, required: bool) -> Iterator[Diagnostic]:
    say = wrong if required else warning
    try:
        resolve_binding(name)
    except TurnproofError as error:
        yield say(AREA, name, str(error), f"reinstall what brings the adapter {name!r}")
        return
    extra = name.replace("_", "-")
    advice = f"pip install 'turnproof[{extra}]'"
    for requirement in _requirements(extra):
        if problem := _problem(requirement):
            yield say(AREA, f"{name}: {requirement.name}", problem, advice)


def _plugins() -> Iterator[Diagnostic]:
    found = list(entry_points(group="pytest11"))
    names = {_normal(entry.dist.name) for entry in found if entry.dist is not None}
    for pair in _CLASHES:
        if names.issuperset(pair):
            message = f"{' and '.join(pair)} are both installed; pytest cannot load them together"
            advice = f"pip uninstall {pair[1]} (turnproof certify loads no plugins; pytest --turnproof-adapter does)"
            yield warning(AREA, "pytest plugins", message, advice)
    ours = [entry for entry in found if entry.name == _PACKAGE]
    if others := [entry for entry in ours if not _is_ours(entry)]:
        message = f"{others[0].value} calls itself {_PACKAGE!r} too"
        yield warning(AREA, "pytest plugins", message, "uninstall the package that brings it")
    elif not ours:
        advice = "reinstall turnproof"
        yield warning(AREA, "pytest plugins", "turnproof's own plugin is not registered", advice)
    else:
        yield ok(AREA, "pytest plugins", f"{len(found)} are installed; certify loads none of them but its own")


def _is_ours(entry: EntryPoint) -> bool:
    return entry.value == f"{_PACKAGE}.pytest_plugin"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
