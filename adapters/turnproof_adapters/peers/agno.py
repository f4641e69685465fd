"""The model classes of agno for Anthropic, OpenAI and Gemini, called as an agent calls them, without an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agno.exceptions import AgnoError, ContextWindowExceededError, ModelAuthenticationError, ModelRateLimitError
from agno.media import File, Image
from agno.models.base import MessageData
from agno.models.message import Message as AgnoMessage
from agno.models.response import ModelResponse

from turnproof import errors
from turnproof import messages as m
from turnproof.cancel import CancelToken
from turnproof.provider import Binding, Endpoint

from .callbacks import notify, notify_at_end, pieces
from .capabilities import COMMON_CAPABILITIES
from .chat_messages import chat_call, chat_tool
from .google_transport import http_options
from .http_errors import class_of_status
from .issued_data import IssuedData, present
from .result_texts import result_text
from .sdk_errors import typed_error

Opener = Callable[[Endpoint], Any]


class Agno(IssuedData):
    """One call of `complete()` is one answer of the model; `aprocess_response_stream()` adds up its events."""

    def __init__(self, endpoint: Endpoint, opener: Opener, dialect: str) -> None:
        super().__init__(dialect, endpoint.model)
        self.library_model = opener(endpoint)

    async def complete(
        self, messages: Sequence[m.Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> m.ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        answer = AgnoMessage(role="assistant")
        request = {
            "messages": list(self._messages(messages, system_instruction)),
            "assistant_message": answer,
            "tools": [chat_tool(tool) for tool in tools or ()] or None,
        }
        texts: list[str] = []
        try:
            with (listeners.get("cancel_token") or CancelToken()).interrupting():
                if listeners.get("on_chunk"):
                    async for event in pieces(
                        self.library_model.aprocess_response_stream(stream_data=MessageData(), **request)
                    ):
                        texts += [event.content] if event.content else []
                        notify(listeners, "on_chunk", event.content)
                        notify(listeners, "on_thinking", event.reasoning_content)
                else:
                    await self.library_model._aprocess_model_response(model_response=ModelResponse(), **request)
                return self._response(answer, listeners)
        except AgnoError as error:
            raise _typed(error) from error
        except ValueError as error:  # arguments of a call that are not JSON
            raise errors.TransportError(str(error)) from error
        parts = (m.Text("".join(texts)),) if texts else ()
        return m.ProviderResponse(parts, finish_reason=m.FinishReason.CANCELLED)

    def _response(self, answer: Any, listeners: Mapping[str, Any]) -> m.ProviderResponse:
        parts, usage = tuple(self._parts(answer)), _usage(answer.metrics, separate_thinking=self._dialect == "gemini")
        return notify_at_end(listeners, m.ProviderResponse(parts, usage))

    def _parts(self, answer: Any) -> Iterator[m.Part]:
        """The parts of a message, which has one text and one thinking. What else it holds goes with the thinking."""
        own = dict(answer.provider_data or {})
        if answer.reasoning_content or own.get("signature") or answer.redacted_reasoning_content:
            redacted = answer.redacted_reasoning_content
            data = present(signature=own.get("signature"), redacted=redacted, message=json.dumps(own, default=str))
            yield m.Thought(answer.reasoning_content or "", provider_data=self._issued(data))
        if answer.content:
            signature = present(thought_signature=own.get("thought_signature"))
            yield m.Text(answer.content, provider_data=self._issued(signature))
        for call in answer.tool_calls or ():
            arguments = json.loads(call["function"]["arguments"] or "{}")
            signature = present(thought_signature=call.get("thought_signature"))
            yield m.FunctionCall(call["id"], call["function"]["name"], arguments, provider_data=self._issued(signature))

    def _messages(self, history: Sequence[m.Message], system: Any) -> Iterator[Any]:
        texts = [getattr(system, "text", system), *(message.text for message in history if message.role == "system")]
        if text := "\n\n".join(text for text in texts if text):  # the library reads one system message, the first
            yield AgnoMessage(role="system", content=text)
        for message in history:
            if message.role == "model":
                yield self._assistant(message)
            elif message.role == "user":
                texts = [part.text for part in message.parts if isinstance(part, m.Text)]
                yield AgnoMessage(role="user", content="\n".join(texts), **_media(message.parts))
            yield from map(_result, message.results)

    def _assistant(self, message: m.Message) -> Any:
        fields: dict[str, Any] = {"content": message.text or None, "provider_data": {}}
        for part in message.parts:
            own = self._own(part)
            if isinstance(part, m.Thought) and own:
                fields["reasoning_content"] = part.text or None
                fields["redacted_reasoning_content"] = own.get("redacted")
                fields["provider_data"] |= json.loads(own.get("message", "{}"))
            elif isinstance(part, m.Text) and "thought_signature" in own:
                fields["provider_data"]["thought_signature"] = own["thought_signature"]
        calls = [chat_call(call) | self._own(call) for call in message.calls]
        return AgnoMessage(role="assistant", tool_calls=calls or None, **fields)


def _result(result: m.ToolResult) -> Any:
    text = result_text(result.result)
    own = {"tool_call_id": result.call_id, "tool_name": result.name, "tool_call_error": result.is_error}
    return AgnoMessage(role="tool", content=text, **own, **_media(result.attachments))


def _media(parts: Sequence[m.Part]) -> dict[str, Any]:
    """Pictures and documents, which stand beside the text of a message."""
    images: list[Any] = []
    files: list[Any] = []
    for part in parts:
        match part:
            case m.InlineData(mime_type=kind, data=data) if kind.startswith("image/"):
                images.append(Image(content=data, format=kind.removeprefix("image/"), mime_type=kind))
            case m.InlineData(mime_type=kind, data=data):
                files.append(File(content=data, mime_type=kind, filename="document"))
            case m.FileRef(mime_type=kind, uri=uri):
                to, medium = (images, Image) if kind.startswith("image/") else (files, File)
                to.append(medium(url=uri, mime_type=kind))
    return {name: media for name, media in (("images", images), ("files", files)) if media}


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
    kinds: dict[type[AgnoError], type[errors.ProviderError]] = {
        ContextWindowExceededError: errors.ContextLimitError,
        ModelRateLimitError: errors.RateLimitError,
        ModelAuthenticationError: errors.AuthenticationError,
    }
    other = type(original) if original else class_of_status(error.status_code)
    kind: type[errors.ProviderError] = kinds.get(type(error), other)
    typed = kind(str(error), status=original.status if original else error.status_code)
    typed.retry_after = original.retry_after if original else None
    return typed


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What an error came from. The library raises some errors from themselves."""
    seen = {id(error)}
    cause = error.__cause__ if error.__cause__ not in (None, error) else error.__context__
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ if cause.__cause__ not in (None, cause) else cause.__context__


def _claude(endpoint: Endpoint) -> Any:
    from agno.models.anthropic import Claude

    client = {"base_url": endpoint.base_url, "max_retries": 0}
    own = {name: endpoint.options[name] for name in ("max_tokens", "timeout") if name in endpoint.options}
    if thinking := endpoint.options.get("thinking"):
        own["thinking"] = {"type": "enabled", **thinking}
    return Claude(id=endpoint.model, api_key=endpoint.api_key, client_params=client, **own)


def _openai(endpoint: Endpoint) -> Any:
    from agno.models.openai import OpenAIChat

    own = {"max_completion_tokens": endpoint.options["max_tokens"]} if "max_tokens" in endpoint.options else {}
    own |= {"timeout": endpoint.options["timeout"]} if "timeout" in endpoint.options else {}
    return OpenAIChat(
        id=endpoint.model, api_key=endpoint.api_key, base_url=endpoint.base_url, max_retries=0, retries=0, **own
    )


def _gemini(endpoint: Endpoint) -> Any:
    from agno.models.google import Gemini

    own = {"max_output_tokens": endpoint.options["max_tokens"]} if "max_tokens" in endpoint.options else {}
    if thinking := endpoint.options.get("thinking"):
        own |= {"thinking_budget": thinking["budget_tokens"], "include_thoughts": True}
    timeout = {"timeout": int(endpoint.options["timeout"] * 1000)} if "timeout" in endpoint.options else {}
    client = {"http_options": http_options(endpoint.base_url) | timeout}
    return Gemini(id=endpoint.model, api_key=endpoint.api_key, client_params=client, **own)


def _binding(provider: str, dialect: str, model: str, opener: Opener, **claims: Any) -> Binding:
    return Binding(
        name=f"agno-{provider}",
        dialect=dialect,
        model=model,
        capabilities=replace(
            COMMON_CAPABILITIES, finish_reasons=False, part_order=False, separate_thoughts=False, **claims
        ),
        open_stateless=lambda endpoint: Agno(endpoint, opener, dialect),
        package="agno",
    )


ANTHROPIC = _binding("anthropic", "anthropic-messages", "claude-sonnet-4-6", _claude, thinking=True)
OPENAI = _binding("openai", "openai-chat", "gpt-5-mini", _openai)
GEMINI = _binding("gemini", "gemini", "gemini-2.5-flash", _gemini, thinking=True)
