"""A conversation with a model that can use tools."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from .cache import Breakpoints
from .http import ModelError, Stop
from .notes import Answer, Note, Outcome, Tool
from .providers import Provider


class Session:
    """`send` runs a turn: it asks the model, runs the tools that it calls, and asks again until it calls none.

    A turn that fails leaves no trace. One that was stopped leaves what was said until then.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        attempts: int = 3,
        sleep: Callable[[float], object] = time.sleep,
        on_outcome: Callable[[Outcome], object] = lambda outcome: None,
    ) -> None:
        self.provider = provider
        self.transcript: list[Note] = []
        self.accounts: list[tuple[int, int]] = []
        self._system, self._tools = system, list(tools)
        self._attempts, self._sleep, self._on_outcome = attempts, sleep, on_outcome
        self._stop = Stop()
        provider.set_cache_plugin(Breakpoints())
        provider.create_session(system, self._tools)

    # -- turns

    def send(self, text: str, on_text: Callable[[str], object] | None = None) -> str:
        """Say something; what the bot said to it in the end. `on_text` hears it as it comes."""
        self._stop = Stop()
        before = self.provider.get_history()
        self.transcript.append(Note("human", text))
        try:
            return self._turn(Note("human", text), on_text)
        except BaseException:
            self._go_on_from(before)
            raise

    def stop(self) -> None:
        """Stop the turn that is running, from any thread."""
        self._stop.press()

    @property
    def stopped(self) -> bool:
        """Whether the last turn was stopped."""
        return self._stop.pressed

    def _turn(self, entry: Note, on_text: Callable[[str], object] | None) -> str:
        while True:
            answer = self._answer(entry, on_text)
            self.accounts.append((answer.tokens_in, answer.tokens_out))
            note = answer.note or Note("bot")
            self.transcript.append(note)
            if not note.calls:
                return note.text
            outcomes = self._run(note)
            if self._stop.pressed:
                self._go_on_from([*self.provider.get_history(), Note("tools", outcomes=outcomes)])
                return note.text
            entry = Note("tools", outcomes=outcomes)

    def _answer(self, entry: Note, on_text: Callable[[str], object] | None) -> Answer:
        """The answer to what is said, after as many attempts as it takes."""
        attempt, shortened = 1, False
        while not self._stop.pressed:
            try:
                self._make_room()
                return self._ask(entry, on_text)
            except ModelError as error:
                kind = self.provider.classify_error(error)
                if kind["too_long"] and not shortened:
                    entry, shortened = self._shortened(entry), True
                    continue
                if not kind["transient"] or attempt == self._attempts:
                    raise
                attempt += 1
                self._sleep(error.retry_after or 0.5 * attempt)
        # Nobody heard it, so it was not said; but what tools have said stays.
        if entry.who == "tools":
            self._go_on_from([*self.provider.get_history(), entry])
        return Answer(None, stopped=True)

    def _ask(self, entry: Note, on_text: Callable[[str], object] | None) -> Answer:
        if entry.who == "tools":
            if on_text is None:
                return self.provider.send_tool_results(entry.outcomes, self._stop)
            return self.provider.send_tool_results_streaming(entry.outcomes, on_text, self._stop)
        if on_text is None:
            return self.provider.send_message(entry.text, self._stop)
        return self.provider.send_message_streaming(entry.text, on_text, self._stop)

    def _run(self, note: Note) -> tuple[Outcome, ...]:
        tools = {tool.name: tool for tool in self._tools}
        outcomes = []
        for call in note.calls:
            if self._stop.pressed:
                outcome = Outcome(call.id, call.tool, "stopped by the user", failed=True)
            elif call.tool not in tools:
                outcome = Outcome(call.id, call.tool, f"there is no tool {call.tool!r}", failed=True)
            else:
                try:
                    outcome = Outcome(call.id, call.tool, tools[call.tool].run(call.input))
                except Exception as error:
                    outcome = Outcome(call.id, call.tool, str(error), failed=True)
            outcomes.append(outcome)
            self._on_outcome(outcome)
        return tuple(outcomes)

    # -- room in the context

    def _make_room(self) -> None:
        """Drop the oldest turns when nine tenths of the context are taken."""
        history = self.provider.get_history()
        if self.provider.count_tokens(history) > 0.9 * self.provider.get_context_limit():
            self.collect(max(1, len(_starts(history)) // 2))

    def _shortened(self, entry: Note) -> Note:
        """What did not fit, with what tools have said cut down to what does; and so in the history."""
        room = 4 * self.provider.get_context_limit() // 10
        if self.provider._refused_tokens > 2 * self.provider.get_context_limit():
            room //= 2
        self._go_on_from([_cut(note, room) for note in self.provider.get_history()])
        return _cut(entry, room)

    def collect(self, keep_turns: int) -> None:
        """Keep the last turns only."""
        history = self.provider.get_history()
        starts = _starts(history)
        if len(starts) > keep_turns:
            self._go_on_from(history[starts[-keep_turns] :])

    # -- between turns

    def configure(self, system: str | None, tools: Sequence[Tool]) -> None:
        """Another system text and other tools from the next turn on."""
        self._system, self._tools = system, list(tools)
        self.provider.create_session(self._system, self._tools, self.provider.get_history())

    def reset(self) -> None:
        """Begin anew."""
        self._go_on_from([])

    def save(self) -> str:
        """The conversation as text."""
        history = self.provider.serialize_history(self.provider.get_history())
        return json.dumps({"system": self._system, "history": history})

    def load(self, saved: str) -> None:
        """Go on from what was saved."""
        found = json.loads(saved)
        self._system = found["system"]
        self._go_on_from(self.provider.deserialize_history(found["history"]))

    def _go_on_from(self, history: Sequence[Note]) -> None:
        self.provider.create_session(self._system, self._tools, history)
        self.provider.history_changed()


def _starts(history: Sequence[Note]) -> list[int]:
    """Where turns begin."""
    return [place for place, note in enumerate(history) if note.who == "human"]


def _cut(note: Note, room: int) -> Note:
    """A note whose tools say no more than `room` characters in all."""
    each = room // max(1, len(note.outcomes))
    outcomes = tuple(
        one if len(one.text) <= each else replace(one, text=one.text[:each] + " [cut]") for one in note.outcomes
    )
    return note if outcomes == note.outcomes else replace(note, outcomes=outcomes)
