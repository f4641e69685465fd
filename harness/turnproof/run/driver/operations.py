"""What is done with a session between turns. An operation that raises is recorded as refused, and the run goes on."""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import replace
from typing import Any

from ...messages import Message
from ...provider import Path
from ...scenarios.model import Action, Injection, Turn
from ...subject import SessionSetup, Tool
from ..transcript import Collected, Loaded, Reset, Reverted, Saved, Swapped
from .children import Children
from .parent_channel import ControlLost
from .run_session import RunSession


class Operations:
    """Does and records them, each with a snapshot of the history after it."""

    def __init__(self, run: RunSession, children: Children) -> None:
        self._run = run
        self._children = children
        self._recorder = run.recorder
        self._session = run.session
        self._actions: dict[Action, Callable[[], None]] = {
            "gc": self._collect,
            "save-load": self._save_and_load,
            "save-load-other-path": self._load_on_the_other_path,
            "damaged-load": self._load_damaged,
            "new-provider": self._swap,
            "reset": self._reset,
            "tamper": self._tamper,
        }

    def perform(self, action: Action) -> None:
        """The operation that a scenario has this word for."""
        self._observed(action, self._actions[action])
        if action != "tamper":
            self._run.snapshot(action)

    def revert(self, turn: int) -> None:
        """Go back to the end of a turn of the history."""

        def back() -> None:
            self._needed("revert")(self._run.handle, turn)
            self._recorder.event(Reverted(to=turn, **self._place))

        self._observed("revert", back)
        self._run.snapshot("revert")

    def adopt(self, messages: Sequence[Message]) -> None:
        """Have the session go on from a conversation that was held elsewhere."""
        self._observed("adopt", lambda: self._needed("adopt")(self._run.handle, list(messages)))
        self._run.snapshot("adopt")

    def inject(self, injection: Injection) -> None:
        """Let the model know of a command of the user's, and of what it said."""
        command, outcome = injection.command, injection.outcome
        self._observed("inject", lambda: self._needed("inject")(self._run.handle, command, outcome))
        self._run.snapshot("inject")

    def child(self, turn: Turn) -> None:
        """A turn of the session's child."""
        self._needed("spawn")
        self._observed("child", lambda: self._children.turn(turn))
        self._run.snapshot("child")

    def children(self, turns: Sequence[Turn]) -> None:
        """A turn of each of several children, at the same time."""
        self._needed("spawn")
        self._observed("children", lambda: self._children.turns_at_once(turns))
        self._run.snapshot("children")

    def spawn(self) -> None:
        """The session's child is there, for a tool to speak to."""
        self._needed("spawn")
        self._observed("child", self._children.handle)

    def begin_outliving(self, turn: Turn) -> None:
        """A turn of the session's child that goes on until `end_outliving`."""
        self._needed("spawn")
        self._observed("child", lambda: self._children.begin_outliving(turn))

    def end_outliving(self) -> None:
        """The turn that `begin_outliving` began comes to its end."""
        self._observed("child", self._children.end)
        self._run.snapshot("child")

    def configure(self, system: str | None, tools: Sequence[Tool]) -> None:
        """Another system text and other tools; no snapshot, as the history is no concern of it."""
        self._observed("configure", lambda: self._needed("configure")(self._run.handle, system, tools))

    # -- one by one --------------------------------------------------------------------------------------------

    def _collect(self) -> None:
        before = self._ids()
        self._needed("collect")(self._run.handle)
        self._recorder.event(Collected(before=before, after=self._ids(), **self._place))

    def _save_and_load(self) -> None:
        self._go_on_from_save(self._run.setup())
        keeps_ids = "message_ids" in self._run.subject.operations
        self._recorder.event(Loaded(messages=tuple(self._run.history()), message_ids=keeps_ids, **self._place))

    def _load_on_the_other_path(self) -> None:
        other: Path = "legacy" if self._run.path == "stateless" else "stateless"
        self._go_on_from_save(replace(self._run.setup(), path=other))
        self._recorder.event(Loaded(messages=tuple(self._run.history()), path=self._run.path, **self._place))

    def _go_on_from_save(self, setup: SessionSetup) -> None:
        saved = self._saved()
        self._recorder.event(Saved(data=saved, **self._place))
        load = self._needed("load")
        with self._run.watched_while("restore"):
            self._run.handle = load(setup, saved)

    def _load_damaged(self) -> None:
        """Half of a saved session. Whatever comes of it is not gone on with."""
        saved = self._saved()
        self._recorder.event(Saved(data=saved, **self._place))
        handle = self._needed("load")(self._run.setup(), saved[: len(saved) // 2])
        messages = tuple(self._run.history_of(handle))
        self._recorder.event(Loaded(messages=messages, damaged=True, **self._place))

    def _saved(self) -> str:
        save = self._needed("save")
        with self._run.watched_while("save"):
            saved = save(self._run.handle)
        if not isinstance(saved, str):
            raise TypeError(f"save() returned {type(saved).__name__} instead of text")
        return saved

    def _swap(self) -> None:
        providers, path = self._run.providers, self._run.path
        provider = providers.tapped(path) if providers.has_path(path) else None
        self._needed("swap")(self._run.handle, provider)
        self._recorder.event(Swapped(name=self._run.subject.adapter.name, **self._place))

    def _reset(self) -> None:
        self._run.account("before")
        self._needed("reset")(self._run.handle)
        self._recorder.event(Reset(**self._place))
        self._run.account("after")

    def _tamper(self) -> None:
        """Empty the list that the session has handed out, look, and fill it again: later turns are not to suffer."""
        handed_out = self._run.history()
        if not isinstance(handed_out, MutableSequence):
            self._run.snapshot("tamper")
            return
        before = list(handed_out)
        del handed_out[:]
        self._run.snapshot("tamper")
        handed_out[:] = before

    # -- how ---------------------------------------------------------------------------------------------------

    def _observed(self, name: str, action: Callable[[], object]) -> None:
        self._recorder.control.ask("operation-begins")
        self._recorder.doing = name
        try:
            action()
        except ControlLost:
            raise
        except Exception as error:
            self._run.refused(name, error)
        finally:
            self._recorder.doing = ""
        self._recorder.control.ask("operation-ended")

    def _needed(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] | None = getattr(self._session, name)
        if found is None:
            raise NotImplementedError(f"session {self._session.name!r} has no {name}")
        return found

    def _ids(self) -> tuple[str, ...]:
        return tuple(message.message_id for message in self._run.history())

    @property
    def _place(self) -> dict[str, Any]:
        return {"turn": self._recorder.turn}
