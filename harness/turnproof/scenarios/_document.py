"""Scenario files as plain data: a strict subset of YAML that cannot surprise its author or harm its reader.

Scalars follow JSON, not YAML 1.1: `null`, `true`, `false` and decimal numbers are what they look like, and every
other plain word is text (`no`, `12:30` and `2024-05-01` included). Duplicate keys, anchors, aliases, merge keys,
tags, a second document and deep nesting are refused with their line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import yaml

from ..errors import ScenarioError

MAX_BYTES = 1_000_000
MAX_DEPTH = 30

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS = {"null": None, "~": None, "": None, "true": True, "false": False}
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,30})\Z")
_FLOAT = re.compile(r"-?(0|[1-9]\d{0,30})(\.\d+)?([eE][+-]?\d{1,2})?\Z")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*\Z")


def child(path: str, key: str | int) -> str:
    """The JSON path of a member or an item: `$.turns[2]`, `$.results["a.b"]`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if _PLAIN_KEY.match(key) else f'{path}["{key}"]'


def read_document(file: str) -> tuple[Any, dict[str, int]]:
    """The data of a file, and the line of every spot in it by JSON path. Raises ScenarioError."""
    try:
        raw = Path(file).read_bytes()
    except OSError as error:
        raise ScenarioError(file, "$", f"cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise ScenarioError(
            file, "$", f"is larger than {MAX_BYTES:,} bytes; use {{repeat: ..., times: n}} for long texts"
        )
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(file, "$", f"is not UTF-8: byte {error.start} is {raw[error.start]:#04x}") from error
    return parse_document(text, file)


def parse_document(text: str, file: str) -> tuple[Any, dict[str, int]]:
    """`read_document` for a text that is already in memory; `file` is only named in errors."""
    try:
        return _Composer(file, yaml.parse(text, Loader=_Loader)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ScenarioError(file, "$", f"{_line_prefix(mark)}is not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ScenarioError(file, "$", f"is not YAML: {str(error).splitlines()[0]}") from error


class _Composer:
    """Builds data from parser events. The parser's own composer recurses in C without a limit and dies on `[[[[…`."""

    def __init__(self, file: str, events: Iterator[Any]) -> None:
        self._file = file
        self._events = events
        self._lines: dict[str, int] = {}

    def document(self) -> tuple[Any, dict[str, int]]:
        next(self._events)  # the start of the stream
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise ScenarioError(self._file, "$", "is empty")
        data = self._value(next(self._events), "$", 0)
        next(self._events)  # the end of the document
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._refuse("$", after, "a second document starts here; one file holds one scenario")
        return data, self._lines

    def _value(self, event: Any, path: str, depth: int) -> Any:
        self._lines[path] = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            self._refuse(
                path, event, "anchors and aliases are not allowed; write it out, or name tools declared before"
            )
        if depth > MAX_DEPTH:
            self._refuse(path, event, f"is nested deeper than {MAX_DEPTH} levels")
        if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
            self._refuse(path, event, f"the tag {event.tag!r} is not allowed")
        if isinstance(event, yaml.ScalarEvent):
            return event.value if event.tag or event.style else scalar(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path, depth)
        return self._mapping(path, depth)

    def _list(self, path: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, child(path, len(items)), depth + 1))
        return items

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
                self._refuse(path, event, "keys must be plain words, without anchors, aliases or tags")
            key = event.value
            if key == "<<" and not event.style:
                self._refuse(path, event, "merge keys are not allowed")
            if key in members:
                first = self._lines[child(path, key)]
                self._refuse(child(path, key), event, f"the key {key!r} stands here twice, first on line {first}")
            members[key] = self._value(next(self._events), child(path, key), depth + 1)
        return members

    def _refuse(self, path: str, event: Any, reason: str) -> NoReturn:
        raise ScenarioError(self._file, path, f"{_line_prefix(event.start_mark)}{reason}")


def scalar(word: str) -> Any:
    """What a plain word of a file stands for."""
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.match(word):
        return int(word)
    return float(word) if _FLOAT.match(word) else word


def _line_prefix(mark: Any) -> str:
    return f"line {mark.line + 1}: " if mark is not None else ""
