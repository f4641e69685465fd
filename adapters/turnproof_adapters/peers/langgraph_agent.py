"""LangGraph's agent (`create_agent` of LangChain) with a checkpointer, bound as a session.

It opens its own client, runs the tools, and keeps its messages in a thread of the checkpointer. All sessions of a
process have one event loop, since their models share one connection pool. A turn is stopped by cancelling its task.
A tool that fails raises `ToolException`, which `handle_tool_error` makes a message of; what else a tool raises ends
the run.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import langchain_core.messages as library
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver

from turnproof import messages
from turnproof.cancel import CancelToken
from turnproof.provider import Binding
from turnproof.subject import SessionReply, SessionSetup, SessionTurn, Tool

from . import event_loop
from .agent_binding import bind_agent
from .agent_history import joined_results, up_to_turn
from .capabilities import AGENT_CAPABILITIES
from .langchain import _typed
from .langchain_messages import LangChainMessages
from .langgraph_agent_code import LangGraphAgentCode
from .result_texts import output_text
from .sdk_errors import raised_as

DIALECT, MODEL = "anthropic-messages", "claude-sonnet-4-6"
WIRE = Binding("langgraph-wire", DIALECT, MODEL, AGENT_CAPABILITIES, package="langgraph")
THREAD: Any = {"configurable": {"thread_id": "conversation"}, "recursion_limit": 200}


class Conversation:
    """A thread of a checkpointer. Other tools or another system text make a new agent on the same thread."""

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        at = setup.endpoint
        own = {name: at.options[name] for name in ("max_tokens", "timeout") if name in at.options}
        self._model = ChatAnthropic(
            model=at.model, base_url=at.base_url, api_key=at.api_key, max_retries=0, stream_usage=True, **own
        )
        self._messages = LangChainMessages(DIALECT, at.model)
        self._turn = SessionTurn(CancelToken())
        self._saver = InMemorySaver()
        self.configure(setup.system, setup.tools)

    def configure(self, system: str | None, tools: Sequence[Tool]) -> None:
        self.setup = replace(self.setup, system=system, tools=tuple(tools))
        self.agent: Any = create_agent(
            self._model, [self._tool(one) for one in tools], system_prompt=system, checkpointer=self._saver
        )

    def _tool(self, tool: Tool) -> StructuredTool:
        def run(**arguments: Any) -> str:
            try:
                output = tool.run(arguments, self._turn.cancel_token)
            except Exception as error:
                raise ToolException(str(error)) from error
            text, failed = output_text(output)
            if failed:
                raise ToolException(text)
            return text

        schema = tool.schema
        return StructuredTool(
            name=schema.name,
            description=schema.description,
            args_schema=messages.thaw(schema.parameters),
            func=run,
            handle_tool_error=True,
        )

    def send(self, content: str | list[Any], turn: SessionTurn) -> SessionReply:
        self._turn = turn
        turn.cancel_token.raise_if_cancelled()
        with raised_as(_typed):
            return event_loop.run(self._ask(library.HumanMessage(content), turn))

    def send_parts(self, parts: Sequence[messages.Part], turn: SessionTurn) -> SessionReply:
        return self.send(self._messages._content(parts), turn)

    async def _ask(self, message: Any, turn: SessionTurn) -> SessionReply:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(self._answer({"messages": [message]}, turn))

        def stop() -> None:
            loop.call_soon_threadsafe(task.cancel)

        forget = turn.cancel_token.on_cancel(stop)
        try:
            return SessionReply(await task)
        except asyncio.CancelledError:
            return SessionReply("", "cancelled")
        finally:
            forget()

    async def _answer(self, graph_input: Any, turn: SessionTurn) -> str:
        if turn.on_chunk is None:
            return str((await self.agent.ainvoke(graph_input, THREAD))["messages"][-1].text)
        async for piece, _ in self.agent.astream(graph_input, THREAD, stream_mode="messages"):
            if isinstance(piece, library.AIMessageChunk) and piece.text:
                turn.on_chunk(str(piece.text))
                if turn.cancel_token.is_cancelled:
                    await asyncio.sleep(0)  # the next pieces may be there already: the cancel arrives in a wait
        return str(self.library_messages()[-1].text)

    # -- the conversation

    def stop(self) -> None:
        self._turn.cancel_token.cancel()

    def spawn(self) -> Conversation:
        return type(self)(self.setup)

    def library_messages(self) -> list[Any]:
        return list(self.agent.get_state(THREAD).values.get("messages", ()))

    def hold(self, library_messages: Sequence[Any]) -> None:
        self._saver.delete_thread(THREAD["configurable"]["thread_id"])
        if library_messages:
            self.agent.update_state(THREAD, {"messages": list(library_messages)}, as_node="model")

    def reset(self) -> None:
        self.hold(())

    def save(self) -> str:
        return json.dumps(library.messages_to_dict(self.library_messages()))

    def history(self) -> list[messages.Message]:
        return list(joined_results(self._neutral(self.library_messages())))

    def _neutral(self, library_messages: Sequence[Any]) -> Iterator[messages.Message | messages.ToolResult]:
        """The library's messages and results, one by one."""
        for message in library_messages:
            if isinstance(message, library.ToolMessage):
                text, failed = str(message.text), message.status == "error"
                yield messages.ToolResult(message.tool_call_id, message.name or "", text, is_error=failed)
            elif isinstance(message, library.AIMessage):
                yield messages.Message.model(*self._messages.read(message, cut=True))
            else:
                yield messages.Message.user(*parts_of_user(message.content))

    def revert(self, turn: int) -> None:
        self.hold(up_to_turn(self.library_messages(), turn, lambda message: isinstance(message, library.HumanMessage)))

    @classmethod
    def load(cls, setup: SessionSetup, text: str) -> Self:
        found = cls(setup)
        found.hold(library.messages_from_dict(json.loads(text)))
        return found


def parts_of_user(content: Any) -> Iterator[messages.Part]:
    """What a user's message says, as `part_of` wrote it."""
    for block in [content] if isinstance(content, str) else content:
        match block:
            case str() as text:
                yield messages.Text(text)
            case {"type": "text", "text": text}:
                yield messages.Text(text)
            case {"base64": data, "mime_type": kind}:
                yield messages.InlineData(kind, base64.b64decode(data))
            case {"url": url, "mime_type": kind}:
                yield messages.FileRef(kind, url)


SESSION = bind_agent("langgraph-agent", Conversation, wire=WIRE, reproducer=LangGraphAgentCode())
