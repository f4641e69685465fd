"""strands' `Agent`, bound as a session: it opens its own client, runs the tools, and has a list of messages.

It is asked and stopped by its own methods, in one event loop, since its client does not outlive the loop that made it
(`core/event-loops-may-come-and-go` of the model class). The waits between its attempts cannot be given to somebody
else, so its retries are switched off and not claimed. Its history is not made shorter (`NullConversationManager`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from strands import Agent
from strands.agent.conversation_manager import (
    ConversationManager,
    NullConversationManager,
    SlidingWindowConversationManager,
)
from strands.tools.tools import PythonAgentTool
from strands.types.exceptions import (
    ContextWindowOverflowException,
    EventLoopException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from turnproof import errors, messages
from turnproof.cancel import CancelToken
from turnproof.provider import Binding
from turnproof.subject import SessionReply, SessionSetup, SessionTurn, Tool

from .agent_binding import bind_agent
from .agent_history import up_to_turn
from .result_texts import output_text
from .sdk_errors import raised_as, typed_error
from .sdk_waits import SdkWaits
from .strands import ANTHROPIC
from .strands_agent_code import StrandsAgentCode
from .strands_calls import model_arguments
from .strands_messages import StrandsMessages, tool_spec

CLAIMS = replace(
    ANTHROPIC.claims(), thinking=False, documents=False, result_images=False, retries=False, result_cutting=False
)
LAST = 6
"""Messages that an agent with a window keeps."""
WIRE = Binding("strands-wire", ANTHROPIC.dialect, ANTHROPIC.model, CLAIMS, package="strands-agents")


class Conversation:
    """An agent with its messages. Other tools or another system text make a new agent with the same messages."""

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        from strands.models.anthropic import AnthropicModel

        at = setup.endpoint
        where = {"base_url": at.base_url, "api_key": at.api_key}
        arguments = model_arguments("anthropic", at.model, at.options, where)
        arguments["client_args"] |= self.client_arguments()
        self._model: Any = AnthropicModel(**arguments)
        self._read = StrandsMessages(WIRE.dialect, at.model)
        self._turn = SessionTurn(CancelToken())
        self._runner = asyncio.Runner()
        self.messages: list[Any] = []
        self.configure(setup.system, setup.tools)

    def configure(self, system: str | None, tools: Sequence[Tool]) -> None:
        self.setup = replace(self.setup, system=system, tools=tuple(tools))
        self.agent = Agent(
            self._model,
            messages=self.messages,
            tools=[self._tool(one) for one in tools],
            system_prompt=system,
            callback_handler=self._on_event,
            conversation_manager=self.new_manager(),
            retry_strategy=None,
        )
        self.messages = self.agent.messages

    def client_arguments(self) -> dict[str, Any]:
        """More arguments of the SDK's client."""
        return {}

    def new_manager(self) -> ConversationManager:
        """What makes the list of messages shorter: nothing."""
        return NullConversationManager()

    def _on_event(self, **event: Any) -> None:
        if event.get("data") and self._turn.on_chunk:
            self._turn.on_chunk(event["data"])

    def _tool(self, tool: Tool) -> PythonAgentTool:
        def run(use: Mapping[str, Any], **_: Any) -> Any:
            try:
                text, failed = output_text(tool.run(use["input"], self._turn.cancel_token))
            except Exception as error:
                text, failed = str(error), True
            status = "error" if failed else "success"
            return {"toolUseId": use["toolUseId"], "status": status, "content": [{"text": text}]}

        return PythonAgentTool(tool.schema.name, tool_spec(tool.schema), run)

    def send(self, content: str | list[Any], turn: SessionTurn) -> SessionReply:
        self._turn = turn
        turn.cancel_token.raise_if_cancelled()
        forget = turn.cancel_token.on_cancel(self.agent.cancel)
        try:
            with raised_as(as_error):
                result = self._runner.run(self.agent.invoke_async(content))
        finally:
            forget()
            self.messages = self.agent.messages
        text = "".join(block.get("text", "") for block in result.message["content"])
        return SessionReply(text, "cancelled" if result.stop_reason == "cancelled" else "answer")

    def send_parts(self, parts: Sequence[messages.Part], turn: SessionTurn) -> SessionReply:
        (message,) = self._read.write([messages.Message.user(*parts)])
        return self.send(list(message["content"]), turn)

    def stop(self) -> None:
        self.agent.cancel()

    def spawn(self) -> Conversation:
        return type(self)(self.setup)

    def reset(self) -> None:
        self.messages.clear()

    def close(self) -> None:
        self._runner.close()

    def history(self) -> list[messages.Message]:
        return [each for message in self.messages for each in self._neutral(message)]

    def _neutral(self, message: Mapping[str, Any]) -> Iterator[messages.Message]:
        """A message of the library: what has results of tools is the tools', what else the user has is the user's."""
        if message["role"] == "assistant":
            yield messages.Message.model(*self._read.read(message))
            return
        results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
        if results:
            names = {call["toolUseId"]: call["name"] for call in self._calls()}
            yield messages.Message.tool(*(result(one, names) for one in results))
        parts = [part for block in message["content"] if (part := part_of_user(block)) is not None]
        if parts:
            yield messages.Message.user(*parts)

    def _calls(self) -> Iterator[Mapping[str, Any]]:
        for message in self.messages:
            yield from (block["toolUse"] for block in message["content"] if "toolUse" in block)

    def revert(self, turn: int) -> None:
        self.messages[:] = up_to_turn(self.messages, turn, begins_turn)

    def save(self) -> str:
        return json.dumps(self.messages)

    @classmethod
    def load(cls, setup: SessionSetup, text: str) -> Self:
        found = cls(setup)
        found.messages[:] = json.loads(text)
        return found


def as_error(error: Exception) -> errors.ProviderError | None:
    """An exception of the library, or of the SDK below, as one of the contract; None for any other."""
    if isinstance(error, MaxTokensReachedException):
        return errors.ProviderError(str(error))
    if isinstance(error, ContextWindowOverflowException | ModelThrottledException | EventLoopException):
        return typed(error)
    return typed_error(error)


def typed(error: BaseException) -> errors.ProviderError | None:
    """The library's exception as one of the contract; None where no error of the SDK is below it."""
    if isinstance(error, ContextWindowOverflowException):
        below = typed_error(error.__cause__) if error.__cause__ else None
        return errors.ContextLimitError(str(error), status=below.status if below else None)
    cause = error.original_exception if isinstance(error, EventLoopException) else error.__cause__
    if isinstance(cause, ContextWindowOverflowException | ModelThrottledException):
        return typed(cause)
    return typed_error(cause) if cause is not None else None


def begins_turn(message: Mapping[str, Any]) -> bool:
    return message["role"] == "user" and any(part_of_user(block) for block in message["content"])


def part_of_user(block: Mapping[str, Any]) -> messages.Part | None:
    """What a user's block says; None for a result."""
    match block:
        case {"text": text}:
            return messages.Text(text)
        case {"image": {"format": form, "source": {"bytes": data}}}:
            return messages.InlineData(f"image/{form}", data)
    return None


def result(block: Mapping[str, Any], names: Mapping[str, str]) -> messages.ToolResult:
    """A result, which has its text as the tool's function made it."""
    text = "".join(one.get("text", "") for one in block["content"])
    name = names.get(block["toolUseId"], "")
    return messages.ToolResult(block["toolUseId"], name, text, is_error=block["status"] == "error")


class SdkRetries(Conversation):
    """An agent whose SDK repeats calls that failed. Its waits are the setup's."""

    def client_arguments(self) -> dict[str, Any]:
        import httpx

        waits = SdkWaits(self.setup.sleep, lambda: self._turn.cancel_token, self.setup.attempts)
        client = httpx.AsyncClient(event_hooks={"response": [waits.asynchronous]})
        return {"max_retries": self.setup.attempts - 1, "http_client": client}

    def send(self, content: str | list[Any], turn: SessionTurn) -> SessionReply:
        try:
            return super().send(content, turn)
        except errors.ProviderError:
            if turn.cancel_token.is_cancelled:  # in a wait: what was raised is why it waited
                return SessionReply("", "cancelled")
            raise


class LastMessages(Conversation):
    """An agent that forgets all but the last messages when a turn is over."""

    def new_manager(self) -> ConversationManager:
        return SlidingWindowConversationManager(LAST)


SESSION = bind_agent("strands-agent", Conversation, wire=WIRE, reproducer=StrandsAgentCode())
WINDOW = replace(
    bind_agent(
        "strands-agent-window",
        LastMessages,
        wire=replace(WIRE, capabilities=replace(CLAIMS, window=f"{LAST} messages")),
        reproducer=StrandsAgentCode(),
    ),
    revert=None,  # which turn is meant is not known any more where the first ones are forgotten
)
RETRIES = bind_agent(
    "strands-agent-retries",
    SdkRetries,
    wire=replace(WIRE, capabilities=replace(CLAIMS, retries=True)),
    reproducer=StrandsAgentCode(),
)
