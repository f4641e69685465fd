"""The settings of Haystack's chat generators, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.messages import thaw
from turnproof.reproducer import LibraryCall, LibraryCode

from .haystack_messages import HaystackMessages

GENERATORS = {
    "anthropic-messages": (
        "from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator",
        "from anthropic import AsyncAnthropic",
    ),
    "openai-chat": ("from haystack.components.generators.chat import OpenAIChatGenerator",),
    "gemini": (
        "from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator",
        "from google.genai import Client",
    ),
}
PACKAGES = {
    "anthropic-messages": ("haystack-ai", "anthropic-haystack", "anthropic"),
    "openai-chat": ("haystack-ai", "openai"),
    "gemini": ("haystack-ai", "google-genai-haystack", "google-genai"),
}
MEMBERS = {
    "text": "reply.text or ''",
    "thoughts": "''.join(one.reasoning_text for one in reply.reasonings)",
    "calls": "[[call.tool_name, call.arguments] for call in reply.tool_calls]",
    "finish": "reply.meta['finish_reason']",
    "chunks": "[chunk.content for chunk in chunks if chunk.content]",
    "whole": "repr(reply)",
    "usage": "{'prompt_tokens': reply.meta['usage']['prompt_tokens'],"
    " 'output_tokens': reply.meta['usage']['completion_tokens']}",
}


def generation_arguments(dialect: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The `generation_kwargs` of a generator."""
    thinking, limit = options.get("thinking"), options.get("max_tokens")
    if dialect == "openai-chat":
        return {"max_completion_tokens": limit} if limit else {}
    if dialect == "gemini":
        arguments: dict[str, Any] = {"max_output_tokens": limit} if limit else {}
        return arguments | ({"thinking_budget": thinking["budget_tokens"]} if thinking else {})
    arguments = {"max_tokens": limit} if limit else {}
    return arguments | ({"thinking": {"type": "enabled", **thinking}} if thinking else {})


class HaystackCalls:
    """A `Reproducer` for a generator."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self.packages: Sequence[str] = PACKAGES[dialect]

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        written = HaystackMessages(self._dialect, call.model).write(call.messages, call.system)
        messages = [f"ChatMessage.from_dict({message!r})" for message in written]
        common = (
            "from haystack.dataclasses import ChatMessage",
            "from haystack.tools import Tool",
            "from haystack.utils import Secret",
        )
        return LibraryCode(
            (*common, *GENERATORS[self._dialect]), messages, list(self._body(call)), opening=list(self._opening(call))
        )

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        generation = generation_arguments(self._dialect, call.options)
        rest = f"model={call.model!r}, generation_kwargs={generation!r}"
        key = "Secret.from_token('key')"
        match self._dialect:
            case "openai-chat":
                if call.streamed:
                    rest = rest.replace(
                        "generation_kwargs={", "generation_kwargs={'stream_options': {'include_usage': True}, "
                    )
                yield f"generator = OpenAIChatGenerator({key}, api_base_url=url, max_retries=0, {rest})"
            case "anthropic-messages":
                yield f"generator = AnthropicChatGenerator({key}, {rest})"
                yield "generator.async_client = AsyncAnthropic(base_url=url, api_key='key', max_retries=0)"
            case "gemini":
                yield f"generator = GoogleGenAIChatGenerator(api_key={key}, {rest})"
                yield "generator._async_client = Client(api_key='key', http_options={'base_url': url}).aio"

    def _body(self, call: LibraryCall) -> Iterator[str]:
        tools = [(tool.name, tool.description, thaw(tool.parameters)) for tool in call.tools]
        yield "chunks = []"
        yield f"tools = [Tool(*tool, function=print) for tool in {tools!r}]"
        options = "tools=tools or None" + (", streaming_callback=chunks.append" if call.streamed else "")
        yield f"(reply,) = (await generator.run_async(messages, {options}))['replies']"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
