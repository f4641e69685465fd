"""What a replay notes of its cassettes: what was asked for, and what lay there unasked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from turnproof.bindings import resolve_binding, resolve_subject
from turnproof.cassettes.match import read_recorded
from turnproof.certify.backends import Backends, choose_backend
from turnproof.certify.scenarios import suite_scenarios
from turnproof.dialects import dialect
from turnproof.dialects.base import Call
from turnproof.driver import RunSpec
from turnproof.emulator import CassetteResponder
from turnproof.requirements import load_suite
from turnproof.transcript import RunKey

ADAPTERS = ("anthropic", "google_genai")
SCENARIO = next(one for one in suite_scenarios(load_suite()) if one.name == "basics/four_turns")


def replaying() -> Backends:
    backends = Backends({name: choose_backend(name, resolve_subject(name), "replay") for name in ADAPTERS})
    for name in ADAPTERS:
        backends.prepare(name, resolve_subject(name), {SCENARIO.name})
    return backends


def run(backends: Backends, adapter: str, *, whole: bool) -> None:
    """One run that asks for all that its cassette has, or for nothing."""
    binding = resolve_binding(adapter)
    spec = RunSpec(adapter, SCENARIO, RunKey(SCENARIO.name, "stateless"))
    responder = backends.responder(binding, spec, dialect(binding.dialect))
    assert isinstance(responder, CassetteResponder)
    if whole:
        player = responder.player
        for item in player.cassette.interactions:
            call = read_recorded(dialect(binding.dialect), item.request)
            assert isinstance(call, Call)
            assert player.find(call, item.turn, item.round) is item
    server_run: Any = SimpleNamespace(responder=responder)
    backends.finished(binding, spec, server_run)


def test_what_no_run_asked_for_is_named_with_its_adapter() -> None:
    backends = replaying()
    run(backends, "google_genai", whole=False)
    lines = backends.unplayed()
    assert lines
    assert all(line.startswith("google_genai basics/four_turns: turn ") for line in lines)


def test_one_adapters_cassette_is_not_missed_in_another_ones_runs() -> None:
    backends = replaying()
    for adapter in ADAPTERS:
        run(backends, adapter, whole=True)
    assert backends.unplayed() == []
