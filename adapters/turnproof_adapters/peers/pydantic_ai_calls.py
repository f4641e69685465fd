"""The same calls in pydantic-ai's own words, as source: what `turnproof reproduce` puts into a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import messages as ours
from turnproof.reproducer import LibraryCall, LibraryCode, source_of

IMPORTS = (
    "from pydantic_ai.messages import *",
    "from pydantic_ai.models import ModelRequestParameters",
    "from pydantic_ai.models.anthropic import AnthropicModel",
    "from pydantic_ai.providers.anthropic import AnthropicProvider",
    "from pydantic_ai.tools import ToolDefinition",
)
MEMBERS = {
    "text": "''.join(part.content for part in answer.parts if part.part_kind == 'text')",
    "thoughts": "''.join(part.content for part in answer.parts if part.part_kind == 'thinking')",
    "calls": "[[part.tool_name, part.args_as_dict(raise_if_invalid=True)] for part in answer.tool_calls]",
    "finish": "(answer.provider_details or {}).get('finish_reason') or answer.finish_reason",
    "whole": "repr(answer)",
    "usage": "{'prompt_tokens': answer.usage.input_tokens, 'output_tokens': answer.usage.output_tokens,"
    " 'total_tokens': answer.usage.total_tokens, 'cache_read_tokens': answer.usage.cache_read_tokens,"
    " 'cache_creation_tokens': answer.usage.cache_write_tokens}",
}


def model_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the model class, from the options of an endpoint."""
    # Without the SDK's retries, as wherever something above the model retries: one call is one request.
    # And nothing before the system text, to explain system messages in mid-conversation where there are none.
    settings: dict[str, Any] = {"max_retries": 0, "framing_announcement": "when_needed", **options}
    if thinking := settings.pop("thinking", None):
        settings["anthropic_thinking"] = {"type": "enabled", **thinking}
    return settings


class PydanticAICalls:
    """A `Reproducer` for the model class of the Messages API."""

    packages: Sequence[str] = ("pydantic-ai-slim[anthropic]", "anthropic")

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call. Raises ValueError for what the library does not tell by itself."""
        if call.wanted not in MEMBERS:
            raise ValueError(f"it tells its {call.wanted} by events of parts")
        messages = [_message(message) for message in call.messages]
        return LibraryCode(
            IMPORTS, messages, list(_body(call)), opening=list(_opening(call, model_settings(call.options)))
        )


def _opening(call: LibraryCall, settings: dict[str, Any]) -> Iterator[str]:
    yield "provider = AnthropicProvider(base_url=url, api_key='key')"
    yield f"model = AnthropicModel({call.model!r}, provider=provider, settings={source_of(settings)})"


def _body(call: LibraryCall) -> Iterator[str]:
    extra = [f"function_tools=[{', '.join(map(_tool, call.tools))}]"] if call.tools else []
    extra += [f"instruction_parts=[InstructionPart({call.system!r})]"] if call.system else []
    yield f"request = messages, None, ModelRequestParameters({', '.join(extra)})"
    if call.streamed:
        yield "async with model.request_stream(*request) as stream:"
        yield "    events = [event async for event in stream]"
        yield "answer = stream.get()"
    else:
        yield "answer = await model.request(*request)"
    yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"


def _tool(tool: ours.ToolSchema) -> str:
    schema = source_of(tool.parameters)
    return f"ToolDefinition(name={tool.name!r}, parameters_json_schema={schema}, description={tool.description!r})"


def _message(message: ours.Message) -> str:
    match message.role:
        case "model":
            texts = [
                f"TextPart({part.text!r})" if isinstance(part, ours.Text) else _part(part) for part in message.parts
            ]
            return f"ModelResponse([{', '.join(texts)}], provider_name='anthropic')"
        case "user":
            return f"ModelRequest([UserPromptPart([{', '.join(map(_part, message.parts))}])])"
        case "system":
            texts = [f"SystemPromptPart({part.text!r})" for part in message.parts if isinstance(part, ours.Text)]
            return f"ModelRequest([{', '.join(texts)}])"
    return f"ModelRequest([{', '.join(map(_part, message.parts))}])"


def _part(part: ours.Part) -> str:
    match part:
        case ours.Text(text=text):
            return repr(text)
        case ours.InlineData(data=data, mime_type=kind):
            return f"BinaryContent({data!r}, media_type={kind!r})"
        case ours.FileRef(uri=uri, mime_type=kind):
            return f"{'ImageUrl' if 'image/' in kind else 'DocumentUrl'}({uri!r}, media_type={kind!r})"
        case ours.Thought(text=text, provider_data=data):
            own = data.data if data is not None and data.dialect == "anthropic-messages" else {}
            extra = "".join(f", {name}={value!r}" for name, value in own.items() if value is not None)
            return f"ThinkingPart({text!r}{extra}{', provider_name=' + repr('anthropic') if own else ''})"
        case ours.FunctionCall(id=id, name=name, args=args):
            return f"ToolCallPart({name!r}, {source_of(args)}, {id!r})"
        case ours.ToolResult():
            content = ", ".join([source_of(part.result), *map(_part, part.attachments)])
            outcome = ", outcome='failed'" if part.is_error else ""
            return f"ToolReturnPart({part.name!r}, [{content}], {part.call_id!r}{outcome})"
    raise ValueError(f"it has no part for {type(part).__name__}")
