"""What a program asks a model beside the conversation: a title, a summary, which model is fit for the task.

No script speaks of such a request. It counts as no operation of the conversation (`other`), is judged like any other
request, and gets an answer that says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import msgspec

from ..messages import JSON, FinishReason, Text
from .base import Call, Reply, ReplyPart

_Call = TypeVar("_Call", bound=Call)

_EMPTY: Mapping[str, JSON] = {"object": {}, "array": [], "boolean": False, "integer": 1, "number": 1}


def as_side_request(call: _Call) -> _Call:
    """The call as one that no script is asked for."""
    return replace(call, operation="other")


def as_generation(call: _Call) -> _Call:
    """The call as it stood on the wire: the service does not know what it is asked for."""
    return replace(call, operation="generate") if call.operation == "other" else call


def side_reply(schema: JSON = None) -> Reply:
    """The same few words to whatever is asked, or an object with the properties of the schema that is demanded."""
    text = "Beside the conversation." if schema is None else msgspec.json.encode(_least(schema)).decode()
    return Reply((ReplyPart(Text(text)),), FinishReason.STOP)


def _least(schema: JSON) -> JSON:
    """A small value of a plain schema; what it does not say is left open by a text."""
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"type": str(kind), "properties": dict(properties)} if kind.lower() == "object":
            return {name: _least(each) for name, each in properties.items()}
        case {"type": str(kind)}:
            return _EMPTY.get(kind.lower(), "")
        case _:
            return ""
