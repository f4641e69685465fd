"""The page of evidence says what the rules say."""

from __future__ import annotations

from .evidence import PAGE, page


def test_the_page_of_evidence_is_the_one_that_the_rules_make() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.dialects.evidence"
