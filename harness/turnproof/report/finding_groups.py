"""Findings as readers want them: those that follow from one root together, each kind with all its places.

Grouping hides nothing: a group is one kind of finding under one root, and there are as many groups as there are pairs
of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..errors import ProviderError
from ..judge.finding import Finding, Place
from ..judge.finding_words import Template, Words, place_in_words, words_of
from ..run.tracebacks import Raised


def word_rows(title: str, expected: str, got: str) -> Iterator[tuple[str, str]]:
    """The sentence of a finding and both sides, each with its label, without those that say nothing."""
    return ((label, text) for label, text in (("finding", title), ("expected", expected), ("got", got)) if text)


@dataclass(frozen=True)
class Group:
    """Findings with one code and one root, in the order in which they were made. There is at least one."""

    findings: tuple[Finding, ...]
    words: Words

    @property
    def first(self) -> Finding:
        """The finding that the words speak of."""
        return self.findings[0]

    @property
    def code(self) -> str:
        """Their code."""
        return self.first.code

    @property
    def root(self) -> str:
        """What they follow from; empty for nothing."""
        return self.first.root

    @property
    def cause(self) -> str:
        """What they follow from, in words: their root, or an exception that is no error of the contract."""
        if self.root:
            return root_in_words(self.root)
        if self.raised is None or self.raised.module == ProviderError.__module__:
            return ""
        frame = self.raised.own_frame
        return root_in_words(f"raised:{self.raised.type}" + (f"@{frame.file}:{frame.line}" if frame else ""))

    @property
    def raised(self) -> Raised | None:
        """The exception that one of them speaks of."""
        return next((one.raised for one in self.findings if one.raised is not None), None)

    @cached_property
    def runs(self) -> dict[str, int]:
        """How many there are in each run, by its key."""
        return dict(Counter(one.place.run for one in self.findings))


def groups(findings: Iterable[Finding], templates: Mapping[str, Template]) -> list[Group]:
    """The groups in the order of their first findings; what follows from a root beside what else follows from it."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.root, finding.code), []).append(finding)
    first: dict[str, int] = {}
    for number, (root, code) in enumerate(found):
        first.setdefault(root or code, number)
    ranked = sorted(found.items(), key=lambda item: first[item[0][0] or item[0][1]])
    return [Group(tuple(some), words_of(some[0], templates)) for _, some in ranked]


def root_in_words(root: str) -> str:
    """What findings follow from, for people: `the request is refused (anthropic-messages/orphan-result)`."""
    kind, _, rest = root.partition(":")
    match kind:
        case "refused":
            return f"the API refuses the request ({rest.partition(':')[0]})"
        case "raised":
            name, _, where = rest.partition("@")
            return f"the adapter raised {name}" + (f" at {where}" if where else "")
        case "ended-early":
            return "the turn ended with an error"
    return root


def location(place: Place) -> str:
    """A place on one line: `tools/one/stateless/stream, turn 0 round 1 (call 1), request /messages/2`."""
    document = ""
    if place.header:
        document = f"request header {place.header}"
    elif place.pointer is not None:
        document = f"{place.side} {place.pointer}".rstrip()
    return ", ".join(filter(None, (place.run, place_in_words(place), document)))


def scenarios(failing: Mapping[str, int]) -> list[str]:
    """The scenarios in which something was found, with how often, by name: `tools/one ×3`."""
    counts: Counter[str] = Counter()
    for run, count in failing.items():
        counts[run.rsplit("/", 2)[0]] += count
    return [f"{name} ×{count}" if count > 1 else name for name, count in sorted(counts.items())]
