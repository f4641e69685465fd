"""What a person reads of a matrix of hand-offs, and what a machine reads."""

from __future__ import annotations

import io
import json

from turnproof.commands.handoff import Handoff, Leg, Loss, Route
from turnproof.judge.requirements import Level
from turnproof.report.handoff import Party, Unmet
from turnproof.report.handoff_text import handoff_json, handoff_md, print_handoff

ONE, TWO = Party("one", "stateless", "a", "m1"), Party("two", "legacy", "b", "m2")
LOSS = Loss("left-out", "Thought", "$.messages[1].parts[0]", "Hm.", "a")


def leg(party: Party, *losses: Loss, violated: tuple[Unmet, ...] = (), undecided: tuple[Unmet, ...] = ()) -> Leg:
    return Leg(
        party, 1, 1, 9, violated, undecided, losses, signed=2 if party == ONE else 0, restored=1, evidence="ab" * 32
    )


def matrix(*routes: Route) -> Handoff:
    return Handoff("0.1", "handoff/journey", 0, (ONE, TWO), routes, {"three": "it does not claim tools"}, 1.0)


def broken(level: Level) -> Route:
    return Route(ONE, TWO, 1, (leg(ONE), leg(TWO, violated=(Unmet("tools/x", level, "no <b>"),)), leg(ONE)))


SOUND = Route(ONE, TWO, 1, (leg(ONE), leg(TWO, LOSS), leg(ONE)))
WHOLE = Route(TWO, ONE, 1, (leg(TWO), leg(ONE), leg(TWO)))


def shown(found: Handoff, *, verbose: bool = False) -> str:
    out = io.StringIO()
    print_handoff(found, out, verbose=verbose)
    return out.getvalue()


def test_the_table_has_a_row_for_who_begins_and_the_losses_of_each_pair() -> None:
    text = shown(matrix(SOUND, WHOLE))
    rows = [line.split() for line in text.splitlines() if line.startswith((" 1", " 2"))]
    assert rows == [["1", "one/stateless", "-", "1"], ["2", "two/legacy", "✓", "-"]]
    assert "2 of 2 routes" in text
    assert "three takes no part: it does not claim tools" in text


def test_what_was_restored_on_the_way_back_is_counted() -> None:
    assert "1 of 2 signed parts restored on return" in " ".join(shown(matrix(SOUND)).split())


def test_losses_are_told_where_they_are_asked_for() -> None:
    line = "$.messages[1].parts[0]: Thought 'Hm.', signed by a is left out"
    assert line not in shown(matrix(SOUND))
    assert line in shown(matrix(SOUND), verbose=True)
    assert "one/stateless → two/legacy**: 1 Thought left out" in handoff_md(matrix(SOUND))


def test_a_broken_requirement_is_told_once_with_a_place_to_look_at() -> None:
    text = " ".join(shown(matrix(broken(Level.MUST), broken(Level.MUST))).split())
    expected = "two/legacy violates MUST tools/x: no <b> [leg 2 of one/stateless → two/legacy after turn 1, evidence ab"
    assert text.count(expected) == 1
    assert "and 1 more" in text
    assert "✗" in text


def test_a_violated_should_is_told_and_breaks_nothing() -> None:
    found = matrix(broken(Level.SHOULD))
    assert "violates SHOULD tools/x" in shown(found)
    assert found.exit_code == 0


def test_an_open_must_leaves_the_matrix_undecided_and_an_open_should_does_not() -> None:
    def undecided(level: Level) -> Handoff:
        return matrix(Route(ONE, TWO, 1, (leg(ONE), leg(TWO, undecided=(Unmet("x/y", level, "?"),)), leg(ONE))))

    assert undecided(Level.MUST).exit_code == 3
    assert "leaves open MUST x/y" in shown(undecided(Level.MUST))
    assert undecided(Level.SHOULD).exit_code == 0
    assert "x/y" not in shown(undecided(Level.SHOULD))


def test_a_matrix_without_a_route_is_no_success() -> None:
    assert matrix().exit_code == 3


def test_a_conversation_that_stopped_on_its_way_is_told() -> None:
    found = matrix(Route(ONE, TWO, 1, (leg(ONE),)))
    assert "the conversation did not come further than leg 1" in " ".join(shown(found).split())
    assert found.exit_code == 3


def test_markdown_escapes_what_others_wrote() -> None:
    page = handoff_md(matrix(broken(Level.MUST)))
    assert "<b>" not in page
    assert "Nothing." not in page
    assert "Nothing." in handoff_md(matrix(SOUND))


def test_the_json_names_its_schema_and_every_leg() -> None:
    plain = json.loads(handoff_json(matrix(SOUND)))
    assert plain["schema"] == "turnproof.handoff/1"
    assert [one["party"]["adapter"] for one in plain["routes"][0]["legs"]] == ["one", "two", "one"]
