"""What a session's operations take on each path: calls of the provider, requests, messages looked into.

The reference session is in charge here, because what a path costs beside its calls is decided between the two: a
provider of its own history has to be told of a collection, one without has not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...provider import Binding, Path
from ...session import RetryPolicy, Session, Tool
from .call_counts import CallCounts
from .callers import open_path
from .canned_provider import CannedServer
from .conversations import QUESTION, conversation, half
from .report import Count, Operation


def counts(
    binding: Binding, path: Path, messages: int, server: CannedServer, whole_at: str, stream_at: str | None
) -> Iterator[Count]:
    """The counts of one path at one length of history. The URLs are those that answer whole, and in pieces."""
    yield _Counting(binding, path, messages, server, whole_at).count("turn")
    if stream_at is not None:
        yield _Counting(binding, path, messages, server, stream_at).count("stream")
    if half(messages, tools=binding.claims().tools):
        yield _Counting(binding, path, messages, server, whole_at).count("collect")
    yield _Counting(binding, path, messages, server, whole_at).count("restore")


class _Counting:
    """One operation on a session of its own, whose provider has sent the history before."""

    def __init__(self, binding: Binding, path: Path, messages: int, server: CannedServer, url: str) -> None:
        self._binding, self._path, self._messages = binding, path, messages
        self._server, self._url = server, url
        self._talk = conversation(messages, tools=binding.claims().tools)
        self._watch = CallCounts()
        self._history = self._watch.messages(self._talk.messages[:-1])
        self._opened: list[Any] = []

    def count(self, operation: Operation) -> Count:
        """Do it once, and count."""
        on_chunk = (lambda piece: None) if operation == "stream" else None
        try:
            session = self._session()
            session.reset(self._history)
            session.send(QUESTION, on_chunk=on_chunk)
            # Back to the length that is asked for, which the path has now seen.
            session.reset(self._history)
            self._watch.clear()
            before, encoded = self._server.requests(self._url), self._encoded()
            if operation == "collect":
                session.collect(keep_turns=half(self._messages, tools=bool(self._talk.tools)))
            elif operation == "restore":
                session = self._session()
                session.reset(self._history)
            session.send(QUESTION, on_chunk=on_chunk)
            requests = self._server.requests(self._url) - before
            more = self._encoded()
        finally:
            for provider in self._opened:
                provider.shutdown()
        calls, read, messages_taken = dict(self._watch.calls), self._watch.read, self._watch.reads
        new = None if encoded is None or more is None else more - encoded
        return Count(operation, self._path, self._messages, calls, requests, read, messages_taken, new)

    def _encoded(self) -> int | None:
        """How many messages the providers opened so far have encoded, if they say so."""
        counted = [getattr(provider, "messages_encoded", None) for provider in self._opened]
        numbers = [each for each in counted if isinstance(each, int)]
        return sum(numbers) if len(numbers) == len(counted) else None

    def _session(self) -> Session:
        provider = open_path(self._binding, self._path, self._url)
        self._opened.append(provider)
        ids = itertools.count(1)
        return Session(
            self._watch.provider(provider),
            path=self._path,
            system=self._talk.system,
            tools=[Tool(schema, lambda arguments, token: None) for schema in self._talk.tools],
            retry=RetryPolicy(attempts=1),
            ids=lambda: f"new{next(ids)}",
        )
