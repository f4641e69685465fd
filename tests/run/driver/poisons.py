"""Adapters that spoil the process they run in, one way each, and an innocent one that runs after them."""

from __future__ import annotations

import builtins
import ctypes
import gc
import json
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toys import Plain  # type: ignore[import-not-found]

from turnproof.messages import ProviderResponse
from turnproof.provider import Binding, Capabilities


def _without_sockets() -> None:
    socket.socket = None  # type: ignore[assignment, misc]


def _broken_json() -> None:
    json.dumps = json.loads = lambda *_, **__: None  # type: ignore[assignment]


def _no_open() -> None:
    del builtins.open


def _removed_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)  # noqa: PTH106 (the path is the current folder)


def _closed_descriptors() -> None:
    os.closerange(0, 1024)


def _full_stdout() -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def _no_modules() -> None:
    for name in [name for name in sys.modules if name.startswith("turnproof")]:
        del sys.modules[name]


def _frozen_time() -> None:
    time.time = time.monotonic = lambda: 0.0
    time.sleep = lambda seconds: None


def _threads() -> None:
    for _ in range(20):
        threading.Thread(target=threading.Event().wait).start()


def _children() -> None:
    for _ in range(3):
        subprocess.Popen(["sleep", "300"])


def _daemons() -> None:
    for _ in range(2):
        subprocess.run(["sh", "-c", "setsid sleep 300 >/dev/null 2>&1 &"], check=True)


def _litter() -> None:
    Path("notes.txt").write_text("kept for the next run")
    Path("folder/empty").mkdir(parents=True)
    tempfile.mkstemp(prefix="litter-", suffix=".tmp")


def _daemon_and_silence() -> None:
    subprocess.run(["sh", "-c", "setsid sleep 399 >/dev/null 2>&1 &"], check=True)
    os.kill(os.getpid(), signal.SIGSTOP)


def _much_memory() -> None:
    bytearray(1024 * 1024 * 1024)


def _blocked_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def _raise(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


def _recursion() -> None:
    _recursion()


POISONS: dict[str, Callable[[], object]] = {
    "SOCKETS": _without_sockets,
    "RECURSION_LIMIT": lambda: sys.setrecursionlimit(60),
    "FOLDER": _removed_folder,
    "CHILDREN": _children,
    "LITTER": _litter,
    "DAEMONS_OF_STOPPED": _daemon_and_silence,
    "MEMORY": _much_memory,
    "DAEMONS": _daemons,
    "JSON": _broken_json,
    "OPEN": _no_open,
    "ENVIRONMENT": os.environ.clear,
    "UMASK": lambda: os.umask(0o777),
    "ROOT": lambda: os.chdir("/"),
    "DESCRIPTORS": _closed_descriptors,
    "FULL_STDOUT": _full_stdout,
    "MODULES": _no_modules,
    "TIME": _frozen_time,
    "THREADS": _threads,
    "SIGNALS": _blocked_signals,
    "PROXY": lambda: os.environ.update(HTTP_PROXY="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9"),
    "TIMEOUT": lambda: socket.setdefaulttimeout(0.000001),
    "GARBAGE": gc.disable,
    "LOGGING": lambda: logging.disable(logging.CRITICAL),
    "FILES": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)),
    "EXIT": lambda: os._exit(7),
    "SEGFAULT": lambda: ctypes.string_at(0),
    "SYSTEM_EXIT": _raise(SystemExit(3)),
    "INTERRUPT": _raise(KeyboardInterrupt()),
    "RECURSION": _recursion,
    "STOPPED": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


class Poison(Plain):  # type: ignore[misc]
    act: Callable[[], object]

    def complete(self, *args: Any, **kwargs: Any) -> ProviderResponse:
        response: ProviderResponse = super().complete(*args, **kwargs)
        type(self).act()
        return response


def _binding(name: str, adapter: type) -> Binding:
    return Binding(
        name=name,
        dialect="anthropic-messages",
        model="claude-sonnet-4-5",
        package="turnproof",
        capabilities=Capabilities(streaming=True),
        open_stateless=adapter,
    )


class Keys(Plain):  # type: ignore[misc]
    def complete(self, *args: Any, **kwargs: Any) -> ProviderResponse:
        names = ("OPENAI_API_KEY", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "SOME_SETTING")
        print(*sorted(name for name in names if name in os.environ))
        response: ProviderResponse = super().complete(*args, **kwargs)
        return response


class Places(Plain):  # type: ignore[misc]
    """Prints where it is, and what it finds there."""

    def complete(self, *args: Any, **kwargs: Any) -> ProviderResponse:
        folder, temporary = Path.cwd(), Path(tempfile.gettempdir())
        print(os.getpid(), folder, temporary, len([*folder.iterdir(), *temporary.iterdir()]))
        response: ProviderResponse = super().complete(*args, **kwargs)
        return response


class TestRunners(Plain):  # type: ignore[misc]
    """Prints by what it could know that a test runs."""

    def complete(self, *args: Any, **kwargs: Any) -> ProviderResponse:
        print([name for name in os.environ if "PYTEST" in name], "pytest" in sys.modules)
        response: ProviderResponse = super().complete(*args, **kwargs)
        return response


class BriefThread(Plain):  # type: ignore[misc]
    """Its thread ends soon after the call."""

    def complete(self, *args: Any, **kwargs: Any) -> ProviderResponse:
        threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()
        response: ProviderResponse = super().complete(*args, **kwargs)
        return response


PLACES = _binding("places", Places)
TEST_RUNNERS = _binding("test-runners", TestRunners)
BRIEF_THREAD = _binding("brief-thread", BriefThread)
KEYS = _binding("keys", Keys)
INNOCENT = _binding("innocent", Plain)

for _name, _act in POISONS.items():
    _adapter = type(_name, (Poison,), {"act": staticmethod(_act)})
    globals()[_name] = _binding(_name.lower().replace("_", "-"), _adapter)
