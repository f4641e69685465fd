"""agno's `Agent` with a database, bound as a session: it opens its own client, runs the tools, and keeps its runs.

Its history is what its next run is given: `AgentSession.get_messages()`, of all runs (`num_history_runs` is 3 by
default). A run that fails raises nothing; what it says of its error is a text and a word, so errors are not claimed.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

from agno.agent import Agent
from agno.db.base import SessionType
from agno.db.in_memory import InMemoryDb
from agno.exceptions import AgnoError
from agno.media import File, Image
from agno.run.agent import RunContentEvent, RunErrorEvent, RunOutput
from agno.run.base import RunStatus
from agno.session import AgentSession
from agno.tools.function import Function

from turnproof import messages
from turnproof.cancel import CancelToken
from turnproof.provider import Binding
from turnproof.subject import SessionReply, SessionSetup, SessionTurn, Tool

from .agent_binding import bind_agent
from .agent_history import joined_results
from .agno import ANTHROPIC, claude
from .agno_agent_code import AgnoAgentCode
from .agno_calls import model_arguments
from .agno_messages import AgnoMessages, media_arguments
from .result_texts import output_text

CLAIMS = replace(
    ANTHROPIC.claims(), thinking=False, typed_errors=False, result_images=False, retries=False, result_cutting=False
)
WIRE = Binding("agno-wire", ANTHROPIC.dialect, ANTHROPIC.model, CLAIMS, package="agno")
ID = "conversation"
MANY = 10_000
"""Runs that the model is given of the history: all."""
LAST = 2
"""Those that it is given of a history with a window."""


class Conversation:
    """An agent and the database of its runs. Other tools or another system text make a new agent on the same one."""

    runs_sent = MANY

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        endpoint, dialect = setup.endpoint, ANTHROPIC.dialect
        where = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
        self._model = claude(**model_arguments(dialect, endpoint.model, endpoint.options, where))
        self._read = AgnoMessages(dialect, endpoint.model).read
        self._turn = SessionTurn(CancelToken())
        self.database = InMemoryDb()
        self.configure(setup.system, setup.tools)

    def configure(self, system: str | None, tools: Sequence[Tool]) -> None:
        self.setup = replace(self.setup, system=system, tools=tuple(tools))
        self.agent = Agent(
            model=self._model,
            db=self.database,
            session_id=ID,
            **self.instructions(system),
            tools=[self._tool(one) for one in tools],
            add_history_to_context=True,
            num_history_runs=self.runs_sent,
            telemetry=False,
        )

    def instructions(self, system: str | None) -> dict[str, Any]:
        """How an agent is made with a system text: as it is."""
        return {"system_message": system}

    def _tool(self, tool: Tool) -> Function:
        def run(**arguments: Any) -> str:
            text, failed = output_text(tool.run(arguments, self._turn.cancel_token))
            if failed:
                raise RuntimeError(text)
            return text

        schema = tool.schema
        return Function(
            name=schema.name,
            description=schema.description,
            parameters=messages.thaw(schema.parameters),
            entrypoint=run,
            skip_entrypoint_processing=True,
        )

    def send(self, text: str, turn: SessionTurn, **media: Any) -> SessionReply:
        self._turn = turn
        turn.cancel_token.raise_if_cancelled()
        run_id = str(uuid.uuid4())
        forget = turn.cancel_token.on_cancel(lambda: Agent.cancel_run(run_id))
        try:
            if turn.on_chunk:
                output = self._streamed(text, turn.on_chunk, run_id=run_id, **media)
            else:
                output = self.agent.run(text, run_id=run_id, **media)
        finally:
            forget()
        if output.status == RunStatus.error:
            raise AgnoError(str(output.content))
        return SessionReply(
            str(output.content or ""), "cancelled" if output.status == RunStatus.cancelled else "answer"
        )

    def _streamed(self, text: str, on_chunk: Callable[[str], object], **own: Any) -> RunOutput:
        for event in self.agent.run(text, stream=True, yield_run_output=True, **own):
            if isinstance(event, RunContentEvent) and event.content:
                on_chunk(event.content)
            elif isinstance(event, RunErrorEvent):
                raise AgnoError(str(event.content))
            elif isinstance(event, RunOutput):
                return event
        raise AgnoError("the run ended without its output")

    def send_parts(self, parts: Sequence[messages.Part], turn: SessionTurn) -> SessionReply:
        text = "\n".join(part.text for part in parts if isinstance(part, messages.Text))
        media = media_arguments(parts)
        images = [Image(**one) for one in media.get("images", ())]
        files = [File(**one) for one in media.get("files", ())]
        return self.send(text, turn, images=images or None, files=files or None)

    # -- the conversation

    def stop(self) -> None:
        self._turn.cancel_token.cancel()

    def spawn(self) -> Conversation:
        return type(self)(self.setup)

    def stored(self) -> AgentSession | None:
        found = self.database.get_session(session_id=ID, session_type=SessionType.AGENT)
        return found if isinstance(found, AgentSession) else None

    def store(self, session: AgentSession) -> None:
        self.database.upsert_session(session)

    def history(self) -> list[messages.Message]:
        session = self.stored()
        return list(joined_results(self._neutral(session.get_messages() if session else ())))

    def _neutral(self, library_messages: Sequence[Any]) -> Iterator[messages.Message | messages.ToolResult]:
        """The library's messages and results, one by one."""
        for message in library_messages:
            if message.role == "tool":
                content, failed = str(message.content or ""), bool(message.tool_call_error)
                yield messages.ToolResult(message.tool_call_id, message.tool_name or "", content, is_error=failed)
            elif message.role == "assistant":
                yield messages.Message.model(*self._read(message))
            elif message.role == "user":
                yield messages.Message.user(*parts_of_user(message))

    def revert(self, turn: int) -> None:
        session = self.stored()
        runs = list(session.runs or ()) if session else []
        done = [n for n, run in enumerate(runs) if run.status == RunStatus.completed]
        if session is None or turn >= len(done):
            raise IndexError(f"there is no turn {turn}")
        self.database.delete_runs([str(run.run_id) for run in runs[done[turn] + 1 :]])

    def reset(self) -> None:
        if self.stored():
            self.database.delete_session(session_id=ID)

    def save(self) -> str:
        session = self.stored()
        return json.dumps(session.to_dict() if session else None, default=str)

    @classmethod
    def load(cls, setup: SessionSetup, text: str) -> Self:
        found = cls(setup)
        if (saved := json.loads(text)) is not None:
            session = AgentSession.from_dict(saved)
            if session is None:
                raise ValueError("this is no session of the library")
            found.store(session)
        return found


def parts_of_user(message: Any) -> Iterator[messages.Part]:
    """What a user's message says."""
    if message.content:
        yield messages.Text(str(message.content))
    for one in (*(message.images or ()), *(message.files or ())):
        kind = one.mime_type or "application/octet-stream"
        if one.content is not None:
            data = one.content if isinstance(one.content, bytes) else str(one.content).encode()
            yield messages.InlineData(kind, data)
        else:
            yield messages.FileRef(kind, one.url)


class OwnTexts(Conversation):
    """An agent whose system text is made by the library, of the instructions and of texts of its own."""

    def instructions(self, system: str | None) -> dict[str, Any]:
        return {"instructions": system, "markdown": True}


class LastRuns(Conversation):
    """An agent whose model is given the last runs alone, as all are by default (of 3)."""

    runs_sent = LAST


SESSION = bind_agent("agno-agent", Conversation, wire=WIRE, reproducer=AgnoAgentCode())
WINDOW = bind_agent(
    "agno-agent-window",
    LastRuns,
    wire=replace(WIRE, capabilities=replace(CLAIMS, window=f"{LAST} turns")),
    reproducer=AgnoAgentCode(),
)
TEXTS = bind_agent(
    "agno-agent-texts",
    OwnTexts,
    wire=replace(WIRE, capabilities=replace(CLAIMS, given_texts=False)),
    reproducer=AgnoAgentCode(),
)
