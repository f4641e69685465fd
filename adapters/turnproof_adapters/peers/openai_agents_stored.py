"""openai-agents' `Runner` where the service keeps the conversation, bound as two sessions.

`CONVERSATIONS` has the library's `OpenAIConversationsSession`: the service's conversation object collects the items,
and the library reads them back for every run. `CHAIN` has no session of the library's: each run continues the last
response (`previous_response_id`, with `auto_previous_response_id` for the rounds of a run), as the library's docs have
it. The history of that one is what the library says of each run that was answered.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from agents import ModelSettings, OpenAIConversationsSession

from turnproof.subject import SessionSetup

from .agent_binding import bind_agent
from .openai_agents_code import OpenAIAgentsCode
from .openai_agents_runner import CLAIMS, WIRE, Conversation


class Stored(Conversation):
    """Answers are stored, which is the service's default."""

    def _model_settings(self, max_tokens: int | None) -> ModelSettings:
        return ModelSettings(max_tokens=max_tokens)


class InConversation(Stored):
    """The service's conversation object is the session."""

    def _open_items(self) -> Any:
        return OpenAIConversationsSession(openai_client=self._client)

    def _close_items(self) -> None:
        """Nothing to do: the conversation stays at the service."""


class InChain(Stored):
    """The last response is continued. `runs` has of each turn that was answered the response that it ended in, and what
    the library says of it (`to_input_list()`)."""

    def __init__(self, setup: SessionSetup) -> None:
        self.runs: list[tuple[str, list[Any]]] = []
        super().__init__(setup)

    def _open_items(self) -> Any:
        return None

    def _close_items(self) -> None:
        """Nothing to do: the responses stay at the service."""

    def _options(self) -> dict[str, Any]:
        return {"previous_response_id": self.runs[-1][0] if self.runs else None, "auto_previous_response_id": True}

    def _note(self, result: Any) -> None:
        if result.last_response_id is not None:
            self.runs.append((result.last_response_id, result.to_input_list()))

    def stored_items(self) -> list[Any]:
        return [item for _, items in self.runs for item in items]

    def replace(self, items: Sequence[Any]) -> None:
        if items:
            raise ValueError("a chain can only begin with a conversation by sending it")
        self.runs.clear()

    def save(self) -> str:
        return json.dumps(self.runs)

    def revert(self, turn: int) -> None:
        if turn >= len(self.runs):
            raise IndexError(f"there is no turn {turn}")
        del self.runs[turn + 1 :]

    @classmethod
    def load(cls, setup: SessionSetup, text: str) -> Self:
        found = cls(setup)
        found.runs = [(head, items) for head, items in json.loads(text)]
        return found


STORED_WIRE = replace(WIRE, name="openai-agents-stored-wire", capabilities=replace(CLAIMS, chain=True))
CONVERSATIONS = bind_agent(
    "openai-agents-conversations", InConversation, wire=STORED_WIRE, reproducer=OpenAIAgentsCode("conversations")
)
CHAIN = bind_agent("openai-agents-chain", InChain, wire=STORED_WIRE, reproducer=OpenAIAgentsCode("chain"))
