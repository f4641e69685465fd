"""The rules of `volatile.toml`: what a digest leaves out of a transcript."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import cached_property
from importlib.resources import files
from itertools import accumulate
from typing import Any, ClassVar, Protocol, TypeAlias

import msgspec
from msgspec.structs import StructConfig

from .canonical import canonical, canonical_plain

JSON: TypeAlias = Any

_MESSAGE_ID = b'"message_id"'
"""How a message is known in JSON: a text that has this in it has its quotes escaped."""


class Event(Protocol):
    """An event of a transcript: a struct whose tag is its kind."""

    __struct_config__: ClassVar[StructConfig]

    @property
    def probe(self) -> str:
        """The probe that it belongs to; empty for none."""
        ...


class Volatile(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True, rename="kebab"):
    """The file's tables, field by field. Unknown keys are refused: a typo must not widen or narrow the evidence."""

    drop: tuple[str, ...]
    id_lists: tuple[str, ...]
    unordered_probes: tuple[str, ...]
    json_text: tuple[str, ...]
    drop_in_json: tuple[str, ...]
    settled: tuple[str, ...]
    scrub: tuple[str, ...]
    patterns: dict[str, str]

    @classmethod
    def load(cls) -> Volatile:
        """The rules that ship with turnproof."""
        return msgspec.convert(tomllib.loads((files(__package__) / "volatile.toml").read_text("utf-8")), cls)

    def events(self, events: Iterable[Event]) -> Iterator[bytes]:
        """Each event's canonical JSON, in the order that counts, without what is volatile."""
        walk = _Walk(self._lookup)
        found = [walk.event(event) for event in events]
        for probe in self.unordered_probes:
            _put_in_order(found, probe)
        return map(canonical, found)

    @cached_property
    def _lookup(self) -> _Lookup:
        return _Lookup(self)


class _Lookup:
    """The rules in the forms in which they are asked. `ruled` are the paths at which, or below which, there is one."""

    def __init__(self, rules: Volatile) -> None:
        self.drop = _by_parent(rules.drop)
        self.id_lists = frozenset(rules.id_lists)
        self.unordered = frozenset(rules.unordered_probes)
        self.json_text = frozenset(rules.json_text)
        self.drop_in_json = frozenset(rules.drop_in_json)
        self.settled = dict(_parent_and_name(path) for path in rules.settled)
        self.scrub = frozenset(rules.scrub)
        self.patterns = [(re.compile(pattern), to) for pattern, to in rules.patterns.items()]
        self.ruled = frozenset(_beginnings([*self.drop, *self.id_lists, *self.json_text, *self.settled, *self.scrub]))


class _Walk:
    """One pass over one transcript; it remembers in which order message ids appeared.

    Most of a transcript is out of every rule's reach: bodies, texts, and the history that each call repeats. That is
    written by the encoder at once, and looked into only where it names a message.
    """

    def __init__(self, rules: _Lookup) -> None:
        self._rules = rules
        self._ids: dict[str, str] = {}
        self._messages: dict[bytes, msgspec.Raw] = {}

    def event(self, event: Event) -> dict[str, JSON] | msgspec.Raw:
        """The event, as JSON already where it holds nothing volatile and keeps its place."""
        kind = str(event.__struct_config__.tag)
        if kind not in self._rules.ruled and event.probe not in self._rules.unordered:
            text = canonical_plain(event)
            if _MESSAGE_ID not in text:
                return msgspec.Raw(text)
        return self._object(msgspec.to_builtins(event), kind)

    def _value(self, value: JSON, path: str) -> JSON:
        if path not in self._rules.ruled:
            return self._unruled(value)
        if isinstance(value, dict):
            return self._object(value, path)
        if isinstance(value, list | tuple):
            if path in self._rules.id_lists:
                return [self._id(item) for item in value]
            return [self._value(item, path) for item in value]
        if isinstance(value, str):
            return self._text(value, path)
        return value

    def _object(self, value: dict[str, JSON], path: str) -> dict[str, JSON]:
        settled = self._rules.settled.get(path)
        if settled is not None and settled in value:
            value = _as_far_as(value, value[settled])
        dropped = self._rules.drop.get(path)
        out = {
            key: self._value(item, f"{path}.{key}")
            for key, item in value.items()
            if dropped is None or not dropped.fullmatch(key)
        }
        if _is_message(value):
            out["message_id"] = self._id(value["message_id"])
        return out

    def _unruled(self, value: JSON) -> JSON:
        """What only has its messages' ids replaced; as JSON already, unless a message stands in it."""
        if not isinstance(value, dict | list | tuple):
            return value
        text = canonical(value)
        if _MESSAGE_ID not in text:
            return msgspec.Raw(text)
        if not isinstance(value, dict):
            return [self._unruled(item) for item in value]
        out = self._messages.get(text)
        if out is None:
            plain = {key: self._unruled(item) for key, item in value.items()}
            if not _is_message(value):
                return plain
            plain["message_id"] = self._id(value["message_id"])
            # An id is never replaced by another one, so the same message is the same wherever it comes again.
            out = self._messages[text] = msgspec.Raw(canonical(plain))
        return out

    def _text(self, value: str, path: str) -> JSON:
        if path in self._rules.json_text:
            try:
                saved = json.loads(value)
            except ValueError:
                return value
            self._learn(saved)
            return self._saved(saved)
        if path in self._rules.scrub:
            for pattern, to in self._rules.patterns:
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
            return {key: self._saved(item) for key, item in value.items() if key not in self._rules.drop_in_json}
        if isinstance(value, list):
            return [self._saved(item) for item in value]
        return self._ids.get(value, value) if isinstance(value, str) else value

    def _id(self, value: str) -> str:
        return self._ids.setdefault(value, f"id-{len(self._ids) + 1}")


def _put_in_order(events: list[dict[str, JSON] | msgspec.Raw], probe: str) -> None:
    """Sort a probe's events, in the places that they have. An exchange is then called after its request."""
    own_events = {
        place: event for place, event in enumerate(events) if isinstance(event, dict) and event.get("probe") == probe
    }
    requests = {event["exchange"]: event["digest"] for event in own_events.values() if event["event"] == "wire_request"}
    named = [
        {**event, "exchange": requests.get(event["exchange"])} if "exchange" in event else event
        for event in own_events.values()
    ]
    for place, event in zip(own_events, sorted(named, key=canonical), strict=True):
        events[place] = event


def _as_far_as(value: dict[str, JSON], settled: dict[str, int]) -> dict[str, JSON]:
    """The fields as far as they count: so many characters of a text, this much of a count."""
    parts = {
        name: found[:size] if isinstance(found := value.get(name), str) else size for name, size in settled.items()
    }
    return {**value, **parts}


def _is_message(value: dict[str, JSON]) -> bool:
    """A message of ours, and not the arguments of a tool that happens to deal in message ids."""
    return "role" in value and "parts" in value and isinstance(value.get("message_id"), str)


def _beginnings(paths: Iterable[str]) -> Iterator[str]:
    """Every path on the way to one of these, and these: `a`, `a.b` and `a.b.c` of `a.b.c`."""
    for path in paths:
        yield from accumulate(path.split("."), "{}.{}".format)


def _parent_and_name(path: str) -> tuple[str, str]:
    """`a.b` and `c` of `a.b.c`."""
    parent, _, name = path.rpartition(".")
    return parent, name


def _by_parent(paths: Iterable[str]) -> dict[str, re.Pattern[str]]:
    """`a.b.x-*` and `a.b.y` as one pattern under `a.b`, so that each object costs one lookup."""
    names: dict[str, list[str]] = {}
    for parent, name in map(_parent_and_name, paths):
        names.setdefault(parent, []).append(translate(name))
    return {parent: re.compile("|".join(patterns)) for parent, patterns in names.items()}
