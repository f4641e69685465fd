"""The census asks a service for each rule, and writes down what came back. Here the emulator is the service."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from turnproof.commands.census.engine import CensusCount, census
from turnproof.commands.census.observation import read_observations
from turnproof.commands.census.options import CensusOptions
from turnproof.commands.census.pairs import pairs_of, selected
from turnproof.dialects import dialect
from turnproof.errors import UsageError
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder

KEY = "sk-test-0123456789abcdefghij"


@pytest.fixture
def service(server: EmulatorServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an emulated Messages API, with the environment that leads there."""
    run = server.open_run(dialect("anthropic-messages"), EchoResponder(), keys=frozenset({KEY}))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", run.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return run.base_url


def options(folder: Path, *only: str, live: bool = True, **more: Any) -> CensusOptions:
    return CensusOptions("anthropic-messages", folder / "census.ndjson", live, only, **more)


def test_without_live_nothing_is_sent(tmp_path: Path) -> None:
    lines: list[str] = []

    assert census(options(tmp_path, live=False), lines.append) == CensusCount()
    assert lines[-1] == "nothing was sent: --live asks the service"
    assert not (tmp_path / "census.ndjson").exists()


def test_a_service_that_keeps_a_rule_agrees(service: str, tmp_path: Path) -> None:
    lines: list[str] = []

    assert census(options(tmp_path, "no-messages", contributor="jane"), lines.append).decided >= 1
    [seen, *_] = read_observations(tmp_path / "census.ndjson")
    assert (seen.rule, seen.agreement, seen.contributor) == ("anthropic-messages/no-messages", "agrees", "jane")
    assert (seen.illegal.status, seen.legal.status, seen.loopback) == (400, 200, True)
    assert lines[-1].startswith("agrees: no-messages: 400 ")


def test_a_legal_request_for_one_model_is_answered(service: str, tmp_path: Path) -> None:
    census(options(tmp_path, "unknown-model"), lambda line: None)
    seen = list(read_observations(tmp_path / "census.ndjson"))
    assert "get" in {one.variant for one in seen}
    assert {(one.illegal.status, one.legal.status, one.agreement) for one in seen} == {(404, 200, "agrees")}


def test_a_service_that_takes_what_a_rule_forbids_denies_it(service: str, tmp_path: Path) -> None:
    census(options(tmp_path, "unknown-beta"), lambda line: None)
    [seen] = read_observations(tmp_path / "census.ndjson")

    assert seen.agreement == "denies"


def test_the_key_is_in_no_line(service: str, tmp_path: Path) -> None:
    census(options(tmp_path, "empty-*"), lambda line: None)

    assert KEY not in (tmp_path / "census.ndjson").read_text()


def test_what_was_asked_before_is_not_asked_again(service: str, tmp_path: Path) -> None:
    first = census(options(tmp_path, "empty-*"), lambda line: None).decided

    assert first > 0
    assert census(options(tmp_path, "empty-*"), lambda line: None).decided == 0
    assert len(list(read_observations(tmp_path / "census.ndjson"))) == first


def test_a_wrong_key_ends_it_at_the_first_pair(service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong-0123456789abcdefghij")

    with pytest.raises(UsageError, match="does not take the key"):
        census(options(tmp_path), lambda line: None)
    assert (tmp_path / "census.ndjson").read_bytes() == b""


UNREACHABLE = "https://127.0.0.2.example.invalid"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is not on this machine, and that nobody can reach."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", UNREACHABLE)


def planned(folder: Path, **more: Any) -> list[str]:
    """What a census says until it finds nobody there."""
    lines: list[str] = []
    with pytest.raises(UsageError, match="nobody answers at"):
        census(options(folder, **more), lines.append)
    return lines


@pytest.mark.usefixtures("elsewhere")
def test_the_cheapest_pairs_are_asked_that_the_budget_allows(tmp_path: Path) -> None:
    few, many = (next(line for line in planned(tmp_path, max_cost=usd) if "cost at most" in line) for usd in (0.01, 99))

    assert re.fullmatch(r"\d+ pairs cost at most \$0\.0\d+, with every refused request billed", few)
    assert int(few.split()[0]) < int(many.split()[0])
    assert any("over the budget of $0.01" in line for line in planned(tmp_path, max_cost=0.01))
    assert not any("over the budget" in line for line in planned(tmp_path, max_cost=99))


@pytest.mark.usefixtures("elsewhere")
def test_a_model_without_a_price_needs_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no price is known for model 'claude-unheard-of'"):
        census(options(tmp_path, model="claude-unheard-of"), lambda line: None)
    assert planned(tmp_path, model="claude-unheard-of", prices=(1.0, 5.0))


@pytest.mark.usefixtures("elsewhere")
def test_a_budget_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--max-cost must be an amount"):
        census(options(tmp_path, max_cost=float("nan")), lambda line: None)


def test_the_model_is_replaced_but_in_pairs_that_are_about_it() -> None:
    pair = next(one for one in pairs_of("anthropic-messages").pairs if one.illegal.model == one.legal.model)

    assert pair.illegal.with_model("claude-new").model == "claude-new"
    gemini = next(one for one in pairs_of("gemini").pairs if ":generateContent" in one.legal.path)
    assert gemini.legal.with_model("gemini-new").path.endswith("/models/gemini-new:generateContent")


def test_a_surface_has_its_own_pairs() -> None:
    assert {pair.surface for pair in selected("openai-chat", ())} == {"openai"}
    assert {pair.surface for pair in selected("openai-chat@azure", ())} == {"azure"}


def test_a_rule_that_cannot_be_asked_is_named() -> None:
    with pytest.raises(UsageError, match="no rule that can be asked matches 'nonsense'"):
        selected("openai-chat", ("nonsense",))


def test_an_api_without_a_public_key_has_no_census() -> None:
    with pytest.raises(UsageError, match="there is no census of 'antigravity'"):
        selected("antigravity", ())


@pytest.mark.parametrize("line", ['{"census": 1}', "[]", "no json", json.dumps({"census": 2})])
def test_a_line_that_is_none_is_refused_with_its_number(line: str, tmp_path: Path) -> None:
    path = tmp_path / "census.ndjson"
    path.write_text(f"\n{line}\n")

    with pytest.raises(UsageError, match="line 2"):
        list(read_observations(path))
