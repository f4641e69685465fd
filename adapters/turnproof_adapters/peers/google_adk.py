"""The model classes of Google's ADK for Gemini and Anthropic: `generate_content_async()`, without an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.adk.models import LlmRequest
from google.genai import types

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text
from turnproof.provider import Binding, Endpoint

from . import services
from .callbacks import notify, notify_at_end, pieces
from .google_adk_calls import AdkCalls
from .google_adk_messages import AdkMessages, request_config, token_usage
from .google_transport import keep_on_httpx
from .sdk_errors import passed_error
from .services import Service

FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "max_tokens",
    **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"), "safety"),
    **dict.fromkeys(("OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), "error"),
}


class Adk:
    """One call of `complete()` is one `generate_content_async()`, whose last response has the whole answer."""

    def __init__(self, endpoint: Endpoint, opener: Callable[[Endpoint], Any], dialect: str) -> None:
        self._model, self._endpoint = opener(endpoint), endpoint
        self._messages = AdkMessages(dialect, endpoint.model)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        config = request_config(messages, system_instruction, tools, self._endpoint.options)
        request = LlmRequest(
            model=self._endpoint.model,
            contents=[types.Content(**content) for content in self._messages.write(messages)],
            config=types.GenerateContentConfig(**config),
        )
        streamed = listeners.get("on_chunk") is not None
        responses: list[Any] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                async for response in pieces(self._model.generate_content_async(request, stream=streamed)):
                    responses.append(response)
                    if response.partial:
                        _tell(response, listeners)
                return self._response(responses, listeners)
        except Exception as error:
            if typed := passed_error(error):
                raise typed from error
            raise
        text = "".join(part.text or "" for one in responses if one.partial for part in _texts(one))
        usage = token_usage(next((one.usage_metadata for one in reversed(responses) if one.usage_metadata), None))
        return ProviderResponse((Text(text),) if text else (), usage, FinishReason.CANCELLED)

    def _response(self, responses: Sequence[Any], listeners: Mapping[str, Any]) -> ProviderResponse:
        if not responses:
            return ProviderResponse()
        *_, last = responses
        reported = last.finish_reason or last.error_code
        word = getattr(reported, "value", reported)  # an enumeration's, or a text of its own
        parts = tuple(self._messages.read(last.content))
        reason = FinishReason(FINISH.get(word or "", "unknown"))
        if reason == FinishReason.STOP and any(isinstance(part, FunctionCall) for part in parts):
            reason = FinishReason.TOOL_USE  # one word for both
        usage, model = token_usage(last.usage_metadata), last.model_version
        return notify_at_end(listeners, ProviderResponse(parts, usage, reason, word, model=model))


def _texts(response: Any) -> list[Any]:
    parts = (response.content.parts if response.content else None) or []
    return [part for part in parts if not part.thought]


def _tell(response: Any, listeners: Mapping[str, Any]) -> None:
    for part in (response.content.parts if response.content else None) or ():
        notify(listeners, "on_thinking" if part.thought else "on_chunk", part.text)


def _anthropic(endpoint: Endpoint) -> Any:
    from anthropic import AsyncAnthropic
    from google.adk.models.anthropic_llm import AnthropicLlm

    timeout = {"timeout": endpoint.options["timeout"]} if "timeout" in endpoint.options else {}
    client = AsyncAnthropic(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, **timeout)
    return AnthropicLlm(model=endpoint.model, client=client)


def _gemini(endpoint: Endpoint) -> Any:
    from google.adk.models import Gemini

    timeout = {"timeout": round(endpoint.options["timeout"] * 1000)} if "timeout" in endpoint.options else {}
    keep_on_httpx()
    client = {"api_key": endpoint.api_key, "http_options": {"base_url": endpoint.base_url, **timeout}}
    return Gemini(model=endpoint.model, client_kwargs=client)


def _binding(service: Service, opener: Callable[[Endpoint], Any], **claims: Any) -> Binding:
    return service.binding(
        "google-adk",
        lambda endpoint: Adk(endpoint, opener, service.dialect),
        "google-adk",
        AdkCalls(service.dialect),
        thinking=True,
        result_images=True,
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(services.ANTHROPIC, _anthropic, image_urls=False, early_usage=False, finish_words=False)
GEMINI = _binding(services.GEMINI, _gemini)
