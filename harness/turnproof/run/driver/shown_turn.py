"""What one turn shows its user while it runs: the text in pieces, and of a session without provider calls the rest."""

from __future__ import annotations

from ...messages import FunctionCall, TokenUsage
from ..transcript import Chunk, Event, FunctionCallDetected, LateCallback, TakenBack, Thinking, UsageUpdate
from .recorder import Recorder, checked


class ShownTurn:
    """The functions that a session is to call while a turn streams. After `close()` they report themselves as late."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._turn = recorder.turn
        self._pieces: list[str] = []
        self._open = True

    @property
    def text(self) -> str:
        """What was shown and not taken back."""
        return "".join(self._pieces)

    def close(self) -> None:
        """The turn is over; anything from here on is late."""
        self._open = False

    def show(self, text: str) -> None:
        """A piece of text is shown."""
        if self._is_late("chunk"):
            return
        checked("on_chunk", text, str)
        self._pieces.append(text)
        self._record(Chunk(text=text, turn=self._turn))
        self._recorder.show(text)

    def take_back(self, text: str) -> None:
        """What was shown of an answer does not count."""
        self._recorder.event(TakenBack(text=text, turn=self._turn))
        shown = self.text
        if shown.endswith(text):
            self._pieces[:] = [shown.removesuffix(text)]

    def think(self, text: str) -> None:
        """A piece of a thought is shown."""
        if not self._is_late("thought"):
            checked("on_thinking", text, str)
            self._record(Thinking(text=text, turn=self._turn))

    def announce(self, call: FunctionCall) -> None:
        """A tool call is shown."""
        if not self._is_late("function_call"):
            checked("on_function_call", call, FunctionCall)
            self._record(FunctionCallDetected(function_call=call, turn=self._turn))

    def count(self, usage: TokenUsage) -> None:
        """Figures are shown."""
        if not self._is_late("usage"):
            checked("on_usage_update", usage, TokenUsage)
            self._record(UsageUpdate(usage=usage, turn=self._turn))

    def _record(self, event: Event) -> None:
        if self._recorder.session_alone:
            self._recorder.event(event)

    def _is_late(self, kind: str) -> bool:
        if self._open:
            return False
        self._record(LateCallback(kind=kind, turn=self._turn))
        return True
