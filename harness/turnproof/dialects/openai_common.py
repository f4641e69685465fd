"""What OpenAI's two APIs share: the word to a wrong key, and schemas of parameters as strict tools want them.

A strict schema closes every object and requires every property; what was optional may be null instead. That is how the
official client rewrites schemas (openai 3.54, `lib/_pydantic.py`), and it loses nothing.
"""

from __future__ import annotations

from typing import Any

from ..messages import JSON, thaw
from .atoms import same_json
from .preamble import same_schema

WRONG_KEY = (
    "Incorrect API key provided: ***. You can find your API key at https://platform.openai.com/account/api-keys."
)
"""The service shows both ends of the key there; no part of one may stand in an answer of ours."""


def same_parameters(held: JSON, sent: JSON) -> bool:
    """Whether two schemas of parameters are equal, as they are or once the sent one is read as a strict one."""
    if same_schema(held, sent):
        return True
    return sent.get("additionalProperties") is False and same_schema(_relaxed(thaw(held)), _relaxed(thaw(sent)))


def _relaxed(schema: Any) -> Any:
    """A schema without what strictness adds: closed objects, required properties, null as a type."""
    if isinstance(schema, list):
        return [_relaxed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        name: {key: _relaxed(each) for key, each in value.items()} if name == "properties" else _relaxed(value)
        for name, value in schema.items()
        if name not in ("required", "strict") and not (name == "additionalProperties" and value is False)
    }
    return _not_null(plain)


def _not_null(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        left = [kind for kind in kinds if kind != "null"]
        return schema | {"type": left[0] if len(left) == 1 else left}
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        left = [each for each in choices if not same_json(each, {"type": "null"})]
        if len(left) == 1 and len(left) < len(choices) and isinstance(left[0], dict):
            return {name: value for name, value in schema.items() if name != "anyOf"} | left[0]
    return schema
