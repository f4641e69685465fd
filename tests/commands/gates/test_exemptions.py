"""What is accepted for now: known issues of requirements, and exemptions of adapters from criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from turnproof._base.settings import Exemption, GateSettings, KnownIssue, load_config
from turnproof.commands.gates.codes import closes, leaves_undecided
from turnproof.commands.gates.decision import Acceptance, Decision, decided
from turnproof.commands.gates.exemptions import accepted, check_exemptions, exempted, names_of
from turnproof.commands.gates.phases import load_phases
from turnproof.errors import UsageError
from turnproof.judge.verdict import Status, held, violated

from .test_checks import SUBJECT, measured
from .words import codes, message, wording

TODAY = date(2026, 11, 22)
CRITERION = "2/paths-agree"
EXEMPT = Exemption("mine", CRITERION, "it never had a legacy path", date(2027, 1, 31), "https://example.org/1")
DIFFERS = closes("test/differs", "The paths differ.")
HIDDEN = leaves_undecided("test/hidden", "It cannot be seen.")
CLOSED = decided([DIFFERS(expected="41 %", observed="", name="requests-differ")])
UNDECIDED = decided([HIDDEN()])
NOT_ASKED = Decision(status=Status.NOT_CLAIMED)
OPEN = decided(compared=["conversations"])


def after(exemption: Exemption, decision: Decision = CLOSED, *, whole: bool = True) -> Decision:
    return exempted(decision, CRITERION, [exemption], {"mine", "other-name"}, TODAY, all_scenarios=whole)


@pytest.mark.parametrize("decision", [CLOSED, UNDECIDED])
def test_an_exemption_accepts_what_does_not_hold_and_says_until_when_and_why(decision: Decision) -> None:
    found = after(EXEMPT, decision)
    assert found.status is Status.KNOWN_ISSUE
    text = message(found)
    assert text.startswith("exempt until 2027-01-31: it never had a legacy path (https://example.org/1) — ")
    assert text.endswith(message(decision))
    assert (codes(found), found.left) == (codes(decision), decision.left)


def test_it_holds_up_to_its_last_day() -> None:
    assert after(structs.replace(EXEMPT, expires=TODAY)).status is Status.KNOWN_ISSUE


@pytest.mark.parametrize(
    ("exemption", "decision", "what", "says"),
    [
        (structs.replace(EXEMPT, reason=" "), CLOSED, "without-reason", "write down why the criterion need not hold"),
        (structs.replace(EXEMPT, expires=date(2026, 11, 21)), CLOSED, "expired", "got one that expired on 2026-11-21"),
        (structs.replace(EXEMPT, expires=date(2026, 11, 21)), OPEN, "expired", "got one that expired on 2026-11-21"),
        (
            EXEMPT,
            OPEN,
            "not-needed",
            "remove the entry. expected no exemption of mine from 2/paths-agree; got one",
        ),
        (EXEMPT, NOT_ASKED, "not-needed", "got one, and the criterion is not-asked"),
    ],
)
def test_an_exemption_that_is_not_valid_closes_its_criterion(
    exemption: Exemption, decision: Decision, what: str, says: str
) -> None:
    found = after(exemption, decision)
    assert (found.status, found.compared) == (Status.VIOLATED, ())
    assert codes(found) == [f"gate/exemption/{what}", *codes(decision)]
    assert says in message(found)
    assert "mine from 2/paths-agree" in message(found)


def test_what_closed_the_criterion_is_told_behind_its_exemption() -> None:
    found = after(structs.replace(EXEMPT, reason=""))
    assert message(found).endswith("(and 1 more)")
    assert wording().detail(found) == message(CLOSED)
    assert found.left == CLOSED.left


def test_what_only_some_scenarios_show_makes_no_exemption_needless() -> None:
    assert after(EXEMPT, OPEN, whole=False) == OPEN


@pytest.mark.parametrize(
    "exemption", [structs.replace(EXEMPT, adapter="theirs"), structs.replace(EXEMPT, criterion="1/histories-agree")]
)
def test_an_exemption_of_another_adapter_or_criterion_changes_nothing(exemption: Exemption) -> None:
    assert after(exemption) == CLOSED


def test_a_subject_goes_by_its_own_name_that_of_its_adapter_and_that_of_the_command() -> None:
    assert names_of("my_pkg:SESSION@openai", SUBJECT) == {"my_pkg:SESSION@openai", "openai", "anthropic"}


def check(exemptions: Sequence[Exemption], *, every: bool = True) -> None:
    check_exemptions(exemptions, load_phases(), 3, [{"mine"}, {"other"}], every=every)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"criterion": "3/path-agree"},
            r"exemption\[0\]: no criterion has the id '3/path-agree'; did you mean '3/paths-ag",
        ),
        ({"adapter": "mien"}, r"exemption\[0\]: no adapter of this gate is called 'mien'; did you mean 'mine'"),
    ],
)
def test_an_exemption_about_nothing_is_a_mistake_of_the_settings(changes: dict[str, str], says: str) -> None:
    entry = structs.replace(EXEMPT, criterion="3/paths-agree")
    with pytest.raises(UsageError, match=says):
        check([structs.replace(entry, **changes)])


def test_an_adapter_that_was_not_asked_for_may_keep_its_exemption() -> None:
    entry = structs.replace(EXEMPT, criterion="3/paths-agree", adapter="elsewhere")
    check([entry], every=False)
    check([structs.replace(entry, criterion="2/paths-agree")])


SETTINGS = """
[[gates.exemption]]
adapter = "agent-cli"
criterion = "3/paths-agree"
reason = "it never had a legacy path"
expires = 2027-01-31
"""


def test_exemptions_stand_in_the_settings(tmp_path: Path) -> None:
    (tmp_path / "turnproof.toml").write_text(SETTINGS)
    (found,) = load_config(tmp_path).settings.gates.exemption
    assert found == Exemption("agent-cli", "3/paths-agree", "it never had a legacy path", date(2027, 1, 31))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SETTINGS.replace("reason", "raeson"), "$.gates.exemption[0]: unknown key 'raeson'; did you mean 'reason'?"),
        (SETTINGS.replace("2027-01-31", "'soon'"), "$.gates.exemption[0].expires: Invalid RFC3339 encoded date"),
        (SETTINGS * 2, "$.gates.exemption[1]: entry 0 has the same exemption of agent-cli from 3/paths-agree"),
        (SETTINGS.replace('reason = "it never had a legacy path"', ""), "missing required field `reason`"),
    ],
)
def test_a_mistake_in_an_exemption_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "turnproof.toml").write_text(text)
    with pytest.raises(UsageError) as failure:
        load_config(tmp_path)
    assert says in str(failure.value)


# -- known issues ------------------------------------------------------------------------------------------------------

ISSUE = KnownIssue(
    "mine", "core/turns-come-to-an-end", "stateless", "the SDK hangs", date(2027, 1, 31), "https://e.org/2"
)


def known(*issues: KnownIssue, whole: bool = True, verdict: Any = None) -> Any:
    looked_at = replace(measured(), issues=issues, whole=whole, today=TODAY)
    return accepted(looked_at, "core/turns-come-to-an-end", "stateless", verdict or violated("it hung"))


def test_a_known_issue_of_a_requirement_is_accepted_in_a_gate_as_well() -> None:
    found = known(ISSUE)
    assert found.status is Status.KNOWN_ISSUE
    (reason,) = found.reasons
    assert reason.acceptance == Acceptance("known-issue", date(2027, 1, 31), "the SDK hangs", "https://e.org/2")
    assert message(found).startswith("accepted until 2027-01-31: the SDK hangs (https://e.org/2) — ")
    assert message(found).endswith("it hung")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"expires": date(2026, 1, 1)}, "it expired on 2026-01-01"),
        ({"reason": ""}, "it has no reason"),
    ],
)
def test_one_that_is_not_good_closes_what_reads_it(changes: dict[str, Any], says: str) -> None:
    found = known(structs.replace(ISSUE, **changes))
    assert found.status is Status.VIOLATED
    assert codes(found)[0] == "gate/known-issue/not-valid"
    assert says in message(found)


def test_one_that_no_longer_occurs_is_told_where_everything_was_run() -> None:
    assert "it no longer occurs" in message(known(ISSUE, verdict=held("runs", asked=1)))
    assert known(ISSUE, verdict=held("runs", asked=1), whole=False).status is Status.HELD


def test_one_of_another_path_or_requirement_changes_nothing() -> None:
    assert known(structs.replace(ISSUE, path="legacy")).status is Status.VIOLATED


def test_the_settings_of_gates_have_no_exemption_by_themselves() -> None:
    assert GateSettings().exemption == ()
