"""The command as users run it, small: shapes, counts and exit codes of real runs. Nothing is said of what they cost."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from turnproof.commands.bench import engine, plots
from turnproof.commands.bench.report import Bench, Operation, Own, OwnFigure, read
from turnproof.commands.cli import main
from turnproof.provider import Path as AdapterPath
from turnproof.wire.emulator.server_run import CANARY_KEY

SCHEMA = json.loads((files("turnproof.commands.bench") / "bench.schema.json").read_text())
# The SDK says so of the model at every call.
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")]

PATHS = ("stateless", "legacy")
QUICK_BENCH = ("bench", "commands.bench.sample_outcomes:LIAR", "-n", "2", "--quick", "--rounds", "1")
CALLERS = ("floor.httpx2", "messages.create", *PATHS)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test stands in an empty folder, so that no settings but its own are found."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small real run of the reference adapter, kept as JSON."""
    file = tmp_path_factory.mktemp("bench") / "reports" / "bench.json"
    with pytest.MonkeyPatch.context() as patched:
        # Plots have tests of their own.
        patched.setattr(plots, "can_draw", lambda: False)
        assert main(["bench", "anthropic", "-n", "2", "-n", "8", "--quick", "--rounds", "1", "--out", str(file)]) == 0
    return file


@pytest.fixture
def measured(tiny: Path) -> Bench:
    return read(tiny)


def test_the_outcome_of_a_real_run_follows_the_schema(tiny: Path, measured: Bench) -> None:
    jsonschema.validate(json.loads(tiny.read_bytes()), SCHEMA)
    assert (measured.rounds, measured.messages) == (1, (2, 8))
    assert list(measured.adapters) == ["anthropic"]
    assert measured.adapters["anthropic"].problems == ()
    assert measured.adapters["anthropic"].plain_calls == ("messages.create",)
    assert "anthropic" in measured.environment.packages
    assert CANARY_KEY.encode() not in tiny.read_bytes()


def test_every_figure_of_every_caller_is_there(measured: Bench) -> None:
    times = {(time.figure, time.caller, time.messages) for time in measured.adapters["anthropic"].times}
    expected = {(figure, name, n) for figure in ("turn", "stream", "first-delta") for name in CALLERS for n in (2, 8)}
    expected |= {("delta", name, 2) for name in CALLERS}
    expected |= {("restore", path, n) for path in PATHS for n in (2, 8)} | {("collect", path, 8) for path in PATHS}
    assert times == expected


def test_every_path_is_held_against_floor_sdk_other_path_and_its_shortest_history(measured: Bench) -> None:
    ratios = {
        (ratio.caller, ratio.messages, ratio.to, ratio.to_messages)
        for ratio in measured.adapters["anthropic"].ratios
        if ratio.figure == "turn"
    }
    assert ratios == {
        *((name, n, "floor.httpx2", n) for name in CALLERS[1:] for n in (2, 8)),
        *((path, n, "messages.create", n) for path in PATHS for n in (2, 8)),
        *(("stateless", n, "legacy", n) for n in (2, 8)),
        *((path, 8, path, 2) for path in PATHS),
    }


COUNTS: dict[tuple[Operation, AdapterPath, int], tuple[dict[str, int], int, int]] = {
    # The stateless path takes the list once and looks at nothing that it has sent before.
    ("turn", "stateless", 2): ({"complete": 1}, 0, 3),
    ("turn", "stateless", 8): ({"complete": 1}, 0, 9),
    ("stream", "stateless", 8): ({"complete": 1}, 0, 9),
    ("collect", "stateless", 8): ({"complete": 1}, 0, 5),
    ("restore", "stateless", 8): ({"complete": 1}, 8, 9),
    # The legacy path is given no list, and converts all of its own.
    ("turn", "legacy", 2): ({"send_message": 1}, 2, 0),
    ("turn", "legacy", 8): ({"send_message": 1}, 8, 0),
    ("stream", "legacy", 8): ({"send_message_streaming": 1}, 8, 0),
    ("collect", "legacy", 8): ({"create_session": 1, "send_message": 1}, 4, 4),
    ("restore", "legacy", 8): ({"create_session": 2, "send_message": 1}, 8, 8),
}


def test_the_counts_of_the_reference_adapter_are_exact(measured: Bench) -> None:
    counts = measured.adapters["anthropic"].counts
    found = {(each.operation, each.path, each.messages): (each.calls, each.read, each.taken) for each in counts}
    assert {key: found[key] for key in COUNTS} == COUNTS
    assert {each.requests for each in counts} == {1}


def test_a_run_compares_with_an_earlier_one(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "anthropic", "-n", "2", "--quick", "--rounds", "1", "--path", "stateless", "--json"]
    assert main([*words, "--baseline", str(tiny), "--max-ratio", "1000"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["comparison"]["counts"], found["comparison"]["worse"]) == (3, [])
    assert found["comparison"]["ratios"] > 0
    callers = {time["caller"] for time in found["adapters"]["anthropic"]["times"]}
    assert callers == {"floor.httpx2", "messages.create", "stateless"}


def test_a_count_that_the_baseline_does_not_have_so_is_a_violation(tiny: Path, tmp_path: Path, capfd: Any) -> None:
    earlier = json.loads(tiny.read_bytes())
    for count in earlier["adapters"]["anthropic"]["counts"]:
        count["requests"] = 7
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps(earlier))
    words = ["bench", "anthropic", "-n", "2", "--quick", "--rounds", "1", "--path", "legacy", "--baseline", str(file)]
    assert main([*words, "--max-ratio", "1000"]) == 1
    out, err = capfd.readouterr()
    assert "✗ anthropic: requests of turn, legacy, 2 messages: 7 before, 1 now" in out
    assert err.splitlines()[-1] == "exit 1: violations"


def test_a_goal_out_of_reach_fails_only_where_goals_are_enforced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "goals.toml"
    about = 'adapter = "anthropic"\nfigure = "turn"\ncaller = "stateless"\nto = "messages.create"\nmessages = 2\n'
    file.write_text(f"[[goal]]\n{about}at_most = 0.0\n")
    words = ["bench", "anthropic", "-n", "2", "--quick", "--rounds", "1", "--path", "stateless", "--goals", str(file)]
    assert main(words) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.endswith("✗ missed")]
    assert line.split()[:7] == ["anthropic", "turn,", "stateless,", "2", "messages", "/", "messages.create"]
    assert main([*words, "--enforce"]) == 1


def test_an_adapter_that_does_not_say_what_the_server_said_is_not_measured(capfd: Any) -> None:
    assert main([*QUICK_BENCH, "--json"]) == 3
    out, err = capfd.readouterr()
    liar = json.loads(out)["adapters"]["liar"]
    assert (liar["times"], liar["counts"]) == ([], [])
    [problem] = liar["problems"]
    assert problem.startswith("stateless, in one piece: ProviderError: the server answered 'piece 000000 of it")
    assert problem.endswith("but the caller received 'something else'")
    assert "an adapter may print" in err


def test_an_adapter_that_fails_is_measured_up_to_there_and_its_key_is_not_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [
        "bench",
        "commands.bench.sample_outcomes:SHORT_OF_BREATH",
        "-n",
        "2",
        "-n",
        "4",
        "--quick",
        "--rounds",
        "1",
        "--json",
    ]
    assert main(words) == 3
    out = capsys.readouterr().out
    found = json.loads(out)["adapters"]["short-of-breath"]
    assert {time["messages"] for time in found["times"]} == {2}
    assert "turn, stateless, 4 messages: OverflowError: too long for me, and [key] is my key" in found["problems"]
    assert CANARY_KEY not in out


def test_an_adapter_that_fails_while_it_is_shut_down_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["bench", "commands.bench.sample_outcomes:HARD_TO_LEAVE", "-n", "2", "--quick", "--rounds", "1", "--json"])
        == 3
    )
    problems = json.loads(capsys.readouterr().out)["adapters"]["hard-to-leave"]["problems"]
    assert problems
    assert all(problem.endswith("OverflowError: stay") for problem in problems)


def test_a_path_that_is_not_there_is_nothing_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK_BENCH, "--path", "legacy"]) == 3
    assert "✗ not measured: liar has no legacy path" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("antropic",), "unknown adapter 'antropic'; did you mean 'anthropic'?"),
        (("anthropic", "-n", "3"), "an even number of messages, at least 2: got 3"),
        (("anthropic", "-n", "many"), "'-n' / '--messages': Input should be a valid integer"),
        (("anthropic", "--rounds", "0"), "should be greater than or equal to 1"),
        (("anthropic", "--path", "both"), "'both' is not one of 'stateless', 'legacy'"),
        (("anthropic", "--max-ratio", "2"), "it goes with --baseline"),
        (("anthropic", "--baseline", "b.json", "--max-ratio", "0.5"), "is at least 1"),
        (("anthropic", "--baseline", "b.json", "--max-ratio", "nan"), "is at least 1"),
        (("anthropic", "--baseline", "b.json"), "b.json: cannot read the benchmark: No such file"),
        (("anthropic", "--peer", "langchian"), "unknown peer 'langchian'; did you mean 'langchain'?"),
        (("anthropic", "--goals", "g.toml"), "g.toml: cannot read it as TOML"),
        (("anthropic", "turnproof_adapters.anthropic.binding:BINDING"), "two adapters are named 'anthropic'"),
        (("commands.bench.sample_outcomes:STRANGER",), "unknown dialect 'no-such-dialect'"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    line, last = err.splitlines()
    assert says in line
    assert last == "exit 2: usage, environment or harness fault"


def test_turnproof_itself_is_measured_alone_where_no_adapter_is_named(
    capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, tuple[str, ...]]] = []
    own = Own(figures=(OwnFigure("load", "ours", 5.5, "ms", (5.5,)),), notes=("no such tool",))

    def measured(rounds: int, peers: tuple[str, ...], tracker: object) -> Own:
        calls.append((rounds, peers))
        return own

    monkeypatch.setattr(engine, "_measure_own", measured)
    assert main(["bench", "--self", "--rounds", "3", "--peer", "langchain"]) == 0
    out = capfd.readouterr().out
    assert calls == [(3, ("langchain",))]
    assert "load    ours  5.5 ms" in out
    assert "– no such tool" in out
    assert "G13 turnproof" in out
    assert "anthropic" not in out.replace("turnproof certify anthropic", "")


def test_plots_stand_beside_the_outcome_or_it_is_said_how_to_get_them(
    tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawings: list[Path] = []
    monkeypatch.setattr(plots, "draw", lambda found, file: drawings.append(file))
    words = [*QUICK_BENCH, "--out", str(tmp_path / "b.json")]
    monkeypatch.setattr(plots, "can_draw", lambda: True)
    main(words)
    assert drawings == [tmp_path / "b.json"]
    monkeypatch.setattr(plots, "can_draw", lambda: False)
    main(words)
    assert "no plots were drawn: pip install 'turnproof[plots]'" in capfd.readouterr().err
    assert len(drawings) == 1


def test_an_outcome_that_cannot_be_written_is_printed_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*QUICK_BENCH, "--out", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert "liar" in out
    assert f"cannot write {tmp_path}: Is a directory" in err
