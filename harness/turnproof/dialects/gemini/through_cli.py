"""The API as Google's command line program asks it: what the program puts around a conversation is none of it.

Seen in gemini-cli 0.61.0. The user's first words have a part in front that tells date and folder. A tool of a server
that the caller offers (`mcpServers`) goes by `mcp_SERVER_NAME`; all other tools are the program's own. What belongs to
a turn is streamed: an answer in one piece is asked for beside the conversation (which model is fit for a prompt, what
an old session was about).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace as with_fields

from ...messages import FunctionCall, Message, Part, Text, ToolResult, ToolSchema, thaw
from ..base import Call, HttpRequest, ModelFacts, PromptUsage, Refusal, Rendered, Reply, World
from ..lenient_reading import json_of
from ..side_requests import as_generation, as_side_request, side_reply
from ..tool_renaming import own_names, renamed, renamed_reply
from .compare import ContentsComparison
from .dialect import Gemini
from .models import MODELS

_SIDE_MODELS = ("gemini-3.5-flash-lite", "gemini-3.8-flash")
"""What the program asks beside the conversation, and in place of `gemini-3.5-flash`; no more is known of them."""


_MODELS: Mapping[str, ModelFacts] = MappingProxyType(
    {**MODELS, **{name: replace(MODELS["gemini-3.5-flash"], id=name) for name in _SIDE_MODELS}}
)


class _CliComparison(ContentsComparison):
    models = _MODELS


class ThroughCli(Gemini):
    """`gemini@gemini-cli`."""

    comparison = _CliComparison

    def __init__(self) -> None:
        super().__init__()
        self.models = _MODELS

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        """As everywhere, with a request that is not streamed as an aside."""
        found = super().parse(request, world)
        if isinstance(found, Refusal) or found.operation != "generate" or found.stream:
            return found
        return as_side_request(found)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return super().validate(request, as_generation(call), world)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        if call.operation == "other":
            schema = call.settings.get("responseJsonSchema") or call.settings.get("responseSchema")
            return super().render(as_generation(call), side_reply(schema), usage, world, seed)
        return super().render_extra(call, usage, world, seed)

    def without_program(self, call: Call, tools: Sequence[ToolSchema] = ()) -> Call:
        return _without_program(call, tools)

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that the program gave to the declared tools."""
        written = {own: name for name, own in _own_names(call, tools).items()}
        return renamed_reply(super().speak(reply, tools, _without_program(call, tools)), written)


# -- what stands around

_AROUND = re.compile(r"<session_context>.*</session_context>", re.DOTALL)
_UNTRUSTED = re.compile(r"<untrusted_context>\n(.*?)\n</untrusted_context>", re.DOTALL)
_ATTACHED = re.compile(r"\[Tool '.*' provided the following (?:image|audio) data with mime-type: .*\]")
_FAILED = re.compile(r"MCP tool '.*' reported tool error for function call: .* with response: (\[\{.*\}\])", re.DOTALL)
_SEQUENCE = "wait_for_previous"
"""A parameter that the program gives to every tool, for itself: whether to wait for the calls before."""


def _without_program(call: Call, tools: Sequence[ToolSchema] = ()) -> Call:
    """The call without what the program has put around it, its tools under the names that the caller knows them by."""
    own = _own_names(call, tools)
    return replace(
        call,
        tools=tuple(
            with_fields(tool, name=own.get(tool.name, _short(tool.name)), parameters=_parameters(tool))
            for tool in call.tools
            if _SERVER.match(tool.name)
        ),
        messages=tuple(_conversation(call.messages, own)),
    )


def _conversation(messages: Iterable[Message], own: Mapping[str, str]) -> Iterator[Message]:
    for message in messages:
        parts = tuple(_caller_part(renamed(part, own)) for part in message.parts if not _is_around(message, part))
        if parts or not message.parts:
            yield with_fields(message, parts=parts)


def _is_around(message: Message, part: Part) -> bool:
    return message.role == "user" and isinstance(part, Text) and _AROUND.fullmatch(part.text.strip()) is not None


def _caller_part(part: Part) -> Part:
    """A call or result under a name without the server's; a result as the tool gave it."""
    match part:
        case FunctionCall():
            return with_fields(part, name=_short(part.name))
        case ToolResult(result={"output": str(output)}):
            return with_fields(part, name=_short(part.name), result={"output": _tool_output(output)})
        case ToolResult(result={"error": str(error)}):
            return with_fields(part, name=_short(part.name), result={"error": _tool_error(error)})
        case ToolResult():
            return with_fields(part, name=_short(part.name))
        case _:
            return part


def _tool_output(output: str) -> str:
    """The texts that a tool gave, of which the program says that they are not to be trusted."""
    texts = _UNTRUSTED.findall(output)
    if not texts or _ATTACHED.sub("", _UNTRUSTED.sub("", output)).strip():
        return output
    return "".join(text.replace("&lt;/untrusted_context&gt;", "</untrusted_context>") for text in texts)


def _tool_error(error: str) -> str:
    """The texts of a tool that failed, which the program tells with the whole answer of the server."""
    found = _FAILED.fullmatch(error)
    match json_of(found[1].encode()) if found else None:
        case [{"functionResponse": {"response": {"content": [*blocks]}}}]:
            return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
        case _:
            return error


# -- tools

_SERVER = re.compile(r"mcp_[^_]+_(?=.)")
_LONGEST = 63


def _short(name: str) -> str:
    return _SERVER.sub("", name, count=1)


def _parameters(tool: ToolSchema) -> dict[str, Any]:
    schema: dict[str, Any] = thaw(tool.parameters)
    if isinstance(schema.get("properties"), dict):
        schema["properties"].pop(_SEQUENCE, None)
    return schema


def _own_names(call: Call, tools: Sequence[ToolSchema]) -> dict[str, str]:
    return own_names(tools, [tool for tool in call.tools if _SERVER.match(tool.name)], _fits)


def _fits(own: str, name: str) -> bool:
    """Whether a name is this one as the program writes it: behind that of the server, and cut in the middle."""
    server = _SERVER.match(name)
    whole = (server[0] if server else "") + re.sub(r"[^a-zA-Z0-9_.:-]", "_", own)
    return name == (whole if len(whole) <= _LONGEST else f"{whole[:30]}...{whole[-30:]}")
