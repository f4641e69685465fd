"""What makes a rule enforced: a place that shows the refusal, or threads of two projects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from turnproof.dialects.base import Evidence, Refusal, Rule, Source
from turnproof.dialects.rulebook import Rulebook, client_code, page, recording, report, server_code, thread
from turnproof.errors import HarnessError

QUOTE = "No."


@pytest.mark.parametrize("kind", [recording, page, client_code, server_code])
def test_one_place_of_the_service_or_the_vendor_is_enough(kind: Callable[[str], Source]) -> None:
    assert Rule("a/b", (kind("https://example.com/a"),)).enforced


def test_one_thread_is_enough_only_with_the_service_s_own_words() -> None:
    assert not Rule("a/b", (thread("one/project#1"),)).enforced
    assert Rule("a/b", (thread("one/project#1", QUOTE),)).enforced
    assert Rule("a/b", (report("https://example.com/test.js", QUOTE),)).enforced


def test_two_threads_are_independent_only_in_two_projects() -> None:
    assert not Rule("a/b", (thread("one/project#1"), thread("one/project#2"))).enforced
    assert Rule("a/b", (thread("one/project#1"), thread("other/project#1"))).enforced


def test_a_rule_that_nothing_shows_is_a_guess_and_logged() -> None:
    rule = Rulebook("a").rule("b", note="it would be odd otherwise")
    assert (rule.evidence, rule.enforced) == (Evidence.INFERRED, False)
    assert not Refusal(rule, 400, "", QUOTE).enforced


def test_the_strongest_source_names_the_evidence() -> None:
    rule = Rule("a/b", (thread("one/project#1", QUOTE), recording("https://example.com/a.yaml"), page("https://a.b")))
    assert rule.evidence is Evidence.RECORDED


def test_a_rule_without_a_source_or_a_note_is_rejected() -> None:
    with pytest.raises(HarnessError, match="a/b has no source"):
        Rulebook("a").rule("b")


@pytest.mark.parametrize("name", ["one/project", "project#1", "one/project#", "a sheet, section 4"])
def test_a_thread_is_named_by_repository_and_number(name: str) -> None:
    with pytest.raises(HarnessError, match="names no thread"):
        thread(name)


def test_a_place_is_an_address_and_not_a_private_sheet() -> None:
    with pytest.raises(HarnessError, match="is no address"):
        page("sheet.md, section 4")
