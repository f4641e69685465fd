"""`pytest --turnproof-bench` as users run it, small: pytest-benchmark saves and compares what the engine measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

pytest_plugins = ["pytester"]

TESTS = Path(__file__).resolve().parents[2]
SMALL = ("--turnproof-bench-messages=2", "--turnproof-bench-messages=8", "--turnproof-bench-rounds=2")
CALLERS = ("floor.httpx2", "messages.create", "stateless", "legacy")


@pytest.fixture(autouse=True)
def adapters_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    # Inside a worker of xdist pytest-benchmark would switch itself off.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)


def saved(pytester: pytest.Pytester) -> list[Path]:
    return sorted((pytester.path / ".benchmarks").glob("*/*.json"))


def test_turns_are_benchmarks_that_are_saved_and_compared(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(autouse=True, scope="module")
        def of_the_project(): pass
        """
    )
    words = ("--turnproof-bench=anthropic", *SMALL, "--benchmark-autosave")
    pytester.runpytest_subprocess(*words).assert_outcomes(passed=8)
    [file] = saved(pytester)
    outcome = json.loads(file.read_text())
    items = {item["fullname"]: item for item in outcome["benchmarks"]}
    assert set(items) == {f"turnproof::anthropic/turn[{caller}-{n}]" for caller in CALLERS for n in (2, 8)}
    assert {item["options"]["timer"] for item in items.values()} == {"process_time"}
    assert {item["stats"]["rounds"] for item in items.values()} == {2}
    assert {item["group"] for item in items.values()} == {f"anthropic: a turn at {n} messages" for n in (2, 8)}
    stateless = items["turnproof::anthropic/turn[stateless-8]"]
    info = stateless["extra_info"]
    assert (info["adapter"], info["caller"], info["messages"]) == ("anthropic", "stateless", 8)
    assert set(info["ratios"]) == {"floor.httpx2", "messages.create", "legacy", "stateless at 2"}
    assert_ratio_is_of_the_same_rounds(stateless, items["turnproof::anthropic/turn[legacy-8]"])

    # Against a run that was impossibly slow, and then one that was impossibly quick.
    smallest = (*words[:1], "--turnproof-bench-messages=2", "--turnproof-bench-rounds=1", "--benchmark-compare=0001")
    for seconds, regressed in ((1e9, False), (1e-9, True)):
        for item in outcome["benchmarks"]:
            item["stats"]["min"] = seconds
        file.write_text(json.dumps(outcome))
        result = pytester.runpytest_subprocess(*smallest, "--benchmark-compare-fail=min:25%")
        assert (result.ret != pytest.ExitCode.OK) == regressed
        assert ("Performance has regressed" in result.stderr.str() + result.stdout.str()) == regressed


def assert_ratio_is_of_the_same_rounds(item: dict[str, Any], other: dict[str, Any]) -> None:
    """Two rounds of each: the quotients, and the highest and lowest, lie between the extremes of both."""
    ratio = item["extra_info"]["ratios"][other["extra_info"]["caller"]]
    lowest, highest = item["stats"]["min"] / other["stats"]["max"], item["stats"]["max"] / other["stats"]["min"]
    assert lowest * 0.999 <= ratio["low"] <= ratio["value"] <= ratio["high"] <= highest * 1.001


def test_a_caller_that_fails_fails_its_items_with_the_reason(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--turnproof-bench=commands.bench.sample_outcomes:SHORT_OF_BREATH", *SMALL)
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1
    assert outcomes["passed"] >= 1
    result.stdout.fnmatch_lines(["*stateless*8 messages: OverflowError: too long for me*"])


def test_a_disabled_benchmark_is_skipped_and_measures_nothing(pytester: pytest.Pytester) -> None:
    words = ("--turnproof-bench=commands.bench.sample_outcomes:LIAR", "--turnproof-bench-messages=2")
    pytester.runpytest_inprocess(*words, "--benchmark-disable").assert_outcomes(skipped=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--turnproof-bench=anthropics",), "*did you mean 'anthropic'*"),
        (("--turnproof-bench=anthropic", "--turnproof-bench-messages=3"), "*even number of messages*got 3*"),
        (("--turnproof-bench=anthropic", "--turnproof-bench-rounds=0"), "*is at least 1: got 0*"),
        (("--turnproof-bench=anthropic", "-p", "no:benchmark"), "*pip install 'turnproof?bench?'*"),
        (
            ("--turnproof-bench=anthropic", "--turnproof-bench=turnproof_adapters.anthropic.binding:BINDING"),
            "*two adapters are named 'anthropic'*",
        ),
    ],
    ids=["adapter", "messages", "rounds", "not-installed", "two-of-one-name"],
)
def test_what_cannot_be_measured_is_a_usage_error(
    pytester: pytest.Pytester, words: tuple[str, ...], message: str
) -> None:
    result = pytester.runpytest_inprocess(*words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
