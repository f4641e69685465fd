"""What the adapters' own tests say of a mutant that the likeliest scenarios let live."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest
from coverage import Coverage

from .forks import Alive
from .sources import Snapshot

Tests: TypeAlias = Mapping[int, frozenset[str]]
"""The tests that come by each line of a module; an empty name stands for its import."""

ROOT = Path(__file__).parents[2]

_LEFT_OUT = ("cacheprovider", "timeout", "xdist")
_PYTEST = ("-q", "-o", "addopts=", "--assert=plain", "-W", "ignore", "--rootdir", str(ROOT))


@dataclass(frozen=True, slots=True)
class Reach:
    """What the tests come by with the unchanged adapters: `passed` has those that pass, in the order in which they ran,
    `lines` the lines of each module, and `imported` every module of somebody else's that was imported in the end."""

    passed: tuple[str, ...]
    lines: Mapping[str, Tests]
    imported: frozenset[str]

    def of(self, module: str, lines: range) -> list[str]:
        """The tests that can notice a change of these lines: those that come by one of them, or, where importing the
        module does, by any line of the module."""
        known = self.lines.get(module, {})
        found = frozenset[str]().union(*(known.get(line, ()) for line in lines))
        if "" in found:
            found = frozenset[str]().union(*known.values())
        return [test for test in self.passed if test in found]


class OwnTests:
    """Tests of a package, by the names that pytest takes below `ROOT`. Each method is for a fork of its own."""

    def __init__(self, snapshot: Snapshot, tests: Sequence[str]) -> None:
        self._snapshot = snapshot
        self._tests = tests

    def reach(self, alive: Alive) -> Reach:
        """Run all of them once, unchanged."""
        self._snapshot.install()
        coverage = Coverage(data_file=None, config_file=False, include=list(self._snapshot.files))
        heard = _Heard(alive, coverage)
        coverage.start()
        _run(self._tests, heard)
        coverage.stop()
        data = coverage.get_data()
        lines = {
            name: {line: frozenset(tests) for line, tests in data.contexts_by_lineno(file).items()}
            for file, name in self._snapshot.files.items()
        }
        return Reach(tuple(heard.passed), lines, frozenset(filter(_is_foreign, sys.modules)))

    def failed(self, module: str, source: str, tests: Sequence[str], alive: Alive) -> str:
        """The first of these tests to fail with that source; empty where they all pass. What keeps them from being
        collected at all is told as `collection`."""
        if not tests:
            return ""
        self._snapshot.change(module, source)
        self._snapshot.install()
        heard = _Heard(alive)
        status = _run(tests, heard, "-x")
        return heard.failed or ("" if status == pytest.ExitCode.OK else "collection")


def _run(tests: Iterable[str], heard: _Heard, *more: str) -> int:
    os.chdir(ROOT)
    without = [word for name in _LEFT_OUT for word in ("-p", f"no:{name}")]
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        return pytest.main([*_PYTEST, *without, *more, *tests], plugins=[heard])


def _is_foreign(name: str) -> bool:
    file = getattr(sys.modules[name], "__file__", None)
    return file is not None and not Path(file).is_relative_to(ROOT)


@dataclass(slots=True)
class _Heard:
    """A plugin of pytest that hears what becomes of each test, and tells coverage which one runs."""

    alive: Alive
    coverage: Coverage | None = None
    passed: list[str] = field(default_factory=list)
    failed: str = ""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.alive()
        if self.coverage is not None:
            self.coverage.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid
        elif report.passed and report.when == "call":
            self.passed.append(report.nodeid)
