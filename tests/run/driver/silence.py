"""Runs that hang, without a clock: how long a busy machine takes for anything, nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection

from turnproof.run.driver.parent_channel import poller

Poll = Callable[[float], bool]


def silent_once(hangs: Callable[[], bool]) -> Callable[[Connection], Poll]:
    """In place of `poller`: a run has no time limit, and falls silent when its adapter is seen to hang."""

    def make_poll(conn: Connection) -> Poll:
        poll = poller(conn)

        def look(limit: float) -> bool:
            while not poll(0.02):
                if hangs():
                    return poll(0)  # what was said before is there by now
            return True

        return look

    return make_poll
