"""Conversations as the memory of smolagents' agents writes them: calls and results are texts, for every model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import errors, messages

from .result_texts import result_text

RETRY = (
    "\nNow let's retry: take care not to repeat previous errors! If you have retried several times, try a completely"
    " different approach.\n"
)
"""What the library writes behind the error of a step."""


def written_messages(history: Sequence[messages.Message], system: Any) -> Iterator[dict[str, Any]]:
    """The arguments of `ChatMessage.from_dict()`; an image is in them as its bytes.

    Calls and results have the words of `ActionStep.to_messages()`, and a value the text of `ToolCallingAgent`.
    """
    if text := getattr(system, "text", system):
        yield _message("system", text)
    for message in history:
        match message.role:
            case "system":
                yield _message("system", message.text)
            case "user":
                yield {"role": "user", "content": [_content(part) for part in message.parts]}
            case "model":
                if message.text:
                    yield _message("assistant", message.text.strip())
                if message.calls:
                    yield _message("tool-call", f"Calling tools:\n{list(map(_call, message.calls))}")
            case "tool":
                yield from _results(message.results)


def read_message(message: Any) -> messages.ProviderResponse:
    """What the library's message of the model holds. Raises TransportError for arguments that are no JSON."""
    parts: list[messages.Part] = [messages.Text(message.content)] if message.content else []
    for call in message.tool_calls or ():
        try:
            arguments = json.loads(call.function.arguments or "{}")
        except ValueError as error:
            raise errors.TransportError(f"the arguments of {call.function.name} are no JSON: {error}") from error
        parts.append(messages.FunctionCall(call.id, call.function.name, arguments))
    used = message.token_usage
    usage = messages.TokenUsage(used.input_tokens, used.output_tokens, used.total_tokens)
    model = getattr(message.raw, "model", None)  # the SDK's answer, which a stream has not
    return messages.ProviderResponse(tuple(parts), usage, messages.FinishReason.UNKNOWN, model=model)


def tool_inputs(tool: messages.ToolSchema) -> dict[str, Any]:
    """The parameters as a `Tool` of the library has them: each has a type, and those that may be left out are marked as
    nullable. There is no place for definitions, so each stands where the schema refers to it."""
    schema = messages.thaw(tool.parameters)
    required, definitions = schema.get("required", ()), schema.get("$defs", {})
    return {
        name: {"type": "any", **_resolved(value, definitions)} | ({} if name in required else {"nullable": True})
        for name, value in schema.get("properties", {}).items()
    }


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_resolved(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    definition = definitions.get(str(schema.get("$ref", "")).removeprefix("#/$defs/"), {})
    rest = {name: value for name, value in schema.items() if not definition or name != "$ref"}
    return {name: _resolved(value, definitions) for name, value in (definition | rest).items()}


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _call(call: messages.FunctionCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": messages.thaw(call.args)},
    }


def _results(results: Sequence[messages.ToolResult]) -> Iterator[dict[str, Any]]:
    if observed := [str(messages.thaw(one.result)).strip() for one in results if not one.is_error]:
        yield _message("tool-response", "Observation:\n" + "\n".join(observed))
    for result in results:
        if result.is_error:
            text = f"Call id: {result.call_id}\nError:\n{result_text(result.result)}{RETRY}"
            yield _message("tool-response", text)


def _content(part: messages.Part) -> dict[str, Any]:
    match part:
        case messages.Text(text=text):
            return {"type": "text", "text": text}
        case messages.InlineData(mime_type=kind, data=data) if kind.startswith("image/"):
            return {"type": "image", "image": data}
    raise errors.InvalidRequestError(f"the library's messages have no content for {type(part).__name__}")
