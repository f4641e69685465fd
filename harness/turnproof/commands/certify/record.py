"""`turnproof record`: run the scenarios and keep the exchanges as cassettes.

From the emulator, or (`live`) from the real API through a recording proxy: the same code path with another responder.
One cassette, recorded on the stateless path, serves both; only what the legacy path asks differently goes into an
overlay.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ..._base.counts import counted
from ..._base.loopback import is_loopback
from ..._base.secrets import environment_secrets
from ...dialects import dialect as dialect_named
from ...dialects.contract import Dialect
from ...judge.requirements import load_suite
from ...provider import PATHS, Binding
from ...report._inline_text import printable
from ...report.progress import progress, report_starved
from ...run.backends import cassette_roots, live_service, live_target
from ...run.bindings import resolve_binding, subject_of
from ...run.driver import Backend, Runner, RunSpec
from ...run.driver.limits import NO_LIMITS, Limits
from ...run.driver.runner import LIVE_MAX_TOKENS
from ...run.transcript import RunKey, Transcript
from ...scenarios import Scenario
from ...wire.cassettes import Cassette, Recorder, cassette_path, check_budget, estimate_cost, save
from ...wire.emulator import ROUND_LIMIT, Responder, ScriptResponder, ServerRun
from ...wire.emulator.live_answers import LiveAnswers
from ...wire.emulator.live_responder import LiveResponder, LiveService
from ...wire.emulator.server_run import CANARY_KEY, Exchange
from .scenarios import chosen_scenarios, suite_scenarios


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """`only` are globs of scenario names. `out` is the folder that gets `<adapter>/<scenario>.yaml` (None: where the
    installed cassettes lie). `live` records from the real API, if that costs at most `max_cost` US dollars.
    `limits` are what the processes of a worker may take."""

    adapter: str
    only: tuple[str, ...] = ()
    out: Path | None = None
    live: bool = False
    max_cost: float = 1.0
    prices: tuple[float, float] | None = None
    seed: int = 0
    jobs: int = 2
    limits: Limits = NO_LIMITS


def record(options: RecordOptions, out: Callable[[str], None] = print) -> int:
    """Record, and write a line per cassette. Returns the exit code: 0, or 1 when a run did not come to its end.

    Raises UsageError for unknown scenarios, a missing key, or a cost over the budget.
    """
    binding = resolve_binding(options.adapter)
    scenarios = _select_scenarios(options.only, binding)
    dialect = dialect_named(binding.dialect)
    if options.live:
        scenarios = [_brief(scenario) for scenario in scenarios]
        target = live_target(binding, dialect)  # a missing key is said before anything else
        if not is_loopback(target.host):  # a service on this machine costs nothing
            estimate = estimate_cost(scenarios, binding.dialect, binding.model, prices=options.prices)
            print(f"estimated cost: {estimate}", file=sys.stderr)
            check_budget(estimate, options.max_cost)
    root = options.out or next(iter(cassette_roots()), Path("cassettes"))
    recording = _Recording(binding, dialect, options.live)
    unfinished: list[str] = []
    count = itertools.count(1)

    place = Runner(
        jobs=options.jobs,
        seed=options.seed,
        responders=recording,
        limits=options.limits,
        on_starved=report_starved,
    )
    with place as runner, progress("record") as tracker:
        specs = [
            RunSpec(options.adapter, scenario, RunKey(scenario.name, path, mode))
            for scenario in scenarios
            for path in PATHS
            if binding.opener(path) is not None and not (options.live and path == "legacy")
            for mode in scenario.modes
        ]

        def report_run(spec: RunSpec, transcript: Transcript) -> None:
            tracker(next(count), len(specs), str(spec.key))
            if transcript.end.how != "completed":
                unfinished.append(f"{spec.key}: {transcript.end.how}: {transcript.end.detail}")

        runner.run_all(specs, report_run, on_begin=lambda spec: tracker.started(str(spec.key)))
    secrets = [CANARY_KEY, *environment_secrets()]
    for scenario in scenarios:
        for cassette, path in recording.cassettes(root, scenario):
            if cassette is None:
                path.unlink(missing_ok=True)
                continue
            save(cassette, path, secrets=secrets)
            out(f"{path}: {counted(len(cassette.interactions), 'exchange')}, {cassette.provenance}")
    for line in (*recording.left_out, *unfinished):
        print(printable(line), file=sys.stderr)
    return 1 if unfinished else 0


def _select_scenarios(only: tuple[str, ...], binding: Binding) -> list[Scenario]:
    claims = subject_of(binding).claims()
    selection = chosen_scenarios(suite_scenarios(load_suite()), only)
    meant = (scenario for scenario in selection if scenario.subject == "adapter")
    return [scenario for scenario in meant if all(claims.claims(feature) for feature in scenario.features)]


def _brief(scenario: Scenario) -> Scenario:
    """The scenario with a bound on each answer: a real model fills what room it is given, and every token costs."""
    return msgspec.structs.replace(scenario, options={"max_tokens": LIVE_MAX_TOKENS, **scenario.options})


def add_exchange(recorder: Recorder, exchange: Exchange) -> None:
    """Record one complete exchange of a run, at its place in the conversation."""
    assert exchange.call is not None
    recorder.add(
        exchange.request,
        exchange.call,
        status=exchange.answered,
        headers=exchange.headers,
        chunks=[event.data for event in exchange.events],
        turn=exchange.turn,
        round_=exchange.round,
        extra=exchange.extra,
    )


class _Recording:
    """The responders of a recording, and what they gave."""

    def __init__(self, binding: Binding, dialect: Dialect, live: bool) -> None:
        self._binding = binding
        self._dialect = dialect
        self._live = live
        self._service: LiveService | None = None
        self._recorders: dict[tuple[str, str], Recorder] = {}

    def backend_for(self, spec: RunSpec) -> Backend:
        """What answers."""
        return "live" if self._live else "emulate"

    def responder(self, binding: Binding, spec: RunSpec, dialect: Dialect) -> Responder:
        """The script, or the real API."""
        if not self._live:
            return ScriptResponder(ROUND_LIMIT)
        if self._service is None:
            self._service = live_service(binding, dialect)
        return LiveResponder(self._service, LiveAnswers())

    def closed(self, spec: RunSpec) -> str:
        """Why the real API is not asked any more."""
        return self._service.closed if self._service is not None else ""

    def finished(self, binding: Binding, spec: RunSpec, server_run: ServerRun) -> None:
        """Keep the run's complete exchanges."""
        recorder = self._recorder(spec.scenario.name, spec.key.path)
        for exchange in server_run.exchanges:
            faulted = exchange.fault is not None and exchange.fault.startswith("status-")
            refused = any(finding.enforced for finding in exchange.findings) and server_run.judges
            if exchange.call is None or exchange.probe or faulted or refused or not exchange.events:
                continue
            add_exchange(recorder, exchange)

    def cassettes(self, root: Path, scenario: Scenario) -> list[tuple[Cassette | None, Path]]:
        """The scenario's cassette, and its overlay for the legacy path (None where it needs none)."""
        name = self._binding.name
        base = self._recorder(scenario.name, "stateless").cassette()
        known = {item.digest for item in base.interactions}
        legacy = self._recorder(scenario.name, "legacy").cassette()
        own = tuple(item for item in legacy.interactions if item.digest not in known)
        overlay = msgspec.structs.replace(legacy, interactions=own) if own else None
        return [
            (base, cassette_path(root, name, scenario.name)),
            (overlay, cassette_path(root, name, scenario.name, overlay="legacy")),
        ]

    @property
    def left_out(self) -> list[str]:
        """Exchanges that no cassette may hold, with the reason."""
        return [line for recorder in self._recorders.values() for line in recorder.left_out]

    def _recorder(self, scenario: str, path: str) -> Recorder:
        return self._recorders.setdefault(
            (scenario, path),
            Recorder(
                adapter=self._binding.name,
                scenario=scenario,
                dialect=self._dialect,
                model=self._binding.model,
                recorded="live" if self._live else "emulated",
                day=datetime.now(UTC).date(),
                address=live_target(self._binding, self._dialect).address if self._live else "",
            ),
        )
