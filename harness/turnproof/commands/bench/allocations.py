"""What one turn allocates: bytes at its peak, and blocks that are left with its answer.

Both are counted by the interpreter and hardly differ from run to run. What is compiled and does not allocate through
Python is not in them.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable

from .callers import Caller

_TURNS = 3
"""The least of so many: a turn may be the one in which a memo or a pool grows."""


def peak(caller: Caller) -> int:
    """Bytes of Python that a turn has allocated at its peak, beyond what was there when it began."""
    return min(_without_collector(caller, _peak) for _ in range(_TURNS))


def blocks_left(caller: Caller) -> int:
    """Blocks more after a turn than before it, while its answer is held, and what goes in circles waits for the
    collector."""
    return min(_without_collector(caller, _count_blocks_left) for _ in range(_TURNS))


def _without_collector(caller: Caller, count: Callable[[Caller], int]) -> int:
    caller.ready()
    gc.collect()
    gc.disable()
    try:
        return count(caller)
    finally:
        gc.enable()


def _peak(caller: Caller) -> int:
    tracemalloc.start()
    try:
        caller.ask()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _count_blocks_left(caller: Caller) -> int:
    before = sys.getallocatedblocks()
    answer = caller.ask()
    blocks = sys.getallocatedblocks() - before
    del answer
    return blocks
