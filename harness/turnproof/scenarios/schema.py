"""The form of scenario files as a JSON Schema, for editors. Its words are those that the readers accept.

The schema refuses unknown keys, values of a wrong type and words that there are not. What depends on another place in
the file (whether a tool is declared, whether pieces add up) is left to `load`. Every file that `load` reads fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._base.depth import DEPTHS
from ..dialects.base import FIGURES, TRAITS
from ._answers import FINISHES
from ._content import TYPES
from ._samples import DOCUMENTS, IMAGES
from ._sessions import DOING
from ._turns import BEFORE, BESIDE_KEYS, BY, CUTS, ERRORS, EVENTS, EXPECTED, FAULT_KEYS, FAULTS, SPELLINGS, WAITS
from .loader import CACHES, FEATURES, MAX_TIMES, MODES, PROBES, SUBJECTS
from .sweep import HAPPENINGS

Schema = dict[str, Any]

_NONEMPTY: Schema = {"type": "string", "minLength": 1}
_FLAG: Schema = {"type": "boolean"}
_ANY: Schema = {"$ref": "#/$defs/json"}
_OBJECT: Schema = {"type": "object", "additionalProperties": _ANY}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_POSITIVE: Schema = {"type": "integer", "minimum": 1}
_EVENT: Schema = {"type": "string", "pattern": f"^({'|'.join(EVENTS)}):0*[1-9][0-9]*$"}


def scenario_schema() -> Schema:
    """The schema of a scenario file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scenario of turnproof",
        "description": "A scripted conversation: what is said, what the model answers, and what goes wrong.",
        **_object(_scenario_keys(), ("title", "turns")),
        "$defs": _definitions(),
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _object(keys: Mapping[str, Schema], required: Iterable[str] = (), **more: Any) -> Schema:
    found: Schema = {"type": "object", "properties": dict(keys), "additionalProperties": False}
    return found | ({"required": list(required)} if required else {}) | more


def _words(words: Iterable[str]) -> Schema:
    return {"enum": list(words)}


def _list(item: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": item, **more}


def _one_or_many(item: Schema, **more: Any) -> Schema:
    return {"anyOf": [item, _list(item, **more)]}


def _by_name(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def _scenario_keys() -> Schema:
    features = f"^({'|'.join(FEATURES)}|cache:({'|'.join(CACHES)})|wire:({'|'.join(sorted(TRAITS))}))$"
    return {
        "name": _NONEMPTY,
        "title": _NONEMPTY,
        "subject": _words(SUBJECTS),
        "depth": _words(DEPTHS),
        "unless": _one_or_many(_NONEMPTY),
        "modes": _one_or_many(_words(MODES), minItems=1, uniqueItems=True),
        "features": _list({"type": "string", "pattern": features}, uniqueItems=True),
        "probes": _one_or_many(_words(PROBES), uniqueItems=True),
        "options": _ref("options"),
        "cache": _FLAG,
        "debug_logs": _FLAG,
        "keep_turns": _POSITIVE,
        "system": _ref("text"),
        "watched": _FLAG,
        "enrich": _list(_ref("text_change"), minItems=1),
        "tools": _list(_ref("tool")),
        "results": _by_name(_ref("result")),
        "given": _list(_ref("given_turn"), minItems=1),
        "sweep": _object({"turn": _COUNT, "round": _COUNT, "only": _one_or_many(_words(HAPPENINGS), uniqueItems=True)}),
        "origin": _object(
            {
                "host": _NONEMPTY,
                "dialect": _NONEMPTY,
                "model": _NONEMPTY,
                "day": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            },
            ("host", "dialect"),
        ),
        "turns": _list(_ref("turn"), minItems=1),
    }


def _turn_keys() -> Schema:
    others = {"user": _NONEMPTY, "model": _ref("rounds")}
    return {
        "user": _one_or_many(_ref("user_part"), minItems=1),
        "model": _ref("rounds"),
        "results": _by_name(_ref("result")),
        "times": {"type": "integer", "minimum": 1, "maximum": MAX_TIMES},
        "system": _ref("text"),
        "tools": _list({"anyOf": [{"type": "string"}, _ref("tool")]}),
        "before": _one_or_many(_words(BEFORE)),
        "revert": _COUNT,
        "inject": _object({"command": _NONEMPTY, "outcome": _NONEMPTY}, ("command", "outcome")),
        "interject": _object(
            {"say": _NONEMPTY, "at": _words(("event", "tool")), **_place(_COUNT), "round": _COUNT}, ("say",)
        ),
        "child": _object(
            {
                **others,
                "status": {"type": "integer", "minimum": 400, "maximum": 499},
                "tool": _NONEMPTY,
                "outlives": _FLAG,
            },
            BESIDE_KEYS,
        ),
        "children": _list(_object(others, BESIDE_KEYS), minItems=2),
        "cancel": _ref("cancel"),
        "faults": _one_or_many(_ref("fault")),
        "response_schema": _OBJECT,
        "expect": _words(EXPECTED),
        "error": _words(ERRORS),
        "advance_clock": {"type": "number", "minimum": 0},
        "sessions": _list(_ref("session_step")),
        "denied": _one_or_many({"type": "string"}),
        "beside": _object(others, BESIDE_KEYS),
        "background": _NONEMPTY,
        "take_back": _FLAG,
    }


def _definitions() -> Schema:
    return {
        "text": {
            "anyOf": [{"type": "string"}, _object({"repeat": _NONEMPTY, "times": _POSITIVE}, ("repeat", "times"))]
        },
        # Any value; a repetition in it is written as such.
        "json": {
            "if": {"type": "object", "required": ["repeat", "times"], "maxProperties": 2},
            "then": _ref("text"),
            "else": {"items": _ANY, "additionalProperties": _ANY},
        },
        "options": _object(
            {
                "thinking": {
                    "anyOf": [
                        _object({"budget_tokens": _POSITIVE}, ("budget_tokens",)),
                        _object({"type": _words(("adaptive",))}, ("type",)),
                    ]
                },
                "max_tokens": _POSITIVE,
                "timeout": {"type": "number", "minimum": 0.01},
                "context_tokens": _POSITIVE,
            }
        ),
        "text_change": {
            "anyOf": [
                _object({"priority": _COUNT, "adds": _NONEMPTY}, ("priority", "adds")),
                _object({"priority": _COUNT, "replaces": _NONEMPTY, "by": _NONEMPTY}, ("priority", "replaces", "by")),
            ]
        },
        "turn": _object(_turn_keys()),
        "given_turn": {
            "anyOf": [
                _object({"system": _ref("text")}, ("system",)),
                _object(
                    {
                        "user": _one_or_many(_ref("user_part"), minItems=1),
                        "model": _ref("rounds"),
                        "results": _by_name(_ref("result")),
                        "unanswered": _FLAG,
                    },
                    ("user", "model"),
                ),
            ]
        },
        **_answers(),
        **_tools(),
        **_mishaps(),
        "session_step": {"anyOf": list(_session_steps())},
    }


def _answers() -> Schema:
    piece = _object(
        {"each": _NONEMPTY, "times": {"type": "integer", "minimum": 1, "maximum": 10_000}}, ("each", "times")
    )
    call = {
        "call": _NONEMPTY,
        "args": _OBJECT,
        "pieces": _list(_ref("text")),
        "id": _NONEMPTY,
        "broken": _FLAG,
        "malformed": _FLAG,
        "unknown": _FLAG,
        "data": _OBJECT,
    }
    parts = _one_or_many(_ref("part"))
    return {
        "user_part": {"anyOf": [_ref("text"), _object({"text": _ref("text")}, ("text",)), _ref("attachment")]},
        "attachment": {
            "anyOf": [
                _object({"image": _words(IMAGES)}, ("image",)),
                _object({"document": _words(DOCUMENTS)}, ("document",)),
                _object({"file": _NONEMPTY, "mime": _NONEMPTY}, ("file", "mime")),
            ]
        },
        "rounds": {"anyOf": [_ref("text"), _list(_ref("round"), minItems=1)]},
        "round": {"anyOf": [_ref("text"), _list(_ref("part")), _object({"parts": parts, **_round_keys()}, ("parts",))]},
        "pieces": {"anyOf": [_ref("text"), _list({"anyOf": [_ref("text"), piece]}, minItems=1)]},
        "part": {
            "anyOf": [
                _ref("text"),
                _object({"text": _ref("pieces"), "data": _OBJECT}, ("text",)),
                _object({"thinking": _ref("pieces")}, ("thinking",)),
                _object({"redacted": _NONEMPTY}, ("redacted",)),
                _object({"block": _by_name(_OBJECT)}, ("block",)),
                _object(call, ("call",)),
            ]
        },
    }


def _round_keys() -> Schema:
    recorded: dict[str, Schema] = {
        "body": {"type": "string"},
        "asked": _NONEMPTY,
        "status": {"type": "integer", "minimum": 200, "maximum": 599},
        "headers": _by_name({"type": "string"}),
        "stream": _FLAG,
    }
    return {
        "finish": _words(FINISHES),
        "raw_finish": _NONEMPTY,
        "usage": _object(dict.fromkeys(FIGURES, _COUNT)),
        "recorded": _object(recorded, ("body", "asked")),
        "again": _list({"anyOf": [_ref("text"), _list(_ref("part"))]}, minItems=1),
    }


def _tools() -> Schema:
    attachments = _list(_ref("attachment"))
    failed = {"error": _ref("text")}
    returned = {"result": _ANY, "attachments": attachments}
    cases = {"cases": _list(_ref("case"))}
    when = {"when": _OBJECT}
    something: Schema = {"anyOf": [{"required": ["result"]}, {"required": ["attachments"]}]}
    takes = _by_name({"anyOf": [_words(TYPES), _OBJECT]})
    tool = {"name": _NONEMPTY, "description": _ref("text"), "parameters": _OBJECT, "takes": takes}
    return {
        "tool": _object(tool, ("name",)) | {"not": {"required": ["parameters", "takes"]}},
        "result": {
            "anyOf": [
                {"type": ["string", "number", "boolean", "null", "array"], "items": _ANY},
                _ref("text"),
                _object(failed | cases, ("error",)),
                _object(returned | cases) | something,
            ]
        },
        "case": {"anyOf": [_object(when | failed, ("when", "error")), _object(when | returned, ("when",)) | something]},
    }


def _place(index: Schema) -> Schema:
    return {"index": index, "after": _EVENT}


def _mishaps() -> Schema:
    anywhere = [word for word in CUTS if word not in ("event", "child")]
    keys = {**_place(_COUNT), "round": _COUNT, "by": _words(BY)}
    return {
        "cancel": {
            "anyOf": [
                _words(anywhere),
                _object(
                    {"at": _words(("event",)), **keys, "on-piece": _POSITIVE},
                    anyOf=[{"required": ["index"]}, {"required": ["after"]}],
                ),
                _object(
                    {"at": _words(("child",)), **keys},
                    ("at",),
                    anyOf=[{"required": ["index"]}, {"required": ["after"]}],
                ),
                _object({"at": _words(anywhere), "index": _COUNT, "round": _COUNT, "by": _words(BY)}, ("at",)),
            ]
        },
        "fault": {"anyOf": [_fault(kind) for kind in FAULTS]},
    }


_FAULT_VALUES: Mapping[str, Schema] = {
    "status": {"type": "integer", "minimum": 400, "maximum": 599},
    "retry-after": {"type": "number", "minimum": 0},
    "retry-after-as": _words(WAITS),
    "message": _ref("text"),
    "error-kind": _NONEMPTY,
    "spelling": _words(SPELLINGS),
    **_place({"type": "integer", "minimum": -1}),
}

_NEEDED = {"status": ("status",), "respelled": ("spelling",)}


def _fault(kind: str) -> Schema:
    own = {key: _FAULT_VALUES[key] for key in FAULT_KEYS.get(kind, ())}
    keys = {"kind": {"const": kind}, "round": _COUNT, "times": _POSITIVE, **own}
    more: Schema = {"not": {"required": ["index", "after"]}} if "after" in own else {}
    if "retry-after-as" in own:
        more["dependentRequired"] = {"retry-after-as": ["retry-after"]}
    return _object(keys, ("kind", *_NEEDED.get(kind, ())), **more)


def _session_steps() -> Iterable[Schema]:
    place: Schema = {"anyOf": [_NONEMPTY, {"type": "null"}]}
    opened = _object({"session": _NONEMPTY, "last": _FLAG, "cwd": _NONEMPTY, "label": _NONEMPTY})
    values = {"open": opened, "later": {"type": "null"}, "continue": place, "list": place}
    for step in DOING:
        yield _object({step: values.get(step, _NONEMPTY)}, (step,))
