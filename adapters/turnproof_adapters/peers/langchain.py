"""LangChain's chat models for Anthropic, OpenAI (chat completions and Responses) and Gemini, without an agent."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import langchain_core.exceptions as library
import langchain_core.messages

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, Thought
from turnproof.provider import Binding, Endpoint

from .._errors import retry_after
from . import services
from .callbacks import notify, notify_at_end, pieces, without_unfinished
from .google_transport import keep_on_httpx
from .langchain_calls import FINISH_KEYS, ChatModel, LangChainCalls
from .langchain_messages import LangChainMessages, library_tool, token_usage
from .named_errors import named_errors
from .sdk_errors import typed_error
from .services import Service

FINISH = {
    "end_turn": "stop",
    "stop": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "tool_use": "tool_use",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "content_filter": "safety",
    "safety": "safety",
    "prohibited_content": "safety",
    "blocklist": "safety",
    "spii": "safety",
    "image_safety": "safety",
    "recitation": "safety",
    "malformed_function_call": "error",
    "refusal": "refusal",
    "pause_turn": "paused",
    "model_context_window_exceeded": "context_limit",
}

ERRORS: tuple[tuple[type[Exception], type[errors.ProviderError]], ...] = (
    (library.ContextOverflowError, errors.ContextLimitError),
    (library.ModelAuthenticationError, errors.AuthenticationError),
    (library.ModelPermissionDeniedError, errors.AuthenticationError),
    (library.ModelRateLimitError, errors.RateLimitError),
    (library.ModelInvalidRequestError, errors.InvalidRequestError),
    (library.ModelNotFoundError, errors.InvalidRequestError),
    (library.ModelAPIError, errors.OverloadedError),
    (library.ModelConnectionError, errors.TransportError),
    (library.ModelTimeoutError, errors.TransportError),
)


class LangChain:
    """One call of `complete()` is one `ainvoke()`, or one `astream()` whose chunks the library's own `+` adds up."""

    def __init__(self, endpoint: Endpoint, chat_model: ChatModel, dialect: str) -> None:
        model_class = getattr(importlib.import_module(chat_model.module), chat_model.name)
        if dialect == "gemini":
            keep_on_httpx()
        arguments = chat_model.arguments(endpoint.model, endpoint.options)
        self._model = model_class(base_url=endpoint.base_url, api_key=endpoint.api_key, **arguments)
        self._messages = LangChainMessages(dialect, endpoint.model)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        written = [
            getattr(langchain_core.messages, name)(**rest)
            for name, rest in self._messages.write(messages, system_instruction)
        ]
        model = self._model.bind_tools([library_tool(tool) for tool in tools]) if tools else self._model
        chunks: list[Any] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                if not listeners.get("on_chunk"):
                    return self._response(await model.ainvoke(written), listeners)
                async for chunk in pieces(model.astream(written)):
                    chunks.append(chunk)
                    self._tell(chunk, listeners)
                if not chunks:
                    raise errors.TransportError("the stream ended without a chunk")
                return self._response(reduce(add, chunks), listeners)
        except Exception as error:
            if typed := _typed(error):
                raise typed from error
            raise
        return self._cancelled(chunks)

    def _tell(self, chunk: Any, listeners: Mapping[str, Any]) -> None:
        for part in self._messages.read_piece(chunk):
            match part:
                case Text(text=text):
                    notify(listeners, "on_chunk", text)
                case Thought(text=text):
                    notify(listeners, "on_thinking", text)

    def _response(self, answer: Any, listeners: Mapping[str, Any]) -> ProviderResponse:
        found = answer.response_metadata
        details = found.get("incomplete_details") or {}
        word = details.get("reason") or next((found[key] for key in FINISH_KEYS if found.get(key)), None)
        reason = FinishReason(FINISH.get(str(word).lower(), "unknown"))
        if details and reason == FinishReason.STOP:
            reason = FinishReason.UNKNOWN  # an answer of Responses that is incomplete for another reason than a limit
        parts = tuple(self._messages.read(answer, cut=reason == FinishReason.MAX_TOKENS))
        if reason == FinishReason.STOP and any(isinstance(part, FunctionCall) for part in parts):
            reason = FinishReason.TOOL_USE  # Gemini and Responses have one word for both
        usage = token_usage(answer.usage_metadata)
        return notify_at_end(listeners, ProviderResponse(parts, usage, reason, word, model=found.get("model_name")))

    def _cancelled(self, chunks: Sequence[Any]) -> ProviderResponse:
        """What had arrived, without calls, and without thoughts whose signature had not."""
        if not chunks:
            return ProviderResponse(finish_reason=FinishReason.CANCELLED)
        answer = reduce(add, chunks)
        whole = without_unfinished(self._messages.read(answer, cut=True))
        return ProviderResponse(whole, token_usage(answer.usage_metadata), FinishReason.CANCELLED)


def _typed(error: Exception) -> errors.ProviderError | None:
    """By the library's own classes of errors; others are the SDK's, as themselves or as the cause."""
    known = next((kind for named, kind in ERRORS if isinstance(error, named)), None)
    below = next((typed for one in (error, error.__cause__) if one is not None and (typed := typed_error(one))), None)
    if known is None:
        return below
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if status is None and below is not None:
        status = below.status
    typed = known(str(error), status=status, kind=below.kind if below else None)
    typed.retry_after = retry_after(getattr(response, "headers", None) or {})
    if typed.retry_after is None and below is not None:
        typed.retry_after = below.retry_after
    return typed


def _binding(service: Service, chat_model: ChatModel, **claims: Any) -> Binding:
    return service.binding(
        "langchain",
        lambda endpoint: LangChain(endpoint, chat_model, service.dialect),
        chat_model.packages[0],
        LangChainCalls(chat_model, service.dialect, named_errors(ERRORS)),
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(
    services.ANTHROPIC,
    ChatModel("langchain_anthropic", "ChatAnthropic", ("langchain-anthropic", "anthropic"), {"stream_usage": True}),
    thinking=True,
    result_images=True,
    early_usage=False,
)
OPENAI = _binding(
    services.OPENAI,
    ChatModel("langchain_openai", "ChatOpenAI", ("langchain-openai", "openai"), {"stream_usage": True}),
    part_order=False,  # a message of chat completions has no order of text and calls
)
RESPONSES = _binding(
    services.RESPONSES,
    ChatModel(
        "langchain_openai",
        "ChatOpenAI",
        ("langchain-openai", "openai"),
        {"use_responses_api": True, "store": False, "include": ["reasoning.encrypted_content"]},
    ),
    thinking=True,
)
GEMINI = _binding(
    services.GEMINI,
    ChatModel(
        "langchain_google_genai",
        "ChatGoogleGenerativeAI",
        ("langchain-google-genai", "google-genai"),
        {},
        without_retries=1,
    ),
    thinking=True,
    part_order=False,  # a message keeps its calls apart from its content
)
