"""The line between a run and the parent that owns its server: ordered messages one way, acks and cancels back.

Acks have a pipe of their own. Whoever waits for one reads it, so that no other thread has to wake first: a run waits
for an ack several times in each turn.
"""

from __future__ import annotations

import pickle
import queue
import select
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from typing import Any

from ...wire.emulator.server_run import Arrived
from ..transcript import Event


class ControlLost(Exception):
    """The parent is gone; the run cannot go on."""


@dataclass(frozen=True, slots=True)
class Line:
    """One end of the line. Can be given to a new process.

    messages: what the run says; jobs and cancels, the other way.
    acks:     the parent's answers to what was asked.
    """

    messages: Connection
    acks: Connection

    def close(self) -> None:
        """Close this end."""
        self.messages.close()
        self.acks.close()


def new_line(context: BaseContext) -> tuple[Line, Line]:
    """Both ends of a new line: the parent's and the run's."""
    (our_messages, their_messages), (our_acks, their_acks) = context.Pipe(), context.Pipe()
    return Line(our_messages, our_acks), Line(their_messages, their_acks)


def poller(conn: Connection) -> Callable[[float], bool]:
    """What `conn.poll` says, for many messages: whether there is something to read within that many seconds.

    `conn.poll` sets up a selector for every message, which takes longer than the wait. Raises OSError once `conn` is
    closed.
    """
    if sys.platform == "win32":  # pipes are no sockets there
        return conn.poll
    waiting = select.poll()
    waiting.register(conn.fileno(), select.POLLIN)

    def poll(limit: float) -> bool:
        if conn.closed:
            raise OSError("handle is closed")
        return bool(waiting.poll(limit * 1000))

    return poll


class Control:
    """The run's end of the line. `ask` waits until the parent has done its part, so that order is never in doubt."""

    def __init__(self, line: Line) -> None:
        self._conn = line.messages
        self._acks = line.acks
        self._ask_lock = threading.Lock()
        self._send_lock = threading.Lock()
        self._waiting: list[Event] = []
        self.on_cancel: Callable[[Arrived], None] | None = None
        self.next_job: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, name="turnproof-control", daemon=True)
        self._thread.start()

    def event(self, event: Event) -> None:
        """Record an event. It travels with the next message: a write for each would cost more than the run itself."""
        with self._send_lock:
            self._waiting.append(event)

    def ask(self, kind: str, payload: object = None) -> Any:
        """Tell the parent something and wait for its answer. Raises ControlLost when the parent is gone."""
        with self._ask_lock:
            try:
                self._send(kind, payload)
                return pickle.loads(self._acks.recv_bytes())
            except (EOFError, OSError) as error:
                raise ControlLost("the parent process is gone") from error

    def notify(self, kind: str, payload: object = None) -> None:
        """Tell the parent something that needs no answer."""
        self._send(kind, payload)

    def _send(self, kind: str, payload: object) -> None:
        with self._send_lock:
            events, self._waiting = self._waiting, []
            # All of it is data, for which `send` would set up a pickler that can hand over sockets and locks as well.
            self._conn.send_bytes(pickle.dumps((events, kind, payload)))

    def _read(self) -> None:
        while True:
            try:
                kind, payload = self._conn.recv()
            except (EOFError, OSError):
                self.next_job.put(None)
                return
            if kind == "cancel":
                handler = self.on_cancel
                if handler is not None:
                    threading.Thread(target=handler, args=(payload,), name="turnproof-cancel", daemon=True).start()
            else:
                self.next_job.put(payload)
