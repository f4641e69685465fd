"""What a gate writes: the JSON form by its schema, the page, and the table, whatever others wrote into them."""

from __future__ import annotations

import io
import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from turnproof._base.exit_codes import Exit
from turnproof.commands.gates import CriterionReport, GateReport, State, SubjectReport, gate_json, print_gate
from turnproof.commands.gates.decision import Spot
from turnproof.commands.gates.model import FindingReport, FlagReport, Regression, exit_code, gate_state
from turnproof.commands.gates.summary import gate_md
from turnproof.judge.finding import Finding, Place, Side

SCHEMA = json.loads((files("turnproof.commands.gates") / "gate.schema.json").read_text())

CRITERION = CriterionReport(
    id="1/histories-agree",
    side="exit",
    title="The histories agree",
    check="histories-agree",
    state=State.OPEN,
    message="",
    detail="",
    measured=("a turn ×12", "a collection"),
    evidence=(),
    reproduce="",
    reason="It is about to be the only one.",
    remedy="Look at the operation that is named.",
    sources=("behaviours:A4",),
)
CLOSED = replace(
    CRITERION,
    id="2/paths-agree",
    state=State.CLOSED,
    message="tools/one, stream: stateless (absent), legacy '41 %'",
    detail="first line\nsecond line",
    measured=(),
    evidence=("a" * 64, "b" * 64),
    reproduce="turnproof gate --phase 2 mine --scenario tools/one",
    findings=(
        FindingReport(
            finding=Finding(
                code="gate/paths-agree/requests-differ",
                place=Place(
                    side=Side.REQUEST, scenario="tools/one", path="stateless", mode="stream", turn=0, pointer=""
                ),
                expected="41 %",
                related=(Place(side=Side.REQUEST, scenario="tools/one", path="legacy", mode="stream", turn=0),),
                facts={"aspect": "wire"},
            ),
            title="The requests differ.",
            expected='"41 %"',
            got="nothing",
            where="turn 0",
            setting="on",
            spot=Spot("src/mine.py", 7, "Mine.send()"),
        ),
    ),
)
UNDECIDED = replace(CRITERION, id="2/flag-on-is-stateless", state=State.UNDECIDED, message="it cannot be seen")
ACCEPTED = replace(CRITERION, id="2/turns-are-answered", state=State.ACCEPTED, message="exempt until 2027-01-31: it is")
STEP = Regression("mine", "1/histories-agree", State.OPEN, State.CLOSED)
NOT_ASKED = replace(CRITERION, id="2/existing-tests-pass", state=State.NOT_ASKED, message="not configured")


def report(*criteria: CriterionReport, **fields: Any) -> GateReport:
    """A gate with one subject that has these criteria."""
    state = gate_state(criterion.state for criterion in criteria)
    subject = SubjectReport(
        name="mine",
        spec="my_pkg:SESSION",
        session="mine",
        adapter="anthropic",
        dialect="anthropic-messages",
        model="claude-sonnet-4-5",
        backend="emulate",
        flag=FlagReport("MY_FLAG", "0", "1", "legacy", 3),
        state=state,
        criteria=criteria,
        scenarios=41,
        left_out={"revert()": 2, "revert(), save()": 1},
    )
    values: dict[str, Any] = {
        "phase": 2,
        "name": "stateless-pilot",
        "goal": "Both paths do the same.",
        "state": state,
        "exit_code": int(exit_code(state)),
        "gate_exit_code": int(exit_code(state)),
        "mode": "enforce",
        "out_of_order": (),
        "recorded": False,
        "regressions": (),
        "partial": False,
        "depth": "full",
        "seed": 0,
        "started": "2026-11-02T10:00:00+00:00",
        "duration_s": 1.5,
        "runs": ("gate-2", "gate-2/default"),
        "subjects": (subject,),
    }
    return GateReport(**{**values, **fields})


def table(found: GateReport) -> str:
    """The gate as it is printed without a terminal."""
    file = io.StringIO()
    print_gate(found, file)
    return file.getvalue()


# -- states --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "whole", "code"),
    [
        ((State.OPEN, State.OPEN), State.OPEN, Exit.OK),
        ((State.OPEN, State.NOT_ASKED), State.OPEN, Exit.OK),
        ((State.OPEN, State.ACCEPTED), State.OPEN, Exit.OK),
        ((State.ACCEPTED, State.UNDECIDED), State.UNDECIDED, Exit.UNDECIDED),
        ((State.ACCEPTED,), State.UNDECIDED, Exit.UNDECIDED),
        ((State.OPEN, State.UNDECIDED), State.UNDECIDED, Exit.UNDECIDED),
        ((State.UNDECIDED, State.CLOSED, State.OPEN), State.CLOSED, Exit.VIOLATIONS),
        ((State.NOT_ASKED,), State.UNDECIDED, Exit.UNDECIDED),
        ((), State.UNDECIDED, Exit.UNDECIDED),
    ],
)
def test_a_gate_is_as_heavy_as_its_heaviest_criterion(states: tuple[State, ...], whole: State, code: Exit) -> None:
    assert gate_state(states) is whole
    assert exit_code(whole) is code


# -- JSON ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [
    report(CRITERION),
    report(CRITERION, CLOSED, UNDECIDED, NOT_ASKED, ACCEPTED, regressions=(STEP,)),
    report(CLOSED, mode="report", exit_code=0, partial=True),
])  # fmt: skip
def test_the_json_form_follows_its_schema(found: GateReport) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(gate_json(found)), SCHEMA)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda found: found.pop("state"),
        lambda found: found.update(state="ajar"),
        lambda found: found.update(extra=1),
        lambda found: found["subjects"][0]["criteria"][0].update(state="held"),
        lambda found: found.update(subjects=[]),
        lambda found: found["subjects"][0]["criteria"][0]["findings"][0].pop("finding"),
        lambda found: found["subjects"][0]["criteria"][0]["findings"][0].update(setting="half"),
    ],
)
def test_the_schema_refuses_what_is_no_gate(spoil: Any) -> None:
    found = json.loads(gate_json(report(CLOSED)))
    spoil(found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, SCHEMA)


def test_equal_gates_are_equal_bytes() -> None:
    assert gate_json(report(CLOSED)) == gate_json(report(CLOSED))


# -- the table -----------------------------------------------------------------------------------------------------


def test_the_table_has_every_criterion_with_symbol_and_word() -> None:
    text = table(report(CRITERION, CLOSED, UNDECIDED, NOT_ASKED))
    assert "gate of phase 2, stateless-pilot: ✗ closed" in text
    for row in (
        "exit  1/histories-agree",
        "✓ open",
        "✗ closed",
        "? undecided",
        "– not asked",
        "a turn ×12; a collection",
    ):
        assert row in text
    assert "41 scenarios; 3 left out, which need revert(), save()" in text
    assert "flag MY_FLAG: off '0', on '1'; not set, the legacy path is due (flip in phase 3)" in text


def test_what_does_not_hold_is_told_with_both_sides_the_next_step_and_a_command() -> None:
    text = table(report(CLOSED))
    for words in (
        "tools/one, stream: stateless (absent), legacy '41 %'",
        "second line",
        "next: Look at the operation that is named.",
        f"evidence: {'a' * 12}, {'b' * 12}",
        "turnproof gate --phase 2 mine --scenario tools/one",
    ):
        assert words in text


def test_what_could_not_be_decided_is_not_told_to_mend_anything() -> None:
    text = table(report(UNDECIDED))
    assert "it cannot be seen" in text
    assert "next:" not in text


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"partial": True}, "cannot open the gate"),
        ({"mode": "report"}, "does not depend on the gate. Enforced, it would end with 0."),
        ({"mode": "shadow"}, "nothing is recorded of this phase yet"),
        ({"mode": "shadow", "recorded": True}, "nothing that was open when it was recorded has closed"),
        ({"out_of_order": ("1/histories-agree",)}, "what phase 2 builds on does not hold: 1/histories-agree"),
        ({"mode": "shadow", "regressions": (STEP,)}, "1/histories-agree of mine was open, and is closed now"),
    ],
)
def test_a_gate_that_is_not_what_it_seems_says_so(fields: dict[str, Any], says: str) -> None:
    found = report(CRITERION, **fields)
    assert says in table(found)
    assert says in gate_md(found)
    assert says not in table(report(CRITERION))


# -- the page ------------------------------------------------------------------------------------------------------


def test_the_page_has_the_criteria_and_for_the_closed_ones_what_to_do() -> None:
    page = gate_md(report(CRITERION, CLOSED, UNDECIDED))
    assert page.startswith("# Gate of phase 2, stateless-pilot: ✗ closed\n")
    assert "| exit | 1/histories-agree | ✓ open | The histories agree |" in page
    assert page.count("What to do: ") == 1
    assert "```sh\nturnproof gate --phase 2 mine --scenario tools/one\n```" in page


def test_what_others_wrote_can_neither_steer_a_terminal_nor_make_markup() -> None:
    hostile = replace(CLOSED, message="\x1b[31m<script> @everyone | `x`", detail="```\n\x1b]0;title\x07\n# head")
    found = report(hostile)
    assert "\x1b" not in table(found)
    page = gate_md(found)
    assert "\x1b" not in page
    assert "<script>" not in page
    assert "@everyone" not in page
    assert "````text" in page
