"""The outcome as JSON, and what is printed of it."""

from __future__ import annotations

import io
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from turnproof._base.exit_codes import Exit
from turnproof.commands.bench import text
from turnproof.commands.bench.engine import exit_code
from turnproof.commands.bench.report import (
    Bench,
    Change,
    Comparison,
    GoalResult,
    Own,
    OwnFigure,
    OwnRatio,
    Peer,
    Time,
    read,
    to_json,
)
from turnproof.commands.bench.text import print_bench
from turnproof.errors import UsageError

from .sample_outcomes import adapter, outcome

SCHEMA = json.loads((files("turnproof.commands.bench") / "bench.schema.json").read_text())

STRETCHED = GoalResult(
    "G1", "mine", "turn, stateless, 2 messages / sdk.call", 0.6, 0.5, "stretch reached", 0.5, 0.4, 0.7
)
REACHED = GoalResult("G2", "mine", "delta, stateless, 2 messages / sdk.call", 0.6, None, "reached", 0.65, 0.5, 0.7)
MISSED = GoalResult("", "mine", "turn, stateless, 200 messages / stateless at 2", 1.4, 1.2, "missed", 1.6, 1.5, 1.75)
UNMEASURED = GoalResult("G3", "mine", "turn, stateless, 1000 messages / sdk.call", 0.2, None, "not measured")
OWN = Own(
    (OwnFigure("load", "ours", 5.5, "ms", (5.5, 6.0)),),
    (OwnRatio("load", "ours", "theirs", 0.5, 0.4, 0.9),),
)
PEER = Peer("langchain", "langchain-anthropic", {"langchain-core": "1.7.2", "anthropic": "2.12.0"})
SAME = Comparison("earlier.json", 1.5, 2, 2)
WORSE = Comparison(
    "earlier.json", 1.5, 2, 2, (Change("mine", "read of turn, stateless, 2 messages", "0", "2"),), ("python: 3.9 then",)
)
FULL = outcome(goals=(STRETCHED, REACHED, MISSED, UNMEASURED), comparison=WORSE, own=OWN)


def printed(bench: Bench) -> str:
    stream = io.StringIO()
    print_bench(bench, stream)
    return stream.getvalue()


@pytest.mark.parametrize("bench", [outcome(), FULL, outcome(adapters={})], ids=["plain", "full", "empty"])
def test_the_json_follows_its_schema_and_is_read_back_whole(bench: Bench, tmp_path: Path) -> None:
    written = to_json(bench)
    jsonschema.validate(json.loads(written), SCHEMA)
    assert written.endswith(b"}\n")
    (tmp_path / "bench.json").write_bytes(written)
    assert read(tmp_path / "bench.json") == bench


def test_the_schema_is_one_and_refuses_what_it_does_not_know() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    document = json.loads(to_json(FULL))
    for spot in (document, document["adapters"]["mine"], document["adapters"]["mine"]["ratios"][0]):
        spot["extra"] = 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, SCHEMA)
        del spot["extra"]
    jsonschema.validate(document, SCHEMA)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("{", "truncated"),
        ("[]", "Expected `object`, got `array`"),
        ('{"schema": "turnproof.certification/1"}', "`$.schema`"),
        ("\x80", ""),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, written: str, says: str) -> None:
    file = tmp_path / "bench.json"
    file.write_bytes(written.encode("latin-1"))
    with pytest.raises(UsageError) as refused:
        read(file)
    assert str(refused.value).startswith(f"{file}: this is no output of `turnproof bench --json`: ")
    assert says in str(refused.value)


def test_a_file_of_another_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    file.write_text('{"schema": "turnproof.bench/1", "adapters": {}}')
    with pytest.raises(UsageError) as refused:
        read(file)
    assert str(refused.value) == (
        f"{file}: this is turnproof.bench/1, and this turnproof reads turnproof.bench/2: "
        f"measure again with `turnproof bench --out {file}`"
    )


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere: cannot read the benchmark: No such file"):
        read(tmp_path / "nowhere")


def test_the_table_has_a_row_for_every_time_with_its_ratios() -> None:
    rows = [line.split() for line in printed(outcome()).splitlines()]
    assert ["turn", "sdk.call", "2", "2.0000"] in rows
    assert ["turn", "stateless", "2", "1.0000", "0.5", "[0.4–0.6]"] in rows
    assert ["turn", "stateless", "200", "1.5000", "1.5"] in rows
    assert ["delta", "stateless", "2", "0.0100"] in rows
    assert ["turn", "stateless", "2", "1", "0", "3", "1", "1", "complete"] in rows
    assert ["peak", "stateless", "2", "4,096", "bytes"] in rows
    assert ["held", "sdk.call", "200", "1,200", "bytes", "a", "message"] in rows
    assert ["collect", "legacy", "200", "1", "100", "100", "1", "create_session,", "1", "send_message"] in rows


def test_figures_are_whole_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "console_for", lambda file: Console(file=file, width=30))
    shown = printed(outcome())
    assert "…" not in shown
    assert "[0.4–0.6]" in shown


def test_few_rounds_are_called_a_hint() -> None:
    assert "hint" not in printed(outcome())
    assert "rounds: 4 (take fewer than 5 for a hint)" in printed(outcome(rounds=4))


def test_goals_stand_in_one_table_with_what_was_measured_and_what_became_of_them() -> None:
    lines = [" ".join(line.split()) for line in printed(FULL).splitlines()]
    start = lines.index("goal of ratio at most stretch measured")
    assert lines[start + 1 : start + 4] == [
        "G1 mine turn, stateless, 2 messages / sdk.call 0.6 0.5 0.5 [0.4–0.7] ✓ stretch reached",
        "G2 mine delta, stateless, 2 messages / sdk.call 0.6 0.65 [0.5–0.7] ✓ reached",
        "mine turn, stateless, 200 messages / stateless at 2 1.4 1.2 1.6 [1.5–1.75] ✗ missed",
    ]
    assert "– goals not measured: G3 mine" in lines


def test_of_many_goals_of_one_name_it_is_told_how_many_were_not_measured() -> None:
    again = GoalResult("G3", "mine", "turn, stateless, 2 messages / sdk.call", 0.2, None, "reached", 0.1, 0.1, 0.1)
    assert "– goals not measured: G3 mine (1 of 2)" in printed(outcome(goals=(UNMEASURED, again))).splitlines()


def test_what_is_worse_stands_at_the_end() -> None:
    assert printed(FULL).splitlines()[-3:] == [
        "2 counts and 2 ratios compared with earlier.json, ratios at most 1.5 times: 1 worse",
        "! measured elsewhere: python: 3.9 then",
        "✗ mine: read of turn, stateless, 2 messages: 0 before, 2 now",
    ]


def test_what_was_not_measured_is_told_on_one_harmless_line() -> None:
    shown = printed(outcome(adapters={"mine": adapter(problems=("turn, legacy: Oops: a\nb \x1b[31m",))}))
    assert "✗ not measured: turn, legacy: Oops: a b \\x1b[31m" in shown
    assert "\x1b" not in shown


def test_peers_are_named_with_the_versions_that_they_ran_on() -> None:
    adapter_bench = adapter(peers=(PEER,), times=(Time("turn", "langchain", 2, 9.0, (9.0,)),))
    bench = outcome(adapters={"mine": adapter_bench})
    lines = printed(bench).splitlines()
    assert "langchain: anthropic 2.12.0, langchain-core 1.7.2" in lines
    assert any(line.split() == ["turn", "langchain", "2", "9.0000"] for line in lines)
    jsonschema.validate(json.loads(to_json(bench)), SCHEMA)


def test_what_turnproof_itself_takes_stands_in_tables_of_its_own() -> None:
    rows = [line.split() for line in printed(FULL).splitlines()]
    assert ["load", "ours", "5.5", "ms"] in rows
    assert ["load", "ours", "theirs", "0.5", "[0.4–0.9]"] in rows


def test_what_was_left_out_is_noted() -> None:
    assert "– no floor was measured: x" in printed(outcome(notes=("no floor was measured: x",))).splitlines()


def test_an_adapter_without_figures_is_shown_by_its_problems_alone() -> None:
    nothing = adapter(times=(), sizes=(), ratios=(), counts=(), problems=("mine has no legacy path",))
    lines = printed(outcome(adapters={"mine": nothing})).split("\n")
    assert "✗ not measured: mine has no legacy path" in lines
    assert not any("figure" in line for line in lines)


FAILED = adapter(problems=("turn, legacy, 2 messages: OverflowError: enough",))
EMPTY = adapter(ratios=(), counts=())


@pytest.mark.parametrize(
    ("changes", "enforce", "code"),
    [
        ({}, False, Exit.OK),
        ({"goals": (REACHED, MISSED)}, False, Exit.OK),
        ({"goals": (REACHED, MISSED)}, True, Exit.VIOLATIONS),
        ({"goals": (REACHED,)}, True, Exit.OK),
        ({"goals": (REACHED, UNMEASURED)}, True, Exit.UNDECIDED),
        ({"goals": (MISSED, UNMEASURED)}, True, Exit.VIOLATIONS),
        ({"goals": ()}, True, Exit.UNDECIDED),
        ({"comparison": SAME}, False, Exit.OK),
        ({"comparison": WORSE}, False, Exit.VIOLATIONS),
        ({"comparison": Comparison("b", 1.5, 0, 2)}, False, Exit.UNDECIDED),
        ({"comparison": Comparison("b", 1.5, 2, 0)}, False, Exit.UNDECIDED),
        ({"adapters": {"mine": FAILED}}, False, Exit.UNDECIDED),
        ({"adapters": {"mine": FAILED}, "comparison": WORSE}, False, Exit.VIOLATIONS),
        ({"adapters": {"mine": EMPTY}}, False, Exit.UNDECIDED),
        ({"adapters": {"mine": adapter(), "other": EMPTY}}, False, Exit.UNDECIDED),
        ({"adapters": {}}, False, Exit.UNDECIDED),
        ({"adapters": {}, "own": OWN}, False, Exit.OK),
        ({"adapters": {}, "own": Own()}, False, Exit.UNDECIDED),
        ({"own": Own(figures=OWN.figures, problems=("Server: Oops",))}, False, Exit.UNDECIDED),
    ],
)
def test_the_exit_code_is_the_heaviest_of_what_was_found(changes: dict[str, Any], enforce: bool, code: Exit) -> None:
    assert exit_code(outcome(**changes), enforce=enforce) is code
