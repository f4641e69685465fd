"""A decision in words, for reports and annotations. Nothing but people reads what is made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...judge.finding_words import Template, Words, words_of
from .codes import gate_templates
from .decision import Acceptance, Decision, Reason, with_counts
from .flag import FlagPlan
from .measurement import Measured
from .phases import FIRST_WITHOUT_FLAG

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Wording:
    """What is needed to tell decisions: the words of the suite and of gates, and how the flag is set in a phase."""

    templates: Mapping[str, Template]
    flag: FlagPlan
    phase: int

    @classmethod
    def for_measured(cls, measured: Measured) -> Wording:
        """The wording for the decisions that are made of what was measured."""
        templates = {**measured.suite.registry.templates, **gate_templates()}
        return cls(templates, measured.flag, measured.phase)

    def message(self, decision: Decision) -> str:
        """The first reason in a sentence, and how many there are more; empty for what is held."""
        if not decision.reasons:
            return ""
        first, others = decision.reasons[0], len(decision.reasons) - 1 + decision.more
        text = self.sentence(first) + (f" (and {others} more)" if others else "")
        return f"{_accepted(first.acceptance)} — {text}" if first.acceptance is not None else text

    def detail(self, decision: Decision) -> str:
        """Further lines: the output of a command, or the other reasons for which no line of source is shown."""
        for reason in decision.reasons:
            if "detail" in reason.finding.facts:
                return str(reason.finding.facts["detail"])
        lines = [self.sentence(reason) for reason in decision.reasons[1:] if reason.spot is None]
        names = Counter(reason.name for reason in decision.reasons if reason.name and reason.spot is None)
        if names.total() > len(names):
            lines = [*shortened(lines), f"in all: {', '.join(with_counts(names.most_common()))}"]
            return "\n".join(lines)
        return "\n".join(shortened(lines))

    def sentence(self, reason: Reason) -> str:
        """One reason: the requirement, the setting of the flag and the run, what is wrong, and both sides."""
        finding = reason.finding
        requirement = "" if finding.code in gate_templates() else finding.requirement
        return ": ".join(
            filter(None, (requirement, self._setting(reason), finding.place.run, _all_words(self.words(reason))))
        )

    def words(self, reason: Reason) -> Words:
        """The finding of a reason in words."""
        return words_of(reason.finding, self.templates)

    def _setting(self, reason: Reason) -> str:
        if reason.setting is None or (reason.setting == "default" and self.phase >= FIRST_WITHOUT_FLAG):
            return ""
        words = f"with {self.flag.words(reason.setting)}"
        if reason.setting != "default":
            return words
        side = "from" if self.phase >= self.flag.flip_phase else "before"
        return f"{words}, in phase {self.phase}, {side} the flip in phase {self.flag.flip_phase}"


def shortened(lines: Sequence[str]) -> list[str]:
    """As many lines as a person reads, and how many there are more."""
    return [*lines[:_SHOWN], *([f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])]


def _all_words(words: Words) -> str:
    """All words of a finding. A template without what was expected gives something else about it: it needs no `got`."""
    if words.title and not words.expected:
        about = ": ".join(filter(None, (words.where, words.got)))
        return " ".join(filter(None, (words.title, about)))
    return words.whole


def _accepted(acceptance: Acceptance) -> str:
    word = "exempt" if acceptance.kind == "exemption" else "accepted"
    link = f" ({acceptance.link})" if acceptance.link else ""
    return f"{word} until {acceptance.expires}: {acceptance.reason}{link}"
