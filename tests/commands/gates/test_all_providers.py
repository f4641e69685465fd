"""Phase 3, criterion by criterion: open for a right adapter, closed for one that is wrong in just that respect."""

from __future__ import annotations

import pytest

from turnproof._base.settings import GateSettings
from turnproof.commands.gates.checks import decide
from turnproof.commands.gates.decision import Decision
from turnproof.commands.gates.flag import FlagPlan
from turnproof.judge.verdict import Status
from turnproof.session.binding import REFERENCE

from .watching import Bench, bench, criterion
from .words import codes, message

__all__ = ["bench"]

TALK = ("tools/one",)


def complete(bench: Bench, name: str) -> Decision:
    """Whether an adapter has complete()."""
    views = bench.runs(name, *TALK, setting="on", phase=3)
    return decide(bench.measured(name, {"on": views}, 3), criterion("3/every-adapter-has-complete"))


@pytest.mark.parametrize(
    ("name", "compared"),
    [
        ("two/RIGHT", "calls of complete() that were answered ×3"),
        ("two/DELEGATED", "turns that were one call ×2"),
        ("SHOWS_ITS_OWN", "calls of complete()"),
    ],
)
def test_an_adapter_whose_complete_was_called_and_answered_is_open(bench: Bench, name: str, compared: str) -> None:
    found = complete(bench, name)
    assert (found.status, found.compared) == (Status.HELD, (compared,))


@pytest.mark.parametrize(
    ("name", "what", "says"),
    [
        ("two/NO_COMPLETE", "missing", "expected commands.gates.two_paths.NoComplete.complete(); got no such method"),
        ("two/ONLY_LEGACY", "no-stateless-path", "expected `open_stateless` in the binding of only-legacy"),
        ("two/FEW_PARAMETERS", "other-parameters", "got an unexpected keyword argument 'response_schema'"),
        ("two/SHORT", "other-parameters", "too many positional arguments"),
        ("two/NEVER_ANSWERS", "never-answers", "got NotImplementedError: complete() comes next week"),
        ("two/HANDS_BACK", "hands-back-a-call", 'got the call of "read_sensor"'),
    ],
)
def test_an_adapter_without_it_is_told_what_it_lacks(bench: Bench, name: str, what: str, says: str) -> None:
    found = complete(bench, name)
    assert found.status is Status.VIOLATED
    assert codes(found)[0] == f"gate/complete-called/{what}"
    assert says in message(found, 3)
    assert found.left


def test_an_adapter_that_cannot_be_seen_is_undecided(bench: Bench) -> None:
    assert complete(bench, "HIDES_ITS_OWN").status is Status.INCONCLUSIVE


# -- the default -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "flip", "status"),
    [
        ("FLIPPED", 3, Status.HELD),
        ("FLIPPED", 2, Status.HELD),
        ("FLIPPED", 4, Status.VIOLATED),
        ("two/RIGHT", 3, Status.VIOLATED),
    ],
)
def test_the_default_has_flipped_by_now(bench: Bench, name: str, flip: int, status: Status) -> None:
    views = bench.runs(name, *TALK, phase=3)
    flag = FlagPlan.from_settings(GateSettings(flip_phase=flip), REFERENCE)
    measured = bench.measured(name, {"default": views}, 3)
    found = decide(measured.__class__(**{**vars(measured), "flag": flag}), criterion("3/default-is-stateless"))
    assert found.status is status
    if flip == 4:
        assert codes(found) == ["gate/default-flipped/planned-too-late"]
        assert "expected flip_phase = 3 or less in [tool.turnproof.gates]; got flip_phase = 4" in message(found, 3)


# -- one path only -----------------------------------------------------------------------------------------------------


def one_path_only(bench: Bench, name: str, *, on: tuple[str, ...], off: tuple[str, ...]) -> Decision:
    """What is measured on one path only, if these scenarios are run on each."""
    runs = {
        "on": bench.runs(name, *on, setting="on", phase=3),
        "off": bench.runs(name, *off, setting="off", phase=3),
    }
    return decide(bench.measured(name, runs, 3), criterion("3/nothing-on-one-path-only"))  # type: ignore[arg-type]


def test_what_is_measured_on_both_paths_is_counted(bench: Bench) -> None:
    found = one_path_only(bench, "two/RIGHT", on=TALK, off=TALK)
    assert found.status is Status.HELD
    expected = {"on_chunk on both paths", "on_usage_update on both paths", "scenarios on both paths ×1"}
    assert expected <= {*found.compared}


def test_a_callback_that_one_path_never_makes_is_listed_with_the_requirements_that_need_it(bench: Bench) -> None:
    found = one_path_only(bench, "two/SILENT", on=TALK, off=TALK)
    assert found.status is Status.VIOLATED
    assert "callback on_usage_update: measured on the stateless path only" in found.left
    assert "requirement accounting/updates-never-fall: measured on the stateless path only" in found.left


def test_a_scenario_that_came_to_no_end_on_one_path_is_listed_by_name(bench: Bench) -> None:
    found = one_path_only(bench, "two/RIGHT", on=TALK, off=(*TALK, "cancel/in_text"))
    assert "scenario cancel/in_text (stream): measured on the legacy path only" in found.left
    assert any(name.startswith("requirement cancellation/") for name in found.left)


def test_a_requirement_about_one_path_by_its_nature_is_not(bench: Bench) -> None:
    found = one_path_only(bench, "two/RIGHT", on=(*TALK, "cancel/in_text"), off=TALK)
    assert not any("core/threads-are-not-mixed" in name for name in found.left)


def test_paths_that_cannot_be_told_apart_are_undecided(bench: Bench) -> None:
    found = one_path_only(bench, "BLIND", on=TALK, off=TALK)
    assert found.status is Status.INCONCLUSIVE


def test_children_are_not_compared(bench: Bench) -> None:
    """On the legacy path a child has a provider of its own, which signs in anew: that is no difference of the paths."""
    expected = ("subagents/child", *TALK)
    on = bench.runs("two/RIGHT", *expected, setting="on", phase=3)
    off = bench.runs("two/RIGHT", *expected, setting="off", phase=3)
    found = bench.measured("two/RIGHT", {"on": on, "off": off}, 3).comparisons
    assert [one.scenario for one in found] == [*TALK]
