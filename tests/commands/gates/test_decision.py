"""Decisions are data: how they add up, and that nothing but their words follows from the templates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.commands.gates.codes import closes, gate_templates, leaves_undecided
from turnproof.commands.gates.decision import Decision, Spot, combined, decided
from turnproof.commands.gates.decision_words import Wording
from turnproof.errors import CatalogueError
from turnproof.judge.finding import Place, Side, resolve
from turnproof.judge.finding_words import Template
from turnproof.judge.verdict import Status
from turnproof.judge.view import View, document_of

from .kit import criterion, gated
from .watching import Bench, bench
from .words import codes, message, wording

__all__ = ["bench"]

LEFT = closes("test/left", "Something is left.", "nothing", "{observed:words}")
UNSEEN = leaves_undecided("test/unseen", "It cannot be seen.")
RUN = Place(side=Side.PROCESS, scenario="tools/one", path="legacy", mode="stream", turn=1)


# -- how reasons add up ------------------------------------------------------------------------------------------------


def test_the_heaviest_reason_decides_and_lighter_ones_are_not_told() -> None:
    found = decided([UNSEEN(), LEFT(observed="a")], ["what was fine"])
    assert (found.status, codes(found), found.compared) == (Status.VIOLATED, ["gate/test/left"], ())
    assert decided([UNSEEN()], ["what was fine"]).status is Status.INCONCLUSIVE
    assert decided(compared=["a", "a", "b"]).compared == ("a", "b")


def test_nothing_decides_nothing() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        decided()


def test_several_decisions_are_as_heavy_as_the_heaviest_with_all_its_reasons() -> None:
    one, other = decided([LEFT(observed="a", name="a")], more=3), decided([LEFT(observed="b", name="b")])
    found = combined([decided(compared=["fine"]), one, other])
    assert (found.status, found.left, found.more) == (Status.VIOLATED, ("a", "b"), 3)
    assert message(found).endswith("Something is left. expected nothing; got a (and 4 more)")


def test_what_is_left_is_sorted_and_each_once() -> None:
    found = decided([LEFT(name="b"), LEFT(name="a"), LEFT(name="b"), LEFT()])
    assert found.left == ("a", "b")


def test_the_scenario_and_the_command_come_from_fields() -> None:
    found = decided([LEFT(observed="a/b/c"), LEFT(RUN, evidence=["d" * 64])])
    assert (found.scenario, found.command, found.evidence) == ("tools/one", "", ("d" * 64,))
    assert decided([LEFT(command="pytest -q")]).command == "pytest -q"


def test_lines_of_source_are_shown_as_such_and_not_in_the_detail() -> None:
    spot = Spot("/repo/a.py", 3, "Mine.save()")
    found = decided([LEFT(observed="first"), LEFT(observed="second", spot=spot), LEFT(observed="third")])
    assert found.spots == (spot,)
    assert wording().detail(found) == "Something is left. expected nothing; got third"


def test_what_occurs_often_is_counted_in_all() -> None:
    found = decided([LEFT(observed=n, name="often") for n in "abc"])
    assert wording().detail(found).splitlines()[-1] == "in all: often ×3"


def test_a_code_is_registered_once() -> None:
    with pytest.raises(CatalogueError, match="two findings have the code 'gate/test/left'"):
        closes("test/left", "Another title.")


# -- words and data ----------------------------------------------------------------------------------------------------

PLACES = re.compile(r"\{\w+(:words)?\}")
CASES = [
    ("4/legacy-methods-are-gone", "WITH_LEFTOVERS", "session", ("tools/one",)),
    ("4/no-history-in-the-source", "KEEPS_MESSAGES", "session", ("tools/one",)),
    ("4/providers-hold-no-history", "KEEPS_MESSAGES", "everything", ("tools/one",)),
    ("4/what-stays-works", "BROKEN", "everything", ("basics/plain",)),
    ("4/reset-asks-no-provider", "RESET_ASKS", "session", ("history/reset",)),
    ("4/reset-empties-the-session", "RESET_ASKS", "session", ("history/reset",)),
    ("4/reset-empties-the-accounts", "RESET_KEEPS_USAGE", "session", ("history/reset",)),
    ("5/save-asks-no-provider", "SAVE_LOOKS_INSIDE", "session", ("persistence/save_load",)),
    ("5/session-alone-holds-the-cache-plugin", "HOLDS_PLUGIN", "session", ("cache/growth",)),
    ("5/session-alone-holds-the-cache-plugin", "STILL_TAKES_PLUGIN", "session", ("cache/growth",)),
    ("4/reset-asks-no-provider", "HIDES_ITS_OWN", "session", ("tools/one",)),
]


@pytest.mark.parametrize(("id", "name", "watch", "expected"), CASES)
def test_every_name_in_a_template_has_its_value_and_every_pointer_points_to_something(
    bench: Bench, id: str, name: str, watch: Any, expected: tuple[str, ...]
) -> None:
    found = bench.decided(id, name, *expected, watch=watch)
    views = bench.runs(name, *expected, phase=int(id[0]), watch=watch)
    assert found.reasons
    for reason in found.reasons:
        assert not PLACES.search(wording(4).sentence(reason))
        assert_resolves(reason.finding.place, views)


def assert_resolves(place: Place, views: Sequence[View]) -> None:
    """A place in no run, and one that says nothing of a document, point to nothing."""
    if place.scenario and place.pointer is not None:
        view = next(view for view in views if str(view.key) == place.run)
        resolve(document_of(view, place), place.pointer)


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
@pytest.mark.long
def test_other_words_for_every_code_change_nothing_but_words(title: str, expected: str, actual: str) -> None:
    """What reads sentences would see another place, another scenario, or another requirement."""
    found = decided([LEFT(RUN, observed="a", name="a", spot=Spot("/repo/a.py", 3, "Mine.save()")), LEFT(command="x")])
    before = msgspec.json.encode(found)
    others = {code: Template(title, expected, actual) for code in gate_templates()}
    other: Wording = replace(wording(), templates=others)
    assert isinstance(other.message(found), str)
    assert isinstance(other.detail(found), str)
    assert msgspec.json.encode(found) == before
    assert (found.scenario, found.command, found.left) == ("tools/one", "x", ("a",))
    assert other.sentence(found.reasons[0]).startswith("tools/one/legacy/stream")


def test_a_report_is_the_same_but_for_its_words_whatever_the_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gate_facts(folder: Path) -> list[Any]:
        report = gated(1, "commands.gates.sessions:DRIFTS", out=folder, names=("cancel/in_text",))
        found = criterion(report, "1/histories-agree")
        data = [(one.finding, one.setting, one.spot) for one in found.findings]
        return [report.state, found.state, found.left, found.reproduce, found.measured, data]

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    before = gate_facts(tmp_path / "a")
    others = {code: Template("Other/words/legacy/stream: turn 9", "x {", "y }") for code in gate_templates()}
    monkeypatch.setattr("turnproof.commands.gates.decision_words.gate_templates", lambda: others)
    assert gate_facts(tmp_path / "b") == before


def test_a_decision_is_json() -> None:
    found = decided([LEFT(RUN, observed="a", name="a", spot=Spot("/repo/a.py", 3, "Mine.save()"))])
    assert msgspec.json.decode(msgspec.json.encode(found), type=Decision) == found
