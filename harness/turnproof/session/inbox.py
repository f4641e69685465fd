"""`Inbox`: what is said to a session that may be busy, until a turn takes it.

What a user, a parent or the system says is meant for now: it interrupts the call that is open. What a child reports
waits until the session is idle. Inside each of the two, first come is first served.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .._base.counts import counted
from ..cancel import CancelToken
from ..errors import UsageError
from ..messages import Message

MAX_WAITING = 256
"""Prompts that may wait for a session."""

Sender: TypeAlias = Literal["user", "parent", "system", "child"]
"""Who says something to a session. Whoever it is, the model reads it as a message of the user."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message that no turn has taken yet, and who says it."""

    message: Message
    sender: Sender = "user"


class InboxFullError(UsageError):
    """Too much waits for the session already; what was to be said was not taken."""

    def __init__(self, waiting: int) -> None:
        super().__init__(
            f"{counted(waiting, 'message')} waiting for this session, and no more are taken: "
            "run a turn, or withdraw what waits"
        )


class Inbox:
    """Used from any thread. The turn opens a token for each of its calls; an urgent prompt sets it."""

    def __init__(self, limit: int = MAX_WAITING) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._urgent: deque[Prompt] = deque()
        self._patient: deque[Prompt] = deque()
        self._call: CancelToken | None = None

    def put(self, prompt: Prompt) -> None:
        """Behind what waits already. Interrupts the open call, if there is one, unless a child says it.

        Raises InboxFullError where `limit` prompts wait already.
        """
        with self._lock:
            if (waiting := len(self._urgent) + len(self._patient)) >= self._limit:
                raise InboxFullError(waiting)
            self._queue(prompt).append(prompt)
            interrupted = None if prompt.sender == "child" else self._call
        if interrupted is not None:
            # Not under the lock: what watches the token may well come back in here.
            interrupted.cancel()

    def put_back(self, prompts: Iterable[Prompt]) -> None:
        """To the front again, in their order: no model ever got them."""
        with self._lock:
            for prompt in reversed(list(prompts)):
                self._queue(prompt).appendleft(prompt)

    def open_call(self, turn: CancelToken, *, take: bool = True) -> tuple[CancelToken, list[Prompt]]:
        """A token for the next call of a turn, and the urgent prompts that this call can still answer.

        It is set when `turn` is, and by every urgent prompt from now on. Without `take` what waits goes on waiting.
        """
        with self._lock:
            messages = self._drain(self._urgent) if take else []
            if self._call is not None and not self._call.is_cancelled:
                return self._call, messages
            self._call = call = CancelToken()
        turn.on_cancel(call.cancel)
        return call, messages

    def close(self) -> None:
        """The turn is over: there is no call to interrupt."""
        with self._lock:
            self._call = None

    def take_all(self) -> list[Prompt]:
        """Everything that waits: the session is idle."""
        with self._lock:
            return [*self._drain(self._urgent), *self._drain(self._patient)]

    def drop(self, message_ids: Iterable[str]) -> None:
        """Forget the messages of these ids: the model has them."""
        ids = set(message_ids)
        with self._lock:
            for queue in (self._urgent, self._patient):
                left = [prompt for prompt in queue if prompt.message.message_id not in ids]
                queue.clear()
                queue.extend(left)

    def recall(self, message: Message) -> bool:
        """Take back what a child said, at any time. False if a turn has taken it already."""
        with self._lock:
            for index, prompt in enumerate(self._patient):
                if prompt.message is message:
                    del self._patient[index]
                    return True
            return False

    @property
    def urgent(self) -> bool:
        """Whether something waits that belongs into the running turn."""
        return bool(self._urgent)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """What waits, in the order in which it will be said."""
        with self._lock:
            return (*self._urgent, *self._patient)

    @property
    def waiting(self) -> tuple[Message, ...]:
        """The messages of `prompts`."""
        return tuple(prompt.message for prompt in self.prompts)

    @staticmethod
    def _drain(queue: deque[Prompt]) -> list[Prompt]:
        messages = list(queue)
        queue.clear()
        return messages

    def _queue(self, prompt: Prompt) -> deque[Prompt]:
        return self._patient if prompt.sender == "child" else self._urgent
