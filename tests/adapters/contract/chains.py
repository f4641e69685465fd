"""What tests of chains share: a conversation with an emulated service that keeps it, and each adapter that has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dialects.answers import reply
from dialects.responders import ScriptedService

from turnproof.dialects import gemini_interactions, openai_responses
from turnproof.dialects.base import Refusal, Reply
from turnproof.dialects.contract import Dialect
from turnproof.messages import FinishReason, FunctionCall, Text, Thought, ToolSchema
from turnproof.wire.emulator import EmulatorServer
from turnproof_adapters.google_interactions.legacy import InteractionsChain
from turnproof_adapters.openai_responses.at_openai.legacy import OpenAIResponsesChain

LOOK = ToolSchema("look", "Look at a bed.", {"type": "object", "properties": {}})


@dataclass(frozen=True)
class ChainKind:
    """An adapter with a chain, and the words of its API: fields, types of what is sent, beginnings of ids."""

    dialect: Dialect
    provider: type[OpenAIResponsesChain | InteractionsChain]
    models: tuple[str, str]
    head: str
    instructions: str
    names_begin: str
    result: str
    user_message: str
    refusal: Refusal
    requests_when_forgotten: int


OPENAI = ChainKind(
    openai_responses.DIALECT,
    OpenAIResponsesChain,
    ("gpt-5.5", "gpt-5-mini"),
    head="previous_response_id",
    instructions="instructions",
    names_begin="resp_",
    result="function_call_output",
    user_message="message",
    refusal=Refusal(openai_responses.rules.MALFORMED_BODY, 400, "invalid_type", "This time it is wrong."),
    requests_when_forgotten=2,
)
GOOGLE = ChainKind(
    gemini_interactions.DIALECT,
    InteractionsChain,
    ("gemini-3.5-flash", "gemini-2.5-flash"),
    head="previous_interaction_id",
    instructions="system_instruction",
    names_begin="v1_",
    result="function_result",
    user_message="user_input",
    refusal=Refusal(gemini_interactions.rules.MALFORMED_BODY, 400, "invalid_request", "This time it is wrong."),
    requests_when_forgotten=3,  # the second asks whether the interaction is kept
)


class ChainConversation(ScriptedService):
    """A running service and a conversation with it."""

    def __init__(self, server: EmulatorServer, kind: ChainKind) -> None:
        super().__init__(server, kind.dialect)
        self.kind = kind
        self.provider = kind.provider()
        self.provider.initialize({"api_key": "key", "base_url": self.run.base_url})
        self.provider.connect(kind.models[0])
        self.provider.create_session("Be brief.", [LOOK])

    def say(self, text: str, *answer: Text | Thought | FunctionCall, finish: FinishReason = FinishReason.STOP) -> Any:
        """A turn, and the body of its last request."""
        self.answers(reply(*answer or (Text("Yes."),), finish=finish))
        self.provider.send_message(text)
        return self.sent()

    def answers(self, script: Reply) -> None:
        self.responder.reply = script

    def sent(self, back: int = 1) -> Any:
        """The body of a request, counted from the last."""
        call = self.run.exchanges[-back].call
        assert call is not None
        return call.body


def request_texts(body: Any) -> list[str]:
    """The texts in a request."""
    return [block["text"] for item in body["input"] if "content" in item for block in item["content"]]
