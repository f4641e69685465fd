"""A tool's result against the object that this API wants it in.

`functionResponse.response` is an object. An object may be sent as it is; any value stands under one member of it, the
documented ones being `output` and `error`, and others (`result`, `content` beside the tool's name) are accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from ...messages import JSON, ToolResult
from ..atoms import same_json
from ..text_equality import leaves, parses_to

Agreement: TypeAlias = Literal["whole", "in other words", "lost"]

_encode = msgspec.json.Encoder().encode
_TELLS_A_FAILURE = ("error", "fail", "success", "exception", "status")
"""What the name of a member has in it that says how a tool ended."""

_NAMES_A_FAILURE = ("error", "fail", "exception")
"""What the one word of a member has in it that says that a tool failed."""


def agrees_with_result(held: ToolResult, sent: ToolResult) -> Agreement:
    """Whether the response (`sent.result`) says what the session holds."""
    response: dict[str, Any] = sent.result
    if same_json(held.result, response):
        return "whole"
    labels = {name for name in (held.name, sent.name) if name != held.result}
    content = [value for value in response.values() if not (isinstance(value, str) and value in labels)]
    if (_is_nothing(held.result) and all(map(_is_nothing, content))) or (
        len(content) == 1 and _is_same(content[0], held.result)
    ):
        return "whole"
    if isinstance(held.result, str) and any(parses_to(held.result, value) for value in (response, *content)):
        return "in other words"
    if any(isinstance(value, str) and _is_same(value, held.result) for value in content):
        return "in other words"  # as JSON, beside what the library keeps with it
    if isinstance(held.result, str) and not held.result.strip():
        return "lost"  # words in place of an empty text
    if held.result is None:
        return "in other words"  # how no value is written is open
    text = _encode(response)
    texts = [_encode(leaf)[1:-1] for leaf in leaves(held.result)]
    return "in other words" if texts and all(leaf in text for leaf in texts) else "lost"


def fails_by_itself(result: ToolResult) -> bool:
    """Whether a good result is an object that has an `error` of its own, which then stands in the response."""
    return not result.is_error and isinstance(result.result, Mapping) and result.result.get("error") is not None


def tells_a_failure(response: JSON) -> bool:
    """Whether a response without an `error` says in some other member that the tool failed: by the member's name, or by
    one word in it, such as the class of the object that the library sends."""
    members = response.items() if isinstance(response, dict) else ()
    words = [text for _, text in members if isinstance(text, str) and text.isidentifier()]
    return any(word in name.lower() for name, _ in members for word in _TELLS_A_FAILURE) or any(
        word in text.lower() for text in words for word in _NAMES_A_FAILURE
    )


def _is_nothing(value: JSON) -> bool:
    return value is None or value == ""


def _is_same(sent: JSON, held: JSON) -> bool:
    if same_json(sent, held) or (_is_nothing(sent) and _is_nothing(held)):
        return True
    return isinstance(sent, str) and not isinstance(held, str) and parses_to(sent, held)
