"""Members below the top level that the API does not have: of content blocks, calls, tools and the answer's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...base import Refusal, Rule
from ...field_names import logged_if_unlisted
from .. import rules
from .context import Context


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "text": {"": _words("type text prompt_cache_breakpoint")},
    "image_url": {"": _words("type image_url prompt_cache_breakpoint"), "image_url": _words("url detail")},
    "input_audio": {"": _words("type input_audio prompt_cache_breakpoint"), "input_audio": _words("data format")},
    "file": {"": _words("type file prompt_cache_breakpoint"), "file": _words("file_data file_id filename")},
    "refusal": {"": _words("type refusal")},
}
"""By the type of a block: its members, and those of the objects in it. Other types are not judged."""

CALL: Final[Mapping[str, frozenset[str]]] = {
    "": _words("id type function custom"),
    "function": _words("name arguments"),
    "custom": _words("name input"),
}
FORMAT: Final[Mapping[str, frozenset[str]]] = {"": _words("type json_schema")}
TOOL: Final[Mapping[str, frozenset[str]]] = {
    "": _words("type function"),
    "function": _words("name description parameters strict"),
}
_STRICT_ROLES: Final = frozenset({"user", "developer", "assistant", "tool"})
"""A block of a message with role `system` may have more (one project's comment on `cache_control`)."""


def check(context: Context) -> Iterator[Refusal]:
    """A refusal for each member that there is not."""
    for n, message in enumerate(context.messages):
        content = message.get("content")
        if isinstance(content, list) and message["role"] in _STRICT_ROLES:
            for m, block in enumerate(content):
                if (known := BLOCKS.get(str(block.get("type")))) is not None:
                    yield from _unknown(context, rules.UNKNOWN_MEMBER, f"messages[{n}].content[{m}]", block, known)
        for m, call in enumerate(message.get("tool_calls") or ()):
            yield from _unknown(context, rules.UNKNOWN_MEMBER, f"messages[{n}].tool_calls[{m}]", call, CALL)
    response_format = context.body.get("response_format")
    if isinstance(response_format, dict):
        yield from _unknown(context, rules.UNKNOWN_MEMBER, "response_format", response_format, FORMAT)
    for n, tool in enumerate(context.body.get("tools") or ()):
        if tool.get("type", "function") == "function":
            yield from _unknown(context, rules.UNKNOWN_TOOL_MEMBER, f"tools[{n}]", tool, TOOL)


def _unknown(
    context: Context, rule: Rule, path: str, thing: Mapping[str, Any], known: Mapping[str, frozenset[str]]
) -> Iterator[Refusal]:
    for member, names in known.items():
        inner = thing.get(member) if member else thing
        where = f"{path}.{member}" if member else path
        for name, value in inner.items() if isinstance(inner, dict) else ():
            if name not in names and value is not None:
                message = f"Unknown parameter: '{where}.{name}'."
                refusal = context.refuse(rule, "unknown_parameter", message, f"{where}.{name}")
                yield logged_if_unlisted(refusal, name)
