"""LiteLLM's `acompletion` for Anthropic, OpenAI and Gemini: it takes and gives chat completions for each of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # read at import; otherwise the table of prices is downloaded
import litellm

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse
from turnproof.provider import Binding, Endpoint

from .._errors import retry_after
from . import services
from .callbacks import notify, notify_at_end, pieces, without_unfinished
from .chat_messages import chat_messages, chat_usage, finish_reason
from .http_errors import class_of_status
from .litellm_calls import API_PATHS, LiteLLMCalls, call_arguments
from .litellm_messages import LiteLLMMessages
from .named_errors import named_errors
from .sdk_errors import wait_in_text
from .services import Service

NATIVE_FINISH = {
    "refusal": FinishReason.REFUSAL,
    "pause_turn": FinishReason.PAUSED,
    "model_context_window_exceeded": FinishReason.CONTEXT_LIMIT,
}
"""Words of the Messages API that the library maps to broader ones, and keeps as `native_finish_reason`."""

ERRORS: tuple[tuple[Any, type[errors.ProviderError]], ...] = (  # the first that fits
    (litellm.ContextWindowExceededError, errors.ContextLimitError),
    (litellm.ContentPolicyViolationError, errors.ContentFilterError),
    (litellm.RateLimitError, errors.RateLimitError),
    ((litellm.AuthenticationError, litellm.PermissionDeniedError), errors.AuthenticationError),
    ((litellm.Timeout, litellm.APIConnectionError), errors.TransportError),
    ((litellm.BadRequestError, litellm.NotFoundError, litellm.UnprocessableEntityError), errors.InvalidRequestError),
    ((litellm.ServiceUnavailableError, litellm.BadGatewayError), errors.OverloadedError),
    (litellm.InternalServerError, errors.OverloadedError),
)


class LiteLLM:
    """One call of `complete()` is one `acompletion()`, without the library's own retries."""

    def __init__(self, endpoint: Endpoint, provider: str, dialect: str) -> None:
        self._provider, self._endpoint = provider, endpoint
        self._address = {"api_base": endpoint.base_url + API_PATHS.get(provider, ""), "api_key": endpoint.api_key}
        self._messages = LiteLLMMessages(dialect, endpoint.model)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        streamed = listeners.get("on_chunk") is not None
        options, model = self._endpoint.options, self._endpoint.model
        request = call_arguments(self._provider, model, options, tools, streamed=streamed) | self._address
        request["messages"] = list(chat_messages(messages, system_instruction, self._messages.additions))
        chunks: list[Any] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                answer = await litellm.acompletion(**request)
                if not streamed:
                    return self._response(answer, listeners)
                async for chunk in pieces(answer):
                    chunks.append(chunk)
                    _tell(chunk, listeners)
                return self._response(_whole(chunks), listeners)
        except ValueError as error:  # arguments of a call that are not JSON
            raise errors.TransportError(str(error)) from error
        except litellm.exceptions.openai.OpenAIError as error:  # the base of all of the library's own
            raise _typed(error) from error
        return self._cancelled(_whole(chunks))

    def _response(self, answer: Any, listeners: Mapping[str, Any]) -> ProviderResponse:
        (choice,) = answer.choices
        native = (choice.get("provider_specific_fields") or {}).get("native_finish_reason")
        refused = bool(choice.message.get("refusal"))
        reason = NATIVE_FINISH.get(native or "") or finish_reason(choice.finish_reason, refused=refused)
        parts = tuple(self._messages.parts(choice.message, cut=choice.finish_reason == "length"))
        usage = chat_usage(answer.get("usage"))
        word = native or choice.finish_reason
        return notify_at_end(listeners, ProviderResponse(parts, usage, reason, word, model=answer.model))

    def _cancelled(self, answer: Any) -> ProviderResponse:
        """What had arrived, without calls, and without thoughts whose signature had not."""
        if answer is None:
            return ProviderResponse(finish_reason=FinishReason.CANCELLED)
        parts = self._messages.parts(answer.choices[0].message, cut=True)
        return ProviderResponse(without_unfinished(parts), chat_usage(answer.get("usage")), FinishReason.CANCELLED)


def _tell(chunk: Any, listeners: Mapping[str, Any]) -> None:
    for choice in chunk.choices:
        notify(listeners, "on_thinking", choice.delta.get("reasoning_content"))
        notify(listeners, "on_chunk", choice.delta.get("content") or choice.delta.get("refusal"))


def _whole(chunks: Sequence[Any]) -> Any:
    """The library's own sum of the chunks; None for none."""
    return litellm.stream_chunk_builder(list(chunks)) if chunks else None


def _typed(error: Any) -> errors.ProviderError:
    if isinstance(error, litellm.exceptions.MidStreamFallbackError) and error.original_exception is not None:
        error = error.original_exception  # what failed; the other says that a stream had begun
    # The API's own status, where the class of the error stands for several.
    status = getattr(error, "provider_status_code", None) or getattr(error, "status_code", None)
    kind = next((kind for known, kind in ERRORS if isinstance(error, known)), class_of_status(status))
    typed = kind(str(error), status=status)
    typed.retry_after = retry_after(getattr(error, "litellm_response_headers", None) or {})
    if typed.retry_after is None:
        typed.retry_after = wait_in_text(str(error))
    return typed


def _binding(service: Service, **claims: Any) -> Binding:
    return service.binding(
        "litellm",
        lambda endpoint: LiteLLM(endpoint, service.name, service.dialect),
        "litellm",
        LiteLLMCalls(service.name, service.dialect, named_errors(ERRORS)),
        part_order=False,  # a message has no order of text and calls
        finish_words=False,
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(services.ANTHROPIC, thinking=True, result_images=True, early_usage=False)
OPENAI = _binding(services.OPENAI)
GEMINI = _binding(services.GEMINI, thinking=True, early_usage=False)
