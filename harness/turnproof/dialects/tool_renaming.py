"""Which declared tool is meant, where a program that stands in between writes the names of tools in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from ..messages import FunctionCall, Part, ToolResult, ToolSchema
from .base import Reply


def own_names(
    tools: Sequence[ToolSchema], sent: Iterable[ToolSchema], fits: Callable[[str, str], bool]
) -> dict[str, str]:
    """The declared name of each sent tool by the name that it stands under; one that fits none is not in it.

    `fits` says of a declared and a sent name whether the one may be written as the other. Among several that may be,
    the description decides; and so it does where none may, since the caller may write names in a way of its own before
    the program does.
    """
    sent = tuple(sent)
    free = {tool.name: tool for tool in tools}
    found: dict[str, str] = {}
    for tool in sent:
        fitting = [each for each in free.values() if fits(each.name, tool.name)]
        if fitting:
            best = max(fitting, key=lambda each: each.description.strip() in tool.description)
            found[tool.name] = free.pop(best.name).name
    for tool in sent:
        alike = [each for each in free.values() if (text := each.description.strip()) and text in tool.description]
        if tool.name not in found and len(alike) == 1:
            found[tool.name] = free.pop(alike[0].name).name
    return found


def renamed(part: Part, names: Mapping[str, str]) -> Part:
    """A call or result under the name that is known for its tool; any other part as it is."""
    if isinstance(part, FunctionCall | ToolResult) and part.name in names:
        return with_fields(part, name=names[part.name])
    return part


def renamed_reply(reply: Reply, names: Mapping[str, str]) -> Reply:
    """A scripted reply with its calls under other names, as far as these are known."""
    return replace(reply, parts=tuple(replace(each, part=renamed(each.part, names)) for each in reply.parts))
