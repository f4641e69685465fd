"""semantic-kernel's `OpenAIChatCompletion`, without a kernel: the tools are settings of a call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import openai
import semantic_kernel.contents
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory, ChatMessageContent

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse, Text
from turnproof.provider import Endpoint

from . import services
from .callbacks import notify, notify_at_end, pieces
from .chat_messages import finish_reason
from .sdk_errors import raised_as, wrapped_error
from .semantic_kernel_calls import SemanticKernelCalls
from .semantic_kernel_messages import call_settings, read_items, token_usage, written_messages


class SemanticKernel:
    """One call of `complete()` is one `get_chat_message_contents()`, or one stream whose pieces the library's own `+`
    adds up."""

    def __init__(self, endpoint: Endpoint) -> None:
        wait = {"timeout": endpoint.options["timeout"]} if "timeout" in endpoint.options else {}
        client = openai.AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, **wait)
        self._service = OpenAIChatCompletion(ai_model_id=endpoint.model, async_client=client)
        self._options = endpoint.options

    async def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        history = ChatHistory(messages=[*map(_message, written_messages(messages, system_instruction))])
        settings = OpenAIChatPromptExecutionSettings(**call_settings(self._options, tools))
        chunks: list[Any] = []
        with raised_as(wrapped_error), (listeners.get("cancel_token") or CancelToken()).interrupting():
            if not listeners.get("on_chunk"):
                (answer,) = await self._service.get_chat_message_contents(history, settings)
                return notify_at_end(listeners, _response(answer, answer.inner_content))
            async for found in pieces(self._service.get_streaming_chat_message_contents(history, settings)):
                chunks += found
                for chunk in found:
                    notify(listeners, "on_chunk", chunk.content)
            if not chunks:
                raise errors.TransportError("the stream ended without a chunk")
            return notify_at_end(listeners, _response(reduce(add, chunks), chunks[0].inner_content))
        text = "".join(chunk.content for chunk in chunks)
        return ProviderResponse((Text(text),) if text else (), finish_reason=FinishReason.CANCELLED)


def _message(written: tuple[str, list[tuple[str, dict[str, Any]]]]) -> Any:
    role, items = written
    contents = [getattr(semantic_kernel.contents, name)(**arguments) for name, arguments in items]
    return ChatMessageContent(role=role, items=contents)


def _response(answer: Any, own: Any) -> ProviderResponse:
    """The answer; the model that gave it is in the SDK's object, which the library hands on."""
    word = answer.finish_reason.value if answer.finish_reason else None
    parts = tuple(read_items(answer.items, cut=word == "length"))
    usage = token_usage(answer.metadata.get("usage"))
    return ProviderResponse(parts, usage, finish_reason(word), word, model=getattr(own, "model", None))


OPENAI = services.OPENAI.binding(
    "semantic-kernel",
    SemanticKernel,
    "semantic-kernel",
    SemanticKernelCalls(),
    documents=False,
    early_usage=False,  # the tokens come with the last piece
    part_order=False,
    pair_repair=False,
)
