"""The rules of `volatile.toml`: what a digest leaves out of a transcript."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from fnmatch import translate
from importlib.resources import files
from typing import Any, TypeAlias

import msgspec

from ._canonical import canonical

JSON: TypeAlias = Any


class Volatile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The file's tables, field by field. Unknown keys are refused: a typo must not widen or narrow the evidence."""

    drop: tuple[str, ...]
    id_lists: tuple[str, ...]
    unordered_probes: tuple[str, ...]
    json_text: tuple[str, ...]
    drop_in_json: tuple[str, ...]
    scrub: tuple[str, ...]
    patterns: dict[str, str]

    @classmethod
    def load(cls) -> Volatile:
        """The rules that ship with turnproof."""
        return msgspec.convert(tomllib.loads((files(__package__) / "volatile.toml").read_text("utf-8")), cls)

    def normalise(self, transcript: JSON) -> JSON:
        """A transcript in plain values, without what is volatile."""
        walk = _Walk(self)
        events = [walk.value(event, event["event"]) for event in transcript["events"]]
        for probe in self.unordered_probes:
            _put_in_order(events, probe)
        return {**transcript, "events": events}


class _Walk:
    """One pass over one transcript; it remembers in which order message ids appeared."""

    def __init__(self, rules: Volatile) -> None:
        self._drop = _by_parent(rules.drop)
        self._id_lists = frozenset(rules.id_lists)
        self._json_text = frozenset(rules.json_text)
        self._drop_in_json = frozenset(rules.drop_in_json)
        self._scrub = frozenset(rules.scrub)
        self._patterns = [(re.compile(pattern), to) for pattern, to in rules.patterns.items()]
        self._ids: dict[str, str] = {}

    def value(self, value: JSON, path: str) -> JSON:
        if isinstance(value, dict):
            return self._object(value, path)
        if isinstance(value, list | tuple):
            if path in self._id_lists:
                return [self._id(item) for item in value]
            return [self.value(item, path) for item in value]
        if isinstance(value, str):
            return self._text(value, path)
        return value

    def _object(self, value: dict[str, JSON], path: str) -> JSON:
        dropped = self._drop.get(path)
        out = {
            key: self.value(item, f"{path}.{key}")
            for key, item in value.items()
            if dropped is None or not dropped.fullmatch(key)
        }
        if _is_message(value):
            out["message_id"] = self._id(value["message_id"])
        return out

    def _text(self, value: str, path: str) -> JSON:
        if path in self._json_text:
            try:
                saved = json.loads(value)
            except ValueError:
                return value
            self._learn(saved)
            return self._saved(saved)
        if path in self._scrub:
            for pattern, to in self._patterns:
                value = pattern.sub(to, value)
        return value

    def _learn(self, value: JSON) -> None:
        """Message ids in saved text, ahead of whatever in it refers to them."""
        if isinstance(value, dict):
            if _is_message(value):
                self._id(value["message_id"])
            else:
                for item in value.values():
                    self._learn(item)
        elif isinstance(value, list):
            for item in value:
                self._learn(item)

    def _saved(self, value: JSON) -> JSON:
        if isinstance(value, dict):
            if _is_message(value):
                return {**value, "message_id": self._id(value["message_id"])}
            return {key: self._saved(item) for key, item in value.items() if key not in self._drop_in_json}
        if isinstance(value, list):
            return [self._saved(item) for item in value]
        return self._ids.get(value, value) if isinstance(value, str) else value

    def _id(self, value: str) -> str:
        return self._ids.setdefault(value, f"id-{len(self._ids) + 1}")


def _put_in_order(events: list[dict[str, JSON]], probe: str) -> None:
    """Sort a probe's events, in the places that they have. An exchange is then called after its request."""
    places = [place for place, event in enumerate(events) if event.get("probe") == probe]
    requests = {
        events[place]["exchange"]: events[place]["digest"]
        for place in places
        if events[place]["event"] == "wire_request"
    }
    named = [
        {**events[place], "exchange": requests.get(events[place]["exchange"])}
        if "exchange" in events[place]
        else events[place]
        for place in places
    ]
    for place, event in zip(places, sorted(named, key=canonical), strict=True):
        events[place] = event


def _is_message(value: dict[str, JSON]) -> bool:
    """A message of ours, and not the arguments of a tool that happens to deal in message ids."""
    return "role" in value and "parts" in value and isinstance(value.get("message_id"), str)


def _by_parent(paths: Iterable[str]) -> dict[str, re.Pattern[str]]:
    """`a.b.x-*` and `a.b.y` as one pattern under `a.b`, so that each object costs one lookup."""
    names: dict[str, list[str]] = {}
    for path in paths:
        parent, _, name = path.rpartition(".")
        names.setdefault(parent, []).append(translate(name))
    return {parent: re.compile("|".join(patterns)) for parent, patterns in names.items()}
