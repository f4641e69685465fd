"""Conversations, tools and answers: turnproof's in Loom's types, and Loom's in turnproof's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from loom import Call, Note, Outcome, Tool
from loom.notes import Answer

from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Message,
    Part,
    ProviderResponse,
    Text,
    TokenUsage,
    ToolResult,
    ToolSchema,
)
from turnproof.provider import Translator


def note(message: Message) -> Note:
    if message.role == "tool":
        outcomes = (Outcome(one.call_id, one.name, text_of(one.result), one.is_error) for one in message.results)
        return Note("tools", outcomes=tuple(outcomes), id=message.message_id)
    calls = tuple(Call(call.id, call.name, dict(call.args)) for call in message.calls)
    return Note("human" if message.role == "user" else "bot", message.text, calls, id=message.message_id)


def parts(one: Note) -> tuple[Part, ...]:
    text = (Text(one.text),) if one.text else ()
    calls = (FunctionCall(call.id, call.tool, call.input) for call in one.calls)
    results = (ToolResult(each.call_id, each.tool, each.text, each.failed) for each in one.outcomes)
    return (*text, *calls, *results)


def message(one: Note) -> Message:
    return Message("tool" if one.who == "tools" else "user" if one.who == "human" else "model", parts(one), one.id)


def messages(notes: Iterable[Note]) -> list[Message]:
    return [message(one) for one in notes if parts(one)]


def text_of(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def schema(tool: Tool) -> ToolSchema:
    return ToolSchema(tool.name, tool.description, tool.schema)


def answer(found: ProviderResponse) -> Answer:
    reply = note(Message("model", found.parts)) if found.parts else None
    return Answer(reply, found.usage.prompt_tokens, found.usage.output_tokens, found.finish_reason == "cancelled")


class LoomTranslator:
    """What turnproof says, in Loom's types; and what Loom answers, in turnproof's."""

    def messages_out(self, messages: Sequence[Message]) -> list[Note]:
        return [note(one) for one in messages]

    def tools_out(self, tools: Sequence[ToolSchema]) -> list[Tool]:
        return [Tool(one.name, one.description, dict(one.parameters), lambda arguments: "") for one in tools]

    def response_in(self, response: Answer) -> ProviderResponse:
        usage = TokenUsage(response.tokens_in, response.tokens_out, response.tokens_in + response.tokens_out)
        found = parts(response.note) if response.note is not None else ()
        finish = FinishReason.TOOL_USE if response.note and response.note.calls else FinishReason.STOP
        finish = FinishReason.CANCELLED if response.stopped else finish
        return ProviderResponse(found, usage=usage, finish_reason=finish)


LOOM: Translator = LoomTranslator()
