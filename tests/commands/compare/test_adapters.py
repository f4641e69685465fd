"""Adapters down both of their paths: each way to differ is found in the aspect it is in, over real HTTP."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnproof._base.exit_codes import Exit
from turnproof._base.settings import Config, DeclaredDifference, Settings
from turnproof.commands.compare import CompareOptions, compare, compare_adapter
from turnproof.errors import CatalogueError, UsageError
from turnproof.report.comparison import ComparisonReport, Standing

HERE = str(Path(__file__).parent)
PLAIN = ("basics/plain",)
TOOLS = ("tools/text_and_calls",)


@pytest.fixture(scope="module", autouse=True)
def _toys_can_be_imported() -> Iterator[None]:
    sys.path.insert(0, HERE)
    yield
    sys.path.remove(HERE)


def paths(toy: str, *scenarios: str, settings: Settings | None = None) -> ComparisonReport:
    return compare_adapter(
        f"differing:{toy}", scenarios=scenarios or TOOLS, in_process=True, config=Config(settings or Settings())
    )


def found_in(report: ComparisonReport) -> set[tuple[str, str]]:
    return {(found.aspect, found.name) for one in report.scenarios for found in one.differences}


def test_an_adapter_with_equal_paths_has_no_difference() -> None:
    report = paths("SAME", "basics/plain", "tools/parallel")
    assert report.same
    assert {one.standing for one in report.scenarios} == {Standing.EQUAL}
    assert sorted(f"{one.scenario} {one.mode}" for one in report.scenarios) == [
        "basics/plain batch", "basics/plain stream", "tools/parallel batch", "tools/parallel stream",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("toy", "scenario", "found"),
    [
        ("SETTINGS", "basics/plain", {("wire", "request-settings")}),
        ("SHOUTS", "basics/plain", {("answers", "answers-differ"), ("history", "histories-differ")}),
        ("OWN_IDS", "tools/one", {("answers", "ids-made-up")}),
        ("NO_USAGE", "basics/plain", {("usage", "stream-usage-late"), ("usage", "usage-differs")}),
        ("COUNTS", "basics/plain", {("requests", "more-requests")}),
        ("MISJUDGES", "faults/unavailable", {("errors", "errors-differ")}),
        ("FORGETS", "basics/plain", {("history", "histories-differ")}),
    ],
)
def test_what_one_path_does_otherwise_is_found(toy: str, scenario: str, found: set[tuple[str, str]]) -> None:
    report = paths(toy, scenario)
    assert report.exit_code == Exit.VIOLATIONS
    assert found <= found_in(report)


def test_a_chain_and_the_whole_history_differ_in_what_the_service_keeps_alone() -> None:
    assert found_in(paths("CHAIN", "basics/four_turns")) == {("wire", "kept-by-the-service")}
    # Here the chain is asked for by its id, once the service has forgotten it.
    found = found_in(paths("INTERACTIONS_CHAIN", "stored/forgotten"))
    assert found == {("wire", "kept-by-the-service"), ("requests", "kept-by-the-service")}


@pytest.mark.parametrize("variant", ["CONVERSATION", "WEBSOCKET"])
def test_a_conversation_object_and_the_memory_of_a_connection_keep_as_a_chain_does(variant: str) -> None:
    binding = f"turnproof_adapters.openai_responses.binding:{variant}"
    report = compare_adapter(binding, scenarios=("basics/four_turns",), in_process=True, config=Config(Settings()))
    assert report.exit_code == Exit.OK
    assert ("wire", "kept-by-the-service") in found_in(report)


@pytest.mark.parametrize(
    ("toy", "found"),
    [("CHAIN_SHOUTS", ("wire", "requests-differ")), ("CHAIN_LIMITED", ("wire", "request-settings"))],
)
def test_what_the_service_keeps_excuses_neither_other_words_nor_other_settings(
    toy: str, found: tuple[str, str]
) -> None:
    assert found in found_in(paths(toy, "basics/four_turns"))


def test_callbacks_behind_all_the_rest_are_found() -> None:
    assert ("callbacks", "callbacks-at-the-end") in found_in(paths("LATE"))


def test_what_differs_each_time_is_noise() -> None:
    report = paths("NOISY", *PLAIN)
    answers = [found for one in report.scenarios for found in one.differences if found.aspect == "answers"]
    assert answers == []
    assert all(one.noise for one in report.scenarios)


def test_declared_differences_are_shown_with_their_reason() -> None:
    report = paths("DECLARES", *PLAIN)
    assert report.same
    assert report.counts[Standing.DECLARED] == 2
    assert {found.reason for one in report.scenarios for found in one.differences} == {
        "the gateway is late", "it counts nothing",
    }  # fmt: skip


def test_settings_declare_too() -> None:
    declared = tuple(
        DeclaredDifference("no-usage", name, "the gateway is late") for name in ("stream-usage-late", "usage-differs")
    )
    assert paths("NO_USAGE", *PLAIN, settings=Settings(declared_difference=declared)).same


def test_part_of_the_scenarios_calls_nothing_stale() -> None:
    report = paths("STALE", *PLAIN)
    assert report.same
    assert report.stale == ()
    assert [(one.name, one.times) for one in report.declared] == [("tool-order", 0)]


@pytest.mark.parametrize(("toy", "message"), [("TYPO", "did you mean 'tool-order'"), ("BLANK", "gives no reason")])
def test_a_declaration_that_says_nothing_is_refused_before_anything_runs(toy: str, message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        paths(toy)


def test_one_path_alone_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(UsageError, match="has no legacy path"):
        paths("ONE_PATH")
    with pytest.raises(UsageError, match="cannot be compared with itself"):
        compare(CompareOptions(("differing:SAME",), path="legacy"))


def two(*toys: str, **options: object) -> ComparisonReport:
    subjects = tuple(f"differing:{toy}" for toy in toys)
    return compare(CompareOptions(subjects, scenarios=PLAIN, in_process=True, **options))  # type: ignore[arg-type]


def test_two_adapters_are_compared_on_every_path_that_both_have() -> None:
    report = two("SAME", "SETTINGS")
    assert (report.left, report.right) == ("same", "settings")
    assert {(one.left.key.path, one.standing) for one in report.scenarios} == {
        ("stateless", Standing.EQUAL), ("legacy", Standing.VIOLATED),
    }  # fmt: skip
    assert {one.left.key.path for one in two("SAME", "ONE_PATH").scenarios} == {"stateless"}
    assert two("SAME", "SETTINGS", path="stateless").same


def test_two_versions_of_one_name_go_by_how_they_were_asked_for() -> None:
    report = two("SAME", "SAME_AGAIN")
    assert (report.left, report.right) == ("differing:SAME", "differing:SAME_AGAIN")
    assert report.same


def test_settings_declare_differences_between_adapters() -> None:
    declared = DeclaredDifference(
        "settings", "request-settings", "the old one asked for less", against="differing:SAME"
    )
    assert two("SAME", "SETTINGS", config=Config(Settings(declared_difference=(declared,)))).same


def test_bad_subjects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="named twice"):
        two("SAME", "SAME")
    with pytest.raises(UsageError, match=r"one adapter .*, two adapters, or one or two folders"):
        two("SAME", "SHOUTS", "COUNTS")
    with pytest.raises(UsageError, match=r"has no run\.ndjson"):
        compare(CompareOptions((str(tmp_path),)))
    with pytest.raises(UsageError, match="no scenario matches 'basics/plane'; did you mean"):
        compare_adapter("differing:SAME", scenarios=("basics/plane",))
    with pytest.raises(UsageError, match="have no path in common"):
        two("ONE_PATH", "OTHER_PATH")


REFERENCE = ("basics/four_turns", "tools/parallel", "thinking/with_tools", "cancel/in_text", "faults/garbage")


def test_the_reference_adapter_does_the_same_on_both_paths_but_for_what_it_declares() -> None:
    report = compare_adapter("anthropic", scenarios=REFERENCE, backend="emulate", in_process=True)
    assert report.same
    assert {one.scenario for one in report.scenarios} == set(REFERENCE)
    assert found_in(report) == {("errors", "error-words")}


def test_googles_chat_differs_from_the_stateless_path_in_form_alone() -> None:
    report = compare_adapter("google_genai", scenarios=REFERENCE[:3], backend="emulate", in_process=True)
    differences = [found for one in report.scenarios for found in one.differences]
    assert {found.aspect for found in differences} == {"wire"}
    assert "contents-split-per-chunk" in {found.name for found in differences}
    assert all(found.form for found in differences)


_UNANSWERED = """
title: "An adopted call that nobody answered, and an instruction behind it"
modes: [batch]
tools: [{name: read sensor}]
given:
- {user: "Yes.", model: [[{call: read sensor}]], unanswered: true}
- {system: "From now on, name them by their plants."}
turns:
- {before: [new-provider], user: "Yes.", model: [["Yes."]]}
- {user: Count the pots., model: [["Two."]]}
"""


def test_a_result_made_up_for_an_adopted_call_is_foreign_history_after_every_operation(tmp_path: Path) -> None:
    scenario = tmp_path / "unanswered.yaml"
    scenario.write_text(_UNANSWERED, "utf-8")
    report = compare_adapter("google_genai", scenarios=[str(scenario)], in_process=True)
    assert report.exit_code == Exit.OK
    made_up = [
        found
        for one in report.scenarios
        for found in one.differences
        if isinstance(found.right, dict) and found.right.get("role") == "tool"
    ]
    assert {(found.name, found.place.after) for found in made_up} == {("foreign-history", "adopt")}
    later = {place.after for found in made_up for place in found.also}
    assert "new-provider" in later


def test_adapters_of_two_apis_are_compared_in_neutral_form() -> None:
    options = CompareOptions(
        ("anthropic", "google_genai"),
        scenarios=("tools/parallel", "tools/image_result", "finish/reasons"),
        path="stateless",
        backend="emulate",
        in_process=True,
    )
    report = compare(options)
    standings = {one.scenario: one.standing for one in report.scenarios}
    assert standings["tools/parallel"] is Standing.EQUAL
    assert standings["tools/image_result"] is Standing.EQUAL
    assert {(found.aspect, found.path) for _, found in report.violations} == {
        ("wire", "$.response.finish"), ("answers", "$.finish"),
    }  # fmt: skip
    assert all(one.compared["wire"] for one in report.scenarios)


def test_an_adapter_that_cannot_be_opened_is_undecided_and_no_difference() -> None:
    report = paths("CLOSED", *PLAIN)
    assert report.exit_code == Exit.UNDECIDED
    assert {one.standing for one in report.scenarios} == {Standing.INCONCLUSIVE}
    assert "the region is closed" in report.scenarios[0].problem
