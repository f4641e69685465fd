"""Sessions whose window is wrong: it parts a pair, has no end, or loses what is inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from turnproof.gc import turn_starts
from turnproof.messages import Message
from turnproof.subject import SessionSetup

from ._mutant import suite_mutant
from ._session import BrokenSession

Messages = Sequence[Message]


class _Sending:
    """A provider that is asked with other messages than its session sends."""

    def __init__(self, provider: Any, change: Callable[[Messages], Messages]) -> None:
        self._provider = provider
        self._change = change

    def complete(self, messages: Messages, *args: Any, **options: Any) -> Any:
        return self._provider.complete(list(self._change(messages)), *args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)


class _BrokenWindow(BrokenSession):
    """A subclass says what is sent in place of the session's own window."""

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(self._changed(setup))

    def load_handle(self, setup: SessionSetup, saved: str) -> Any:
        return super().load_handle(self._changed(setup), saved)

    def sent(self, messages: Messages) -> Messages:
        raise NotImplementedError

    def _changed(self, setup: SessionSetup) -> SessionSetup:
        return replace(setup, open_provider=lambda path: _Sending(setup.open_provider(path), self.sent))


@suite_mutant("window-parts-a-pair")
class WindowPartsAPair(_BrokenWindow):
    """The window begins with the result of a call that it has cut off."""

    def sent(self, messages: Messages) -> Messages:
        running = turn_starts(messages)[-1]
        places = [place for place in range(running) if messages[place].role == "tool"]
        return messages[places[-1] :] if places else messages


@suite_mutant("window-has-no-end")
class WindowHasNoEnd(_BrokenWindow):
    """The whole history is sent, however long it is."""

    def sent(self, messages: Messages) -> Messages:
        whole = self.history()
        return whole if len(whole) > len(messages) else messages


@suite_mutant("window-loses-the-question")
class WindowLosesTheQuestion(_BrokenWindow):
    """Once tools have run, the window no longer has what the user said in this turn."""

    def sent(self, messages: Messages) -> Messages:
        running = turn_starts(messages)[-1]
        return [*messages[:running], *messages[running + 1 :]] if messages[-1].role == "tool" else messages


@suite_mutant("window-loses-the-last-turn")
class WindowLosesTheLastTurn(_BrokenWindow):
    """Of the turns before the running one, the window has the older ones and lacks the newest."""

    def sent(self, messages: Messages) -> Messages:
        starts = turn_starts(messages)
        return [*messages[: starts[-2]], *messages[starts[-1] :]] if len(starts) > 2 else messages
