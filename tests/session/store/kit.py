"""What the tests of stored sessions share: sessions whose model answers by rule, and stores on simulated disks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from session.fakes import Naps, numbered, tool
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage
from turnproof.session import RetryPolicy, Session
from turnproof.session.persistence import SessionState
from turnproof.session.store import FileStore

FOLDER = Path("/sessions")


class Echo:
    """A stateless provider without a script: it repeats what was said; told to `look`, it calls that tool first."""

    def __init__(self) -> None:
        self.requests: list[list[Message]] = []

    def complete(self, messages: Any, system_instruction: Any = None, tools: Any = None, **_: Any) -> ProviderResponse:
        self.requests.append(list(messages))
        usage = TokenUsage(10 * len(messages), 2, 10 * len(messages) + 2)
        last = messages[-1]
        if last.role == "user" and last.text.startswith("look"):
            call = FunctionCall(f"c{len(messages)}", "look", {"at": last.text})
            return ProviderResponse((Text("Wait."), call), usage, FinishReason.TOOL_USE)
        question = next(message.text for message in reversed(messages) if message.role == "user")
        return ProviderResponse((Text(f"You said: {question}"),), usage, FinishReason.STOP)


def echo_session(**options: Any) -> Session:
    options.setdefault("ids", numbered())
    return Session(Echo(), sleep=Naps(), retry=RetryPolicy(jitter=0), tools=[tool()], **options)


def ticking(start: float = 1_800_000_000.0) -> Callable[[], float]:
    """A clock that is one second later whenever it is looked at."""
    ticks: Iterator[int] = count()
    return lambda: start + next(ticks)


def sim_store(files: Any, **options: Any) -> FileStore:
    names = count(1)
    options = {"clock": ticking(), "program": "test", "ids": lambda: f"s{next(names)}", **options}
    return FileStore(FOLDER, files=files, **options)


def typed_texts(state: SessionState) -> list[str]:
    """What the user typed, turn by turn."""
    return [one.text for one in state.inputs]


def texts(state: SessionState) -> list[str]:
    return [message.text for message in state.messages]


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc, arg-type]


def numbered_from(start: int) -> Callable[[], str]:
    """Message ids for a second process that goes on with the same session."""
    ids = count(start)
    return lambda: f"m{next(ids)}"
