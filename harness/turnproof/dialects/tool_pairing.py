"""Tool names as the session knows them, and as they stood on the wire.

A dialect may forbid characters that tool names have, and an adapter may have reasons of its own to rewrite a name; how
it does so is its own affair. So the wire name of a tool is found by what it describes, not by a rule for rewriting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from ..messages import JSON, FunctionCall, Message, ToolSchema
from .atoms import same_json

_LIKENESS = 0.8
_BEGINNING = 16
"""Letters by which a name is known that was cut, or given a suffix of its own, to make it legal."""

_SHORT = 4
"""Letters from which on the end of a name says whose it is."""


def wire_names(tools: Sequence[ToolSchema], sent: Sequence[ToolSchema]) -> dict[str, str]:
    """Session name -> wire name for every held tool that can be recognised among those sent.

    Equal names go first; of the rest, the best matches by schema, description and likeness of the name, the surest
    first, each sent tool at most once; of equally good ones those in the same place of both lists. A tool that
    resembles none of them is missing from the result.
    """
    left = {tool.name: tool for tool in sent}
    found = {tool.name: tool.name for tool in tools if left.pop(tool.name, None) is not None}
    unnamed = [tool for tool in tools if tool.name not in found]
    pairs = [
        ((*_likeness(ours, theirs), -abs(one - other)), ours, theirs)
        for one, ours in enumerate(unnamed)
        for other, theirs in enumerate(left.values())
    ]
    for (evident, *_), ours, theirs in sorted(pairs, key=lambda pair: pair[0], reverse=True):
        if evident and ours.name not in found and theirs.name in left:
            found[ours.name] = left.pop(theirs.name).name
    return found


def kept_for_history(
    tools: Sequence[ToolSchema], sent: Sequence[ToolSchema], messages: Iterable[Message]
) -> frozenset[str]:
    """The tools of a request that are declared for the calls in its history alone.

    Only where no tool is in force: some services refuse calls in a request that declares no tool, and libraries go on
    with the last definitions then. `messages` are those of the request.
    """
    if tools:
        return frozenset()
    called = {part.name for message in messages for part in message.parts if isinstance(part, FunctionCall)}
    return frozenset(tool.name for tool in sent if tool.name in called)


def _likeness(held: ToolSchema, sent: ToolSchema) -> tuple[bool, int, float]:
    """Whether the sent tool is evidently the held one, and how much else speaks for it."""
    alike = SequenceMatcher(None, _bare(held.name), _bare(sent.name)).ratio()
    parameters = same_json(held.parameters, without_additions(held.parameters, sent.parameters))
    same = int(parameters) + int(held.description.strip() == sent.description.strip())
    begins = _bare(sent.name).startswith(_beginning(held.name))
    # A program may put the name of a server or of a class in front of it: `mcp__SERVER__NAME`, `Tools_NAME`.
    ends = len(_bare(held.name)) >= _SHORT and _bare(sent.name).endswith(_bare(held.name))
    is_told = bool(held.description) and same > int(parameters)
    known = (ends and (parameters or is_told)) or (same == 2 and (bool(held.description) or begins))
    return alike >= _LIKENESS or known, same, alike


_ADDITIONS = frozenset({"$id", "$schema", "additionalProperties", "description", "strict", "title"})
"""Members that a schema may get on its way: they describe it, or close it."""

_SAYS_NOTHING: dict[str, JSON] = {"items": {}, "properties": {}, "required": [], "type": "object"}
"""Members that say nothing with this value."""


def without_additions(held: JSON, sent: JSON) -> JSON:
    """A schema as it was sent, without what an adapter may add to the one that is held, and with what it may leave
    out of it."""
    if not isinstance(held, Mapping) or not isinstance(sent, Mapping):
        return sent
    remaining: dict[str, JSON] = {}
    for key, value in sent.items():
        if key in held:
            if key == "properties":
                remaining[key] = _each_without_additions(held[key], value, names_in(held.get("required")))
            elif key in ("$defs", "definitions"):
                remaining[key] = _each_without_additions(held[key], value, names_in(value))
            else:
                remaining[key] = without_additions(held[key], value)
        elif key not in _ADDITIONS and not (key in _SAYS_NOTHING and value == _SAYS_NOTHING[key]):
            remaining[key] = value
    if held.get("additionalProperties") is True and "additionalProperties" not in sent:
        remaining["additionalProperties"] = True  # what holds without it: an API may have no such member
    return remaining


def _each_without_additions(held: JSON, sent: JSON, needed: frozenset[str]) -> JSON:
    """The same for each schema of a map by name: whatever a parameter is called, it is no addition."""
    if not isinstance(held, Mapping) or not isinstance(sent, Mapping):
        return sent
    return {
        name: _unmarked(without_additions(held[name], value), held[name], name in needed) if name in held else value
        for name, value in sent.items()
    }


def _unmarked(sent: JSON, held: JSON, needed: bool) -> JSON:
    """The schema of a parameter. One that may be left out may be marked as nullable, which says the same."""
    marked = isinstance(sent, dict) and sent.get("nullable") is True and not needed and "nullable" not in held
    return {key: value for key, value in sent.items() if key != "nullable"} if marked else sent


def names_in(value: JSON) -> frozenset[str]:
    """The names in a list or an object; a schema may have anything in their place."""
    if not isinstance(value, list | tuple | Mapping):
        return frozenset()
    return frozenset(name for name in value if isinstance(name, str))


def are_told_apart(tools: Sequence[ToolSchema]) -> bool:
    """Whether each of these can be recognised under whatever names they go out: by the beginning of its name, or by
    what it says of itself."""
    known = [(_beginning(tool.name), tool.description) for tool in tools]
    return len(set(known)) == len(known) and ("", "") not in known


def _beginning(name: str) -> str:
    return _bare(name)[:_BEGINNING]


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
