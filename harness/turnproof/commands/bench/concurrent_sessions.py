"""A thousand sessions that take a turn at once, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ...errors import ProviderError
from ...provider import Binding, OnChunk, Path
from ...session import RetryPolicy, Session, Tool
from .callers import Caller, endpoint, open_path
from .conversations import QUESTION, conversation

SESSIONS = 1000
HISTORY = 20
"""How long their histories are, in messages."""


class ConcurrentSessions:
    """All of them as one caller; see `turnproof.provider.PlainCall`.

    `turns` has a turn of each, `ready` puts all of them to where it begins, `close` ends them. A session whose turn
    fails fails the crowd.
    """

    def __init__(
        self, turns: Sequence[Callable[[], str]], ready: Callable[[], None], close: Callable[[], None]
    ) -> None:
        self._turns, self._get_ready, self._close = turns, ready, close
        self._gate = threading.Event()
        self._threads: list[threading.Thread] = []

    def ready(self) -> None:
        """Start a thread for each, that waits for the others."""
        self._get_ready()
        self._gate.clear()
        self._answers: set[str] = set()
        self._failures: list[Exception] = []
        self._threads = [threading.Thread(target=self._run_turn, args=(turn,), daemon=True) for turn in self._turns]
        for thread in self._threads:
            thread.start()

    def ask(self) -> str:
        """All turns; what all of them were told. Raises the first failure, or ProviderError for unequal answers."""
        self._gate.set()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        if self._failures:
            raise self._failures[0]
        if len(self._answers) != 1:
            raise ProviderError(f"one server said one thing, and {len(self._answers)} different ones were heard")
        return self._answers.pop()

    def stream(self, on_chunk: OnChunk) -> None:
        """The same. Nothing is streamed here."""
        on_chunk(self.ask())

    def close(self) -> None:
        """End all sessions. Threads that still wait take no turn any more."""
        self._turns = ()
        if self._threads:
            with suppress(Exception):
                self.ask()
        self._close()

    def _run_turn(self, turn: Callable[[], str]) -> None:
        self._gate.wait()
        try:
            self._answers.add(turn())
        except Exception as error:  # whatever somebody's adapter raises belongs to the one who asks
            self._failures.append(error)


def open_crowd(binding: Binding, name: str, base_url: str, sessions: int = SESSIONS) -> ConcurrentSessions:
    """Sessions on a path, or users of one client of the SDK.

    Those of the stateless path share one provider, which is what it is for; those of the legacy path have one each.
    """
    if name not in ("stateless", "legacy"):
        talk = conversation(HISTORY, tools=binding.claims().tools)
        return crowd_of(binding.plain_calls[name](endpoint(binding, base_url), talk), sessions)
    path: Path = "stateless" if name == "stateless" else "legacy"
    providers = [open_path(binding, path, base_url) for _ in range(1 if path == "stateless" else sessions)]
    members = [_Member(binding, path, providers[number % len(providers)]) for number in range(sessions)]

    def ready() -> None:
        for member in members:
            member.ready()

    def close() -> None:
        for provider in providers:
            provider.shutdown()

    return ConcurrentSessions([member.ask for member in members], ready, close)


def crowd_of(caller: Caller, sessions: int = SESSIONS) -> ConcurrentSessions:
    """So many users of one caller, which may be asked by several threads at once."""
    return ConcurrentSessions([caller.ask] * sessions, caller.ready, caller.close)


class _Member:
    """One session, with a history of its own."""

    def __init__(self, binding: Binding, path: Path, provider: Any) -> None:
        talk = conversation(HISTORY, tools=binding.claims().tools)
        self._history = talk.messages[:-1]
        self._session = Session(
            provider,
            path=path,
            system=talk.system,
            tools=[Tool(schema, lambda arguments, token: None) for schema in talk.tools],
            retry=RetryPolicy(attempts=1),
        )

    def ready(self) -> None:
        self._session.reset(self._history)

    def ask(self) -> str:
        return str(self._session.send(QUESTION).text)
