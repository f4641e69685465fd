"""The kill matrix as people read it."""

from __future__ import annotations

import io

from turnproof.commands.certify.kill_matrix import Matrix, Outcome, Row, Standing, median_others
from turnproof.commands.certify.kill_matrix_reports import print_matrix


def row(name: str, outcome: Outcome, *trips: str, detail: str = "seen") -> Row:
    return Row(
        mutant=name,
        seam="outputs",
        breaks=f"{name} breaks [it].",
        expected="core/finish-reason-says-why",
        outcome=outcome,
        detail=detail,
        trips=trips,
        runs=2,
    )


def matrix_of(*rows: Row, only: tuple[str, ...] = (), control: dict[str, str] | None = None) -> Matrix:
    return Matrix(
        turnproof="0",
        adapter="mine",
        dialect="anthropic-messages",
        model="m",
        seed=0,
        started="2026-11-22T10:00:00+00:00",
        only=only,
        duration_s=1.0,
        exit_code=1,
        counts={str(one.outcome): 1 for one in rows},
        control=control or {},
        mutants=rows,
        requirements={"core/finish-reason-says-why": Standing(caught=("a",)), "core/idle": Standing()},
        median_others=median_others(rows),
    )


def shown(*rows: Row, only: tuple[str, ...] = (), control: dict[str, str] | None = None) -> str:
    file = io.StringIO()
    print_matrix(matrix_of(*rows, only=only, control=control), file)
    return file.getvalue()


def test_each_mutant_has_its_line_and_each_failure_a_command_that_shows_it_again() -> None:
    text = shown(row("good", Outcome.CAUGHT, "core/a"), row("bad", Outcome.SURVIVED, detail="legacy: it held"))
    assert "✓ caught" in text
    assert "✗ survived bad: bad breaks [it]." in text
    assert "core/finish-reason-says-why was to notice; legacy: it held" in text
    assert "turnproof mutants mine --only bad" in text
    assert "turnproof mutants mine --only good" not in text
    assert "2 mutants of mine: 1 caught, 1 survived (4 runs); half of those caught trip at most 1 other" in text


def test_a_mutant_that_trips_more_than_five_others_is_a_finding() -> None:
    trips = [f"core/r{number}" for number in range(6)]
    assert "coarse trips 6 others: core/r0, core/r1" in shown(row("coarse", Outcome.CAUGHT, *trips))
    assert "trips" not in shown(row("fine", Outcome.CAUGHT, *trips[:5])).replace("tripped", "")


def test_requirements_without_a_mutant_are_told_of_a_whole_run_only() -> None:
    assert "1 requirement caught no mutant: core/idle" in shown(row("good", Outcome.CAUGHT))
    assert "caught no mutant" not in shown(row("good", Outcome.CAUGHT), only=("good",))


def test_what_the_control_itself_violates_is_said() -> None:
    text = shown(row("good", Outcome.CAUGHT), control={"core/a [legacy]": "it printed"})
    assert "the control itself violates core/a [legacy]: it printed" in text


def test_nothing_to_do_is_said_in_words() -> None:
    assert "0 mutants of mine: nothing to do (0 runs)" in shown()
