"""`comment.md`: what changed between two runs, as a comment on a pull request.

The first line is hidden, and always the same: whoever posts the comment finds the one from before by it, and writes the
new one in its place. GitHub refuses a comment with more than 65,536 characters: what does not fit is left out, item by
item, and counted. What adapters wrote stands in code spans with everything escaped: GitHub looks there neither for
markup nor for names and numbers to link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..judge.verdict import Status
from ._inline_text import one_line, shorten
from ._markdown import code_block, escape
from .certification_diff import Change, Diff, Kind
from .certification_diff_text import LOOKS, Line, findings_of, lines_of, rows_of
from .limits import (
    COMMENT_CHARACTERS,
    COMMENT_FINDINGS,
    COMMENT_OPEN_ITEMS,
    COMMENT_SECTION_CHARACTERS,
    COMMENT_VALUE_CHARACTERS,
)

MARKER = "<!-- turnproof diff -->"
"""The first line of the comment."""


@dataclass(frozen=True, slots=True)
class Section:
    """Changes of one kind, an item each. `is_open` says whether a few of them stand there without being asked for."""

    title: str
    items: tuple[str, ...]
    is_open: bool


def comment_md(report: Diff) -> str:
    """The comment: a hidden line, a sentence, what is new, what is still there, fixed, and no longer measured."""
    head = f"{MARKER}\n\n**turnproof**: {sentence(report)}\n"
    parts = [head]
    sections = list(_sections(report))
    left = COMMENT_CHARACTERS - len(head) - COMMENT_SECTION_CHARACTERS * len(sections)
    for section in sections:
        part = _within(section, left)
        parts.append(part)
        left -= max(0, len(part) + 1 - COMMENT_SECTION_CHARACTERS)
    return "\n".join(parts)


def sentence(report: Diff) -> str:
    """What changed, in a sentence; names are those of the two sides."""
    before, after = _code(report.before.name), _code(report.after.name)
    if not report.compared:
        return f"{after} and {before} cannot be compared: nothing was measured on both sides."
    counts = [f"{count} {LOOKS[kind].word}" for kind, count in report.counts.items() if count]
    cut = [f"{_code(side.name)} was cut." for side in (report.before, report.after) if not side.complete]
    summary = f"{', '.join(counts)}, {report.same} the same" if counts else f"nothing changed, {report.same} the same"
    return " ".join([f"{summary}, in {after} against {before}.", *cut])


def _sections(report: Diff) -> Iterator[Section]:
    for kind in Kind:
        lines = lines_of(report, kind)
        if kind is Kind.FOUND:
            lines = [line for line in lines if line.alone and line.change.after == Status.VIOLATED]
        if not lines:
            continue
        look = LOOKS[kind]
        items = tuple("\n".join(_item(line)) + "\n" for line in lines)
        is_open = kind in (Kind.NEW, Kind.CHANGED, Kind.FOUND)
        yield Section(f"{look.symbol} {look.word} ({report.counts[kind]})", items, is_open)


def _within(section: Section, left: int) -> str:
    """A section whose items have no more than `left` characters: the first ones, and how many are left out."""
    shown: list[str] = []
    for item in section.items:
        if len(item) + 1 > left:
            break
        left -= len(item) + 1
        shown.append(item)
    rest = len(section.items) - len(shown)
    more = f"\n{rest} more left out: `diff.md` and `diff.json` have them.\n" if rest else ""
    if not shown:
        return f"### {section.title}\n{more}"
    number = COMMENT_OPEN_ITEMS if section.is_open else 0
    open_items = shown if section.is_open and len(shown) <= COMMENT_OPEN_ITEMS else shown[:number]
    folded = shown[len(open_items) :]
    text = "\n".join([f"### {section.title}\n", *open_items])
    if folded:
        summary = f"{len(folded)} more" if open_items else "Show"
        text += f"\n<details><summary>{summary}</summary>\n\n" + "\n".join(folded) + "\n</details>\n"
    return text + more


def _item(line: Line) -> Iterator[str]:
    change = line.change
    yield f"**{_code(line.what)}**"
    if not line.alone:
        return
    yield ""
    if change.why:
        yield f"- {_code(change.why)}"
    lists = list(findings_of(change))
    for name, found in lists:
        brief = change.kind in (Kind.CHANGED, Kind.NEW) and found is not change.new and found is not change.fixed
        if brief or len(lists) > 1 or change.kind is Kind.CHANGED:
            yield f"- {name}: {len(found)}"
        for one in () if brief else found[:COMMENT_FINDINGS]:
            for number, (label, text) in enumerate(rows_of(one)):
                yield f"{'  ' if number else ''}- {label}: {_code(text)}"
        if not brief and len(found) > COMMENT_FINDINGS:
            yield f"- and {len(found) - COMMENT_FINDINGS} more like these"
    if not lists:
        yield from _in_words(change)
    if change.after == Status.VIOLATED:
        yield ""
        yield "Reproduce:"
        yield ""
        yield from code_block(shorten(one_line(change.reproduce), COMMENT_VALUE_CHARACTERS), "sh")


def _in_words(change: Change) -> Iterator[str]:
    if message := change.after_message or change.before_message:
        yield f"- {_code(message)}"
    if change.where:
        yield f"- where: {_code(change.where)}"


def _code(text: str) -> str:
    return f"<code>{escape(shorten(one_line(text), COMMENT_VALUE_CHARACTERS))}</code>"
