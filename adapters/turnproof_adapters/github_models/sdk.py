"""A request in the SDK's own types, made of the same plain data as the bytes of the stateless path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from azure.ai.inference.models import (
    AssistantMessage,
    ChatCompletionsToolDefinition,
    DeveloperMessage,
    JsonSchemaFormat,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

from .._calling import Prompt
from .._encoded_messages import encode
from ..openai import convert
from ..openai.arrange import Arrangement
from ..openai.request import Settings
from ..openai.rows import row

_MESSAGES: Mapping[str, Any] = {
    "system": SystemMessage,
    "developer": DeveloperMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
}


def request(settings: Settings, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
    """A whole request, but for `stream` itself, as `ChatCompletionsClient.complete` takes it.

    Raises InvalidRequestError for text that is not valid Unicode: the SDK would write it in ASCII, and send it.
    """
    arrangement: Arrangement[convert.Wire] = Arrangement(_as_it_is, settings.service, settings.model)
    for message in prompt.messages:
        arrangement.add(row(message, _as_it_is, settings.service, settings.model))
    sent = arrangement.finish()
    if (first := convert.system(prompt.system, settings.service)) is not None:
        sent.insert(0, first)
    fields = settings.fields(prompt.tools, prompt.response_schema, stream=stream)
    encode([sent, fields])
    return {"model": settings.model, "messages": [_MESSAGES[each["role"]](each) for each in sent], **_named(fields)}


def _as_it_is(wire: convert.Wire) -> convert.Wire:
    return wire


def _named(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields around the messages. Those that `complete` has no name for are extras."""
    named: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    for name, value in fields.items():
        match name:
            case "tools":
                named[name] = [ChatCompletionsToolDefinition(tool) for tool in value]
            case "response_format":
                schema = value["json_schema"]
                named[name] = JsonSchemaFormat(name=schema["name"], schema=schema["schema"], strict=schema["strict"])
            case "max_tokens":
                named[name] = value
            case _:
                extras[name] = value
    return {**named, "model_extras": extras}
