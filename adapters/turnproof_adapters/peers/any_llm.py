"""any-llm's `acompletion` for Anthropic, OpenAI and Gemini: it takes and gives chat completions for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from any_llm import AnyLLM, exceptions

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse
from turnproof.provider import Binding, Endpoint

from .._errors import retry_after
from . import services
from .any_llm_calls import AnyLLMCalls, AnyLLMMessages, call_arguments
from .callbacks import notify, notify_at_end, pieces, without_unfinished
from .chat_chunks import whole_message
from .chat_messages import chat_messages, chat_usage, finish_reason
from .google_transport import keep_on_httpx
from .http_errors import class_of_status
from .named_errors import named_errors
from .sdk_errors import typed_error
from .services import Service

ERRORS: tuple[tuple[type[Exception], type[errors.ProviderError]], ...] = (
    (exceptions.ContextLengthExceededError, errors.ContextLimitError),
    (exceptions.ContentFilterError, errors.ContentFilterError),
    (exceptions.RateLimitError, errors.RateLimitError),
    (exceptions.AuthenticationError, errors.AuthenticationError),
    (exceptions.ModelNotFoundError, errors.InvalidRequestError),
    (exceptions.InvalidRequestError, errors.InvalidRequestError),
)
"""The first that fits; an error of another class is what its status says."""


class AnyLLMAdapter:
    """One call of `complete()` is one `acompletion()`, without retries, with the library's own errors."""

    def __init__(self, endpoint: Endpoint, provider: str, dialect: str) -> None:
        self._endpoint = endpoint
        self._messages = AnyLLMMessages(dialect, endpoint.model)
        where: dict[str, Any] = {"api_key": endpoint.api_key, "api_base": endpoint.base_url}
        if provider == "gemini":
            keep_on_httpx()
        self._llm = AnyLLM.create(provider, **where, unified_exceptions=True, max_retries=0)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        streamed = listeners.get("on_chunk") is not None
        arguments = call_arguments(self._endpoint.model, self._endpoint.options, tools, streamed=streamed)
        arguments["messages"] = list(chat_messages(messages, system_instruction, self._messages.additions))
        chunks: list[Any] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                answer = await self._llm.acompletion(**arguments)
                if not streamed:
                    return self._response(answer.choices[0], answer.usage, answer.model, listeners)
                has_text = False
                async for chunk in pieces(answer):
                    chunks.append(chunk)
                    has_text = has_text or any(choice.delta.content for choice in chunk.choices)
                    _tell(chunk, listeners, has_text=has_text)
                whole = whole_message(chunks)
                if whole.finish_reason is None:
                    raise errors.TransportError("the stream ended without a finish reason")
                return self._response(whole, whole.usage, chunks[-1].model, listeners)
        except exceptions.AnyLLMError as error:
            raise _typed(error) from error
        except ValueError as error:  # arguments of a call that are not JSON
            raise errors.TransportError(str(error)) from error
        return self._cancelled(whole_message(chunks))

    def _response(self, choice: Any, used: Any, model: str, listeners: Mapping[str, Any]) -> ProviderResponse:
        parts = tuple(self._messages.parts(choice.message, cut=choice.finish_reason == "length"))
        usage = chat_usage(used)
        reason = finish_reason(choice.finish_reason, refused=bool(choice.message.refusal))
        return notify_at_end(listeners, ProviderResponse(parts, usage, reason, choice.finish_reason, model=model))

    def _cancelled(self, whole: Any) -> ProviderResponse:
        """What had arrived, without calls, and without a thought whose signature had not."""
        parts = self._messages.parts(whole.message, cut=True)
        return ProviderResponse(without_unfinished(parts), chat_usage(whole.usage), FinishReason.CANCELLED)


def _tell(chunk: Any, listeners: Mapping[str, Any], *, has_text: bool) -> None:
    """Beside a text, a refusal is the library's own sentence about it."""
    for choice in chunk.choices:
        notify(listeners, "on_thinking", getattr(choice.delta.reasoning, "content", None))
        notify(listeners, "on_chunk", choice.delta.content or (None if has_text else choice.delta.refusal))


def _typed(error: Any) -> errors.ProviderError:
    original = typed_error(error.original_exception) if error.original_exception else None
    status = None if error.status_code == 200 else error.status_code  # an error inside a stream
    other = type(original) if original and status is None else class_of_status(status)
    kind = next((kind for known, kind in ERRORS if isinstance(error, known)), other)
    typed = kind(str(error), status=status, kind=error.error_type)
    typed.retry_after = retry_after({"retry-after": str(getattr(error, "retry_after", None) or "")})
    if typed.retry_after is None and original:
        typed.retry_after = original.retry_after
    return typed


def _binding(service: Service, **claims: Any) -> Binding:
    return service.binding(
        "any-llm",
        lambda endpoint: AnyLLMAdapter(endpoint, service.name, service.dialect),
        "any-llm-sdk",
        AnyLLMCalls(service.name, service.dialect, named_errors(ERRORS)),
        # A message has no order of text and calls, and one text for all its thinking.
        part_order=False,
        pair_repair=False,
        separate_thoughts=False,
        **claims,
    )


ANTHROPIC = _binding(services.ANTHROPIC, thinking=True, early_usage=False, finish_words=False)
OPENAI = _binding(services.OPENAI)
GEMINI = _binding(services.GEMINI, thinking=True, finish_words=False)
