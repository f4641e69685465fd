"""Two agents that do what is required: `StoredAgent` as it is, and one with a process of its own.

The process runs a `StoredAgent` and is spoken to over a socket. It is the quickest subject to be killed: a program in
another language takes seconds to start. A message is one pickled tuple: the child is asked, asks back for tools and
permits, tells of text, and answers at last. The key goes by the socket.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from turnproof import errors
from turnproof.agents import AgentBinding, AgentSetup, Tool, ToolOutput
from turnproof.cancel import CancelToken
from turnproof.errors import ResumeError, TransportError, UsageError
from turnproof.messages import FunctionCall, Message, Part, ProviderResponse
from turnproof.provider import OnChunk
from turnproof.session.store.agent import StoredAgent, stored_agent
from turnproof.session.store.client import CAN
from turnproof.sessions import SessionCapabilities, SessionPage
from turnproof_adapters.antigravity.binding import BINDING


class Line:
    """One end of the socket. Errors cross it by name and words."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()

    def tell(self, *message: Any) -> None:
        with self._sending:
            self._connection.send(message)

    def hear(self) -> tuple[Any, ...]:
        message: tuple[Any, ...] = self._connection.recv()
        return message

    def close(self) -> None:
        self._connection.close()


class Program:
    """The child process, with a `StoredAgent` in it, from its start until it ends or is killed."""

    def __init__(self, setup: AgentSetup) -> None:
        ours, theirs = Pipe()
        self._setup = setup
        self._line = Line(ours)
        command = [sys.executable, __file__, str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        schemas = tuple(tool.schema for tool in setup.tools)
        self.ask("open", _that_can_be_told(setup), schemas)

    def ask(self, *message: Any, token: CancelToken | None = None, on_chunk: OnChunk | None = None) -> Any:
        """Ask for something, and do meanwhile what the child asks for. Raises TransportError when it is gone."""
        try:
            self._line.tell(*message)
            forget = token.on_cancel(lambda: self._tell("cancel")) if token is not None else None
            while True:
                match self._line.hear():
                    case ("chunk", text):
                        assert on_chunk is not None
                        on_chunk(text)
                    case ("tool", number, name, args):
                        work = partial(self._run, number, name, args, token or CancelToken())
                        threading.Thread(target=work, daemon=True).start()
                    case ("permits", number, call):
                        self._tell("asked", number, self._setup.permits(call))
                    case ("failed", name, text, session_id):
                        raise _error(name, text, session_id)
                    case ("done", answer):
                        if forget is not None:
                            forget()
                        return answer
        except (OSError, EOFError) as error:
            self.end()
            raise TransportError(f"the program has ended: {self._process.returncode}") from error

    @property
    def has_ended(self) -> bool:
        """Whether its process has ended."""
        return self._process.returncode is not None

    def end(self) -> None:
        """Let it end by itself: its socket is closed."""
        self._line.close()
        self._process.wait()

    def _tell(self, *message: Any) -> None:
        try:
            self._line.tell(*message)
        except OSError:
            return  # whoever listens will notice

    def _run(self, number: int, name: str, args: Any, token: CancelToken) -> None:
        tool = next(one for one in self._setup.tools if one.schema.name == name)
        try:
            self._tell("asked", number, tool.run(args, token))
        except Exception as error:
            self._tell("asked", number, ToolOutput(str(error), is_error=True))


def _that_can_be_told(setup: AgentSetup) -> AgentSetup:
    """The setup without what belongs to this process: functions, and a TLS context."""
    plain_setup = replace(setup, endpoint=replace(setup.endpoint, ssl_context=None), tools=())
    return replace(plain_setup, permits=bool)


def _error(name: str, text: str, session_id: str) -> Exception:
    if name == "ResumeError":
        return ResumeError(text, session_id=session_id)
    found: Exception = getattr(errors, name, errors.ProviderError)(text)
    return found


class InAChild:
    """A `StoredAgent` in a child process, which is started again in the same session when it has gone."""

    def __init__(self, setup: AgentSetup) -> None:
        self._setup = setup
        self._history: Sequence[Message] = []
        self._busy = threading.Lock()
        self._program: Program | None = None
        self.session_id: str | None = None
        self._begin(setup)

    @property
    def session_capabilities(self) -> SessionCapabilities:
        return CAN

    @property
    def history(self) -> Sequence[Message]:
        return list(self._history)

    def send(
        self,
        content: str | Sequence[Part],
        *,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: object = None,
        on_function_call: object = None,
        on_thinking: object = None,
        response_schema: Any = None,
    ) -> ProviderResponse:
        if not self._busy.acquire(blocking=False):
            raise UsageError("a turn is running: wait for its end, or cancel it")
        try:
            if cancel_token is not None:
                cancel_token.raise_if_cancelled()
            question = ("send", content, on_chunk is not None, response_schema)
            answer: ProviderResponse = self._ask(*question, token=cancel_token, on_chunk=on_chunk)
        finally:
            self._busy.release()
        return answer

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        page: SessionPage = self._ask("list_sessions", cwd, cursor)
        return page

    def resume_session(self, session_id: str) -> None:
        self._ask("resume_session", session_id)

    def continue_last(self, cwd: str | None = None) -> str | None:
        session_id: str | None = self._ask("continue_last", cwd)
        return session_id

    def new_session(self) -> None:
        self._ask("new_session")

    def fork_session(self) -> str:
        copy: str = self._ask("fork_session")
        return copy

    def delete_session(self, session_id: str) -> None:
        self._ask("delete_session", session_id)

    def shutdown(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    def _begin(self, setup: AgentSetup) -> Program:
        self._program = program = Program(setup)
        self._look(program)
        return program

    def _ask(self, *message: Any, **ways: Any) -> Any:
        again = replace(self._setup, session=self.session_id, continue_last=False)
        program = self._program or self._begin(again)
        try:
            return program.ask(*message, **ways)
        except TransportError:
            if program.has_ended:
                self._program = None
            raise
        finally:
            if self._program is not None:
                self._look(program)

    def _look(self, program: Program) -> None:
        self.session_id, self._history = program.ask("look")


# Of all adapters this one is imported fastest: it has no SDK.
STORED = stored_agent(BINDING)

AGENT = AgentBinding(
    name="in_a_child",
    dialect=BINDING.dialect,
    model=BINDING.model,
    open=InAChild,
    capabilities=replace(BINDING.claims(), retries=False),
    sessions=CAN,
    options=BINDING.options,
    package=BINDING.package,
)


# -- the child ----------------------------------------------------------------------------------------------


class Served:
    """The agent in the child, and what it has asked the parent and waits for."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._waiting: dict[int, tuple[threading.Event, list[Any]]] = {}
        self._token = CancelToken()
        self._agent: StoredAgent | None = None

    def serve(self) -> None:
        """Until the parent has closed the socket."""
        try:
            while True:
                match self._line.hear():
                    case ("cancel",):
                        self._token.cancel()
                    case ("asked", number, answer):
                        there, answers = self._waiting.pop(number)
                        answers.append(answer)
                        there.set()
                    case (name, *arguments):
                        self._token = CancelToken()
                        threading.Thread(target=self._answer, args=(name, *arguments), daemon=True).start()
        except (OSError, EOFError):
            self._token.cancel()
            if self._agent is not None:
                self._agent.shutdown()

    def _answer(self, name: str, *arguments: Any) -> None:
        does: Callable[..., Any] = getattr(self, f"_{name}", None) or getattr(self._agent, name)
        try:
            self._line.tell("done", does(*arguments))
        except (OSError, EOFError):
            return
        except Exception as error:
            self._line.tell("failed", type(error).__name__, str(error), getattr(error, "session_id", ""))

    def _open(self, setup: AgentSetup, schemas: Sequence[Any]) -> None:
        tools = tuple(Tool(schema, partial(self._run_tool, schema.name)) for schema in schemas)
        opener = BINDING.open_stateless
        assert opener is not None
        # The model is asked without TLS, and a context that trusts somebody takes long to make.
        options = {**setup.endpoint.options, "ssl_context": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
        provider = opener(replace(setup.endpoint, options=options))
        self._agent = StoredAgent(replace(setup, tools=tools, permits=self._permits), provider)

    def _look(self) -> tuple[str | None, Sequence[Message]]:
        assert self._agent is not None
        return self._agent.session_id, self._agent.history

    def _send(self, content: str | Sequence[Part], streamed: bool, response_schema: Any) -> ProviderResponse:
        assert self._agent is not None

        def chunk(text: str) -> None:
            self._line.tell("chunk", text)

        return self._agent.send(
            content,
            cancel_token=self._token,
            on_chunk=chunk if streamed else None,
            on_function_call=(lambda call: None) if streamed else None,
            response_schema=response_schema,
        )

    def _list_sessions(self, cwd: str | None, cursor: str | None) -> SessionPage:
        assert self._agent is not None
        return self._agent.list_sessions(cwd=cwd, cursor=cursor)

    def _permits(self, call: FunctionCall) -> bool:
        return bool(self._parent("permits", call))

    def _run_tool(self, name: str, args: dict[str, Any], token: CancelToken) -> Any:
        return self._parent("tool", name, args)

    def _parent(self, question: str, *arguments: Any) -> Any:
        number, waiting = id(arguments), (threading.Event(), list[Any]())
        self._waiting[number] = waiting
        self._line.tell(question, number, *arguments)
        waiting[0].wait()
        return waiting[1][0]


if __name__ == "__main__":
    Served(Line(Connection(int(sys.argv[1])))).serve()
