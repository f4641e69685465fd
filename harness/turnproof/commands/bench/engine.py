"""`turnproof bench`: meet the emulator, take the times, count, and judge against goals and an earlier run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import structs

from ... import __version__
from ..._base.exit_codes import Exit, heaviest
from ...dialects import dialect
from ...errors import ProviderError, UsageError
from ...judge.run_log import Environment
from ...provider import PATHS, Binding
from ...provider import Path as AdapterPath
from ...report.progress import Telling, progress
from ...run.bindings import resolve_binding
from . import memory
from .adapter import measure_adapter
from .callers import Kind
from .canned_provider import CannedServer, allow_connections
from .comparison import compare
from .conversations import history
from .floor import FLOOR_PACKAGE, has_floor
from .goals import load_goals, standings
from .open_callers import Plan, can_make_certificates, temporary_certificate
from .own_cost.cassettes import Cassettes
from .own_cost.certification import Certifying, Contexts
from .own_cost.imports import ImportedSdks, Imports
from .own_cost.parts import measure_parts
from .own_cost.plugin import Plugin
from .own_cost.server import Server
from .peers.catalogue import check_peer, peers_of
from .peers.venvs import python_with
from .report import SCHEMA, Bench, Own, read

_STANDARD_TESTS = "langchain-tests langchain-anthropic"

_CONNECTIONS = 4096
"""Open files that a crowd needs, with everybody else's."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Everything a benchmark depends on.

    adapters:  installed names or `module:attribute`; empty only with `own`.
    messages:  lengths of the history: even numbers, as turns are whole.
    rounds:    how often each case is visited; fewer than five are a hint and no more.
    long:      also what takes minutes: whole conversations, crowds, TLS, allocations, memory.
    own:       also what turnproof itself takes; adapters may then be left out.
    peers:     libraries to measure in the same rounds.
    path:      `stateless` or `legacy` alone, or None for both.
    goals:     a file of goals, or None for those of the reference adapters.
    baseline:  an earlier outcome to compare with; a ratio may be `max_ratio` times what it was then.
    kinds:     only these kinds of single turns, or None for all.
    """

    adapters: tuple[str, ...]
    messages: tuple[int, ...] = (2, 20, 200, 1000, 4000)
    rounds: int = 5
    long: bool = False
    own: bool = False
    peers: tuple[str, ...] = ()
    path: AdapterPath | None = None
    goals: Path | None = None
    baseline: Path | None = None
    max_ratio: float = 1.5
    kinds: tuple[Kind, ...] | None = None


def bench(options: BenchOptions) -> Bench:
    """Measure the adapters.

    Raises UsageError for adapters, goals, lengths or a baseline that cannot be used, before anything is measured. What
    an adapter does wrong is a problem in its outcome.
    """
    bindings = load_bindings(options.adapters)
    sizes = tuple(sorted(set(options.messages)))
    for size in sizes:
        history(size, tools=False)
    goals = load_goals(options.goals)
    before = read(options.baseline) if options.baseline is not None else None
    certificate = temporary_certificate() if options.long and can_make_certificates() else None
    paths: tuple[AdapterPath, ...] = PATHS if options.path is None else (options.path,)
    peers = tuple(check_peer(peer) for peer in options.peers)
    names = [binding.name for binding in bindings]
    plan = Plan(paths, sizes, options.rounds, options.long, peers, certificate, options.kinds)
    plans = {name: replace(plan, peers=peers_of(name, peers, names)) for name in names}
    allow_connections(_CONNECTIONS)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    # What an adapter prints is talk: stdout is for the outcome.
    # No clock ticks on the screen: it would take CPU time of this process.
    canned = CannedServer(certificate.server if certificate is not None else None)
    with canned as server, contextlib.redirect_stdout(sys.stderr), progress("bench", ticks=False) as tracker:
        adapters = {
            binding.name: measure_adapter(spec, binding, plans[binding.name], server, tracker)
            for spec, binding in zip(options.adapters, bindings, strict=True)
        }
        own = _measure_own(options.rounds, options.peers, tracker) if options.own else None
    done = Bench(
        schema=SCHEMA,
        turnproof=__version__,
        started=started,
        rounds=options.rounds,
        messages=sizes,
        environment=Environment.here(sorted(_packages(bindings))),
        adapters=adapters,
        notes=(*_notes(options), *_left_out(plans, peers), *(own.notes if own is not None else ())),
        own=own,
    )
    done = msgspec.structs.replace(done, goals=tuple(standings(goals, done)))
    if before is None:
        return done
    comparison = compare(done, before, str(options.baseline), options.max_ratio)
    return msgspec.structs.replace(done, comparison=comparison)


def _packages(bindings: Sequence[Binding]) -> set[str]:
    """Whose versions matter: the SDKs, and the bare HTTP client."""
    return {binding.package for binding in bindings if binding.package} | ({FLOOR_PACKAGE} if has_floor() else set())


def _notes(options: BenchOptions) -> Iterator[str]:
    """What was left out, and what to do about it."""
    if not has_floor():
        yield "no floor was measured: httpx2 is not installed (pip install 'turnproof[bench]')"
    if options.long and not can_make_certificates():
        yield "no turn was taken over TLS: trustme is not installed (pip install 'turnproof[bench]')"
    if options.long and not memory.can_measure():
        yield "no memory was measured: this system has no /proc/self/statm"


def _left_out(plans: Mapping[str, Plan], peers: Sequence[str]) -> Iterator[str]:
    """Which peers do not speak to what some of the adapters speak to."""
    for peer in peers:
        without = [name for name, plan in plans.items() if peer not in plan.peers]
        if without:
            yield f"{peer} was not measured next to {', '.join(without)}: it is not known to speak to their services"


def exit_code(outcome: Bench, *, enforce: bool) -> Exit:
    """1 for anything worse than the baseline, and for a missed goal where goals are enforced.

    3 where an adapter could not be measured in full, where nothing was there to compare with the baseline, and where
    an enforced goal was not measured.
    """
    codes = [Exit.OK]
    if outcome.own is not None and (outcome.own.problems or not outcome.own.figures):
        codes.append(Exit.UNDECIDED)
    if not (outcome.adapters or outcome.own) or any(
        each.problems or not each.measured for each in outcome.adapters.values()
    ):
        codes.append(Exit.UNDECIDED)
    if enforce:
        standing = {goal.standing for goal in outcome.goals}
        codes += [Exit.VIOLATIONS] if "missed" in standing else []
        codes += [Exit.UNDECIDED] if "not measured" in standing or not standing else []
    if (compared := outcome.comparison) is not None:
        codes += [Exit.VIOLATIONS] if compared.worse else []
        codes += [] if compared.counts and compared.ratios else [Exit.UNDECIDED]
    return heaviest(codes)


def load_bindings(specs: Sequence[str]) -> list[Binding]:
    """The bindings of adapters that are measured in one run. Raises UsageError for one that cannot be used, and for two
    of one name."""
    bindings = [resolve_binding(spec) for spec in specs]
    for binding in bindings:
        dialect(binding.dialect)
    names = [binding.name for binding in bindings]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two adapters are named {twice[0]!r}: measure them in separate runs")
    return bindings


def _measure_own(rounds: int, peers: Sequence[str], tracker: Telling) -> Own:
    """What turnproof costs by itself, in so many rounds; with the peer `langchain` also what its standard tests do."""
    tracker.stage("parts")
    python: Path | None = None
    left_out = "checks were not compared with langchain-tests: --peer langchain installs them"
    if "langchain" in peers:
        try:
            python = python_with(_STANDARD_TESTS)
        except ProviderError as error:
            left_out = f"checks were not compared with langchain-tests: {error}"
    parts = (Server, Cassettes, Plugin, Imports, ImportedSdks, partial(Certifying, python), Contexts)
    own = measure_parts(parts, rounds, tracker)
    return own if python is not None else structs.replace(own, notes=(*own.notes, left_out))
