"""pydantic-ai's `Agent`, bound as a session: it opens its own client, runs the tools, and has a history of its own.

What is a caller's to do is done as the library's pages have it: the messages of a run are handed to the next one, those
of a cancelled run as well, and a tool that fails raises `ModelRetry`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

from pydantic_ai import Agent, CancellationToken, ModelRetry, Tool, exceptions
from pydantic_ai import messages as m
from pydantic_ai.models import Model

from turnproof import errors
from turnproof import messages as ours
from turnproof.cancel import CancelToken
from turnproof.provider import Binding, Endpoint
from turnproof.subject import SessionReply, SessionSetup, SessionTurn, ToolOutput
from turnproof.subject import Tool as OurTool

from .agent_binding import bind_agent
from .agent_history import up_to_turn
from .capabilities import AGENT_CAPABILITIES
from .pydantic_ai import DIALECT, MODEL, open_model, other, typed
from .pydantic_ai_agent_code import PydanticAIAgentCode

WIRE = Binding("pydantic-ai-wire", DIALECT, MODEL, AGENT_CAPABILITIES, package="pydantic-ai-slim")


class Conversation:
    """An agent, and the messages of its runs so far."""

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        self.model, self._close = self._open_model(setup.endpoint)
        self.messages: list[m.ModelMessage] = []
        self.token = CancelToken()
        self._runner = asyncio.Runner()
        self.configure(setup.system, setup.tools)

    def _open_model(self, endpoint: Endpoint) -> tuple[Model[Any], Any]:
        """The model class that answers, and what closes its client."""
        return open_model(endpoint)

    def configure(self, system: str | None, tools: Sequence[OurTool]) -> None:
        self.setup = replace(self.setup, system=system, tools=tuple(tools))
        self.agent = Agent(self.model, instructions=system, tools=[self._tool(one) for one in tools], retries=5)

    def _tool(self, tool: OurTool) -> Tool[Any]:
        def run(**arguments: Any) -> Any:
            try:
                output = tool.run(arguments, self.token)
            except errors.Cancelled:
                raise
            except Exception as error:
                raise ModelRetry(str(error)) from error
            if isinstance(output, ToolOutput) and output.is_error:
                raise ModelRetry(str(output.result))
            return output.result if isinstance(output, ToolOutput) else output

        schema = tool.schema
        return Tool.from_schema(run, schema.name, schema.description, ours.thaw(schema.parameters))

    def send(self, content: str | list[Any], turn: SessionTurn) -> SessionReply:
        self.token = turn.cancel_token
        self.token.raise_if_cancelled()
        own = CancellationToken()
        forget = self.token.on_cancel(own.cancel)
        try:
            with as_errors():
                result = self._runner.run(self._run(content, turn, own))
        except exceptions.RunCancelled as cancelled:
            self.messages = list(cancelled.all_messages())
            return SessionReply("", "cancelled")
        finally:
            forget()
        self.messages = list(result.all_messages())
        return SessionReply(result.output)

    def send_parts(self, parts: Sequence[ours.Part], turn: SessionTurn) -> SessionReply:
        return self.send([part_of(one) for one in parts], turn)

    async def _run(self, content: Any, turn: SessionTurn, own: CancellationToken) -> Any:
        async def show(_: Any, events: AsyncIterable[Any]) -> None:
            async for event in events:
                match event:
                    case m.PartStartEvent(part=m.TextPart(content=text)) if text and turn.on_chunk:
                        turn.on_chunk(text)
                    case m.PartDeltaEvent(delta=m.TextPartDelta(content_delta=text)) if text and turn.on_chunk:
                        turn.on_chunk(text)

        handler = show if turn.on_chunk else None
        return await self.agent.run(
            content, message_history=self.messages, cancellation_token=own, event_stream_handler=handler
        )

    def history(self) -> list[ours.Message]:
        return [each for message in self.messages for each in neutral(message)]

    def revert(self, turn: int) -> None:
        self.messages = list(up_to_turn(self.messages, turn, lambda message: any(map(is_said, message.parts))))

    def spawn(self) -> Conversation:
        return type(self)(self.setup)

    def reset(self) -> None:
        self.messages.clear()

    def save(self) -> str:
        return m.ModelMessagesTypeAdapter.dump_json(self.messages).decode()

    @classmethod
    def load(cls, setup: SessionSetup, saved: str) -> Self:
        found = cls(setup)
        found.messages = list(m.ModelMessagesTypeAdapter.validate_json(saved))
        return found

    def close(self) -> None:
        self._runner.run(self._close())
        self._runner.close()


@contextmanager
def as_errors() -> Iterator[None]:
    """The library's exceptions as those of the contract."""
    try:
        yield
    except exceptions.ModelAPIError as error:
        found = typed(error)
        if found.status is None and error.provider_error_code == "invalid_request_error":  # told within a stream
            found = errors.InvalidRequestError(str(error))
        raise found from error
    except exceptions.UnexpectedModelBehavior as error:
        raise errors.TransportError(str(error)) from error


def is_said(part: Any) -> bool:
    return isinstance(part, m.UserPromptPart)


def result(part: Any) -> ours.ToolResult:
    if isinstance(part, m.RetryPromptPart):
        return ours.ToolResult(part.tool_call_id, part.tool_name or "", part.model_response(), is_error=True)
    return ours.ToolResult(part.tool_call_id, part.tool_name, part.content, is_error=part.outcome in m.ERROR_OUTCOMES)


def neutral(message: m.ModelMessage, read_result: Callable[[Any], ours.ToolResult] = result) -> Iterator[ours.Message]:
    """A message of the library; its requests may hold results and a text of the user, which are two."""
    if isinstance(message, m.ModelResponse):
        yield ours.Message.model(*map(answered, message.parts))
        return
    results = [read_result(part) for part in message.parts if isinstance(part, m.ToolReturnPart | m.RetryPromptPart)]
    if results:
        yield ours.Message.tool(*results)
    for part in message.parts:
        if isinstance(part, m.UserPromptPart):
            content = [part.content] if isinstance(part.content, str) else part.content
            yield ours.Message.user(*map(part_of_user, content))


def answered(part: Any) -> ours.Part:
    if isinstance(part, m.ToolCallPart):  # one that was cut off in its arguments is held, too
        return ours.FunctionCall(part.tool_call_id, part.tool_name, part.args_as_dict())
    found: ours.Part = other(part)
    return found


def part_of(part: ours.Part) -> Any:
    return part.text if isinstance(part, ours.Text) else other(part)


def part_of_user(content: Any) -> ours.Part:
    match content:
        case str():
            return ours.Text(content)
        case m.BinaryContent():
            return ours.InlineData(content.media_type, content.data)
    return ours.FileRef(content.media_type, content.url)


SESSION = bind_agent("pydantic-ai-agent", Conversation, wire=WIRE, reproducer=PydanticAIAgentCode("anthropic"))
