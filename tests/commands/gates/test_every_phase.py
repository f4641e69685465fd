"""The gates of all phases with one command: who passes, what is run once, and how the command ends."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from turnproof._base.settings import Config, GateSettings, Settings
from turnproof.commands.cli import main
from turnproof.commands.gates import GateOptions, GateReport, State, gate_every_phase, worst_exit_code
from turnproof.errors import BindingError, UsageError
from turnproof.provider import LEGACY_METHODS, Endpoint
from turnproof.run.bindings import binding_names, resolve_binding
from turnproof.run.driver import RunSpec
from turnproof.run.driver.runner import Runner

from . import kit
from .test_later_gates import SOME

BOTH = tuple(dict.fromkeys((*kit.SOME, *SOME)))


def options(out: Path, *subjects: str, adapters: tuple[str, ...] = (), **gates: Any) -> GateOptions:
    settings = Settings(gates=GateSettings(**gates), adapters=adapters)
    return GateOptions(1, subjects, out=out, config=Config(settings, out / "turnproof.toml"), in_process=True)


def not_open(report: GateReport) -> list[tuple[str, str, State]]:
    fine = (State.OPEN, State.NOT_ASKED)
    return [
        (subject.name, one.id, one.state)
        for subject in report.subjects
        for one in subject.criteria
        if one.state not in fine
    ]


@pytest.mark.long
def test_the_reference_session_passes_every_phase_as_it_ships(tmp_path: Path) -> None:
    adapters = ("anthropic", "ollama")
    reports = gate_every_phase(options(tmp_path, adapters=adapters), scenarios=kit.scenarios(BOTH))
    assert [(report.phase, not_open(report)) for report in reports] == [(number, []) for number in range(1, 6)]
    assert [report.state for report in reports] == [State.OPEN] * 5
    assert [{subject.name for subject in report.subjects} for report in reports] == [
        {"anthropic"},
        {"anthropic"},
        *[set(adapters)] * 3,
    ]
    assert not list(tmp_path.glob("*.kept"))


def test_what_two_phases_run_alike_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_keys: list[tuple[str, str]] = []
    make_runs = Runner.make_runs

    def counting(self: Runner, specs: Iterable[RunSpec], progress: Any) -> None:
        every = list(specs)
        run_keys.extend((spec.adapter, str(spec.key)) for spec in every)
        make_runs(self, every, progress)

    monkeypatch.setattr(Runner, "make_runs", counting)
    counts: list[int] = []
    one_adapter = options(tmp_path, adapters=("anthropic",))
    gate_every_phase(one_adapter, lambda report: counts.append(len(run_keys)), kit.scenarios(("basics/plain",)))
    one, two, three, four, five = counts
    assert one == 2  # in one piece and streamed, with the flag off
    assert two - one == 5  # again with the flag off, with it on, and in one piece with nothing set
    assert (three - two, four - three) == (7, 3)  # with another default, and without its legacy path
    assert five == four
    assert {digest for digest in (tmp_path / "gate-5" / "evidence").rglob("*") if digest.is_file()}
    for number in range(1, 6):
        assert json.loads((tmp_path / f"gate-{number}.json").read_text())["phase"] == number


def test_one_that_a_phase_cannot_be_asked_of_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no legacy path; phases 1 and 2 need one; give one --phase at a time"):
        gate_every_phase(options(tmp_path, "commands.gates.migrated:MIGRATED"), scenarios=kit.scenarios(("tools/one",)))
    assert not list(tmp_path.iterdir())


def test_a_session_of_ones_own_passes_only_the_phases_that_it_has_reached(tmp_path: Path) -> None:
    """Nothing but the reference session comes in the state that a phase asks for."""
    one_adapter = options(tmp_path, adapters=("anthropic",), session="commands.gates.sessions:UNFLIPPED")
    reports = gate_every_phase(one_adapter, scenarios=kit.scenarios(("basics/plain",)))
    closed = [[id for _, id, state in not_open(report) if state is State.CLOSED] for report in reports]
    assert closed[:2] == [[], []]
    assert closed[2] == ["3/default-is-stateless"]
    assert {"3/default-is-stateless", "4/legacy-methods-are-gone"} <= set(closed[3])
    assert "4/legacy-methods-are-gone" in closed[4]
    assert worst_exit_code(reports) == 1


@pytest.mark.parametrize("words", [("--all", "--phase", "1"), ("--all", "--json")])
def test_what_is_about_one_gate_does_not_go_with_all(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["gate", *words]) == 2
    assert f"--all and {words[1]} do not go together" in capsys.readouterr().err


def test_the_command_has_a_line_for_each_phase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turnproof.toml").write_text('adapters = ["anthropic"]\n')
    code = main(["gate", "--all", "--scenario", "basics/plain", "--in-process", "--mode", "report"])
    output = capsys.readouterr()
    lines = output.out.splitlines()[-5:]
    assert code == 0
    assert [line.split(",")[0] for line in lines] == [f"phase {number}" for number in range(1, 6)]
    assert all("? undecided" in line for line in lines)


@pytest.mark.parametrize("name", binding_names())
def test_the_migrated_form_of_a_reference_adapter_has_nothing_left_of_the_migration(name: str) -> None:
    adapter, migrated = resolve_binding(name), resolve_binding(f"{name}.migrated")
    assert adapter.migrated is migrated
    assert (migrated.name, migrated.open_legacy, tuple(migrated.declared)) == (name, None, ())
    assert migrated.open_stateless is not None
    provider = migrated.open_stateless(Endpoint("http://127.0.0.1:9", "key", adapter.model))
    left = [method for method in (*LEGACY_METHODS, "set_cache_plugin") if callable(getattr(provider, method, None))]
    assert left == []
    provider.shutdown()


def test_an_adapter_without_a_migrated_form_is_told_so() -> None:
    with pytest.raises(BindingError, match="is a NoneType, not a"):
        resolve_binding("anthropic.migrated.migrated")
