"""A body read field by field: brought into one spelling, and everything said that the service's JSON reader says.

The service reads JSON into its messages: both spellings of a name are good, `null` is as good as absent, one value may
stand for a list of one. What is left is what the rest of this package works on: camelCase, no nulls, lists for lists.
Faults are named with the path in snake case, all at once, each on a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from ...messages import JSON
from ..base import Rule
from ..base64_text import decode_base64
from ..field_names import is_listed
from . import rules
from .fields import FIELDS, ONEOFS, SCHEMA_TYPES, Field, Fields
from .times import parse_duration, parse_timestamp

_SHOWN = 40
_PROTO_TYPES = {"string": "TYPE_STRING", "bytes": "TYPE_BYTES", "number": "TYPE_FLOAT", "bool": "TYPE_BOOL"}
_DEFAULTS: dict[str, JSON] = {"string": "", "bytes": "", "number": 0, "bool": False}
_WELL_KNOWN: dict[str, tuple[str, Callable[[JSON], object]]] = {
    "duration": ("google.protobuf.Duration", parse_duration),
    "timestamp": ("google.protobuf.Timestamp", parse_timestamp),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that the reader of the service would not read. `path` is in snake case, as in the message. `unlisted`
    is a name that stands in no list: the service may have it by now."""

    rule: Rule
    path: str
    message: str
    unlisted: bool = False


class Reader:
    """Reads one body. `package` is the name under which the service knows its messages; it shows in faults."""

    def __init__(self, package: str, fields: Fields = FIELDS) -> None:
        self._package = package
        self._fields = fields
        self.faults: list[Fault] = []

    def read(self, message: str, body: dict[str, Any], path: str = "") -> dict[str, Any]:
        """The body as this message, in canonical form; what could not be read is left out, and said in `faults`."""
        if message == "Part" and len(body) == 1 and type(body.get("text")) is str:
            return body  # Most parts are plain texts: there is nothing to be read out of them.
        fields = self._fields[message]
        group, members = ONEOFS.get(message, ("", frozenset()))
        chosen = ""
        read: dict[str, Any] = {}
        for key, value in body.items():
            field = fields.get(key)
            if field is None:
                self._unknown(key, path, "Cannot find field.")
                continue
            if value is None:
                continue
            if field.name in members:
                if chosen:
                    where = f" at '{path}'" if path else ""
                    problem = f"oneof field '{group}' is already set. Cannot set '{field.name}'"
                    self._fault(rules.ONEOF, path, f"Invalid value{where} (oneof), {problem}")
                    continue
                chosen = field.name
            inner = f"{path}.{field.snake}" if path else field.snake
            if isinstance(value, list) and field.kind and field.shape != "[":
                self._unknown(key, path, "Proto field is not repeating, cannot start list.")
            else:
                read[field.name] = self._field(field, value, inner)
        return read

    def _field(self, field: Field, value: JSON, path: str) -> JSON:
        if not field.kind:
            return value
        if field.shape == "[":
            if not isinstance(value, list):
                return [self._value(field.kind, value, path)]
            return [self._value(field.kind, item, f"{path}[{n}]") for n, item in enumerate(value)]
        if field.shape == "{" and isinstance(value, dict):
            return {
                key: self._value(field.kind, item, f"{path}[{n}].value") for n, (key, item) in enumerate(value.items())
            }
        return self._value(field.kind, value, path)

    def _value(self, kind: str, value: JSON, path: str) -> JSON:
        if kind in self._fields:
            if isinstance(value, dict):
                return self.read(kind, value, path)
            self._invalid(f"type.googleapis.com/{self._package}.{kind}", path, value)
            return {}
        if kind == "object":
            if isinstance(value, dict):
                return value
            self._invalid("type.googleapis.com/google.protobuf.Struct", path, value)
            return {}
        if kind == "type":
            return self._schema_type(value, path)
        if kind in _WELL_KNOWN:
            name, read = _WELL_KNOWN[kind]
            if read(value) is None:
                self._invalid(f"type.googleapis.com/{name}", path, value)
            return value
        if not _fits(kind, value):
            self._invalid(_PROTO_TYPES[kind], path, value)
            return _DEFAULTS[kind]
        if kind == "bytes" and decode_base64(value) is None:
            problem = f'(TYPE_BYTES), Base64 decoding failed for "{value[:_SHOWN]}"'
            self._fault(rules.BROKEN_BASE64, path, f"Invalid value at '{path}' {problem}")
        return value

    def _schema_type(self, value: JSON, path: str) -> JSON:
        if isinstance(value, str) and value.upper() in SCHEMA_TYPES:
            return value
        if type(value) is int and 0 <= value < len(SCHEMA_TYPES):
            return SCHEMA_TYPES[value]
        self._invalid(f"type.googleapis.com/{self._package}.Type", path, value)
        return SCHEMA_TYPES[0]

    def _unknown(self, name: str, path: str, why: str) -> None:
        where = f" at '{path}'" if path else ""
        is_name = why.startswith("Cannot find")
        self._fault(
            rules.UNKNOWN_NAME if is_name else rules.NOT_REPEATING,
            path,
            f'Invalid JSON payload received. Unknown name "{name}"{where}: {why}',
            unlisted=is_name and not is_listed(name),
        )

    def _invalid(self, kind: str, path: str, value: JSON) -> None:
        shown = "Starting an object on a scalar field" if isinstance(value, dict) else _json(value)
        self._fault(rules.WRONG_TYPE, path, f"Invalid value at '{path}' ({kind}), {shown}")

    def _fault(self, rule: Rule, path: str, message: str, *, unlisted: bool = False) -> None:
        self.faults.append(Fault(rule, path, message, unlisted))


def violations(message: str) -> Iterator[dict[str, str]]:
    """The `fieldViolations` that accompany a message of this reader: one a line, with the path where it has one."""
    for line in message.splitlines():
        _, found, rest = line.partition(" at '")
        path = {"field": rest.partition("'")[0]} if found else {}
        yield path | {"description": line}


def _fits(kind: str, value: JSON) -> bool:
    match kind:
        case "number":
            # A whole number beyond the range of a double is no value of any of these fields.
            fits = value.bit_length() < 1024 if type(value) is int else isinstance(value, float)
            return fits or _is_numeral(value)
        case "bool":
            return isinstance(value, bool)
        case _:
            return isinstance(value, str)


def _is_numeral(value: JSON) -> bool:
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True


def _json(value: JSON) -> str:
    return msgspec.json.encode(value).decode()
