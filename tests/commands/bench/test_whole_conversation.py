"""A whole conversation grows by two messages a turn, on whichever side its history is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from turnproof.commands.bench.conversations import WHOLE, conversation, unique_text
from turnproof.commands.bench.whole_conversation import (
    TURNS,
    LegacyConversing,
    PlainConversing,
    StatelessConversing,
    rehearsed,
)
from turnproof.errors import ProviderError
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, TokenUsage

from .sample_outcomes import Scripted

TALK = conversation(2, tools=True)


class Provider:
    """Both paths at once, that notes what it gets."""

    def __init__(self, says: str = WHOLE.text) -> None:
        self.sent: list[list[str]] = []
        self.sessions = 0
        self.closed = False
        self._says = says

    def complete(self, messages: Sequence[Message], system: Any, tools: Any) -> ProviderResponse:
        assert (system, list(tools)) == (TALK.system, list(TALK.tools))
        self.sent.append([message.text for message in messages])
        return ProviderResponse((Text(self._says),), TokenUsage(1, 1, 2), FinishReason.STOP)

    def create_session(self, system: Any, tools: Any, history: Sequence[Message]) -> None:
        assert (system, list(tools), history) == (TALK.system, list(TALK.tools), [])
        self.sessions += 1

    def send_message(self, text: str) -> ProviderResponse:
        self.sent.append([text])
        return ProviderResponse((Text(self._says),), TokenUsage(1, 1, 2), FinishReason.STOP)

    def shutdown(self) -> None:
        self.closed = True


class Plain(Scripted):
    """A plain call that holds a conversation."""

    def __init__(self) -> None:
        super().__init__()
        self.history: Any = None

    def begin(self) -> None:
        self.done.append("begin")

    def say(self, text: str) -> str:
        self.done.append(text)
        return WHOLE.text


def test_on_the_stateless_path_every_turn_sends_all_that_was_said() -> None:
    provider = Provider()
    caller = StatelessConversing(provider, TALK)
    caller.turns = 3
    for _ in range(2):
        caller.ready()
        assert caller.ask() == WHOLE.text
    assert [len(sent) for sent in provider.sent] == [1, 3, 5, 1, 3, 5]
    assert provider.sent[2] == [unique_text(0), WHOLE.text, unique_text(1), WHOLE.text, unique_text(2)]
    caller.close()
    assert provider.closed


def test_on_the_legacy_path_the_provider_keeps_it() -> None:
    provider = Provider()
    caller = LegacyConversing(provider, TALK)
    caller.turns = 2
    caller.ready()
    caller.ask()
    assert (provider.sessions, provider.sent) == (1, [[unique_text(0)], [unique_text(1)]])


def test_a_plain_call_begins_and_says() -> None:
    call = Plain()
    caller = PlainConversing(call)
    caller.turns = 2
    caller.ready()
    texts: list[str] = []
    caller.stream(texts.append)
    caller.close()
    assert (call.done, texts) == (["begin", unique_text(0), unique_text(1), "close"], [WHOLE.text])


def test_another_answer_than_the_servers_ends_it() -> None:
    caller = StatelessConversing(Provider("nonsense"), TALK)
    caller.ready()
    with pytest.raises(ProviderError, match="in turn 1 the caller received 'nonsense'"):
        caller.ask()


def test_a_rehearsal_is_short_and_the_conversation_is_not() -> None:
    provider = Provider()
    caller = StatelessConversing(provider, TALK)
    rehearsed(caller, WHOLE)
    assert 0 < len(provider.sent) < TURNS
    assert caller.turns == TURNS


def test_any_other_caller_is_asked_once_and_held_to_its_answer() -> None:
    caller = Scripted(WHOLE.text)
    rehearsed(caller, WHOLE)
    assert caller.done == ["ready", "ask"]
    with pytest.raises(ProviderError, match="the server answered"):
        rehearsed(Scripted("nonsense"), WHOLE)
