"""One event loop for all sessions of a process, for libraries whose clients belong to the loop that made them.

It has no thread of its own: it runs in that of whoever waits for it. What else goes on then, such as a tool that is
left behind by a cancelled turn, may come to its end first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

Result = TypeVar("Result")
REST = 5.0
"""Seconds that what was left behind may take."""


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """What the work returns. A tool may call it from a thread of its own, while its session's turn goes on."""
    loop = _runner().get_loop()
    if loop.is_running():
        return asyncio.run_coroutine_threadsafe(work, loop).result()
    threads = ThreadPoolExecutor()
    loop.set_default_executor(threads)
    try:
        return _runner().run(_with_the_rest(work))
    finally:
        threads.shutdown(wait=False)


async def _with_the_rest(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        return await work
    finally:
        if rest := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(rest, timeout=REST)


@cache
def _runner() -> asyncio.Runner:
    return asyncio.Runner()
