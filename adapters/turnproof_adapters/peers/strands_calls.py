"""The arguments of strands' model classes, and the same call as source, for `turnproof reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.reproducer import LibraryCall, LibraryCode

from .left_streams import collected
from .strands_messages import StrandsMessages, system_text, tool_spec

CLASSES = {"anthropic": "AnthropicModel", "openai": "OpenAIModel", "gemini": "GeminiModel"}
SDKS = {"anthropic": "anthropic", "openai": "openai", "gemini": "google-genai"}
MEMBERS = {
    "text": "''.join(block.get('text', '') for block in message['content'])",
    "thoughts": "''.join(block['reasoningContent'].get('reasoningText', {}).get('text', '')"
    " for block in message['content'] if 'reasoningContent' in block)",
    "calls": "[[b['toolUse']['name'], b['toolUse']['input']] for b in message['content'] if 'toolUse' in b]",
    "finish": "word",
    "chunks": "[event['data'] for event in events if 'data' in event]",
    "whole": "repr(events)",
    "usage": "{'prompt_tokens': usage['totalTokens'] - usage['outputTokens'],"
    " 'output_tokens': usage['outputTokens'], 'total_tokens': usage['totalTokens']}",
}


_WHOLE = "events[-1]['stop']"
_LEFT = (
    "'', {'content': []}, next((one['event']['metadata']['usage'] for one in events"
    " if 'metadata' in one.get('event', {})), {'totalTokens': 0, 'outputTokens': 0})"
)
"""The finish word, the message and the usage: of a whole stream, and of one that is left."""


def model_arguments(provider: str, model: str, options: Mapping[str, Any], where: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the model class, without retries of the SDK: a failed call is for the session to repeat."""
    thinking, params = options.get("thinking"), {}
    timeout = {"timeout": options["timeout"]} if "timeout" in options else {}
    if provider == "gemini":
        limit = {"max_output_tokens": options["max_tokens"]} if "max_tokens" in options else {}
        budget = {"thinking_budget": thinking["budget_tokens"], "include_thoughts": True} if thinking else {}
        params = limit | ({"thinking_config": budget} if budget else {})
        http = {"base_url": where["base_url"]} | ({"timeout": round(options["timeout"] * 1000)} if timeout else {})
        client = {"api_key": where["api_key"], "http_options": http}
        return {"client_args": client, "model_id": model} | ({"params": params} if params else {})
    client = {**where, "max_retries": 0, **timeout}
    if provider == "anthropic":
        params = {"thinking": {"type": "enabled", **thinking}} if thinking else {}
        own: dict[str, Any] = {"max_tokens": options.get("max_tokens", 4096)}
    else:
        params = {"max_completion_tokens": options["max_tokens"]} if "max_tokens" in options else {}
        own = {}
    return {"client_args": client, "model_id": model, **own} | ({"params": params} if params else {})


class StrandsCalls:
    """A `Reproducer` for a model class and the library's `process_stream`."""

    def __init__(self, provider: str, dialect: str) -> None:
        self._provider, self._dialect = provider, dialect
        self.packages: Sequence[str] = ("strands-agents", SDKS[provider])

    def code(self, call: LibraryCall) -> LibraryCode:
        """The source of one call."""
        messages = [repr(message) for message in StrandsMessages(self._dialect, call.model).write(call.messages)]
        imports = (
            "from strands.event_loop.streaming import process_stream",
            f"from strands.models.{self._provider} import {CLASSES[self._provider]}",
        )
        return LibraryCode(imports, messages, list(self._body(call)), opening=list(self._opening(call)))

    def _opening(self, call: LibraryCall) -> Iterator[str]:
        arguments = model_arguments(self._provider, call.model, call.options, {"base_url": "URL", "api_key": "key"})
        yield f"model = {CLASSES[self._provider]}(**{arguments!r})".replace("'URL'", "url")

    def _body(self, call: LibraryCall) -> Iterator[str]:
        specs = [tool_spec(tool) for tool in call.tools] or None
        yield f"stream = model.stream(messages, {specs!r}, {system_text(call.messages, call.system)!r})"
        yield from collected("events", "process_stream(stream)", "one.get('data')", call)
        yield f"word, message, usage, *_ = {_LEFT if call.left_after is not None else _WHOLE}"
        yield f"return {{{call.wanted!r}: {MEMBERS[call.wanted]}}}"
