"""One process that imports what the runs will need, while the command itself is still being imported.

Workers are forked from it, so that a provider's SDK is imported once, and not by each of them. It is the fork server
of the standard library, and what it does before the first fork stands in `preload`. There is one in a process, on
Linux alone. Where there is none, or it ended, workers are spawned.

What a module reads from the environment while it is imported is read once, too. Who measures with the environment set
in several ways, as the gates of a migration do, does without.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from multiprocessing import forkserver, get_context
from multiprocessing.context import BaseContext

from ..._base.environment import environment_with
from ..._base.secrets import is_secret_name

HANDED_OVER = "TURNPROOF_PREFORK"
"""The environment variable that tells a new fork server what to import, and from where. No worker sees it."""

_is_started = False
_modules: frozenset[str] | None = None


def prepare(modules: Iterable[str]) -> None:
    """Start the process that workers are forked from, and let it import `modules` and what every worker needs.

    Returns at once. What is wrong with a module, the first run that needs it says. A second call does nothing.
    """
    global _is_started, _modules
    if _is_started or sys.platform != "linux":
        return
    _is_started = True
    module_names = [*modules]
    forkserver.set_forkserver_preload([f"{__package__}.preload"])
    os.environ[HANDED_OVER] = json.dumps({"path": sys.path, "modules": module_names})
    try:
        with contextlib.suppress(OSError):
            with environment_with({name: None for name in os.environ if is_secret_name(name)}):
                forkserver.ensure_running()
            _modules = frozenset(module_names)
    finally:
        del os.environ[HANDED_OVER]


def context(preload: Iterable[str] = ()) -> BaseContext | None:
    """What starts workers that are forked from that process; None where they are to be spawned.

    So they are where they are to import something else first: it may have to come before what is imported already.
    To start a forked one waits until all is imported, and raises EOFError or OSError where that process has ended.
    """
    return get_context("forkserver") if _modules is not None and _modules.issuperset(preload) else None


def give_up() -> None:
    """Fork no more workers: the process that they are forked from has ended."""
    global _modules
    _modules = None
