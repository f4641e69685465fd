"""What of a dialect the traffic of a run had: fields of requests and of answers, and rules that a request broke.

A field is a place in the JSON of a body, without its value: `messages[].content[](tool_use).id`. A list is `[]`, and
the type of an object is in parentheses. What users and models choose (arguments, schemas, metadata) is one field,
however deep it is.

The yardstick is `wire_fields.json`: what the reference adapters and the emulator said in the scenarios of the suite. It
is no list of everything that the API has, and a field beyond it is counted apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec

from .._base.canonical import canonical
from ..dialects import dialect
from ..errors import UsageError
from ..judge.run_log import Run
from ..run.evidence import EvidenceStore
from ..run.transcript import Transcript, WireRequest, WireResponse

SCHEMA = "turnproof.coverage/1"

FIELDS_FILE: Final = "wire_fields.json"

_FREE: Final = frozenset(
    (
        "input", "args", "arguments", "input_schema", "parameters", "parameters_json_schema",
        "parametersJsonSchema", "schema", "response_schema", "responseSchema", "response_json_schema",
        "responseJsonSchema", "metadata", "format", "properties", "extra_body",
    )
)  # fmt: skip
"""Keys whose value belongs to users and models, where it is an object."""

_FREE_PLACES: Final = ("functionResponse.response", "function_response.response")
"""Places of which that is known, where the key alone says too little."""

_TYPE = "type"
_DEPTH = 24
"""Levels that are looked at; no API has as many."""


class Fields(msgspec.Struct, frozen=True):
    """Places of one direction: those of the yardstick that were `seen` and `never_seen`, and what is `beyond` it."""

    seen: tuple[str, ...]
    never_seen: tuple[str, ...]
    beyond: tuple[str, ...]


class Rules(msgspec.Struct, frozen=True):
    """Rules that a request of the run broke, with how many requests did; `never_broken` are all others of the dialect.

    That a rule was never broken says that no request broke it: not that one had what the rule is about.
    """

    broken: dict[str, int]
    never_broken: tuple[str, ...]


class AdapterCoverage(msgspec.Struct, frozen=True):
    """The traffic of one adapter. `missing` names evidence that could not be read."""

    dialect: str
    requests: Fields
    answers: Fields
    rules: Rules
    exchanges: int
    missing: tuple[str, ...] = ()


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """The report. `yardstick` says what the fields are held against."""

    schema: str = SCHEMA
    started: str
    yardstick: str
    adapters: dict[str, AdapterCoverage]


class Yardstick(msgspec.Struct, frozen=True):
    """The fields of each dialect, and where they are from."""

    made_from: str
    requests: dict[str, tuple[str, ...]]
    answers: dict[str, tuple[str, ...]]


@cache
def yardstick() -> Yardstick:
    """The fields that the reference adapters' traffic has."""
    return msgspec.json.decode((files(__package__) / FIELDS_FILE).read_bytes(), type=Yardstick)


def coverage(run: Run, store: EvidenceStore) -> Coverage:
    """What the traffic of a run had, by adapter. Evidence that cannot be read is named, and not counted."""
    return Coverage(
        started=run.header.started,
        yardstick=yardstick().made_from,
        adapters={name: _of_adapter(run, name, store) for name in run.adapters},
    )


def coverage_json(report: Coverage) -> bytes:
    """The report as indented JSON."""
    return msgspec.json.format(canonical(report), indent=2) + b"\n"


def _of_adapter(run: Run, name: str, store: EvidenceStore) -> AdapterCoverage:
    dialect_name = run.adapters[name].dialect
    traffic, missing = Traffic(), []
    for digest in dict.fromkeys(line.digest for line in run.transcripts if line.adapter == name):
        try:
            traffic.add(store.get(digest))
        except UsageError as error:
            missing.append(str(error))
    rules = [rule.id for rule in dialect(dialect_name).rules]
    return AdapterCoverage(
        dialect=dialect_name,
        requests=_held_against(yardstick().requests, dialect_name, traffic.requests),
        answers=_held_against(yardstick().answers, dialect_name, traffic.answers),
        rules=Rules(
            broken={rule: traffic.rules[rule] for rule in rules if traffic.rules[rule]},
            never_broken=tuple(rule for rule in rules if not traffic.rules[rule]),
        ),
        exchanges=traffic.exchanges,
        missing=tuple(missing),
    )


def _held_against(known: Mapping[str, tuple[str, ...]], dialect_name: str, seen: set[str]) -> Fields:
    every = set(known.get(dialect_name.partition("@")[0], ()))
    return Fields(
        seen=tuple(sorted(every & seen)),
        never_seen=tuple(sorted(every - seen)),
        beyond=tuple(sorted(seen - every)),
    )


class Traffic:
    """The fields and broken rules of the transcripts that were added."""

    def __init__(self) -> None:
        self.requests: set[str] = set()
        self.answers: set[str] = set()
        self.rules: Counter[str] = Counter()
        self.exchanges = 0

    def add(self, transcript: Transcript) -> None:
        """Take in the exchanges of one run. A request for something else than an answer counts as well."""
        for event in transcript.events:
            if isinstance(event, WireRequest):
                self.exchanges += 1
                self.rules.update({finding["rule"] for finding in event.findings})
                self.requests.update(field_places(event.body))
            elif isinstance(event, WireResponse):
                for document in documents(event.data):
                    self.answers.update(field_places(document))


def documents(body: bytes) -> Iterator[Any]:
    """The JSON documents of an answer: the whole of it, or those of its lines that are some, as a stream has them."""
    whole = _parsed(body)
    if whole is not None:
        yield whole
        return
    for line in body.splitlines():
        found = _parsed(line.removeprefix(b"data:"))
        if isinstance(found, dict | list):
            yield found


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def field_places(document: Any) -> Iterator[str]:
    """Every place in a document, without its values."""
    yield from _places(document, "", 0)


def _places(value: Any, place: str, depth: int) -> Iterator[str]:
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _places(item, f"{place}[]", depth + 1)
    elif isinstance(value, dict):
        kind = value.get(_TYPE)
        here = f"{place}({kind})" if isinstance(kind, str) else place
        for key, inner in value.items():
            at = f"{here}.{key}" if here else key
            yield at
            if not (isinstance(inner, dict) and (key in _FREE or at.endswith(_FREE_PLACES))):
                yield from _places(inner, at, depth + 1)


def made_yardstick(reports: Iterable[Coverage], made_from: str) -> Yardstick:
    """A yardstick of all that these reports saw, whatever they were held against."""
    requests: dict[str, set[str]] = {}
    answers: dict[str, set[str]] = {}
    for report in reports:
        for found in report.adapters.values():
            for table, fields in ((requests, found.requests), (answers, found.answers)):
                table.setdefault(found.dialect.partition("@")[0], set()).update(fields.seen, fields.beyond)
    return Yardstick(
        made_from,
        {name: tuple(sorted(places)) for name, places in sorted(requests.items())},
        {name: tuple(sorted(places)) for name, places in sorted(answers.items())},
    )
