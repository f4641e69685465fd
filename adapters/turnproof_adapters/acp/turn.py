"""One turn as it is shown: what its listeners are told, and the answer that it ends with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from turnproof.errors import TransportError
from turnproof.messages import FinishReason, FunctionCall, Message, Part, ProviderResponse, Text, Thought, TokenUsage

from .._answers import Listeners
from .calls import Calls, Shown, Update, text_of
from .program import Program
from .transcript import Transcript

_FINISHES = {
    "end_turn": FinishReason.STOP,
    "max_tokens": FinishReason.MAX_TOKENS,
    "max_turn_requests": FinishReason.MAX_TOKENS,
    "refusal": FinishReason.REFUSAL,
    "cancelled": FinishReason.CANCELLED,
}


class Turn:
    """Fed with the updates of one turn. `tool_calls` gives the calls that came to the tools so far: not every program
    shows the arguments of a call."""

    def __init__(
        self,
        content: Sequence[Part],
        calls: Calls,
        program: Program,
        listeners: Listeners,
        tool_calls: Callable[[], Sequence[FunctionCall]],
    ) -> None:
        self._content = content
        self._calls = calls
        self._program = program
        self._listeners = listeners
        self._tool_calls = tool_calls
        self._transcript = Transcript(calls)
        self._parts: list[Part] = []
        self._message: str | None = None
        self._words = 0
        """Parts that came before the message that is being said."""
        self._untold: list[Shown] = []
        self._matched: set[str] = set()
        self._apology: list[Update] = []
        self._sorry: str | None = None
        self._called = False
        self._counted = False
        """Whether it told how full the context is, which it does behind each answer of the model."""
        self.hushed = False
        """Once set, words are passed over: the turn was cancelled, and nothing more of it is heard."""

    # -- updates --------------------------------------------------------------------------------------------------

    def feed(self, update: Update) -> None:
        """Take an update, and tell the listeners of it."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._take_words(update, Text)
            case "agent_thought_chunk":
                self._take_words(update, Thought)
            case "tool_call" | "tool_call_update":
                self._take_call(update)
            case "usage_update":
                self._counted = True

    def _take_words(self, update: Update, kind: type[Text] | type[Thought]) -> None:
        text = text_of(update.get("content"))
        if not text or self.hushed:
            return
        self._begin_message(update)
        if kind is Text and self._is_apology(update, text):
            self._apology.append(update)
            return
        self._tell_calls()
        part = kind(text)
        last = self._parts[-1] if len(self._parts) > self._words else None
        if type(last) is kind and isinstance(last, Text | Thought):
            self._parts[-1] = kind(last.text + text)
        else:
            self._parts.append(part)
        self._transcript.say("model", part, self._message)
        listener = self._listeners.on_chunk if kind is Text else self._listeners.on_thinking
        if listener is not None:
            listener(text)

    def _begin_message(self, update: Update) -> None:
        number = update.get("messageId")
        number = number if isinstance(number, str) else None
        if number is not None and self._message not in (None, number):
            if self._program.retells and not self._called:
                # Nothing stands between the two: the first one broke off, and this is its other beginning.
                del self._parts[self._words :]
                self._transcript.drop_words()
                self._apology.clear()
            self._words = len(self._parts)
            self._sorry = None
        if number is not None:
            self._message = number
        self._called = False

    def _is_apology(self, update: Update, text: str) -> bool:
        if self._program.apology is None:
            return False
        if self._sorry is not None and self._sorry == self._message:
            return True
        begins = len(self._parts) == self._words
        if begins and self._program.apology.match(text):
            self._sorry = self._message
            return True
        return False

    def _take_call(self, update: Update) -> None:
        shown = self._calls.update(update)
        if shown is None:
            return
        self._called = True
        self._transcript.call(shown)
        if not shown.is_announced and shown not in self._untold:
            self._untold.append(shown)
            self._words = len(self._parts)
        for each in list(self._untold):
            if not each.sure:
                break
            self._tell(each)

    def _tell_calls(self) -> None:
        for shown in list(self._untold):
            self._tell(shown)

    def _tell(self, shown: Shown) -> None:
        self._untold.remove(shown)
        shown.is_announced = True
        self._complete(shown)
        if shown.name and not self.hushed and self._listeners.on_function_call is not None:
            self._listeners.on_function_call(shown.call())

    def _complete(self, shown: Shown) -> None:
        """Take the arguments from what came to the tool, where the program has not shown them."""
        for call in self._tool_calls():
            fits = shown.args is None or dict(shown.args) == dict(call.args)
            if call.name == shown.name and fits and call.id not in self._matched:
                self._matched.add(call.id)
                shown.args = call.args
                return

    # -- its end --------------------------------------------------------------------------------------------------

    @property
    def apology_text(self) -> str:
        """What the program has put in an answer's place."""
        return "".join(text_of(update.get("content")) or "" for update in self._apology)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The words so far."""
        return tuple(self._parts)

    def messages(self) -> list[Message]:
        """The turn as it goes into the history."""
        return [Message("user", tuple(self._content)), *self._transcript.messages()]

    def response(self, answer: Mapping[str, Any]) -> ProviderResponse:
        """The end of the turn. Raises TransportError where nothing was said, and nothing tells that this is all."""
        self._admit_apology()
        self._tell_calls()
        usage, stop = usage_of(answer), answer.get("stopReason")
        finish = _FINISHES.get(str(stop), FinishReason.UNKNOWN)
        silent = not self._parts and not self._transcript.messages()
        counted = self._counted or (usage is not None and usage.total_tokens > 0)
        if silent and not counted and finish in (FinishReason.STOP, FinishReason.UNKNOWN):
            raise TransportError("the agent ended the turn without a word, a call or a reason")
        if usage is not None and self._listeners.on_usage_update is not None:
            self._listeners.on_usage_update(usage)
        return ProviderResponse(
            self.parts, usage or TokenUsage(), finish, raw_finish=stop if isinstance(stop, str) else None
        )

    def cancelled(self, answer: Mapping[str, Any] | None) -> ProviderResponse:
        """The end of a turn that was cancelled, with what had arrived."""
        self._transcript.break_off()
        usage = usage_of(answer) if answer is not None else None
        return ProviderResponse(self.parts, usage or TokenUsage(), FinishReason.CANCELLED, raw_finish="cancelled")

    def _admit_apology(self) -> None:
        """The turn did not fail: what looked like an apology was the model's own."""
        for update in self._apology:
            part = Text(text_of(update.get("content")) or "")
            self._parts.append(part)
            self._transcript.say("model", part, self._message)
            if self._listeners.on_chunk is not None:
                self._listeners.on_chunk(part.text)
        self._apology.clear()


def usage_of(answer: Mapping[str, Any]) -> TokenUsage | None:
    """What the answer to a prompt says of its tokens; None where it says nothing."""
    match answer:
        case {"usage": Mapping() as usage}:
            return _of_protocol(usage)
        case {"_meta": {"quota": {"token_count": Mapping() as count}}}:
            input_tokens, output_tokens = _count(count, "input_tokens"), _count(count, "output_tokens")
            return TokenUsage(input_tokens, output_tokens, input_tokens + output_tokens)
        case _:
            return None


def _of_protocol(usage: Mapping[str, Any]) -> TokenUsage:
    # What a cache served or took is no part of `inputTokens`.
    read, stored = _count(usage, "cachedReadTokens"), _count(usage, "cachedWriteTokens")
    input_tokens, output_tokens = _count(usage, "inputTokens") + read + stored, _count(usage, "outputTokens")
    return TokenUsage(
        input_tokens, output_tokens, input_tokens + output_tokens, read, stored, _count(usage, "thoughtTokens")
    )


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
