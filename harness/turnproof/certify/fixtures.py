"""What the pytest plugin's fixtures return: a scripted emulator, the same without a socket, and a replay."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..dialects import dialect as dialect_named
from ..dialects.base import HttpRequest
from ..errors import UsageError
from ..scenarios import Scenario
from ..scenarios import load as load_scenario
from ..wire.cassettes import Player, load
from ..wire.emulator import CassetteResponder, EmulatorServer, Exchange, ScriptResponder, ServerRun
from ..wire.emulator.in_process import check_needs_no_socket
from ..wire.emulator.server_run import CANARY_KEY, new_run


@dataclass(frozen=True, slots=True)
class ScriptedEndpoint:
    """A scripted emulator for a client under test, on a socket or in the process. Turn 0 is armed; `arm(n)` goes to
    another turn."""

    base_url: str
    api_key: str
    model: str
    scenario: Scenario
    _run: ServerRun

    def arm(self, turn: int) -> None:
        """Make `turn` the one that the next requests belong to."""
        if not 0 <= turn < len(self.scenario.turns):
            raise UsageError(f"{self.scenario.name} has turns 0 to {len(self.scenario.turns) - 1}, not {turn}")
        self._run.arm(turn, self.scenario.turns[turn], self.scenario.tools_in(turn))

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every exchange so far, with the emulator's findings."""
        return tuple(self._run.exchanges)

    @property
    def requests(self) -> tuple[HttpRequest, ...]:
        """Every request so far, as it arrived."""
        return tuple(exchange.request for exchange in self._run.exchanges)


@dataclass(frozen=True, slots=True)
class ReplayEndpoint:
    """A local server that plays a cassette to any client, chunk by chunk."""

    base_url: str
    api_key: str
    model: str
    player: Player
    _responder: CassetteResponder

    @property
    def mismatches(self) -> tuple[str, ...]:
        """Requests that were not in the cassette, each with the place of the first difference and both sides."""
        return tuple(self._responder.mismatches)

    @property
    def unplayed(self) -> tuple[str, ...]:
        """What was recorded and not asked for."""
        return tuple(str(interaction) for interaction in self.player.unplayed())


@contextlib.contextmanager
def endpoints() -> Iterator[Callable[..., ScriptedEndpoint]]:
    """Opens scripted endpoints on one server, which ends with the context."""
    with EmulatorServer() as server:

        def open_endpoint(
            scenario: Scenario | str | Path, dialect: str = "anthropic-messages", model: str | None = None
        ) -> ScriptedEndpoint:
            script = _scenario(scenario)
            run = server.open_run(dialect_named(dialect), ScriptResponder(), seed=script.name)
            return _endpoint(run, script, model)

        yield open_endpoint


@contextlib.contextmanager
def transports() -> Iterator[Callable[..., ScriptedEndpoint]]:
    """Opens scripted endpoints that answer httpx and httpx2 in this process, without a socket, until the context ends.

    Meanwhile these clients reach no other host. Raises UsageError where the extra `transport` is not installed, and the
    function that it yields raises UsageError for a scenario that only a socket can play.
    """
    try:
        from .transport import in_process
    except ImportError as error:
        raise UsageError(
            f"`turnproof_transport` needs respx and pytest-httpx2 ({error}): pip install 'turnproof[transport]'"
        ) from error
    numbers = itertools.count(1)
    with in_process() as serve:

        def open_transport(
            scenario: Scenario | str | Path, dialect: str = "anthropic-messages", model: str | None = None
        ) -> ScriptedEndpoint:
            script = _scenario(scenario)
            check_needs_no_socket(script)
            run = new_run(f"r{next(numbers)}", dialect_named(dialect), ScriptResponder(), seed=script.name)
            serve(run)
            return _endpoint(run, script, model)

        yield open_transport


@contextlib.contextmanager
def replays() -> Iterator[Callable[..., ReplayEndpoint]]:
    """Opens replays on one server, which ends with the context."""
    with EmulatorServer() as server:

        def open_replay(cassette: str | Path) -> ReplayEndpoint:
            recorded = load(cassette)
            wire = dialect_named(recorded.dialect)
            player = Player(recorded, wire)
            responder = CassetteResponder(player)
            run = server.open_run(wire, responder, any_key=True)
            return ReplayEndpoint(run.base_url, CANARY_KEY, recorded.model, player, responder)

        yield open_replay


def _scenario(scenario: Scenario | str | Path) -> Scenario:
    return scenario if isinstance(scenario, Scenario) else load_scenario(Path(scenario))


def _endpoint(run: ServerRun, script: Scenario, model: str | None) -> ScriptedEndpoint:
    endpoint = ScriptedEndpoint(run.base_url, CANARY_KEY, model or next(iter(run.dialect.models)), script, run)
    endpoint.arm(0)
    return endpoint
