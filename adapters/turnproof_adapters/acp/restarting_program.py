"""The program of one agent, started when it is needed and again after it was lost, for callers that wait."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from acp import RequestError

from turnproof.agents import AgentSetup
from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall

from .._errors import hide_secret
from .calls import Update
from .event_loop import Loop
from .failures import typed_error
from .permissions import Permissions
from .process import Process
from .program import Prepared, Program, environment
from .program_run import Answer, Run
from .tools import ToolServer

PATIENCE = 5.0
"""Seconds that a program has to stop a turn that was cancelled, before it is killed."""

_SILENCE = 600.0
"""Seconds that it may say nothing, unless the option `timeout` says otherwise."""


class RestartingProgram:
    """Speaks to the program. `inbox` takes its updates, each with the session that it is of, in their order; and None
    behind those of a turn."""

    def __init__(self, program: Program, setup: AgentSetup) -> None:
        options = setup.endpoint.options
        self._program = program
        self._setup = setup
        self._command = program.found(options.get("program"))
        self._silence = float(options.get("timeout", _SILENCE))
        self._loop = Loop(f"{program.name}-loop")
        self._run: Run | None = None
        self.introduced: str | None = None
        """What the program called itself, with its version, when it was last started."""
        self._prepared: Prepared | None = None
        names = [tool.schema.name for tool in setup.tools]
        self._tools = ToolServer(setup.tools, None if program.asks else setup.permits, wraps=program.parses)
        self._permissions = Permissions(setup.permits if program.asks else _anything, names)
        self._token: CancelToken | None = None
        self.scrub = partial(hide_secret, secret=setup.endpoint.api_key)
        self.inbox: queue.SimpleQueue[tuple[str, Update] | None] = queue.SimpleQueue()

    # -- the program ----------------------------------------------------------------------------------------------

    def started(self) -> Run:
        """The program, running. Raises UsageError where it cannot be run, ProviderError where it does not speak."""
        run = self._run
        if run is None or run.is_lost:
            self.drop()
            run = self._run = self._loop.run(self._start())
            self.introduced = f"{run.agent} {run.version}".strip() or None
        return run

    @property
    def running(self) -> Run | None:
        """The same if it runs already."""
        return None if self._run is None or self._run.is_lost else self._run

    def drop(self) -> None:
        """End the program; the next one who needs it starts it again."""
        run, self._run = self._run, None
        if run is not None:
            self._loop.run(run.end(ask=not self._program.hangs_up))

    def close(self) -> None:
        """End everything. May be called again."""
        try:
            self.drop()
            self._loop.run(self._tools.close())
        finally:
            self._loop.close()

    async def _start(self) -> Run:
        prepared = self._prepared = self._prepare()
        process = await Process.start(
            [*self._command, *prepared.arguments],
            environment(Path(self._setup.home).absolute(), prepared.environment),
            Path(self._setup.cwd),
            self.scrub,
        )
        run = Run(
            process,
            silence=self._silence,
            on_update=self._hear,
            on_permission=self._permit,
            busy=lambda: self._tools.running > 0 or self._permissions.asking > 0,
        )
        try:
            await run.greet()
        except RequestError as error:
            await run.end(grace=0)
            raise typed_error(error, "", self.scrub) from None
        except BaseException:
            await run.end(grace=0)
            raise
        return run

    def _prepare(self) -> Prepared:
        Path(self._setup.home).mkdir(parents=True, exist_ok=True)
        return self._program.prepare(self._setup)

    # -- requests -------------------------------------------------------------------------------------------------

    @property
    def instructed(self) -> bool:
        """Whether the program is told the system text by itself."""
        return self._prepared is not None and self._prepared.instructed

    def ask(self, method: str, **params: Any) -> Answer:
        """Ask it something, and wait for the answer. Raises as `Run` does."""
        return self._loop.run(self.started().request(method, params))

    def open(self, method: str, **params: Any) -> Answer:
        """Ask for what opens a session: where it works, and with which tools, is said every time.

        What the program says of the session right behind its answer is in the inbox then.
        """
        self.started()
        return self._loop.run(self._open(method, params))

    async def _open(self, method: str, params: Mapping[str, Any]) -> Answer:
        run, prepared = self._run, self._prepared
        assert run is not None
        assert prepared is not None
        more: dict[str, Any] = {"_meta": dict(prepared.meta)} if prepared.meta else {}
        cwd = str(Path(self._setup.cwd).absolute())
        servers = await self._tools.open()
        answer = await run.request(method, {**params, "cwd": cwd, "mcpServers": servers, **more})
        await run.catch_up()
        return answer

    # -- turns ----------------------------------------------------------------------------------------------------

    def begin(self, session: str, blocks: list[dict[str, Any]], token: CancelToken) -> Future[Answer]:
        """Begin a turn. When it is over there is a None in the inbox, behind its last update."""
        run = self.started()
        self._tools.turn(token)
        self._token = token
        future = self._loop.begin(run.request("session_prompt", {"sessionId": session, "prompt": blocks}))
        future.add_done_callback(lambda _: self.inbox.put(None))
        return future

    def stop(self, session: str, turn: Future[Answer]) -> None:
        """Have the program stop the turn; kill it where it does not. Returns at once."""
        run = self._run
        if run is not None:
            self._loop.soon(lambda: asyncio.ensure_future(self._stop(run, session, turn)))

    async def _stop(self, run: Run, session: str, turn: Future[Answer]) -> None:
        await run.notify("session_cancel", {"sessionId": session})
        done, _ = await asyncio.wait({asyncio.ensure_future(_over(turn))}, timeout=PATIENCE)
        if not done:
            run.process.kill()

    def over(self) -> None:
        """The turn is over: what still asks is told so."""
        self._tools.turn(None)
        self._token = None

    @property
    def tool_server(self) -> ToolServer:
        """What the tools have been called with."""
        return self._tools

    # -- in the loop's thread -------------------------------------------------------------------------------------

    def _hear(self, session: str, update: Update) -> None:
        self._permissions.hear(update)
        self.inbox.put((session, update))

    async def _permit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        # The question shows the call as it is going to be run.
        self.inbox.put((str(request.get("sessionId")), {**request["toolCall"], "sessionUpdate": "tool_call_update"}))
        return await self._permissions.decide(request, self._token)


def _anything(call: FunctionCall) -> bool:
    return True


async def _over(turn: Future[Answer]) -> None:
    while not turn.done():
        await asyncio.sleep(0.01)
