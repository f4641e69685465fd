"""The API as Claude's command line program asks it: what the program puts around a conversation is none of it.

Seen in 2.1.330 with `--bare`: two system texts come before the caller's own, and a tool of a server that the caller
offers (`mcp_servers`) goes by `mcp__SERVER__NAME`. Everything else is the API's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from ...messages import JSON, FunctionCall, Message, Part, Text, ToolResult, ToolSchema
from ..base import Call, Reply, ReplyPart, WireDifference
from .dialect import AnthropicMessages

_PROGRAM_SAYS = (
    re.compile(r"x-anthropic-billing-header: .*"),
    re.compile(r"You are a Claude agent, built on Anthropic's Claude Agent SDK\."),
)
"""The system texts of the program's own, in their order."""

_SERVER = re.compile(r"mcp__[a-zA-Z0-9-]+__(?=.)")


class ThroughClaude(AnthropicMessages):
    """`anthropic-messages@claude-cli`."""

    def match_form(self, call: Call) -> JSON:
        return super().match_form(_bare(call))

    def differences(
        self,
        held: Sequence[Message],
        system: Part | str | None,
        tools: Sequence[ToolSchema],
        call: Call,
        model: str,
    ) -> list[WireDifference]:
        return super().differences(held, system, tools, _bare(call), model)

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that the program gave to the declared tools."""
        full = {_own(tool.name): tool.name for tool in call.tools}

        def spoken(part: ReplyPart) -> ReplyPart:
            if not isinstance(part.part, FunctionCall) or part.part.name not in full:
                return part
            return replace(part, part=with_fields(part.part, name=full[part.part.name]))

        plain = super().speak(reply, tools, _bare(call))
        return replace(plain, parts=tuple(map(spoken, plain.parts)))


def _own(name: str) -> str:
    return _SERVER.sub("", name, count=1)


def _bare(call: Call) -> Call:
    """The call without what the program has put around it."""
    return replace(
        call,
        system=tuple(_of_the_caller(call.system)),
        tools=tuple(with_fields(tool, name=_own(tool.name)) for tool in call.tools),
        messages=tuple(_with_own_names(message) for message in call.messages),
    )


def _of_the_caller(system: Sequence[Part]) -> Iterator[Part]:
    expected = list(_PROGRAM_SAYS)
    for part in system:
        if expected and isinstance(part, Text) and expected[0].fullmatch(part.text):
            expected.pop(0)
        else:
            yield part


def _with_own_names(message: Message) -> Message:
    if not any(isinstance(part, FunctionCall | ToolResult) for part in message.parts):
        return message
    return with_fields(
        message,
        parts=tuple(
            with_fields(part, name=_own(part.name)) if isinstance(part, FunctionCall | ToolResult) else part
            for part in message.parts
        ),
    )
