"""`certify --watch`: measure again whenever a file of the subject changes.

Each measurement is made in a fork of this process, which has imported turnproof, the suite and the libraries that the
subject needs, but never the subject itself: what is measured is what the files say now, and what it costs is the import
of the subject and the runs. Files are watched by a process of its own (`watchfiles`, extra
`watch`), so that this one has no threads when it forks.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

from ..._base.exit_codes import Exit
from ...errors import UsageError

_WATCHER = """
import json, sys
from watchfiles import PythonFilter, watch
print("[]", flush=True)
for changes in watch(*sys.argv[1:], watch_filter=PythonFilter(extra_extensions=(".toml", ".yaml", ".json"))):
    print(json.dumps(sorted({path for _, path in changes})), flush=True)
"""

_SETTLE = 0.05
"""Seconds in which further changes belong to the same one: editors write in several steps."""


def watch(
    measure: Callable[[], int], subjects: Callable[[], Iterable[str]], print_line: Callable[[str], None], reports: Path
) -> int:
    """Measure now, and after every change, until somebody interrupts it; then 130.

    `measure` makes one measurement and returns its exit code; `subjects` names the modules of what is measured. Both
    are called in forks. `print_line` tells people what happens. What is written below `reports` is no change. Raises
    UsageError without `watchfiles`, and where nothing forks.
    """
    if not hasattr(os, "fork"):
        raise UsageError("--watch needs a system that can fork a process")
    try:
        importlib.import_module("watchfiles")
    except ImportError as error:
        raise UsageError("--watch needs watchfiles: pip install 'turnproof[watch]'") from error
    try:
        known = _learn(subjects)
        with _Files(known.folders, reports) as files:
            print_line(f"watching {', '.join(known.folders)}; Ctrl-C ends it")
            while True:
                _preload(known.libraries)
                changed = _measured(measure, files)
                print_line(f"changed: {', '.join(_short(path) for path in changed or files.wait())}")
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


class Known:
    """What a fork has learned of the subject: the folders of its own files, and the libraries that it imports."""

    def __init__(self, folders: list[str], libraries: list[str]) -> None:
        self.folders = folders
        self.libraries = libraries


def _learn(subjects: Callable[[], Iterable[str]]) -> Known:
    """Import the subject in a fork, and see what that brings with it."""
    before = set(sys.modules)
    answer, ask = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answer)
        _write_modules(subjects, before, ask)
    os.close(ask)
    with os.fdopen(answer, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    message = json.loads(text or b'{"error": "the subject could not be imported: its process ended"}')
    if "error" in message:
        raise UsageError(message["error"])
    return Known(message["folders"], message["libraries"])


def _write_modules(subjects: Callable[[], Iterable[str]], before: set[str], pipe: int) -> None:
    """In the fork: what was imported, by where its files are. Never returns."""
    try:
        names = list(subjects())
        found: dict[str, object] = {"folders": own_folders(names), "libraries": _libraries(before)}
    except BaseException as error:
        found = {"error": str(error)}
    with os.fdopen(pipe, "wb") as stream:
        stream.write(json.dumps(found).encode())
    os._exit(0)


def own_folders(modules: Iterable[str]) -> list[str]:
    """The folders in which these modules, and the packages that they belong to, keep their files."""
    folders: dict[str, None] = {}
    for name in modules:
        module = sys.modules.get(name) or importlib.import_module(name)
        top = sys.modules.get(name.partition(".")[0], module)
        file = getattr(top, "__file__", None) or getattr(module, "__file__", None)
        if file is not None:
            folders[str(Path(file).resolve().parent)] = None
    if not folders:
        raise UsageError("the subject has no files that could be watched")
    return list(folders)


def _libraries(before: set[str]) -> list[str]:
    """Modules of installed libraries, in the order in which they were imported."""
    roots = tuple({str(Path(sysconfig.get_path(name)).resolve()) + os.sep for name in ("purelib", "platlib")})
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name not in before and file is not None and str(Path(file).resolve()).startswith(roots):
            found.append(name)
    return found


def _preload(libraries: list[str]) -> None:
    """Import what every fork would import anew. What does not import here is left to the forks."""
    while libraries:
        with contextlib.suppress(Exception):
            importlib.import_module(libraries.pop(0))


def _measured(measure: Callable[[], int], files: _Files) -> list[str]:
    """One measurement in a fork. The paths that changed while it ran, for which it was given up; none, if none did."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = int(Exit.FAULT)
        try:
            os.setpgid(0, 0)
            code = measure()
        except KeyboardInterrupt:
            code = int(Exit.INTERRUPTED)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    try:
        while True:
            if os.waitpid(child, os.WNOHANG)[0]:
                return []
            if changed := files.changed(0.02):
                _end(child)
                return changed
    except BaseException:
        _end(child)
        raise


def _end(child: int) -> None:
    """End a measurement with all that it started."""
    for group in (True, False):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            (os.killpg if group else os.kill)(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


class _Files:
    """Tells of changes in some folders."""

    def __init__(self, folders: Iterable[str], reports: Path) -> None:
        self._folders = list(folders)
        self._reports = reports.resolve()

    def __enter__(self) -> _Files:
        command = [sys.executable, "-c", _WATCHER, *self._folders]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdout is not None
        self._stream = self._process.stdout
        self._stream.readline()  # it watches from here on
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def changed(self, seconds: float) -> list[str]:
        """The paths that changed, if any did within this time; all that belong to one change together."""
        found: list[str] = []
        while select.select([self._stream], [], [], _SETTLE if found else seconds)[0]:
            line = self._stream.readline()
            if not line:
                raise UsageError("the process that watches the files has ended")
            found += [path for path in json.loads(line) if not Path(path).is_relative_to(self._reports)]
        return list(dict.fromkeys(found))

    def wait(self) -> list[str]:
        """The next paths that change, whenever that is."""
        while not (found := self.changed(3600)):
            pass
        return found


def _short(path: str) -> str:
    found = Path(path)
    return str(found.relative_to(Path.cwd())) if found.is_relative_to(Path.cwd()) else path
