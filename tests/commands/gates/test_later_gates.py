"""The later gates over real runs: closed while something is left, open when nothing is, and told in the right order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnproof._base.settings import Config, GateSettings, Settings
from turnproof.commands.cli import main
from turnproof.commands.gates import GateOptions, GateReport, State, gate, gate_md
from turnproof.errors import UsageError
from turnproof.run.evidence import EvidenceStore

from .kit import closed, criterion, gated, scenarios, states, undecided

SOME = ("basics/four_turns", "cache/growth", "cancel/in_text", "gc/context_limit", "gc/tool_pairs", "history/reset",
        "persistence/save_load")  # fmt: skip


def opened(phase: int, *subjects: str, out: Path, names: tuple[str, ...] = SOME, **gates: Any) -> GateReport:
    return gated(phase, *(subjects or ("commands.gates.migrated:MIGRATED",)), out=out, names=names, gates=gates)


def test_a_session_with_nothing_left_of_the_migration_passes_the_last_gate(tmp_path: Path) -> None:
    report = opened(5, out=tmp_path)
    assert (closed(report), undecided(report)) == ([], [])
    assert (report.state, report.exit_code) == (State.OPEN, 0)
    assert set(report.runs) == {"gate-5", "gate-5/off"}
    for run in report.runs:
        store = EvidenceStore(tmp_path / run / "evidence")
        assert [store.verify(digest) for digest in store.digests()] == [None] * len(store.digests())
    assert {state for id, state in states(report).items() if id.startswith("5/")} == {State.OPEN, State.NOT_ASKED}


def test_the_reference_session_still_has_a_legacy_path_and_is_told_what_is_left(tmp_path: Path) -> None:
    report = opened(4, "commands.gates.sessions:FLIPPED", out=tmp_path, names=("tools/one",))
    assert report.exit_code == 1
    assert {"4/legacy-methods-are-gone", "4/no-history-in-the-source", "4/flag-is-gone"} <= set(closed(report))
    found = criterion(report, "4/legacy-methods-are-gone")
    assert "turnproof_adapters.anthropic.legacy.AnthropicLegacy.send_tool_results()" in found.left
    assert any(spot.file.endswith("_legacy.py") and "send_message()" in spot.what for spot in found.spots)
    assert found.message == (
        "The adapter's binding still opens a legacy path. "
        "expected no `open_legacy` in the binding of anthropic; got one (and 7 more)"
    )
    assert "_legacy.py:" in gate_md(report)


def test_a_phase_that_is_out_of_order_is_told_so(tmp_path: Path) -> None:
    report = opened(4, "commands.gates.sessions:UNFLIPPED", out=tmp_path, names=("basics/plain",))
    assert "3/default-is-stateless" in report.out_of_order
    assert criterion(report, "3/default-is-stateless").side == "entry"


@pytest.mark.parametrize("phase", [4, 5])
def test_a_default_that_is_off_is_not_held_against_the_adapter(tmp_path: Path, phase: int) -> None:
    """The adapter has complete(); the runs, with nothing set, only do not come by it."""
    report = opened(phase, "commands.gates.sessions:UNFLIPPED", out=tmp_path, names=("basics/plain",))
    found = criterion(report, "3/every-adapter-has-complete")
    assert found.state is State.UNDECIDED
    assert "the flag's default leads to the legacy path" in found.message
    assert "next: change the flag's default in the session (3/default-is-stateless)" in found.message
    assert found.id not in report.out_of_order


def test_an_adapter_without_complete_is_told_so_whatever_the_default(tmp_path: Path) -> None:
    report = opened(4, "commands.gates.two_paths:ONLY_LEGACY", out=tmp_path, names=("basics/plain",))
    found = criterion(report, "3/every-adapter-has-complete")
    assert found.state is State.CLOSED
    assert "The adapter has no complete()." in found.message
    assert "the binding of only-legacy" in found.message


def test_what_the_pilot_has_and_the_others_lack_is_what_the_third_phase_is_for(tmp_path: Path) -> None:
    settings = GateSettings(session="commands.gates.sessions:FLIPPED", pilot="commands.gates.two_paths:RIGHT")
    both = ("commands.gates.two_paths:RIGHT", "commands.gates.two_paths:NEVER_ANSWERS")
    config = Config(Settings(gates=settings), tmp_path / "turnproof.toml")
    options = GateOptions(3, both, out=tmp_path, config=config, in_process=True)
    report = gate(options, scenarios(("basics/plain",)))
    assert report.state is State.CLOSED
    assert report.out_of_order == ()


def test_the_third_gate_is_open_after_the_flip(tmp_path: Path) -> None:
    report = opened(3, "commands.gates.sessions:FLIPPED", out=tmp_path, names=("tools/one",))
    assert (closed(report), undecided(report)) == ([], [])
    assert report.state is State.OPEN


def test_everybody_has_to_pass_the_third_gate_each_by_its_own_name(tmp_path: Path) -> None:
    gates = GateSettings(session="commands.gates.sessions:FLIPPED")
    settings = Settings(
        gates=gates, adapters=("commands.gates.two_paths:RIGHT", "commands.gates.two_paths:ONLY_LEGACY")
    )
    options = GateOptions(3, out=tmp_path, config=Config(settings, tmp_path / "turnproof.toml"), in_process=True)
    report = gate(options, scenarios(("basics/plain",)))
    assert {subject.name: subject.state for subject in report.subjects} == {
        "flipped@right": State.UNDECIDED,
        "flipped@only-legacy": State.CLOSED,
    }
    assert {(subject.session, subject.adapter) for subject in report.subjects} == {
        ("flipped", "right"),
        ("flipped", "only-legacy"),
    }


def test_an_exemption_lets_an_adapter_pass_and_is_told(tmp_path: Path) -> None:
    config = Config(
        Settings(
            gates=GateSettings(
                session="commands.gates.sessions:FLIPPED",
                exemption=exemptions("3/every-adapter-has-complete", "3/default-is-stateless", "3/paths-agree"),
            ),
        ),
        tmp_path / "turnproof.toml",
    )
    options = GateOptions(3, ("commands.gates.two_paths:ONLY_LEGACY",), out=tmp_path, config=config, in_process=True)
    report = gate(options, scenarios(("tools/one",)))
    assert states(report)["3/every-adapter-has-complete"] is State.ACCEPTED
    assert "agents have no other" in (tmp_path / "gate-3.md").read_text()


def exemptions(*ids: str) -> Any:
    from datetime import date

    from turnproof._base.settings import Exemption

    return tuple(Exemption("only-legacy", id, "agents have no other", date(2099, 1, 1)) for id in ids)


def test_a_shadow_fails_only_for_what_was_open_before(tmp_path: Path) -> None:
    """Recorded with a right session; then one that asks its provider while it is saved goes by the same name."""
    names = ("persistence/save_load",)
    first = gated(5, "commands.gates.migrated:MIGRATED", out=tmp_path, names=names, update_baseline=True, mode="shadow")
    assert (first.exit_code, first.recorded, first.regressions) == (0, False, ())
    again = gated(5, "commands.gates.migrated:MIGRATED", out=tmp_path, names=names, mode="shadow")
    assert (again.exit_code, again.recorded, again.gate_exit_code) == (0, True, 3)
    renamed = gated(5, "commands.gates.test_later_gates:ASKS", out=tmp_path, names=names, mode="shadow")
    assert [step.criterion for step in renamed.regressions] == ["5/save-asks-no-provider"]
    assert (renamed.exit_code, renamed.gate_exit_code) == (1, 1)
    assert gated(5, "commands.gates.test_later_gates:ASKS", out=tmp_path, names=names, mode="report").exit_code == 0


def _asks() -> Any:
    from dataclasses import replace

    from .migrated import SAVE_ASKS

    return replace(SAVE_ASKS, name="migrated")


ASKS = _asks()


@pytest.mark.parametrize(
    ("gates", "says"),
    [
        ({"protocol": "no_such:Thing"}, "gates: protocol: 'no_such:Thing': there is no module 'no_such'"),
        ({"protocol": "turnproof.provider"}, "gates: protocol: 'turnproof.provider' is not module:attribute"),
        (
            {"providers": ("commands.gates.migrated:OnePaht",)},
            "gates: providers: 'commands.gates.migrated:OnePaht': commands.gates.migrated has no attribute 'OnePaht'",
        ),
        (
            {"session_class": "commands.gates.migrated:ONE_PATH"},
            "gates: session_class: 'commands.gates.migrated:ONE_PATH' is a Binding",
        ),
    ],
)
def test_a_class_that_is_not_there_stops_everything_before_it_begins(
    tmp_path: Path, gates: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError) as failure:
        opened(4, out=tmp_path, **gates)
    assert str(failure.value).startswith(says)
    assert not (tmp_path / "gate-4").exists()


# -- the command -------------------------------------------------------------------------------------------------------


def run_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    """`turnproof gate` in this process, in a project with nothing but one setting."""
    monkeypatch.chdir(folder)
    (folder / "turnproof.toml").write_text('[gates]\nphase = 5\nmode = "shadow"\n')
    command = [
        "gate",
        "commands.gates.test_later_gates:ASKS",
        "--scenario",
        "persistence/save_load",
        "--in-process",
        *words,
    ]
    code = main(command)
    output = capsys.readouterr()
    return code, output.out, output.err


def test_on_github_a_gate_annotates_and_adds_to_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    code, out, err = run_command(tmp_path, monkeypatch, capsys, "--json", "--mode", "enforce")
    assert code == 1
    assert json.loads(out)["mode"] == "enforce"
    start = "::error title=5/save-asks-no-provider is closed%3A migrated::persistence/save_load/stateless/"
    assert start in err
    assert "expected no call of provider.count_tokens() during save; got one" in err
    assert (tmp_path / "summary").read_text() == (tmp_path / "reports" / "gate-5.md").read_text()


def test_the_mode_of_the_settings_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    code, out, err = run_command(tmp_path, monkeypatch, capsys)
    assert code == 0
    text = " ".join(out.split())
    assert "nothing is recorded of this phase yet (--update-baseline does it). Enforced, it would end with 1." in text
    assert "the gate of phase 5 is closed; mode shadow: enforced, the exit code would be 1" in err
    assert "::" not in err


def test_some_scenarios_are_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run_command(tmp_path, monkeypatch, capsys, "--update-baseline")
    assert code == 2
    assert err.startswith("error: a gate of some scenarios is no record: leave out --update-baseline, or --scenario")
    assert not (tmp_path / "gate-baseline.json").exists()
