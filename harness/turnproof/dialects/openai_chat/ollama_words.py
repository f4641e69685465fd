"""How Ollama refuses a body at `/v1/chat/completions`: in the words of its middleware, not in those of OpenAI.

It decodes the body into Go structs, takes each message apart, and hands on what is left to its own API
(`middleware/openai.go`, `openai/openai.go`, read 2026-11-27). Roles and names are not checked. The decoder's own
sentences are close to Go's, and not the same in every detail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ...messages import JSON
from ..base import Rule
from . import rules

NOT_JSON: Final = "invalid character in the body: it is no JSON object"
NO_MESSAGES: Final = "[] is too short - 'messages'"
NO_MODEL: Final = "model is required"
_FORMAT: Final = "invalid message format"

_KINDS: Final[tuple[tuple[type, str, str], ...]] = (
    (bool, "bool", "bool"),
    (int, "number", "float64"),
    (float, "number", "float64"),
    (str, "string", "string"),
    (list, "array", "[]interface {}"),
    (dict, "object", "map[string]interface {}"),
)
"""JSON types as Go's decoder names them, and as `%T` prints what it makes of them."""

_CONTENT = re.compile(r"messages\[\d+\]\.content")
_BLOCK = re.compile(r"messages\[\d+\]\.content\[\d+\]")
_INDEX = re.compile(r"\[\d+\]")
_GO_TYPES: Final[Mapping[str, str]] = {
    "an object": "struct",
    "an array of objects": "[]struct",
    "a string": "string",
}


def wrong_type(where: str, expected: str, value: JSON) -> tuple[Rule, str]:
    """The rule and the message for a value of another type. `expected` is as in OpenAI's sentence."""
    if _CONTENT.fullmatch(where):
        return rules.OLLAMA_CONTENT, f"invalid message content type: {printed_type(value)}"
    if _BLOCK.fullmatch(where):
        return rules.OLLAMA_CONTENT, _FORMAT
    kind = next((name for kind, name, _ in _KINDS if isinstance(value, kind)), "null")
    field = _INDEX.sub("", where)
    message = f"json: cannot unmarshal {kind} into Go struct field ChatCompletionRequest.{field} of type"
    return rules.OLLAMA_BODY, f"{message} {_GO_TYPES.get(expected, 'struct')}"


def printed_type(value: JSON) -> str:
    """The Go type of a decoded value, as `%T` prints it."""
    return next((printed for kind, _, printed in _KINDS if isinstance(value, kind)), "<nil>")
