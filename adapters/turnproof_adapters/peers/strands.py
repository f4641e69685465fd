"""The model classes of strands for Anthropic, OpenAI and Gemini: they stream, and the library adds up the events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from strands.event_loop.streaming import process_stream
from strands.types.exceptions import ContextWindowOverflowException, ModelThrottledException

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse, Text
from turnproof.provider import Binding, Endpoint

from . import services
from .callbacks import notify, notify_at_end, pieces
from .google_transport import keep_on_httpx
from .sdk_errors import typed_error
from .services import Service
from .strands_calls import StrandsCalls, model_arguments
from .strands_messages import StrandsMessages, system_text, token_usage, tool_spec

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "content_filtered": "safety",
    "guardrail_intervened": "safety",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_limit",
}


class Strands:
    """One call of `complete()` is one `stream()` of the library's model, added up by its `process_stream()`."""

    def __init__(self, endpoint: Endpoint, opener: Callable[..., Any], provider: str, dialect: str) -> None:
        where = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
        self._model = opener(**model_arguments(provider, endpoint.model, endpoint.options, where))
        self._messages = StrandsMessages(dialect, endpoint.model)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`. The library streams, whether somebody listens or not."""
        specs = [tool_spec(tool) for tool in tools or ()]
        system = system_text(messages, system_instruction)
        stream = self._model.stream(self._messages.write(messages), specs or None, system)
        texts: list[str] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                async for event in pieces(process_stream(stream)):
                    if "stop" in event:
                        return self._response(event["stop"], listeners)
                    if text := event.get("data"):
                        texts.append(text)
                        notify(listeners, "on_chunk", text)
                    notify(listeners, "on_thinking", event.get("reasoningText"))
        except ContextWindowOverflowException as error:
            raise errors.ContextLimitError(str(error), status=_status(error)) from error
        except Exception as error:
            cause = error.__cause__ if isinstance(error, ModelThrottledException) else error
            if cause is not None and (typed := typed_error(cause)):
                raise typed from error
            raise
        parts = (Text("".join(texts)),) if texts else ()
        return ProviderResponse(parts, finish_reason=FinishReason.CANCELLED)

    def _response(self, stop: Sequence[Any], listeners: Mapping[str, Any]) -> ProviderResponse:
        word, message, used = stop[:3]
        parts, usage = tuple(self._messages.read(message)), token_usage(used)
        reason = FinishReason(FINISH.get(word, "unknown"))
        return notify_at_end(listeners, ProviderResponse(parts, usage, reason, word))


def _status(error: BaseException) -> int | None:
    typed = typed_error(error.__cause__) if error.__cause__ else None
    return typed.status if typed else None


def _anthropic(**arguments: Any) -> Any:
    from strands.models.anthropic import AnthropicModel

    return AnthropicModel(**arguments)


def _openai(**arguments: Any) -> Any:
    from strands.models.openai import OpenAIModel

    return OpenAIModel(**arguments)


def _gemini(**arguments: Any) -> Any:
    from strands.models.gemini import GeminiModel

    keep_on_httpx()
    return GeminiModel(**arguments)


def _binding(service: Service, opener: Callable[..., Any], **claims: Any) -> Binding:
    return service.binding(
        "strands",
        lambda endpoint: Strands(endpoint, opener, service.name, service.dialect),
        "strands-agents",
        StrandsCalls(service.name, service.dialect),
        image_urls=False,
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(services.ANTHROPIC, _anthropic, thinking=True, result_images=True, early_usage=False)
OPENAI = _binding(services.OPENAI, _openai, finish_words=False)
GEMINI = _binding(services.GEMINI, _gemini, thinking=True, early_usage=False, finish_words=False)
