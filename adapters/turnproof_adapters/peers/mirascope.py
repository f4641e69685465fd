"""Mirascope's providers for Anthropic and OpenAI's chat completions: `call_async()` and `stream_async()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mirascope import llm
from mirascope.llm.tools import AsyncTool, AsyncToolkit
from mirascope.llm.tools.tool_schema import ToolParameterSchema

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, ToolSchema
from turnproof.provider import Binding, Endpoint

from . import services
from .callbacks import notify, notify_at_end, pieces
from .mirascope_calls import MirascopeCalls, model_parameters
from .mirascope_messages import MirascopeMessages, raw_model_and_finish, token_usage, tool_parameters
from .sdk_errors import passed_error, raised_as
from .services import Service

FINISH = {"max_tokens": "max_tokens", "refusal": "refusal", "context_length_exceeded": "context_limit"}
"""The library has no word for an answer that ended as it should."""


class Mirascope:
    """One call of `complete()` is one call of the provider, with or without streaming."""

    def __init__(self, endpoint: Endpoint, opener: Callable[..., Any], dialect: str) -> None:
        self._provider = opener(api_key=endpoint.api_key, base_url=endpoint.base_url)
        self._provider.async_client.max_retries = 0
        if "timeout" in endpoint.options:
            self._provider.async_client.timeout = endpoint.options["timeout"]
        self._parameters = model_parameters(endpoint.options)
        self._messages = MirascopeMessages(dialect, endpoint.model)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        call = {
            "model_id": self._messages.model_id,
            "messages": [message.make(llm) for message in self._messages.write(messages, system_instruction)],
            "toolkit": AsyncToolkit([_tool(tool) for tool in tools or ()]),
            **self._parameters,
        }
        texts: list[str] = []
        answer: Any = None
        with raised_as(_typed), (listeners.get("cancel_token") or CancelToken()).interrupting():
            if listeners.get("on_chunk"):
                answer = await self._provider.stream_async(**call)
                async for chunk in pieces(answer.chunk_stream()):
                    if chunk.type == "text_chunk":
                        texts.append(chunk.delta)
                        notify(listeners, "on_chunk", chunk.delta)
                    elif chunk.type == "thought_chunk":
                        notify(listeners, "on_thinking", chunk.delta)
            else:
                answer = await self._provider.call_async(**call)
            return self._response(answer, listeners)
        parts = (Text("".join(texts)),) if texts else ()
        return ProviderResponse(parts, token_usage(answer and answer.usage), FinishReason.CANCELLED)

    def _response(self, answer: Any, listeners: Mapping[str, Any]) -> ProviderResponse:
        word = answer.finish_reason and answer.finish_reason.value
        parts = tuple(self._messages.read(answer.messages[-1], cut=word == "max_tokens"))
        called = any(isinstance(part, FunctionCall) for part in parts)
        reason = FinishReason(FINISH.get(word or "", "tool_use" if called else "stop"))
        model, raw_finish = raw_model_and_finish(answer)
        response = ProviderResponse(parts, token_usage(answer.usage), reason, raw_finish, model=model)
        return notify_at_end(listeners, response)


def _typed(error: BaseException) -> errors.ProviderError | None:
    """The SDK's error, which the library's own holds; what the library refuses is a request that it cannot make."""
    if isinstance(error, llm.FeatureNotSupportedError):
        return errors.InvalidRequestError(str(error))
    return passed_error(getattr(error, "original_exception", None) or error)


def _tool(tool: ToolSchema) -> Any:
    return AsyncTool(print, tool.name, tool.description, ToolParameterSchema(**tool_parameters(tool)), strict=False)


def _anthropic(**where: str) -> Any:
    from mirascope.llm.providers.anthropic import AnthropicProvider

    return AnthropicProvider(**where)


def _openai(**where: str) -> Any:
    from mirascope.llm.providers.openai.completions.provider import OpenAICompletionsProvider

    return OpenAICompletionsProvider(**where)


def _binding(service: Service, opener: Callable[..., Any], **claims: Any) -> Binding:
    return service.binding(
        "mirascope",
        lambda endpoint: Mirascope(endpoint, opener, service.dialect),
        "mirascope",
        MirascopeCalls(service.dialect),
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(services.ANTHROPIC, _anthropic, thinking=True)
OPENAI = _binding(services.OPENAI, _openai)
