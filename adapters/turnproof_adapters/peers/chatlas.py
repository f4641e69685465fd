"""chatlas' providers for Anthropic, chat completions and Gemini, as its `Chat` calls them, without its loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chatlas
import chatlas._content
import chatlas._turn
from chatlas._turn import normalize_turns_for_provider

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage
from turnproof.provider import Binding, Endpoint

from . import services
from .callbacks import notify, notify_at_end, pieces
from .chatlas_calls import ChatFunction, ChatlasCalls
from .chatlas_messages import ChatlasMessages, is_content, tool_arguments
from .google_transport import keep_on_httpx
from .sdk_errors import passed_error, raised_as
from .services import Service

FINISH = {
    "success": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "content_filter": "safety",
    "context_window": "context_limit",
    "pause_turn": "paused",
    "MALFORMED_FUNCTION_CALL": "error",
}
"""The library's words, and the API's where the library has none."""


class Chatlas:
    """One call of `complete()` is one `chat_perform_async()` of the provider, read as `Chat` reads it."""

    def __init__(self, endpoint: Endpoint, function: ChatFunction) -> None:
        if function.dialect == "gemini":
            keep_on_httpx()
        client = function.client(endpoint.base_url, endpoint.options)
        arguments = function.arguments(endpoint.model, endpoint.options)
        self._chat = getattr(chatlas, function.name)(api_key=endpoint.api_key, kwargs=client, **arguments)
        self._chat.set_model_params(**function.parameters(endpoint.options))
        self._messages = ChatlasMessages(function.dialect, endpoint.model)

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        streamed = bool(listeners.get("on_chunk"))
        provider, whole, texts = self._chat.provider, None, []
        with raised_as(_typed), (listeners.get("cancel_token") or CancelToken()).interrupting():
            answer = await provider.chat_perform_async(
                stream=streamed,
                turns=self._turns(messages, system_instruction),
                tools={tool.name: chatlas.Tool(func=print, **tool_arguments(tool)) for tool in tools or ()},
                data_model=None,
                kwargs=self._chat._collect_all_kwargs({}),
            )
            if not streamed:
                return notify_at_end(listeners, self._response(provider.value_turn(answer, has_data_model=False)))
            async for chunk in pieces(answer):
                whole = provider.stream_merge_chunks(whole, chunk)
                for content in provider.stream_content(chunk, whole):
                    texts += [content.text] if content.content_type == "text" else []
                    _tell(content, listeners)
            if whole is None:
                raise errors.TransportError("the stream ended without a chunk")
            return notify_at_end(listeners, self._response(provider.stream_turn(whole, has_data_model=False)))
        # The library keeps the texts of a cancelled turn. What it has of an answer so far holds the tokens, too.
        text = "".join(texts)
        usage = TokenUsage() if whole is None or _is_chat_completion(whole) else self._usage(whole)
        return ProviderResponse((Text(text),) if text else (), usage, FinishReason.CANCELLED)

    def _turns(self, history: Sequence[Message], system: Any) -> list[Any]:
        written = self._messages.write(history, system)
        turns = [getattr(chatlas._turn, name)([*map(_content_of, contents)]) for name, contents in written]
        return list(normalize_turns_for_provider(turns))

    def _response(self, turn: Any) -> ProviderResponse:
        parts = tuple(self._messages.read(turn, cut=turn.finish_reason == "max_tokens"))
        word, model = _word_and_model(turn.completion)
        reason = FinishReason(FINISH.get(str(turn.finish_reason), "unknown"))
        if word == "refusal":
            reason = FinishReason.REFUSAL
        elif reason is FinishReason.STOP and any(isinstance(part, FunctionCall) for part in parts):
            reason = FinishReason.TOOL_USE  # Gemini has one word for both
        return ProviderResponse(parts, self._usage(turn.completion), reason, word, model=model)

    def _usage(self, completion: Any) -> TokenUsage:
        """The library's three figures; those that a cache served are apart from the other input."""
        tokens = self._chat.provider.value_tokens(completion) if completion else None
        if tokens is None:
            return TokenUsage()
        fresh, output, read = tokens
        return TokenUsage(fresh + read, output, fresh + read + output, read)


def _content_of(written: Any) -> Any:
    """A content, or what stands in one."""
    if is_content(written):
        name, arguments = written
        return getattr(chatlas._content, name)(**{key: _content_of(value) for key, value in arguments.items()})
    return [*map(_content_of, written)] if isinstance(written, list) else written


def _tell(content: Any, listeners: Mapping[str, Any]) -> None:
    match content.content_type:
        case "text":
            notify(listeners, "on_chunk", content.text)
        case "thinking_delta":
            notify(listeners, "on_thinking", content.thinking)


def _is_chat_completion(whole: Any) -> bool:
    return isinstance(whole, dict) and "choices" in whole


def _word_and_model(completion: Any) -> tuple[str | None, str | None]:
    """The API's own word, and the model that answered: both are in the completion that a turn has."""
    if isinstance(completion, dict):  # Gemini
        found = next((one.get("finish_reason") for one in completion.get("candidates") or ()), None)
        return getattr(found, "name", found), completion.get("model_version")
    if hasattr(completion, "stop_reason"):
        return completion.stop_reason, completion.model
    choice = completion.choices[0]
    return choice["finish_reason"] if isinstance(choice, dict) else choice.finish_reason, completion.model


def _typed(error: Exception) -> errors.ProviderError | None:
    if isinstance(error, ValueError) and "JSON" in str(error):  # arguments of a call that are none
        return errors.TransportError(str(error))
    return passed_error(error)


def _binding(service: Service, function: ChatFunction, **claims: Any) -> Binding:
    return service.binding(
        "chatlas",
        lambda endpoint: Chatlas(endpoint, function),
        "chatlas",
        ChatlasCalls(function),
        pair_repair=False,
        **claims,
    )


ANTHROPIC = _binding(
    services.ANTHROPIC,
    ChatFunction("ChatAnthropic", "anthropic-messages", ("chatlas", "anthropic")),
    thinking=True,
    result_images=True,
)
OPENAI = _binding(
    services.OPENAI,
    ChatFunction("ChatOpenAICompletions", "openai-chat", ("chatlas", "openai")),
    part_order=False,  # a message of chat completions has no order of text and calls
    result_images=True,
)
GEMINI = _binding(
    services.GEMINI,
    ChatFunction("ChatGoogle", "gemini", ("chatlas", "google-genai")),
    thinking=True,
    image_urls=False,
)
