"""Words for findings, from templates that stand beside the checks. Nothing but people reads what is made here.

A template says what was expected and what came instead. Names in braces are the finding's `expected`, `observed` and
`facts`; a value is shown as JSON, long ones cut to the part around the first difference. `{name:words}` inserts a text
as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

import msgspec
from msgspec import UNSET

from .._base.printable import one_line
from .finding import PATHS_DIFFER, UNSTRUCTURED, Finding, Place

WIDTH = 160
"""Characters that are shown of a value."""


class Template(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a finding with one code is told. `title` says in a sentence what is wrong, without values."""

    title: str
    expected: str = "{expected}"
    got: str = "{observed}"


@dataclass(frozen=True, slots=True)
class Words:
    """A finding for people: what is wrong, both sides, and where."""

    title: str
    expected: str
    got: str
    where: str

    @property
    def sentence(self) -> str:
        """All of it on a line, but for the title: `turn 0 round 1 (call 1): expected ...; got ...`."""
        if not self.title:  # told in free words
            return self.got
        sides = "; ".join(filter(None, (self.expected and f"expected {self.expected}", self.got and f"got {self.got}")))
        return ": ".join(filter(None, (self.where, sides or self.title)))

    @property
    def whole(self) -> str:
        """The title, and the sentence behind it."""
        return " ".join(filter(None, (self.title, self.sentence)))


COMMON = {
    UNSTRUCTURED: Template("The check reports it as text.", "", "{message:words}"),
    PATHS_DIFFER: Template(
        "The two paths of the adapter differ.",
        "{expected}, as on the legacy path",
        "{observed} on the stateless path",
    ),
}
"""What every requirement may have found, by the last part of its code."""

_ANY = Template("The requirement is not met.")


def words_of(finding: Finding, templates: Mapping[str, Template]) -> Words:
    """A finding in words. One that no template is known for has its values alone, one in free words just these."""
    if finding.code.rpartition("/")[2] == UNSTRUCTURED:
        return Words("", "", one_line(str(finding.facts.get("message", ""))), "")
    template = templates.get(finding.code) or COMMON.get(finding.code.rpartition("/")[2], _ANY)
    expected, observed = difference_window(finding.expected, finding.observed)
    values = _Values(
        {"expected": finding.expected, "observed": finding.observed, **finding.facts},
        {"expected": expected, "observed": observed},
    )
    title = template.title
    if finding.facts.get("subject") == "session":
        # It was judged by what the session made of the wire; which code below it did that, nobody saw.
        title = title.replace("The adapter ", "The session ", 1)
    return Words(
        title,
        values.put_into(template.expected),
        values.put_into(template.got),
        place_in_words(finding.place),
    )


def place_in_words(place: Place) -> str:
    """The place within its run: `turn 0 round 1 (call 1)`; empty where it names no turn."""
    probe = f" ({place.probe} probe)" if place.probe else ""
    if place.turn < 0:
        return probe.strip()
    if place.call < 0:
        return f"turn {place.turn}{probe}"
    again = f", attempt {place.attempt + 1}" if place.attempt else ""
    round = f" round {place.round}" if place.round >= 0 else ""
    return f"turn {place.turn}{round} (call {place.call}{again}){probe}"


def difference_window(expected: Any, observed: Any, width: int = WIDTH) -> tuple[str, str]:
    """Both values as JSON text; of long ones the part around the first place where they differ, the same on both."""
    ours, theirs = value_text(expected), value_text(observed)
    if len(ours) <= width and len(theirs) <= width:
        return ours, theirs
    start = max(0, first_difference(ours, theirs) - width // 2)
    return _window(ours, start, width), _window(theirs, start, width)


def first_difference(one: str, other: str) -> int:
    """The index of the first character in which two texts differ; the length of the shorter one where none does."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def value_text(value: Any) -> str:
    """A value as JSON on one line, with every character that does not print as its escape."""
    if value is UNSET:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escape(letter) for letter in text)


def _window(text: str, start: int, width: int) -> str:
    if start < width // 4 and len(text) <= width:
        return text
    end = start + width
    return ("… " if start else "") + text[start:end] + (f" … ({len(text)} characters)" if end < len(text) else "")


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _Values(Formatter):
    """Puts values into a template. A template that names what a finding lacks shows the name: words never fail."""

    def __init__(self, facts: Mapping[str, Any], framed_already: Mapping[str, str]) -> None:
        self._facts = facts
        self._framed = framed_already

    def put_into(self, template: str) -> str:
        try:
            return one_line(self.vformat(template, (), {}))
        except (ValueError, IndexError):  # a brace that is none
            return one_line(template)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        return field_name, field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        name = str(value)
        if name not in self._facts:
            return "{" + name + "}"
        fact = self._facts[name]
        if format_spec == "words" and isinstance(fact, str):
            return fact
        return self._framed.get(name) or difference_window(fact, UNSET)[0]
