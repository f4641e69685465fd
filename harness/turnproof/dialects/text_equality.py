"""When two wordings say the same: texts joined with white space, texts in tags, JSON values as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ..messages import JSON
from .atoms import same_json


def same_but_for_borders(texts: Sequence[str], sent: str, *, free_end: bool = False) -> bool:
    """Whether `sent` is the held texts in order, with nothing but white space between and around them.

    A single text has to be the same to the letter, but for white space at a `free_end`.
    """
    whole = "".join(texts)
    if whole == sent or (free_end and whole.rstrip() == sent.rstrip()):
        return True
    at = 0
    for text in texts:
        words = text.strip()
        at = _skip_space(sent, at)
        if not sent.startswith(words, at):
            return False
        at += len(words)
    return len(texts) != 1 and _skip_space(sent, at) == len(sent)


def same_inside(held: str, sent: str) -> bool:
    """Whether two texts are the same but for the form of their line ends and white space around them.

    White space within a text has a meaning, in code and in tables.
    """
    return held == sent or _in_one_form(held) == _in_one_form(sent)


def _in_one_form(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def without_tagged(text: str, inner: str) -> str | None:
    """The text without `<tag>inner</tag>` and the white space after it, or None where it does not stand in it."""
    start = text.find(inner.strip())
    if start < 0:
        return None
    before = re.search(r"<([A-Za-z][\w-]*)[^<>]*>\s*\Z", text[:start])
    if before is None:
        return None
    after = re.compile(rf"\s*</{before[1]}\s*>\s*").match(text, start + len(inner.strip()))
    return text[: before.start()] + text[after.end() :] if after else None


def without_fenced(text: str, code: str) -> str | None:
    """The text without this code, the fence around it and the white space beside it; None where it is not in it."""
    if not code.strip():
        return None
    fenced = re.compile(rf"\s*(?:```\w*\s)?\s*{re.escape(code.strip())}\s*(?:```)?\s*")
    found = fenced.search(text)
    return text[: found.start()] + text[found.end() :] if found else None


def parses_to(text: str, value: JSON) -> bool:
    """Whether a text is this value as JSON, however it is spaced."""
    try:
        return same_json(msgspec.json.decode(text), value)
    except msgspec.DecodeError:
        return False


def leaves(value: JSON) -> list[str]:
    """The scalars of a value as they would show in any rendering of it."""
    match value:
        case dict():
            return [leaf for key, item in value.items() for leaf in (key, *leaves(item))]
        case list():
            return [leaf for item in value for leaf in leaves(item)]
        case str():
            return [value]
        case bool() | None:
            return []
        case _:
            return [str(value)]
