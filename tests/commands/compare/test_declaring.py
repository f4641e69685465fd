"""A difference is declared with a reason, or it is a violation; one that no longer occurs is stale."""

from __future__ import annotations

import pytest
from suites.build import response_with
from suites.conversations import plain

from turnproof._base.exit_codes import Exit
from turnproof._base.settings import DeclaredDifference
from turnproof.errors import CatalogueError
from turnproof.judge.declarations import between_adapters, between_paths, with_settings
from turnproof.judge.parity import KINDS, Comparison, check_declared, kind, reason_for, stale, violations
from turnproof.messages import TokenUsage
from turnproof.provider import Difference
from turnproof.report.comparison import Standing
from turnproof.run.bindings import resolve_subject
from turnproof.run.transcript import Response

from .kit import compared, report

LATE = Difference("stream-usage-late", "the SDK reports it at the end")
WORDS = Difference("error-words", "the SDK has its own words")


def late() -> Comparison:
    return compared(plain, (Response, response_with(usage=TokenUsage()), 0))


def test_every_kind_has_a_name_of_its_own_and_says_what_it_is() -> None:
    names = [each.name for each in KINDS]
    assert len(set(names)) == len(names)
    assert all(each.title and each.aspects for each in KINDS)
    assert kind("error-words").form
    with pytest.raises(CatalogueError, match="no kind of difference"):
        kind("error-wards")


def test_an_undeclared_difference_is_a_violation() -> None:
    found = report(late())
    assert found.exit_code == Exit.VIOLATIONS
    assert found.scenarios[0].standing is Standing.VIOLATED
    assert {difference.name for _, difference in found.violations} == {"stream-usage-late"}
    assert violations(late(), ())
    assert not found.same


def test_a_declared_difference_is_none_and_keeps_its_reason() -> None:
    found = report(late(), declared=(LATE,))
    assert found.same
    assert found.scenarios[0].standing is Standing.DECLARED
    assert {difference.reason for difference in found.scenarios[0].differences} == {LATE.reason}
    assert [(one.name, one.times) for one in found.declared] == [("stream-usage-late", 1)]
    assert reason_for(late().differences[0], (WORDS, LATE)) == LATE.reason
    assert violations(late(), (LATE,)) == ()


def test_a_declared_difference_excuses_no_other() -> None:
    assert report(late(), declared=(WORDS,), whole=False).exit_code == Exit.VIOLATIONS


def test_a_declared_difference_that_nothing_shows_is_stale_and_fails() -> None:
    found = report(compared(plain), declared=(LATE,))
    assert found.stale == ("stream-usage-late",)
    assert found.exit_code == Exit.VIOLATIONS
    assert [difference.name for difference in stale((LATE, WORDS), [late()])] == ["error-words"]


def test_only_a_comparison_of_everything_can_call_a_difference_stale() -> None:
    found = report(compared(plain), declared=(LATE,), whole=False)
    assert found.stale == ()
    assert found.same


def test_where_a_run_did_not_end_nothing_is_called_stale() -> None:
    cut = Comparison(
        scenario="x", mode="stream", left=late().left, right=late().right, problem="it did not come to its end"
    )
    found = report(compared(plain), cut, declared=(LATE,))
    assert found.stale == ()
    assert found.exit_code == Exit.UNDECIDED


def test_nothing_compared_is_no_success() -> None:
    assert report().exit_code == Exit.UNDECIDED


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ((Difference("stream-usage-lat", "x"),), "did you mean 'stream-usage-late'"),
        ((Difference("zzz", "x"),), "known: kept-by-the-service, retried-elsewhere"),
        ((Difference("error-words", " "),), "gives no reason"),
        ((WORDS, WORDS), "declared twice"),
    ],
)
def test_a_declaration_that_says_nothing_is_refused(declared: tuple[Difference, ...], message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        check_declared(declared)


def entry(adapter: str, name: str = "error-words", reason: str = "ours", against: str = "") -> DeclaredDifference:
    return DeclaredDifference(adapter, name, reason, against)


def test_settings_add_to_what_the_binding_declares_and_their_reason_counts() -> None:
    settings = [entry("mine"), entry("other", "tool-order"), entry("mine", "cache-marks", against="other")]
    assert between_paths(("mine", "pkg:MINE"), (LATE, WORDS), settings) == (LATE, Difference("error-words", "ours"))
    assert between_paths(("x", "mine"), (), settings) == (Difference("error-words", "ours"),)


def test_settings_speak_of_two_adapters_in_either_order() -> None:
    settings = [entry("old", "tool-order", against="new"), entry("old")]
    for names in ((("old", "pkg_old:B"), ("new", "pkg:B")), (("new", "pkg:B"), ("old", "pkg_old:B"))):
        assert between_adapters(*names, settings) == (Difference("tool-order", "ours"),)
    assert between_adapters(("old",), ("third",), settings) == ()


def test_a_mistake_in_the_settings_is_refused() -> None:
    with pytest.raises(CatalogueError, match="did you mean 'error-words'"):
        between_paths(("mine",), (), [entry("mine", "error-word")])
    with pytest.raises(CatalogueError, match="gives no reason"):
        between_adapters(("mine",), ("other",), [entry("mine", reason="", against="other")])


@pytest.mark.parametrize("spec", ["anthropic", "turnproof.session.binding:REFERENCE"])
def test_a_subject_takes_up_what_the_settings_declare(spec: str) -> None:
    subject = with_settings(spec, resolve_subject(spec), [entry(spec, "tool-order")])
    assert Difference("tool-order", "ours") in subject.declared
