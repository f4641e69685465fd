"""openai-agents' `Runner` with its `SQLiteSession`, bound as a session: it opens its own client and runs the tools.

It is asked through the Responses API in one event loop, since its client does not outlive the loop that made it. A
streamed run is stopped by its own `cancel()`, any other one by cancelling its task, as the library's docs have it. Its
answers are not stored at the service (`store=False`), so that the session's items are all there is. Its tools are made
as `function_tool` makes them: what one raises is an answer to the model; and so is a call of a tool that is not there
(`tool_not_found_behavior`, which raises by default).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SessionSettings,
    SQLiteSession,
)
from agents.exceptions import AgentsException, ModelRefusalError
from openai import AsyncOpenAI

from turnproof import errors, messages
from turnproof.cancel import CancelToken
from turnproof.provider import Binding
from turnproof.subject import SessionReply, SessionSetup, SessionTurn, Tool

from ..openai_responses.binding import capabilities
from .agent_binding import bind_agent
from .agent_history import up_to_turn
from .openai_agents_code import OpenAIAgentsCode
from .result_texts import output_text
from .sdk_errors import typed_error

DIALECT, MODEL = "openai-responses", "gpt-5-mini"
CLAIMS = replace(
    capabilities(MODEL),
    thinking=False,
    opaque_thinking=False,
    images=False,
    documents=False,
    result_images=False,
    structured=False,
    mid_system=False,
    retries=False,
    result_cutting=False,
)
WIRE = Binding("openai-agents-wire", DIALECT, MODEL, CLAIMS, package="openai-agents")
CONFIG = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
ROUNDS = 50
"""Rounds of tools that a turn may take; the library's own limit is 10."""
LAST = 6
"""Items that a run with a window begins with."""
EVERY = 1_000_000
"""More items than a session has: by default `get_items` reads what the session's settings say."""


class Conversation:
    """A session of the library with the agent that speaks in it."""

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        at = setup.endpoint
        own = {"timeout": at.options["timeout"]} if "timeout" in at.options else {}
        self._client = AsyncOpenAI(base_url=at.base_url, api_key=at.api_key, max_retries=0, **own)
        self._model = OpenAIResponsesModel(at.model, self._client)
        self._settings = self._model_settings(at.options.get("max_tokens"))
        self._turn = SessionTurn(CancelToken())
        self._runner = asyncio.Runner()
        self.items = self._open_items()
        self.configure(setup.system, setup.tools)

    # -- what differs where the service keeps the conversation

    def _model_settings(self, max_tokens: int | None) -> ModelSettings:
        return ModelSettings(store=False, max_tokens=max_tokens)

    def _open_items(self) -> Any:
        return SQLiteSession("conversation")

    def _close_items(self) -> None:
        self.items.close()

    def _options(self) -> dict[str, Any]:
        """Further keyword arguments of `Runner.run`."""
        return {}

    def _note(self, result: Any) -> None:
        """What is kept of a run that has ended."""

    def configure(self, system: str | None, tools: Sequence[Tool]) -> None:
        self.setup = replace(self.setup, system=system, tools=tuple(tools))
        self.agent = Agent(
            name="assistant",
            instructions=system,
            model=self._model,
            model_settings=self._settings,
            tools=[self._tool(one) for one in tools],
        )

    def _tool(self, tool: Tool) -> FunctionTool:
        async def run(_: Any, arguments: str) -> str:
            try:
                tool_arguments = json.loads(arguments or "{}")
                output = await asyncio.to_thread(tool.run, tool_arguments, self._turn.cancel_token)
            except Exception as error:
                return f"An error occurred while running the tool. Please try again. Error: {error}"
            return output_text(output)[0]

        schema = messages.thaw(tool.schema.parameters)
        return FunctionTool(tool.schema.name, tool.schema.description, schema, run, strict_json_schema=False)

    # -- turns

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        self._turn = turn
        turn.cancel_token.raise_if_cancelled()
        with as_errors():
            try:
                return self._runner.run(self._streamed(text) if turn.on_chunk else self._whole(text))
            except ModelRefusalError as refused:
                return SessionReply(refused.refusal, "answer")

    async def _whole(self, text: str) -> SessionReply:
        task = asyncio.ensure_future(
            Runner.run(self.agent, text, session=self.items, run_config=CONFIG, max_turns=ROUNDS, **self._options())
        )
        with self._when_cancelled(task.cancel):
            try:
                result = await task
            except asyncio.CancelledError:
                return SessionReply("", "cancelled")
        self._note(result)
        return SessionReply(str(result.final_output), "answer")

    async def _streamed(self, text: str) -> SessionReply:
        pieces: list[str] = []
        result = Runner.run_streamed(
            self.agent, text, session=self.items, run_config=CONFIG, max_turns=ROUNDS, **self._options()
        )
        with self._when_cancelled(result.cancel):
            async for event in result.stream_events():
                if event.type == "run_item_stream_event" and event.name == "tool_called":
                    pieces.clear()  # what was said before a call is no part of the last answer
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                    pieces.append(event.data.delta)
                    if self._turn.on_chunk:
                        self._turn.on_chunk(event.data.delta)
                if self._turn.cancel_token.is_cancelled:
                    result.cancel()  # at once: what is in the queue already is dropped
        if self._turn.cancel_token.is_cancelled and result.final_output is None:
            return SessionReply("".join(pieces), "cancelled")
        self._note(result)
        return SessionReply(str(result.final_output), "answer")

    @contextmanager
    def _when_cancelled(self, stop: Any) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def stop_soon() -> None:
            loop.call_soon_threadsafe(stop)

        forget = self._turn.cancel_token.on_cancel(stop_soon)
        try:
            yield
        finally:
            forget()

    def stop(self) -> None:
        self._turn.cancel_token.cancel()

    def spawn(self) -> Conversation:
        return type(self)(self.setup)

    def close(self) -> None:
        self._runner.run(self._client.close())
        self._runner.close()
        self._close_items()

    # -- the conversation

    def stored_items(self) -> list[Any]:
        return list(self._runner.run(self.items.get_items(EVERY)))

    def replace(self, items: Sequence[Any]) -> None:
        self._runner.run(self.items.clear_session())
        self._runner.run(self.items.add_items(list(items)))

    def history(self) -> list[messages.Message]:
        return neutral(self.stored_items())

    def reset(self) -> None:
        self.replace(())

    def save(self) -> str:
        return json.dumps(self.stored_items())

    def revert(self, turn: int) -> None:
        self.replace(up_to_turn(self.stored_items(), turn, lambda item: item.get("role") == "user"))

    @classmethod
    def load(cls, setup: SessionSetup, text: str) -> Self:
        found = cls(setup)
        found.replace(json.loads(text))
        return found


def neutral(items: Sequence[Mapping[str, Any]]) -> list[messages.Message]:
    """The items of a session as messages: the calls of one answer are one message with its text, as are results."""
    names = {one["call_id"]: one["name"] for one in items if one.get("type") == "function_call"}
    found: list[messages.Message] = []
    for item in items:
        role, part = _read(item, names)
        if part is None:
            continue
        if role != "user" and found and found[-1].role == role:
            found[-1] = messages.Message(role, (*found[-1].parts, part))
        else:
            found.append(messages.Message(role, (part,)))
    return found


def _read(item: Mapping[str, Any], names: Mapping[str, str]) -> tuple[Any, messages.Part | None]:
    match item:
        case {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}:
            return "model", messages.FunctionCall(id, name, _arguments(arguments))
        case {"type": "function_call_output", "call_id": id, "output": output}:
            return "tool", messages.ToolResult(id, names.get(id, ""), output)
        case {"role": "user", "content": content}:
            return "user", messages.Text(_text(content))
        case {"role": "assistant", "content": content}:
            return "model", messages.Text(_text(content)) if _text(content) else None
    return "model", None


def _arguments(text: str) -> Any:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(one.get("text", "") for one in content)


@contextmanager
def as_errors() -> Iterator[None]:
    """The library's exceptions, and those of the SDK below, as those of the contract."""
    try:
        yield
    except AgentsException as error:
        raise errors.ProviderError(f"{type(error).__name__}: {error}") from error
    except Exception as error:
        found = typed_error(error)
        if found is None:
            raise
        if getattr(error, "code", None) == "context_length_exceeded":
            raise errors.ContextLimitError(str(error), status=found.status, kind=found.kind) from error
        raise found from error


class LastItems(Conversation):
    """A session whose runs begin with the last items alone."""

    def _open_items(self) -> Any:
        return SQLiteSession("conversation", session_settings=SessionSettings(limit=LAST))


SESSION = bind_agent("openai-agents-runner", Conversation, wire=WIRE, reproducer=OpenAIAgentsCode("items"))
WINDOW = bind_agent(
    "openai-agents-runner-window",
    LastItems,
    wire=replace(WIRE, capabilities=replace(CLAIMS, window=f"{LAST} items")),
    reproducer=OpenAIAgentsCode("last items"),
)
