"""A wrapper around any session that can be broken in one place.

A subclass overrides one operation by its name; what it leaves alone is the session's own. There is one object for each
session that is opened, so that a subclass can remember what happened to it. What the wrapped session lacks, the broken
one lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from turnproof.messages import Message, Part
from turnproof.subject import OF_KEPT_SESSIONS, SessionBinding, SessionReply, SessionSetup, SessionTurn

_PASSED_ON = (
    "stop",
    "interject",
    "inject",
    "adopt",
    "reset",
    "revert",
    "collect",
    "save",
    "swap",
    "usage",
    "context",
    "provider_history",
    "background",
    "watch_agents",
    "configure",
    "path",
    "session_capabilities",
    *sorted(OF_KEPT_SESSIONS),
)


class BrokenSession:
    """Passes everything on to the session of `inner` that its setup, or a saved text, gives."""

    def __init__(self, inner: SessionBinding, setup: SessionSetup, saved: str | None = None) -> None:
        self.inner = inner
        self.handle = self.open_handle(setup) if saved is None else self.load_handle(setup, saved)

    def open_handle(self, setup: SessionSetup) -> Any:
        """The handle of a new session."""
        return self.inner.open(setup)

    def load_handle(self, setup: SessionSetup, saved: str) -> Any:
        """The handle of a session that goes on from a saved one."""
        return self.operation("load")(setup, saved)

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        """One turn, whatever its message."""
        return say(turn)

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        """The inner session's `send`."""
        return self.run_turn(lambda turn: self.inner.send(self.handle, text, turn), turn)

    def send_parts(self, parts: Sequence[Part], turn: SessionTurn) -> SessionReply:
        """The inner session's `send_parts`."""
        return self.run_turn(lambda turn: self.do("send_parts", parts, turn), turn)

    def history(self) -> Sequence[Message]:
        """What the inner session holds."""
        return self.inner.history(self.handle)

    def spawn(self) -> BrokenSession:
        """A child that is broken as well, of the inner session's child."""
        child = copy(self)
        child.handle = self.do("spawn")
        return child

    def close(self) -> None:
        """The inner session is closed."""
        self.do("close")

    def do(self, name: str, *args: Any) -> Any:
        """Another operation of the inner session."""
        return self.operation(name)(self.handle, *args)

    def operation(self, name: str) -> Callable[..., Any]:
        """An operation of the inner binding, which has it: the broken session is asked for nothing else."""
        found: Callable[..., Any] | None = getattr(self.inner, name)
        assert found is not None, name
        return found

    def __getattr__(self, name: str) -> Any:
        if name not in _PASSED_ON:
            raise AttributeError(name)
        return partial(self.do, name)


def broken_binding(cls: type[BrokenSession], inner: SessionBinding) -> SessionBinding:
    """The binding of sessions that are broken in the way of `cls`."""

    def passed_on(name: str) -> Callable[..., Any]:
        return lambda session, *args: getattr(session, name)(*args)

    operations = {
        name: passed_on(name)
        for name in (*_PASSED_ON, "send_parts", "spawn", "close")
        if getattr(inner, name) is not None
    }
    changed: dict[str, Any] = {"send": passed_on("send"), "history": passed_on("history"), **operations}
    if inner.load is not None:
        changed["load"] = lambda setup, saved: cls(inner, setup, saved)
    return replace(inner, open=lambda setup: cls(inner, setup), **changed)
