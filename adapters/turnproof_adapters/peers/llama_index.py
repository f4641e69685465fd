"""LlamaIndex's LLM classes for Anthropic, OpenAI and Gemini: `achat()` and `astream_chat()`, without an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage
from turnproof.provider import Binding, Endpoint

from . import services
from .callbacks import notify, notify_at_end, pieces
from .llama_index_calls import LlamaIndexCalls, class_arguments, finish_word, library_class, library_tools
from .llama_index_messages import LlamaIndexMessages, token_usage
from .sdk_errors import passed_error
from .services import Service

FINISH = {
    "end_turn": "stop",
    "stop": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_use",
    "tool_calls": "tool_use",
    "max_tokens": "max_tokens",
    "length": "max_tokens",
    "content_filter": "safety",
    "refusal": "refusal",
    "pause_turn": "paused",
    "model_context_window_exceeded": "context_limit",
}


class LlamaIndex:
    """One call of `complete()` is one `achat()`, or one `astream_chat()`, whose last answer has the whole message."""

    def __init__(self, endpoint: Endpoint, dialect: str) -> None:
        arguments = class_arguments(dialect, endpoint.model, endpoint.options)
        where: dict[str, Any] = {"api_key": endpoint.api_key}
        match dialect:
            case "gemini":
                from google.genai.types import GenerateContentConfig

                where["http_options"] = arguments.pop("http_options") | {"base_url": endpoint.base_url}
                if settings := arguments.pop("generation_config", None):
                    where["generation_config"] = GenerateContentConfig(**settings)
            case "openai-chat":
                where["api_base"] = endpoint.base_url
            case _:
                where["base_url"] = endpoint.base_url
        self._model = library_class(dialect)(**arguments, **where)
        self._messages, self._dialect = LlamaIndexMessages(dialect, endpoint.model), dialect

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        written = [ChatMessage(**fields) for fields in self._messages.write(messages, system_instruction)]
        options = {"tools": library_tools(self._dialect, tools)} if tools else {}
        answers: list[Any] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                if listeners.get("on_chunk"):
                    thoughts = 0
                    async for answer in pieces(await self._model.astream_chat(written, **options)):
                        answers.append(answer)
                        thoughts += _tell(answer, thoughts, listeners)
                else:
                    answers.append(await self._model.achat(written, **options))
                return self._response(answers, listeners)
        except Exception as error:
            if typed := passed_error(error):
                raise typed from error
            raise
        return self._cancelled(answers)

    def _response(self, answers: Sequence[Any], listeners: Mapping[str, Any]) -> ProviderResponse:
        if not answers:
            return ProviderResponse()
        *_, last = answers
        word = next((word for answer in reversed(answers) if (word := finish_word(answer))), None)
        parts = tuple(self._messages.read(last.message))
        reason = FinishReason(FINISH.get(word.lower() if word else "", "unknown"))
        if reason == FinishReason.STOP and any(isinstance(part, FunctionCall) for part in parts):
            reason = FinishReason.TOOL_USE  # Gemini has one word for both
        model = last.raw.get("model") if isinstance(last.raw, Mapping) else getattr(last.raw, "model", None)
        return notify_at_end(listeners, ProviderResponse(parts, token_usage(last), reason, word, model=model))

    def _cancelled(self, answers: Sequence[Any]) -> ProviderResponse:
        """The text that was passed on: a message of the library gets it when the block is closed."""
        text = "".join(answer.delta or "" for answer in answers)
        parts = (Text(text),) if text else ()
        usage = token_usage(answers[-1]) if answers else TokenUsage()
        return ProviderResponse(parts, usage, FinishReason.CANCELLED)


def _tell(answer: Any, known: int, listeners: Mapping[str, Any]) -> int:
    """Pass on what is new in an answer. Returns how many thoughts are new; Anthropic's come as deltas."""
    notify(listeners, "on_chunk", answer.delta)
    delta = answer.message.additional_kwargs.get("thinking_delta")
    notify(listeners, "on_thinking", delta)
    new = [block for block in answer.message.blocks if block.block_type == "thinking"][known:]
    for block in new if delta is None else ():
        notify(listeners, "on_thinking", block.content)
    return len(new)


def _binding(service: Service, package: str, **claims: Any) -> Binding:
    return service.binding(
        "llama-index",
        lambda endpoint: LlamaIndex(endpoint, service.dialect),
        f"llama-index-llms-{package}",
        LlamaIndexCalls(service.dialect),
        image_urls=False,
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(services.ANTHROPIC, "anthropic", thinking=True, result_images=True)
OPENAI = _binding(services.OPENAI, "openai", part_order=False)
GEMINI = _binding(services.GEMINI, "google-genai", thinking=True)
