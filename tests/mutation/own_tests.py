"""What the adapters' own tests say of a mutant that the likeliest scenarios let live."""

from __future__ import annotations

import os
import sys
from collections import Counter
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

MOST = 400
"""Tests that a mutant is run through. What the closest to a line do not notice, the others hardly ever do."""

ROOT = Path(__file__).parents[2]

_LEFT_OUT = ("cacheprovider", "timeout", "xdist")
_PYTEST = ("-q", "-o", "addopts=", "--assert=plain", "-W", "ignore", "--rootdir", str(ROOT))


@dataclass(frozen=True, slots=True)
class Reach:
    """What the tests come by with the unchanged adapters: `breadth` has the number of lines for each test that passes,
    `lines` the tests by the lines of each module, and `imported` every module of somebody else's that was imported in
    the end."""

    breadth: Mapping[str, int]
    lines: Mapping[str, Tests]
    imported: frozenset[str]

    def of(self, module: str, lines: range) -> list[str]:
        """The tests that can notice a change of these lines: those that come by one of them, or, where importing the
        module does, by any line of the module; all, where nothing of it runs but its import. Those that come by few
        others stand in front; the broadest are left out where there are more than `MOST`."""
        known = self.lines.get(module, {})
        found = frozenset[str]().union(*(known.get(line, ()) for line in lines))
        if "" in found:
            found = frozenset[str]().union(*known.values()) - {""} or frozenset(self.breadth)
        return sorted(found & self.breadth.keys(), key=lambda test: (self.breadth[test], test))[:MOST]


class OwnTests:
    """Tests of a package, by the names that pytest takes below `ROOT`. Each method is for a fork of its own."""

    def __init__(self, snapshot: Snapshot, tests: Sequence[str]) -> None:
        self._snapshot = snapshot
        self._tests = tests

    def reach(self, alive: Alive) -> Reach:
        """Run all of them once, unchanged."""
        self._snapshot.install()
        coverage = Coverage(data_file=None, config_file=False, include=list(self._snapshot.files))
        recorder = _TestRecorder(alive, coverage)
        coverage.start()
        _run(self._tests, recorder)
        coverage.stop()
        data = coverage.get_data()
        lines = {
            name: {line: frozenset(tests) for line, tests in data.contexts_by_lineno(file).items()}
            for file, name in self._snapshot.files.items()
        }
        breadth = Counter(test for module in lines.values() for tests in module.values() for test in tests)
        passed = {test: breadth[test] for test in recorder.passed}
        return Reach(passed, lines, frozenset(filter(_is_foreign, sys.modules)))

    def failed(self, module: str, source: str, tests: Sequence[str], alive: Alive) -> str:
        """The first of these tests to fail with that source, twice, since some wait for a busy machine in vain; empty
        where none does. What keeps them from being collected at all is told as `collection`."""
        self._snapshot.change(module, source)
        self._snapshot.install()
        left = list(tests)
        while left:
            recorder = _TestRecorder(alive)
            status = _run(left, recorder, "-x")
            if not recorder.failed:
                return "" if status == pytest.ExitCode.OK else "collection"
            if _run([recorder.failed], _TestRecorder(alive)) != pytest.ExitCode.OK:
                return recorder.failed
            left = left[left.index(recorder.failed) + 1 :]
        return ""


def _run(tests: Iterable[str], recorder: _TestRecorder, *more: str) -> int:
    os.chdir(ROOT)
    for name in [name for name in sys.modules if _is_a_test(name)]:
        del sys.modules[name]  # imported before, it would hold on to the adapters as they were
    without = [word for name in _LEFT_OUT for word in ("-p", f"no:{name}")]
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        return pytest.main([*_PYTEST, *without, *more, *tests], plugins=[recorder])


def _is_foreign(name: str) -> bool:
    file = _file(name)
    return file is not None and not file.is_relative_to(ROOT)


def _is_a_test(name: str) -> bool:
    file, tool = _file(name), Path(__file__).parent
    return file is not None and file.is_relative_to(tool.parent) and not file.is_relative_to(tool)


def _file(name: str) -> Path | None:
    file = getattr(sys.modules[name], "__file__", None)
    return Path(file) if file is not None else None


@dataclass(slots=True)
class _TestRecorder:
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
