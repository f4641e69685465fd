"""The model classes of agno for Anthropic, OpenAI and Gemini, called as an agent calls them, without an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agno.exceptions import AgnoError, ContextWindowExceededError, ModelAuthenticationError, ModelRateLimitError
from agno.models.base import MessageData
from agno.models.message import Message as AgnoMessage
from agno.models.response import ModelResponse

from turnproof import errors
from turnproof import messages as m
from turnproof.cancel import CancelToken
from turnproof.provider import Binding, Endpoint

from . import services
from .agno_calls import AgnoCalls, model_arguments
from .agno_messages import AgnoMessages
from .callbacks import notify, notify_at_end, pieces
from .chat_messages import chat_tool
from .google_transport import keep_on_httpx
from .http_errors import class_of_status
from .named_errors import named_errors
from .sdk_errors import typed_error, wait_in_text
from .services import Service

KINDS: dict[type[AgnoError], type[errors.ProviderError]] = {
    ContextWindowExceededError: errors.ContextLimitError,
    ModelRateLimitError: errors.RateLimitError,
    ModelAuthenticationError: errors.AuthenticationError,
}
"""The library's classes that say more than a status."""


class Agno:
    """One call of `complete()` is one answer of the model; `aprocess_response_stream()` adds up its events."""

    def __init__(self, endpoint: Endpoint, opener: Callable[..., Any], dialect: str) -> None:
        where = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
        self._model = opener(**model_arguments(dialect, endpoint.model, endpoint.options, where))
        self._messages, self._dialect = AgnoMessages(dialect, endpoint.model), dialect

    async def complete(
        self, messages: Sequence[m.Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> m.ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        answer = AgnoMessage(role="assistant")
        request = {
            "messages": [AgnoMessage(**message) for message in self._messages.write(messages, system_instruction)],
            "assistant_message": answer,
            "tools": [chat_tool(tool) for tool in tools or ()] or None,
        }
        texts: list[str] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                if listeners.get("on_chunk"):
                    async for event in pieces(
                        self._model.aprocess_response_stream(stream_data=MessageData(), **request)
                    ):
                        texts += [event.content] if event.content else []
                        notify(listeners, "on_chunk", event.content)
                        notify(listeners, "on_thinking", event.reasoning_content)
                else:
                    await self._model._aprocess_model_response(model_response=ModelResponse(), **request)
                return self._response(answer, listeners)
        except AgnoError as error:
            raise _typed(error) from error
        except ValueError as error:  # arguments of a call that are not JSON
            raise errors.TransportError(str(error)) from error
        parts = (m.Text("".join(texts)),) if texts else ()
        return m.ProviderResponse(parts, finish_reason=m.FinishReason.CANCELLED)

    def _response(self, answer: Any, listeners: Mapping[str, Any]) -> m.ProviderResponse:
        parts = tuple(self._messages.read(answer))
        usage = _usage(answer.metrics, separate_thinking=self._dialect == "gemini")
        return notify_at_end(listeners, m.ProviderResponse(parts, usage))


def _usage(metrics: Any, *, separate_thinking: bool) -> m.TokenUsage:
    """The tokens of an answer. For Gemini those of thinking are beside the output, for others in it."""
    prompt = metrics.input_tokens
    output = metrics.output_tokens
    read, written, thinking = metrics.cache_read_tokens, metrics.cache_write_tokens, metrics.reasoning_tokens
    output += thinking if separate_thinking else 0
    return m.TokenUsage(prompt, output, prompt + output, read, written, thinking)


def _typed(error: AgnoError) -> errors.ProviderError:
    """The library's class where it says more than a status. It gives 502 to whatever had no answer."""
    original = next((typed for cause in _causes(error) if (typed := typed_error(cause))), None)
    other = type(original) if original else class_of_status(error.status_code)
    kind: type[errors.ProviderError] = KINDS.get(type(error), other)
    typed = kind(str(error), status=original.status if original else error.status_code)
    typed.retry_after = original.retry_after if original else wait_in_text(str(error))
    return typed


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What an error came from. The library raises some errors from themselves."""
    seen = {id(error)}
    cause = error.__cause__ if error.__cause__ not in (None, error) else error.__context__
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ if cause.__cause__ not in (None, cause) else cause.__context__


def claude(**arguments: Any) -> Any:
    """The library's model class for the Messages API."""
    from agno.models.anthropic import Claude

    return Claude(**arguments)


def _openai(**arguments: Any) -> Any:
    from agno.models.openai import OpenAIChat

    return OpenAIChat(**arguments)


def _gemini(**arguments: Any) -> Any:
    from agno.models.google import Gemini

    keep_on_httpx()
    return Gemini(**arguments)


def _binding(service: Service, opener: Callable[..., Any], **claims: Any) -> Binding:
    return service.binding(
        "agno",
        lambda endpoint: Agno(endpoint, opener, service.dialect),
        "agno",
        AgnoCalls(service.dialect, named_errors(KINDS.items())),
        finish_reasons=False,
        part_order=False,
        pair_repair=False,
        separate_thoughts=False,
        **claims,
    )


ANTHROPIC = _binding(services.ANTHROPIC, claude, thinking=True, early_usage=False)
OPENAI = _binding(services.OPENAI, _openai)
GEMINI = _binding(services.GEMINI, _gemini, thinking=True, early_usage=False)
