"""What a replay notes of its cassettes: what was asked for, and what lay there unasked. Where a real service is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.session_sources.source import KEY, endpoint_of
from turnproof.dialects import dialect, dialect_names
from turnproof.dialects.access import access_to
from turnproof.dialects.base import Call
from turnproof.errors import CassetteError, UsageError
from turnproof.judge.requirements import load_suite
from turnproof.provider import Binding, Capabilities
from turnproof.run.backends import Backends, Choice, choose_backend, live_target
from turnproof.run.bindings import resolve_binding, resolve_subject, subject_of
from turnproof.run.driver import RunSpec
from turnproof.run.transcript import RunKey
from turnproof.wire.cassettes.match import read_recorded
from turnproof.wire.cassettes.recording_proxy import ProxyTarget
from turnproof.wire.emulator import CassetteResponder

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


def test_an_adapter_whose_name_no_folder_can_have_has_no_cassettes() -> None:
    binding = replace(resolve_binding("anthropic"), name="n" * 300)
    subject = subject_of(binding)
    assert choose_backend("my:ADAPTER", subject, None) == Choice("emulate")
    with pytest.raises(CassetteError, match="no cassettes for 'nnn"):
        choose_backend("my:ADAPTER", subject, "replay")


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


@pytest.mark.parametrize("name", dialect_names())
def test_without_a_key_whoever_goes_to_the_real_service_says_so_in_one_wording(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    variables = dialect(name).service.key_variables
    for variable in (KEY, *variables):
        monkeypatch.delenv(variable, raising=False)
    binding = Binding("mine", name, "m", Capabilities())
    with pytest.raises(UsageError) as live:
        live_target(binding, dialect(name))
    with pytest.raises(UsageError) as failure:
        endpoint_of("mine", name, "m", "", {}, needs_key=True)
    own = " or ".join(variables)
    assert str(live.value) == f"the live backend of 'mine' needs a key: set {own} in the environment"
    assert str(failure.value) == f"'mine' needs a key: set {KEY} or {own} in the environment"
    assert endpoint_of("mine", name, "m", "", {}, needs_key=False).api_key == ""


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("address", [None, "proxy.example", "http://127.0.0.1:7"])
def test_the_real_service_is_where_the_environment_has_it_and_its_own_key_counts_there(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str | None
) -> None:
    wire_dialect = dialect(name)
    service = wire_dialect.service
    monkeypatch.setenv(KEY, "key-for-whichever")
    for variable in service.key_variables:
        monkeypatch.setenv(variable, f"key-of-{variable}")
    if address is None:
        monkeypatch.delenv(service.base_url_variable, raising=False)
    else:
        monkeypatch.setenv(service.base_url_variable, f"{address}{service.base_path}")
    host = {None: wire_dialect.default_host, "proxy.example": "https://proxy.example"}.get(address, address)
    endpoint = endpoint_of("mine", name, "m", "", {}, needs_key=True)
    assert (endpoint.base_url, endpoint.api_key) == (f"{host}{service.base_path}", "key-for-whichever")
    live = access_to(wire_dialect, "mine")
    assert (live.base_url, live.key) == (endpoint.base_url, f"key-of-{service.key_variables[0]}")
    assert live.key not in repr(live)
    target = live_target(Binding("mine", name, "m", Capabilities()), wire_dialect)
    assert repr(target) == f"ProxyTarget({host!r}, dialect={wire_dialect.name!r})"


def test_cassettes_of_ones_own_are_played_in_place_of_the_installed_ones(tmp_path: Path) -> None:
    (tmp_path / "anthropic").mkdir()

    chosen = choose_backend("anthropic", resolve_subject("anthropic"), "replay", tmp_path)
    assert chosen == Choice("replay", tmp_path)


def test_a_folder_without_cassettes_of_the_adapter_says_how_to_record_them(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="turnproof record anthropic --out"):
        choose_backend("anthropic", resolve_subject("anthropic"), "replay", tmp_path)


def test_cassettes_go_with_a_replay_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="goes with --backend replay, not emulate"):
        choose_backend("anthropic", resolve_subject("anthropic"), "emulate", tmp_path)


def test_a_live_run_that_may_cost_too_much_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://api.anthropic.example")
    monkeypatch.setattr(ProxyTarget, "check_presence", lambda self: None)
    options = CertifyOptions(
        ("anthropic",), backend="live", scenarios=("basics/plain",), out=tmp_path / "out", max_cost=0.0001
    )

    with pytest.raises(UsageError, match=r"this may cost \$0\.\d\d, more than --max-cost 0\.00"):
        certify(options)
    assert not (tmp_path / "out").exists()
