"""Haystack's chat generators for Anthropic, OpenAI and Gemini, called as a pipeline calls them, without a pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, ToolSchema, thaw
from turnproof.provider import Binding, Endpoint

from . import services
from .callbacks import notify, notify_at_end
from .haystack_calls import HaystackCalls, generation_arguments
from .haystack_messages import HaystackMessages, token_usage
from .sdk_errors import raised_as, wrapped_error
from .services import Service

FINISH = {"stop": "stop", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "safety"}


class Haystack:
    """One call of `complete()` is one `run_async()` of the generator, which streams if it gets a callback."""

    def __init__(self, endpoint: Endpoint, opener: Callable[[Endpoint, dict[str, Any]], Any], dialect: str) -> None:
        self._generator = opener(endpoint, generation_arguments(dialect, endpoint.options))
        self._messages, self._streams_usage = HaystackMessages(dialect, endpoint.model), dialect == "openai-chat"

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        written = [ChatMessage.from_dict(message) for message in self._messages.write(messages, system_instruction)]
        options: dict[str, Any] = {"tools": [_tool(tool) for tool in tools]} if tools else {}
        chunks: list[Any] = []
        if listeners.get("on_chunk"):
            options["streaming_callback"] = lambda chunk: _tell(chunk, chunks, listeners)
            if self._streams_usage:
                options["generation_kwargs"] = {"stream_options": {"include_usage": True}}
        # The generator for Gemini raises RuntimeError from the SDK's error, up to twice.
        with raised_as(wrapped_error), (listeners.get("cancel_token") or CancelToken()).interrupting():
            (reply,) = (await self._generator.run_async(written, **options))["replies"]
            return self._response(reply, listeners)
        text = "".join(chunk.content for chunk in chunks)
        usage = next((used for chunk in reversed(chunks) if (used := _usage(chunk.meta))), None)
        parts = (Text(text),) if text else ()
        return ProviderResponse(parts, token_usage(usage), FinishReason.CANCELLED)

    def _response(self, reply: ChatMessage, listeners: Mapping[str, Any]) -> ProviderResponse:
        word = reply.meta.get("finish_reason")
        reason = FinishReason(FINISH.get(word or "", "unknown"))
        parts, usage = tuple(self._messages.read(reply)), token_usage(reply.meta.get("usage"))
        return notify_at_end(listeners, ProviderResponse(parts, usage, reason, word, model=reply.meta.get("model")))


def _usage(meta: Mapping[str, Any]) -> Any:
    """The tokens in a chunk. Anthropic's first chunk has them in the message that it opens, under Anthropic's names."""
    opened = (meta.get("message") or {}).get("usage")
    if opened:
        return {"prompt_tokens": opened["input_tokens"], "completion_tokens": opened["output_tokens"]} | opened
    return meta.get("usage")


async def _tell(chunk: Any, chunks: list[Any], listeners: Mapping[str, Any]) -> None:
    """The library prefers coroutines for callbacks. In this one a cancel takes effect before the next chunk."""
    chunks.append(chunk)
    notify(listeners, "on_chunk", chunk.content)
    notify(listeners, "on_thinking", chunk.reasoning.reasoning_text if chunk.reasoning else None)
    await asyncio.sleep(0)


def _tool(tool: ToolSchema) -> Tool:
    return Tool(tool.name, tool.description, thaw(tool.parameters), function=print)


def _anthropic(endpoint: Endpoint, generation: dict[str, Any]) -> Any:
    from anthropic import AsyncAnthropic
    from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator

    generator = AnthropicChatGenerator(
        Secret.from_token(endpoint.api_key),
        endpoint.model,
        generation_kwargs=generation,
        ignore_tools_thinking_messages=False,  # otherwise texts beside calls are dropped, as documented
    )
    timeout = {"timeout": endpoint.options["timeout"]} if "timeout" in endpoint.options else {}
    # The generator has no parameter for the address, but makes no client where it has one.
    generator.async_client = AsyncAnthropic(
        base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, **timeout
    )
    return generator


def _openai(endpoint: Endpoint, generation: dict[str, Any]) -> Any:
    from haystack.components.generators.chat import OpenAIChatGenerator

    return OpenAIChatGenerator(
        Secret.from_token(endpoint.api_key),
        endpoint.model,
        api_base_url=endpoint.base_url,
        generation_kwargs=generation,
        timeout=endpoint.options.get("timeout"),
        max_retries=0,
    )


def _gemini(endpoint: Endpoint, generation: dict[str, Any]) -> Any:
    from google.genai import Client
    from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator

    generator = GoogleGenAIChatGenerator(
        api_key=Secret.from_token(endpoint.api_key), model=endpoint.model, generation_kwargs=generation
    )
    http: Any = {"base_url": endpoint.base_url}
    if "timeout" in endpoint.options:
        http["timeout"] = round(endpoint.options["timeout"] * 1000)
    generator._async_client = Client(api_key=endpoint.api_key, http_options=http).aio  # it has no parameter either
    return generator


def _binding(service: Service, opener: Callable[..., Any], package: str, **claims: Any) -> Binding:
    return service.binding(
        "haystack",
        lambda endpoint: Haystack(endpoint, opener, service.dialect),
        package,
        HaystackCalls(service.dialect),
        image_urls=False,
        part_order=False,  # a message has one text, in front of its calls
        finish_words=False,
        **claims,
    )


ANTHROPIC = _binding(
    services.ANTHROPIC, _anthropic, "anthropic-haystack", thinking=True, result_images=True, pair_repair=False
)
OPENAI = _binding(services.OPENAI, _openai, "haystack-ai", pair_repair=False)
GEMINI = _binding(services.GEMINI, _gemini, "google-genai-haystack", thinking=True, separate_thoughts=False)
