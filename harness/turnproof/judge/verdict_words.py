"""A verdict in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from .._base.counts import counted
from .finding_words import Template, words_of
from .undecided_words import in_one_sentence
from .verdict import Verdict


def message_of(verdict: Verdict, templates: Mapping[str, Template]) -> str:
    """Its first finding and how many there are more; what has no findings says why it is what it is.

    Of a known issue, how it was accepted stands in front.
    """
    if not verdict.findings:
        explained = verdict.empty and verdict.undecided
        return in_one_sentence(verdict.undecided) if explained else verdict.message
    more = f" (and {verdict.total - 1} more)" if verdict.total > 1 else ""
    found = words_of(verdict.findings[0], templates).whole + more
    return " — ".join(filter(None, (verdict.message, found)))


def asked_text(verdict: Verdict, counts: str) -> str:
    """How often the subject was asked: `12 requests`; empty in logs from before it was counted."""
    return counted(verdict.asked, counts.removesuffix("s")) if verdict.asked is not None and counts else ""


def details_of(verdict: Verdict, templates: Mapping[str, Template]) -> str:
    """Further lines for it: of findings each with its run, or what was told in free words beside a message."""
    if not verdict.findings:
        return verdict.detail
    if free := [str(one.facts["detail"]) for one in verdict.findings if "detail" in one.facts]:
        return free[0]
    return "\n".join(f"{one.place.run}: {words_of(one, templates).whole}" for one in verdict.findings[1:])
