"""pydantic-ai's `Agent` over the Responses API, bound as two sessions.

`WHOLE` sends the whole conversation each time and has nothing stored (`openai_store`). `CHAIN` continues the last
answer in the library's history, and sends what came after it (`openai_previous_response_id='auto'`). The history of
both is the library's: the messages of all runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import msgspec
from pydantic_ai import messages as m
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from turnproof import messages as ours
from turnproof.provider import Binding, Endpoint

from .agent_binding import bind_agent
from .capabilities import AGENT_CAPABILITIES
from .pydantic_ai_agent import Conversation, neutral, result
from .pydantic_ai_agent_code import PydanticAIAgentCode

DIALECT, MODEL = "openai-responses", "gpt-5-mini"


class Whole(Conversation):
    """Every request has the whole conversation."""

    settings: ClassVar[Mapping[str, Any]] = {"openai_store": False}

    def _open_model(self, endpoint: Endpoint) -> tuple[Model[Any], Any]:
        wire = OpenAIProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
        settings: Any = {"max_retries": 0, **endpoint.options, **self.settings}
        return OpenAIResponsesModel(endpoint.model, provider=wire, settings=settings), wire.client.close

    def history(self) -> list[ours.Message]:
        found = [message for each in self.messages for message in neutral(each, result_as_sent)]
        return [ours.Message(message.role, tuple(map(own, message.parts))) for message in found]


class Chain(Whole):
    """A request continues the last answer."""

    settings: ClassVar[Mapping[str, Any]] = {"openai_previous_response_id": "auto"}


def own(part: ours.Part) -> ours.Part:
    """A part of the history; thinking is this API's and no other one's."""
    match part:
        case ours.Thought(provider_data=ours.ProviderData() as data):
            return msgspec.structs.replace(part, provider_data=ours.ProviderData(DIALECT, MODEL, data.data))
    return part


def result_as_sent(part: Any) -> ours.ToolResult:
    """A tool's result. This API marks none as failed, so the library writes that into its text."""
    found = result(part)
    if found.is_error and isinstance(part, m.ToolReturnPart):
        return msgspec.structs.replace(found, result=part.model_response_str())
    return found


WIRE = Binding("pydantic-ai-responses-wire", DIALECT, MODEL, AGENT_CAPABILITIES, package="pydantic-ai-slim")
CHAIN_WIRE = replace(
    WIRE, name="pydantic-ai-responses-chain-wire", capabilities=replace(AGENT_CAPABILITIES, chain=True)
)
WHOLE = bind_agent(
    "pydantic-ai-responses-whole", Whole, wire=WIRE, reproducer=PydanticAIAgentCode("openai", Whole.settings)
)
CHAIN = bind_agent(
    "pydantic-ai-responses-chain", Chain, wire=CHAIN_WIRE, reproducer=PydanticAIAgentCode("openai", Chain.settings)
)
