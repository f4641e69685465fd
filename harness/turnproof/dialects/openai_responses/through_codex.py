"""The API as OpenAI's Codex asks it: what the program puts around a conversation is none of it.

Seen in Codex CLI 0.169.0 and in codex-acp 0.16.0 (a Codex 0.137). In front of the user's first words the program says
in what folder it works (a message of its own in the user's name), what it permits and which skills it has (in the
developer's). A tool of a server that the caller offers (`mcp_servers`) stands in a namespace `mcp__SERVER`, with every
character of its name that is no letter, digit or underscore written as an underscore; all other tools are the
program's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as with_fields

from ...messages import JSON, FunctionCall, Message, Part, ProviderData, Text, ToolResult, ToolSchema
from ..base import Call, HttpRequest, PromptUsage, Refusal, Rendered, Reply, ReplyPart, World
from ..lenient_reading import json_of
from ..side_requests import as_generation, as_side_request, side_reply
from ..tool_renaming import own_names, renamed, renamed_reply
from .dialect import OpenAIResponses
from .rules import NAME


class ThroughCodex(OpenAIResponses):
    """`openai-responses@codex`."""

    def read_request(self, request: HttpRequest, world: World) -> Call | Refusal:
        """As everywhere, with the tools of the caller's servers one by one.

        A request that is not part of a turn (a compaction) is an aside.
        """
        found = super().read_request(request, world)
        if isinstance(found, Refusal) or found.operation != "generate":
            return found
        others = (tool for tool in found.tools if not _is_of_the_caller(tool.parameters))
        found = replace(found, tools=(*others, *(tool for _, tool in _caller_tools(found))))
        return found if _is_of_a_turn(request, found) else as_side_request(found)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return super().validate(request, as_generation(call), world)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        if call.operation == "other":
            return super().render(as_generation(call), side_reply(), usage, world, seed)
        return super().render_extra(call, usage, world, seed)

    def without_program(self, call: Call, tools: Sequence[ToolSchema] = ()) -> Call:
        return _without_program(call, tools)

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls in the namespaces that the program gave to the declared tools."""
        homes = {tool.name: space for space, tool in _caller_tools(call, tools)}
        written = {own: name for name, own in _own_names(call, tools).items()}
        plain = renamed_reply(super().speak(reply, tools, _without_program(call, tools)), written)
        return replace(plain, parts=tuple(_placed(part, homes) for part in plain.parts))


_METADATA = "x-codex-turn-metadata"


def _is_of_a_turn(request: HttpRequest, call: Call) -> bool:
    """Whether the program asks for an answer to the user; it says of every request what kind it is.

    A message on a socket says so in its body. The headers are those of the handshake there, which is about the first.
    """
    own = (call.body or {}).get("client_metadata")
    written = own.get(_METADATA) if isinstance(own, Mapping) else None
    metadata = json_of((written if isinstance(written, str) else request.headers.get(_METADATA, "")).encode())
    return not isinstance(metadata, dict) or metadata.get("request_kind", "turn") == "turn"


def _placed(part: ReplyPart, homes: Mapping[str, str]) -> ReplyPart:
    """A call in the namespace of its tool."""
    call = part.part
    if not isinstance(call, FunctionCall) or call.name not in homes:
        return part
    data = {**(call.provider_data.data if call.provider_data else {}), "namespace": homes[call.name]}
    return replace(part, part=with_fields(call, provider_data=ProviderData(NAME, "", data)))


# -- what stands around

_AROUND = {
    "system": re.compile(
        r"<(permissions instructions|skills_instructions|apps_instructions|plugins_instructions|collaboration_mode"
        r"|personality_spec|tools|model_switch)>.*</\1>",
        re.DOTALL,
    ),
    "user": re.compile(r"<(environment_context|turn_aborted)>.*</\1>", re.DOTALL),
}
"""What the program says of its own accord, by the role that it says it in."""

_TIMED = re.compile(r"Wall time: [0-9.]+ seconds\nOutput:\n?(.*)", re.DOTALL)


def _without_program(call: Call, tools: Sequence[ToolSchema] = ()) -> Call:
    """The call without what the program has put around it, its tools under the names that the caller knows them by."""
    own = _own_names(call, tools)
    return replace(
        call,
        system=tuple(_without_program_texts(call.system, "system")),
        tools=tuple(with_fields(tool, name=own.get(tool.name, tool.name)) for _, tool in _caller_tools(call, tools)),
        messages=tuple(_conversation(call.messages, own)),
    )


def _without_program_texts(parts: Iterable[Part], role: str) -> Iterator[Part]:
    around = _AROUND.get(role)
    for part in parts:
        if around is None or not isinstance(part, Text) or not around.fullmatch(part.text.strip()):
            yield part


def _conversation(messages: Iterable[Message], own: Mapping[str, str]) -> Iterator[Message]:
    for message in messages:
        parts = tuple(_untimed(renamed(part, own)) for part in _without_program_texts(message.parts, message.role))
        if parts or not message.parts:
            yield with_fields(message, parts=parts)


def _untimed(part: Part) -> Part:
    """A result without the time that it took."""
    timed = _TIMED.fullmatch(part.result) if isinstance(part, ToolResult) and isinstance(part.result, str) else None
    return part if timed is None else with_fields(part, result=_tool_output(timed[1]))


def _tool_output(output: str) -> str:
    """The text that a tool gave. 0.137 writes its blocks as JSON, 0.169 does not."""
    blocks = json_of(output.encode())
    if not isinstance(blocks, list) or not all(isinstance(each, dict) and "type" in each for each in blocks):
        return output
    return "".join(str(each.get("text", "")) for each in blocks)


# -- tools

_SERVER = re.compile(r"mcp__.+")
_NUMBERED = re.compile(r"(.+)_[0-9a-f]{12}")
_DEFERRED = re.compile(r"<tools>\nDeferred tool namespaces:(?:\n- .*)*?\n- (mcp__[^:\n]+)")


def _caller_tools(call: Call, tools: Sequence[ToolSchema] = ()) -> Iterator[tuple[str, ToolSchema]]:
    """The tools of the caller's servers, each with its namespace.

    A namespace may only be named, for the model to search it: its tools then stand in no request, and are taken for
    the declared ones.
    """
    for entry in (call.body or {}).get("tools") or ():
        if _is_of_the_caller(entry):
            inside = entry.get("tools")
            yield from ((entry["name"], _tool(each)) for each in (inside if isinstance(inside, list) else ()))
    for part in call.system:
        if isinstance(part, Text) and (found := _DEFERRED.match(part.text)):
            yield from ((found[1], with_fields(tool, name=_wire_name(tool.name))) for tool in tools)


def _is_of_the_caller(entry: Mapping[str, Any]) -> bool:
    """Whether a tool as it stands in the request is the namespace of one of the caller's servers."""
    return entry.get("type") == "namespace" and _SERVER.fullmatch(str(entry.get("name"))) is not None


def _tool(entry: JSON) -> ToolSchema:
    """A function of a namespace. What is none is not the service's to read, and is a tool that nobody has declared."""
    match entry:
        case {"name": str(name), "description": str(description), "parameters": dict(parameters)}:
            return ToolSchema(name, description, parameters)
        case _:
            return ToolSchema(str(entry), "", {})


def _own_names(call: Call, tools: Sequence[ToolSchema]) -> dict[str, str]:
    """The declared names by those on the wire, also of tools that are no longer offered and were once called."""
    once = {_wire_name(tool.name): tool.name for tool in tools}
    return once | own_names(tools, [tool for _, tool in _caller_tools(call, tools)], _fits)


def _wire_name(name: str) -> str:
    """A tool's name as the program writes it."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def _fits(own: str, name: str) -> bool:
    """Whether a name is this one as the program writes it: too long a name, and one of two alike, ends in a number."""
    numbered = _NUMBERED.fullmatch(name)
    return _wire_name(own) == name or (numbered is not None and _wire_name(own).startswith(numbered[1]))
