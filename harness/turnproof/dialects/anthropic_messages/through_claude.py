"""The API as Claude's command line program asks it: what the program puts around a conversation is none of it.

Seen in 2.1.330 with `--bare`: two system texts come before the caller's own, and a tool of a server that the caller
offers (`mcp_servers`) goes by `mcp__SERVER__NAME`. Seen in 2.1.185, as claude-agent-acp 0.49.0 runs it: reminders stand
before the user's words, and a note where a turn was interrupted; whether there is a service is asked with a HEAD. Seen
in 2.1.318, as claude-agent-acp 0.101.0 runs it: beside a turn the model is asked for a name for the session, and after
a failure whether it is there, with room for a single token.
Everything else is the API's own, also the program's own tools: it can be told to offer none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from ...messages import FinishReason, FunctionCall, Message, Part, Role, Text, ToolResult, ToolSchema
from ..base import Call, HttpRequest, PromptUsage, Refusal, Rendered, Reply, ReplyPart, World
from ..side_requests import as_generation, as_side_request, side_reply
from . import rules
from .dialect import AnthropicMessages

_PROGRAM_SAYS = (
    re.compile(r"x-anthropic-billing-header: .*"),
    re.compile(r"You are a Claude agent, built on Anthropic's Claude Agent SDK\."),
)
"""The system texts of the program's own, in their order."""

_AROUND: Mapping[Role, re.Pattern[str]] = {
    "user": re.compile(
        r"<system-reminder>.*</system-reminder>|\[Request interrupted by user(?: for tool use)?\]", re.DOTALL
    ),
    # After a kill in mid-stream (2.1.330), so that the user's next words are not the second ones in a row.
    "model": re.compile(r"No response requested\."),
}
"""Texts of the program's own in the conversation, by the role that they are said in."""

_NAMING = "You are naming a coding session "
"""How the program begins to ask for a session's name."""

_SIGN_OF_LIFE = Reply((ReplyPart(Text("Hi")),), FinishReason.MAX_TOKENS)

_SERVER = re.compile(r"mcp__[a-zA-Z0-9-]+__(?=.)")


class ThroughClaude(AnthropicMessages):
    """`anthropic-messages@claude-cli`."""

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        """As everywhere, with the questions whether anybody is there, and that for a name, as asides."""
        if request.method == "HEAD":
            return Call("other")
        found = super().parse(request, world)
        if isinstance(found, Refusal) or not (_asks_for_a_name(found) or _is_probe(found)):
            return found
        return as_side_request(found)

    def validate(self, request: HttpRequest, call: Call, world: World) -> list[Refusal]:
        return [] if request.method == "HEAD" else super().validate(request, as_generation(call), world)

    def render_extra(self, call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
        if call.operation != "other":
            return super().render_extra(call, usage, world, seed)
        if call.messages:
            reply = _SIGN_OF_LIFE if _is_probe(call) else side_reply()
            return super().render(as_generation(call), reply, usage, world, seed)
        return super().render_refusal(Refusal(rules.NOT_FOUND, 404, "not_found_error", "Not Found"), seed)

    def without_program(self, call: Call, tools: Sequence[ToolSchema] = ()) -> Call:
        return _without_program(call)

    def speak(self, reply: Reply, tools: Sequence[ToolSchema], call: Call) -> Reply:
        """A scripted reply with its calls under the names that the program gave to the declared tools."""
        full = {_caller_name(tool.name): tool.name for tool in call.tools}

        def with_full_name(part: ReplyPart) -> ReplyPart:
            if not isinstance(part.part, FunctionCall) or part.part.name not in full:
                return part
            return replace(part, part=with_fields(part.part, name=full[part.part.name]))

        plain = super().speak(reply, tools, _without_program(call))
        return replace(plain, parts=tuple(map(with_full_name, plain.parts)))


def _asks_for_a_name(call: Call) -> bool:
    """Whether a request is about the session, and no part of it."""
    system = list(_caller_texts(call.system))
    first = system[0] if system and not call.tools else None
    return isinstance(first, Text) and first.text.startswith(_NAMING)


def _is_probe(call: Call) -> bool:
    """Whether no more than a sign of life is asked for."""
    return (call.body or {}).get("max_tokens") == 1


def _caller_name(name: str) -> str:
    return _SERVER.sub("", name, count=1)


def _without_program(call: Call) -> Call:
    """The call without what the program has put around it."""
    return replace(
        call,
        system=tuple(_caller_texts(call.system)),
        tools=tuple(with_fields(tool, name=_caller_name(tool.name)) for tool in call.tools),
        messages=tuple(_conversation(call.messages)),
    )


def _caller_texts(system: Sequence[Part]) -> Iterator[Part]:
    expected = list(_PROGRAM_SAYS)
    for part in system:
        if expected and isinstance(part, Text) and expected[0].fullmatch(part.text):
            expected.pop(0)
        else:
            yield part


def _conversation(messages: Sequence[Message]) -> Iterator[Message]:
    for message in messages:
        parts = tuple(part for part in message.parts if not _is_around(message.role, part))
        if parts or not message.parts:
            yield _with_own_names(with_fields(message, parts=parts))


def _is_around(role: Role, part: Part) -> bool:
    around = _AROUND.get(role)
    return around is not None and isinstance(part, Text) and around.fullmatch(part.text.strip()) is not None


def _with_own_names(message: Message) -> Message:
    if not any(isinstance(part, FunctionCall | ToolResult) for part in message.parts):
        return message
    return with_fields(
        message,
        parts=tuple(
            with_fields(part, name=_caller_name(part.name)) if isinstance(part, FunctionCall | ToolResult) else part
            for part in message.parts
        ),
    )
