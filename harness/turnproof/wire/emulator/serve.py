"""`turnproof serve`: the emulator for people. A provider to develop against, without a key.

It refuses what the real API refuses, keeps a real prefix cache, and says what it thinks of every request. With a
scenario it answers from the script; otherwise it echoes.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..._base.printable import one_line
from ...dialects import dialect as dialect_named
from ...dialects.base import Call, Rendered
from ...scenarios.model import Scenario
from .echo import EchoResponder
from .http_server import EmulatorServer
from .responders import Responder, ScriptResponder
from .server_run import Exchange, ServerRun


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """`port` 0 takes a free one. Without `scenario` the server echoes. `key` None accepts any key."""

    dialect: str = "anthropic-messages"
    host: str = "127.0.0.1"
    port: int = 0
    scenario: Scenario | None = None
    key: str | None = None


def serve(
    options: ServeOptions,
    out: Callable[[str], None],
    log: Callable[[str], None],
    stop: threading.Event | None = None,
) -> int:
    """Serve until interrupted (or until `stop` is set). `out` gets the URL, `log` a line per request.

    Raises HarnessError when the port is taken. Returns the exit code, 0.
    """
    wire = dialect_named(options.dialect)
    responder: Responder = EchoResponder() if options.scenario is None else _Conversation(options.scenario)
    halt = stop or threading.Event()
    with EmulatorServer(options.host, options.port) as server:
        run = server.open_run(
            wire,
            responder,
            keys=frozenset() if options.key is None else frozenset({options.key}),
            any_key=options.key is None,
            run_id="",
        )
        run.world.clock = time.time
        numbers = itertools.count(1)

        def note(exchange: Exchange) -> None:
            # A service that is developed against runs for days.
            del run.exchanges[:-KEPT_EXCHANGES]
            run.world.forget_oldest(names=KEPT_NAMES, signatures=KEPT_SIGNATURES)
            log(describe(next(numbers), exchange))

        run.on_exchange = note
        out(run.base_url)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: halt.set())
        try:
            halt.wait()
        except KeyboardInterrupt:
            log("stopped")
    return 0


KEPT_EXCHANGES = 100
"""Exchanges that a running service remembers."""

KEPT_NAMES = 3_000
"""Stored responses, conversations and their items that it remembers; an answer is about three of them."""

KEPT_SIGNATURES = 10_000
"""Signatures of thinking that it remembers."""


class _Conversation:
    """Answers from a scenario, whose turn is told by the number of user messages so far."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._script = ScriptResponder(origin=scenario.origin)

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        users = sum(message.role == "user" for message in call.messages)
        index = min(max(users, 1), len(self._scenario.turns)) - 1
        if run.turn_index != index:
            run.arm(index, self._scenario.turns[index], self._scenario.tools_in(index))
        return await self._script.answer(run, exchange, call)


def describe(number: int, exchange: Exchange) -> str:
    """One readable line about an exchange and its findings, in which nothing steers a terminal."""
    call = exchange.call
    what = exchange.request.path
    if call is not None and call.operation == "generate":
        stream = "stream" if call.stream else "batch"
        what += f"  {call.model}  {len(call.messages)} messages, {len(call.tools)} tools, {stream}"
    usage = f"  {exchange.prompt_tokens} prompt tokens" if exchange.prompt_tokens else ""
    parts = [f"#{number} {exchange.request.method} {what}  -> {exchange.status} {exchange.ended}{usage}"]
    for finding in exchange.findings:
        accepted = "done in silence" if finding.rule.silent else "would perhaps be refused"
        word = "refused" if finding.enforced else accepted
        parts.append(f"{word}: {finding.message} [{finding.rule.id}, {finding.rule.evidence.value}]")
    return " | ".join(one_line(part) for part in parts)
