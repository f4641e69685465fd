"""Foreign providers that own the history, in the coroutine form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from turnproof import foreign
from turnproof.errors import OverloadedError
from turnproof.messages import Message, ProviderResponse, ToolResult
from turnproof.provider import LegacyProvider, Outcome
from turnproof.session import Session

from .providers import LOOK, act


class CoroutineLegacy:
    """A legacy provider in the coroutine form, which answers with what it was sent."""

    def __init__(self, wrap: Callable[[ProviderResponse], Any] = lambda response: response) -> None:
        self.history: list[Message] = []
        self.wrap = wrap

    async def create_session(self, system: Any = None, tools: Any = None, history: Any = None) -> None:
        self.history = list(history or ())

    async def get_history(self) -> list[Message]:
        return list(self.history)

    async def send_message(self, message: str, response_schema: Any = None, cancel_token: Any = None) -> Any:
        return await self._answer(Message.user(message))

    async def send_message_with_parts(self, parts: Any, response_schema: Any = None) -> Any:
        return await self._answer(Message.user(*parts))

    async def send_tool_results(self, results: Any, response_schema: Any = None) -> Any:
        return await self._answer(Message.tool(*results))

    async def send_message_streaming(self, message: str, on_chunk: Any, **kwargs: Any) -> Any:
        return await self._answer(Message.user(message), on_chunk)

    async def send_tool_results_streaming(self, results: Any, on_chunk: Any, **kwargs: Any) -> Any:
        return await self._answer(Message.tool(*results), on_chunk)

    async def _answer(self, message: Message, on_chunk: Any = None) -> Any:
        await asyncio.sleep(0)
        self.history.append(message)
        response = act(self.history, on_chunk, None, None, None)
        self.history.append(Message("model", response.parts))
        return self.wrap(response)


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "batch"])
@pytest.mark.parametrize(("wrap", "errors"), [(lambda response: response, "raised"), (Outcome, "returned")])
def test_a_coroutine_legacy_provider_serves_a_turn_with_tools(wrap: Any, errors: Any, stream: bool) -> None:
    theirs = CoroutineLegacy(wrap)
    provider = foreign.normalise_legacy(theirs, errors=errors)
    assert isinstance(provider, LegacyProvider)
    session = Session(provider, path="legacy", tools=[LOOK])
    shown: list[str] = []
    result = session.send("Hi", on_chunk=shown.append if stream else None)
    assert result.text == "Let me look.Seen."
    assert shown == (["Let me look.", "Seen."] if stream else [])
    assert provider.get_history() == theirs.history
    assert session.history.messages[2].results == (ToolResult("c1", "look", "seen"),)
    session.clear()
    assert theirs.history == []
    provider.close()  # type: ignore[attr-defined]


def test_a_returned_error_of_a_legacy_method_is_raised() -> None:
    error = OverloadedError("busy")
    provider = foreign.normalise_legacy(CoroutineLegacy(lambda response: Outcome(error=error)), errors="returned")
    with pytest.raises(OverloadedError) as failure:
        provider.send_message("Hi")
    assert failure.value is error
    provider.close()  # type: ignore[attr-defined]


def test_what_a_legacy_method_takes_can_still_be_seen() -> None:
    # The session passes a token to the batch methods that have a parameter for it, and to no other.
    import inspect

    provider = foreign.normalise_legacy(CoroutineLegacy())
    assert "cancel_token" in inspect.signature(provider.send_message).parameters
    assert "cancel_token" not in inspect.signature(provider.send_tool_results).parameters
