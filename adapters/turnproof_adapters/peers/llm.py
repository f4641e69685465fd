"""Models of Simon Willison's `llm` for Anthropic and OpenAI's chat completions: `prompt()` with `messages`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from llm import Message as LlmMessage
from llm import Tool

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, ToolSchema, thaw
from turnproof.provider import Binding, Endpoint

from . import services
from .callbacks import notify, notify_at_end, pieces
from .llm_calls import LlmCalls, model_arguments, prompt_options
from .llm_messages import FINISH, LlmMessages, finish_of, token_usage
from .sdk_errors import passed_error, raised_as
from .services import Service


class Llm:
    """One call of `complete()` is one `prompt()`, whose events are read to the end, streamed or not."""

    def __init__(self, endpoint: Endpoint, opener: Callable[..., Any], dialect: str) -> None:
        timeout = {"timeout": endpoint.options["timeout"]} if "timeout" in endpoint.options else {}
        self._model = opener(endpoint.base_url, {"max_retries": 0, **timeout}, model_arguments(dialect, endpoint.model))
        self._messages, self._key = LlmMessages(dialect, endpoint.model), endpoint.api_key
        self._options = prompt_options(endpoint.options)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        answer = self._model.prompt(
            messages=[LlmMessage.from_dict(one) for one in self._messages.write(messages, system_instruction)],
            tools=[_tool(tool) for tool in tools or ()],
            options=self._options,
            stream=listeners.get("on_chunk") is not None,
            key=self._key,
        )
        events: list[Any] = []
        with raised_as(_typed), (listeners.get("cancel_token") or CancelToken()).interrupting():
            async for event in pieces(answer.astream_events()):
                events.append(event)
                if event.type == "text":
                    notify(listeners, "on_chunk", event.chunk)
                elif event.type == "reasoning":
                    notify(listeners, "on_thinking", event.chunk)
            raw = await answer.json() or {}
            parts = tuple(self._messages.read(await answer.messages(), await answer.tool_calls()))
            word, usage = finish_of(raw), token_usage(await answer.usage())
            reason = FinishReason(FINISH.get(word or "", "unknown"))
            if reason == FinishReason.STOP and any(isinstance(part, FunctionCall) for part in parts):
                reason = FinishReason.TOOL_USE
            response = ProviderResponse(parts, usage, reason, word, model=raw.get("model"))
            return notify_at_end(listeners, response)
        return ProviderResponse(tuple(self._messages.cancelled(events)), finish_reason=FinishReason.CANCELLED)


def _typed(error: BaseException) -> errors.ProviderError | None:
    """The SDK's error, which the library lets through. Its own is raised for a refusal alone."""
    if type(error).__name__ == "ClaudeRefusal":
        return errors.ContentFilterError(str(error))
    return passed_error(error)


def _tool(tool: ToolSchema) -> Tool:
    return Tool(tool.name, tool.description, thaw(tool.parameters))


def _anthropic(url: str, client: dict[str, Any], arguments: dict[str, Any]) -> Any:
    """The library makes its client in each call, and has no parameter for retries and time limits."""
    import llm_anthropic
    from anthropic import AsyncAnthropic

    llm_anthropic.AsyncAnthropic = partial(AsyncAnthropic, **client)
    return llm_anthropic.AsyncClaudeMessages(base_url=url, **arguments)


def _openai(url: str, client: dict[str, Any], arguments: dict[str, Any]) -> Any:
    from llm.default_plugins.openai_models import AsyncChat

    chat = AsyncChat(api_base=url, **arguments)
    make = chat.get_client
    chat.get_client = lambda key, *, async_=False: make(key, async_=async_).with_options(**client)
    return chat


def _binding(service: Service, opener: Callable[..., Any], package: str, **claims: Any) -> Binding:
    return service.binding(
        "llm",
        lambda endpoint: Llm(endpoint, opener, service.dialect),
        package,
        LlmCalls(service.dialect),
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(
    services.ANTHROPIC, _anthropic, "llm-anthropic", thinking=True, opaque_thinking=True, early_usage=False
)
OPENAI = _binding(replace(services.OPENAI, model="gpt-4.1-mini"), _openai, "llm", part_order=False)
