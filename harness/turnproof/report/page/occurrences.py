"""Findings of one verdict for readers: each kind once, with every place where it was found to step through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from msgspec.structs import replace

from ...judge.finding import UNSTRUCTURED, BrokenRule, Finding, plain_value
from ...judge.finding_words import Words
from ...judge.run_log import Run
from ...run.tracebacks import Raised
from ..finding_groups import Group, groups, location, root_in_words, scenarios
from ..limits import OCCURRENCES_OF_A_KIND, OCCURRENCES_OF_A_PAGE
from .colours import colour_both
from .documents import Document, documents, raws
from .raw_bytes import Raw
from .tracebacks import Traceback, tracebacks
from .transcripts import Transcripts


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One finding. Its `sides` (expected, got) and `traceback` are there where they are not those of its kind."""

    where: str
    digest: str
    sides: tuple[Markup, Markup] | None
    documents: tuple[Document, ...]
    raws: tuple[Raw, ...]
    traceback: tuple[Traceback, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """Findings with one code and one root. `words` and `sides` (expected, got) are those of the first.

    `detail` are lines in free words, each with its kind (`plus`, `minus`, `same`). `more` are the places of those that
    are not among the `occurrences`.
    """

    words: Words
    sides: tuple[Markup, Markup]
    cause: str
    where: str
    detail: tuple[tuple[str, str], ...]
    rule: BrokenRule | None
    rests_on: str
    traceback: tuple[Traceback, ...]
    scenarios: tuple[str, ...]
    occurrences: tuple[Occurrence, ...]
    more: tuple[str, ...]
    accepted: bool

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.occurrences) + len(self.more)


class Kinds:
    """Makes kinds of findings, as many occurrences of them as a page can bear."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._room = OCCURRENCES_OF_A_PAGE

    def of(self, findings: Sequence[Finding], transcripts: Transcripts, *, accepted: bool = False) -> Iterator[Kind]:
        """The kinds among these findings of one adapter."""
        for group in groups(map(_shorten_values, findings), self._run.templates):
            yield self._kind(group, transcripts, accepted=accepted)

    def _kind(self, group: Group, transcripts: Transcripts, *, accepted: bool) -> Kind:
        first = group.first
        shown = max(1, min(OCCURRENCES_OF_A_KIND, self._room, len(group.findings)))
        self._room -= shown
        free = group.code.rpartition("/")[2] == UNSTRUCTURED
        return Kind(
            words=group.words,
            sides=colour_both(group.words.expected, group.words.got),
            cause=root_in_words(group.root) if group.root else "",
            where=location(first.place),
            detail=tuple((_mark(line), line) for line in str(first.facts.get("detail", "")).splitlines())
            if free
            else (),
            rule=first.rule,
            rests_on=str(first.rests_on) if first.rests_on is not None else "",
            traceback=tracebacks(first.raised) if first.raised is not None else (),
            scenarios=tuple(scenarios({run: count for run, count in group.runs.items() if run})),
            occurrences=tuple(self._occurrence(one, group, transcripts) for one in group.findings[:shown]),
            more=tuple(location(one.place) for one in group.findings[shown:]),
            accepted=accepted,
        )

    def _occurrence(self, finding: Finding, group: Group, transcripts: Transcripts) -> Occurrence:
        words = self._run.words(finding)
        same = (words.expected, words.got) == (group.words.expected, group.words.got)
        raised = finding.raised
        return Occurrence(
            where=location(finding.place),
            digest=line.digest if (line := transcripts.lines.get(finding.place.run)) else "",
            sides=None if same else colour_both(words.expected, words.got),
            documents=tuple(documents(finding, transcripts)),
            raws=tuple(raws(finding, transcripts)),
            traceback=tracebacks(raised)
            if raised is not None and not _is_same_exception(raised, group.first.raised)
            else (),
        )


def _is_same_exception(raised: Raised, other: Raised | None) -> bool:
    return other is not None and (raised.title, raised.own_frame) == (other.title, other.own_frame)


def _shorten_values(finding: Finding) -> Finding:
    """The finding with values that a page can bear."""
    facts = {name: plain_value(value) for name, value in finding.facts.items()}
    expected, observed = plain_value(finding.expected), plain_value(finding.observed)
    return replace(finding, expected=expected, observed=observed, facts=facts)


def _mark(line: str) -> str:
    return {"+": "plus", "-": "minus"}.get(line[:1], "same")
