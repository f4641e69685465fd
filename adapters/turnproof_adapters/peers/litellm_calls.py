"""The arguments of a call of LiteLLM, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.errors import ProviderError
from turnproof.messages import ToolSchema
from turnproof.reproducer import LibraryCall, LibraryCode

from .chat_messages import chat_messages, chat_tool
from .left_streams import collected
from .litellm_messages import LiteLLMMessages

API_PATHS = {"gemini": "/v1beta"}
"""What the library expects in a base URL, where the official SDK adds it by itself."""

STREAMED = {"stream": True, "stream_options": {"include_usage": True}}

IMPORTS = ("import os", "os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'", "import json, litellm")
MEMBERS = {
    "text": "choice.message.content or choice.message.get('refusal') or ''",
    "thoughts": "choice.message.get('reasoning_content') or ''",
    "calls": "[[c.function.name, json.loads(c.function.arguments or '{}')] for c in choice.message.tool_calls or ()]",
    "finish": "(choice.get('provider_specific_fields') or {}).get('native_finish_reason') or choice.finish_reason",
    "whole": "repr(answer)",
    "usage": "{'prompt_tokens': answer.usage.prompt_tokens, 'output_tokens': answer.usage.completion_tokens,"
    " 'total_tokens': answer.usage.total_tokens}",
    "chunks": "[text for one in chunks for c in one.choices if (text := c.delta.get('content'))]",
}


def call_arguments(
    provider: str, model: str, options: Mapping[str, Any], tools: Sequence[ToolSchema] | None, *, streamed: bool
) -> dict[str, Any]:
    """All but messages, address and key. Without retries: a failed call is for the session to repeat."""
    arguments: dict[str, Any] = {"model": f"{provider}/{model}", "num_retries": 0, "max_retries": 0}
    arguments |= {name: options[name] for name in ("max_tokens", "timeout") if name in options}
    if thinking := options.get("thinking"):
        arguments["thinking"] = {"type": "enabled", **thinking}
    if tools:
        arguments["tools"] = [chat_tool(tool) for tool in tools]
    return arguments | (STREAMED if streamed else {})


class LiteLLMCalls:
    """A `Reproducer` for `acompletion` with one of the library's providers."""

    packages: Sequence[str] = ("litellm", "openai", "httpx", "aiohttp")

    def __init__(self, provider: str, dialect: str, errors: Mapping[str, type[ProviderError]]) -> None:
        self._provider, self._dialect, self.errors = provider, dialect, errors

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        additions = LiteLLMMessages(self._dialect, call.model).additions
        messages = [repr(message) for message in chat_messages(call.messages, call.system, additions)]
        return LibraryCode(IMPORTS, messages, list(self._body(call)), opening=list(self._opening()))

    def _opening(self) -> Iterator[str]:
        yield f"where = {{'api_base': url + {API_PATHS.get(self._provider, '')!r}, 'api_key': 'key'}}"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        arguments = call_arguments(self._provider, call.model, call.options, call.tools, streamed=call.streamed)
        yield f"answer = await litellm.acompletion(messages=messages, **where, **{arguments!r})"
        if call.streamed:
            yield from collected("chunks", "answer", "any(c.delta.get('content') for c in one.choices)", call)
            yield "answer = litellm.stream_chunk_builder(chunks)"
        yield "choice = answer.choices[0]"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
