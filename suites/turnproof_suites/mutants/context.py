"""Sessions that lose count of their context, or of what became of tool results that did not fit into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as changed

from turnproof.messages import FunctionCall, Message, Part, ProviderResponse, ToolResult
from turnproof.provider import Path
from turnproof.subject import SessionReply, SessionSetup, SessionTurn

from ._mutant import suite_mutant
from ._session import BrokenSession


@suite_mutant("context-added-up")
class ContextAddedUp(BrokenSession):
    """What the conversation takes is the sum of all that was reported in it."""

    total = 0

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        reply = say(turn)
        self.total += self.do("usage").total_tokens
        return reply

    def context(self) -> int:
        return self.total


@suite_mutant("context-empty-after-a-collection")
class ContextEmptyAfterACollection(BrokenSession):
    """After a collection the context counts as empty until the provider reports again."""

    counted = True

    def collect(self) -> None:
        self.do("collect")
        self.counted = False

    def run_turn(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        self.counted = True
        return say(turn)

    def context(self) -> int:
        return int(self.do("context")) if self.counted else 0


class _KnowsResults(BrokenSession):
    """Remembers what each tool said, whatever the session makes of it."""

    def open_handle(self, setup: SessionSetup) -> Any:
        self.tool_results: dict[str, ToolResult] = {}

        def on_tool(call: FunctionCall, result: ToolResult) -> None:
            self.tool_results[call.id] = result
            setup.on_tool(call, result)

        def open_provider(path: Path) -> Any:
            provider = setup.open_provider(path)
            return _OtherMessages(provider, self.change_messages) if path == "stateless" else provider

        return self.inner.open(replace(setup, on_tool=on_tool, open_provider=open_provider))

    def change_messages(self, messages: Sequence[Message]) -> Sequence[Message]:
        """What goes out instead, on the stateless path."""
        return messages

    def with_results(
        self, messages: Sequence[Message], make: Callable[[ToolResult, ToolResult], ToolResult]
    ) -> list[Message]:
        """The messages with another result where the session has changed what the tool said: `make(cut, whole)`."""

        def part(one: Part) -> Part:
            result = self.tool_results.get(one.call_id) if isinstance(one, ToolResult) else None
            return make(one, result) if isinstance(one, ToolResult) and result and one.result != result.result else one

        return [Message(each.role, tuple(map(part, each.parts)), each.message_id) for each in messages]


class _OtherMessages:
    """A provider that gets other messages."""

    def __init__(self, provider: Any, change: Callable[[Sequence[Message]], Sequence[Message]]) -> None:
        self._provider = provider
        self._change = change

    def complete(self, messages: Sequence[Message], *args: Any, **options: Any) -> ProviderResponse:
        """The provider's own answer to other messages."""
        response: ProviderResponse = self._provider.complete(self._change(messages), *args, **options)
        return response

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)


def _whole(cut: ToolResult, result: ToolResult) -> ToolResult:
    return result


def _beginning(cut: ToolResult, result: ToolResult) -> ToolResult:
    return changed(cut, result=str(result.result)[: len(str(cut.result))])


@suite_mutant("results-cut-without-a-word")
class ResultsCutWithoutAWord(_KnowsResults):
    """Of a result that does not fit the beginning is sent, as if that were all."""

    def change_messages(self, messages: Sequence[Message]) -> Sequence[Message]:
        return self.with_results(messages, _beginning)


@suite_mutant("rejected-results-held")
class RejectedResultsHeld(_KnowsResults):
    """Results are cut on their way out; what is held are the ones that were rejected."""

    def history(self) -> Sequence[Message]:
        return self.with_results(super().history(), _whole)


@suite_mutant("room-for-one-request")
class RoomForOneRequest(_KnowsResults):
    """Every round begins with whole results again; they are cut when they are refused."""

    tried = 0

    def change_messages(self, messages: Sequence[Message]) -> Sequence[Message]:
        first, self.tried = len(messages) != self.tried, len(messages)
        return self.with_results(messages, _whole) if first else messages
