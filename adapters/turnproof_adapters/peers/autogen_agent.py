"""autogen's `AssistantAgent` with its model context, bound as a session: it opens its own client and runs the tools.

All its turns run in one event loop. It may ask for tools as often as the model wants (`max_tool_iterations` is 1 by
default, and the result of the tool is then the answer). Whether it streams is set when an agent is made, so there are
two of them on one context.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import ModelClientStreamingChunkEvent, TextMessage
from autogen_core import CancellationToken
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import AssistantMessage, FunctionExecutionResultMessage, ModelFamily, UserMessage
from autogen_core.tools import BaseTool, ToolSchema
from autogen_ext.models.anthropic import AnthropicChatCompletionClient
from pydantic import BaseModel

from turnproof import messages
from turnproof.cancel import CancelToken
from turnproof.provider import Binding, Endpoint
from turnproof.subject import SessionReply, SessionSetup, SessionTurn
from turnproof.subject import Tool as OurTool

from .agent_binding import bind_agent
from .agent_history import up_to_turn
from .autogen_agent_code import AutogenAgentCode
from .capabilities import AGENT_CAPABILITIES
from .result_texts import output_text
from .sdk_errors import raised_as, typed_error

DIALECT, MODEL = "anthropic-messages", "claude-sonnet-4-6"
CLAIMS = replace(AGENT_CAPABILITIES, images=False, documents=False, part_order=False)
WIRE = Binding("autogen-wire", DIALECT, MODEL, CLAIMS, package="autogen-agentchat")
LAST = 6
"""Messages that are sent of a conversation with a window."""
ITERATIONS = 50
"""Rounds of tools that a turn may take."""


def open_client(endpoint: Endpoint) -> AnthropicChatCompletionClient:
    own = {name: endpoint.options[name] for name in ("max_tokens", "timeout") if name in endpoint.options}
    return AnthropicChatCompletionClient(
        model=endpoint.model,
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        max_retries=0,
        model_info={
            "vision": True,
            "function_calling": True,
            "json_output": True,
            "family": ModelFamily.CLAUDE_4_SONNET,
            "structured_output": False,
        },
        **own,
    )


class Arguments(BaseModel):
    """Stands for the arguments of a tool, whose schema is given as it is."""


class Tool(BaseTool[Arguments, BaseModel]):  # type: ignore[misc]
    """A tool whose schema is given as JSON, as those of MCP servers are."""

    def __init__(self, tool: OurTool, conversation: Conversation) -> None:
        super().__init__(Arguments, BaseModel, tool.schema.name, tool.schema.description)
        self._tool, self._conversation = tool, conversation

    @property
    def schema(self) -> ToolSchema:
        parameters: Any = messages.thaw(self._tool.schema.parameters)
        return ToolSchema(name=self.name, description=self.description, parameters=parameters)

    async def run(self, args: Arguments, cancellation_token: CancellationToken) -> BaseModel:
        raise NotImplementedError("a tool with a JSON schema is called by run_json()")

    async def run_json(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> Any:
        output = await asyncio.to_thread(self._tool.run, dict(args), self._conversation.turn.cancel_token)
        text, failed = output_text(output)
        if failed:
            raise RuntimeError(text)
        return text


class Conversation:
    """A context of messages, and the agents that speak in it."""

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        self._client = open_client(setup.endpoint)
        self._runner = asyncio.Runner()
        self.turn = SessionTurn(CancelToken())
        self.context = self.new_context()
        self.configure(setup.system, setup.tools)

    def new_context(self) -> ChatCompletionContext:
        """What holds the messages, and says which of them are sent."""
        return UnboundedChatCompletionContext()

    def configure(self, system: str | None, tools: Sequence[OurTool]) -> None:
        self.setup = replace(self.setup, system=system, tools=tuple(tools))
        own: list[Any] = [Tool(one, self) for one in tools]
        self._agents = {
            streaming: AssistantAgent(
                "assistant",
                self._client,
                tools=own,
                model_context=self.context,
                system_message=system,
                model_client_stream=streaming,
                max_tool_iterations=ITERATIONS,
            )
            for streaming in (False, True)
        }

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        self.turn = turn
        turn.cancel_token.raise_if_cancelled()
        try:
            with raised_as(typed_error):  # the library has no exceptions of its own for them
                return self._runner.run(self._ask(TextMessage(content=text, source="user"), turn))
        except asyncio.CancelledError:
            return SessionReply("", "cancelled")

    async def _ask(self, message: TextMessage, turn: SessionTurn) -> SessionReply:
        loop, token = asyncio.get_running_loop(), CancellationToken()

        def stop() -> None:
            loop.call_soon_threadsafe(token.cancel)

        forget = turn.cancel_token.on_cancel(stop)
        try:
            async for event in self._agents[turn.on_chunk is not None].on_messages_stream([message], token):
                if isinstance(event, ModelClientStreamingChunkEvent) and turn.on_chunk:
                    turn.on_chunk(event.content)
                    if turn.cancel_token.is_cancelled:
                        await asyncio.sleep(0)  # the next pieces may be there already: the cancel arrives in a wait
                elif isinstance(event, Response):
                    return SessionReply(str(getattr(event.chat_message, "content", "")))
        finally:
            forget()
        raise RuntimeError("the agent ended without a response")

    def stop(self) -> None:
        self.turn.cancel_token.cancel()

    def spawn(self) -> Conversation:
        return type(self)(self.setup)

    def close(self) -> None:
        self._runner.run(self._client.close())
        self._runner.close()

    # -- the conversation

    def library_messages(self) -> list[Any]:
        """The messages of the context, also while a turn runs: its own method is one of the event loop."""
        return list(self.context._messages)

    def hold(self, library_messages: Sequence[Any]) -> None:
        self._runner.run(self._hold(library_messages))

    async def _hold(self, library_messages: Sequence[Any]) -> None:
        await self.context.clear()
        for message in library_messages:
            await self.context.add_message(message)

    def history(self) -> list[messages.Message]:
        return list(neutral(self.library_messages()))

    def reset(self) -> None:
        self.hold(())

    def revert(self, turn: int) -> None:
        self.hold(up_to_turn(self.library_messages(), turn, lambda message: isinstance(message, UserMessage)))

    def save(self) -> str:
        return json.dumps(self._runner.run(self._agents[False].save_state()))

    @classmethod
    def load(cls, setup: SessionSetup, text: str) -> Self:
        found = cls(setup)
        found._runner.run(found._agents[False].load_state(json.loads(text)))
        return found


def neutral(library_messages: Sequence[Any]) -> Iterator[messages.Message]:
    for message in library_messages:
        match message:
            case UserMessage(content=str(text)):
                yield messages.Message.user(messages.Text(text))
            case AssistantMessage():
                yield messages.Message.model(*answered(message))
            case FunctionExecutionResultMessage(content=results):
                yield messages.Message.tool(
                    *(
                        messages.ToolResult(one.call_id, one.name, one.content, is_error=bool(one.is_error))
                        for one in results
                    )
                )


def answered(message: AssistantMessage) -> Iterator[messages.Part]:
    """What the model said. The text beside calls is what the library calls their thought."""
    if isinstance(message.content, str):
        if message.content:
            yield messages.Text(message.content)
        return
    if message.thought:
        yield messages.Text(message.thought)
    for call in message.content:
        yield messages.FunctionCall(call.id, call.name, arguments(call.arguments))


def arguments(text: str) -> Any:
    """The arguments of a call. Those that are no object are held as a text, and go out in this shape."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {"text": text}
    return found if isinstance(found, dict) else {"text": text}


class LastMessages(Conversation):
    """A conversation of which the last messages are sent."""

    def new_context(self) -> ChatCompletionContext:
        return BufferedChatCompletionContext(LAST)


SESSION = bind_agent("autogen-agent", Conversation, wire=WIRE, reproducer=AutogenAgentCode())
WINDOW = bind_agent(
    "autogen-agent-window",
    LastMessages,
    wire=replace(WIRE, capabilities=replace(CLAIMS, window=f"{LAST} messages")),
    reproducer=AutogenAgentCode(),
)
