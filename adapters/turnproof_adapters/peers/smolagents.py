"""smolagents' `OpenAIModel`: `generate()` and `generate_stream()`, with messages as its agents write them."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image
from smolagents.models import ChatMessage, OpenAIModel, agglomerate_stream_deltas

from turnproof.messages import Message, ProviderResponse
from turnproof.provider import Endpoint

from . import services
from .callbacks import notify, notify_at_end
from .sdk_errors import passed_error, raised_as
from .smolagents_calls import SmolCalls, model_arguments, tool_arguments
from .smolagents_messages import read_message, written_messages


class Smol:
    """One call of `complete()` is one call of the model; the pieces of a stream are added up as its agents do it."""

    def __init__(self, endpoint: Endpoint) -> None:
        client: dict[str, Any] = {"max_retries": 0}
        if "timeout" in endpoint.options:
            client["timeout"] = endpoint.options["timeout"]
        where = {"api_base": endpoint.base_url, "api_key": endpoint.api_key, "client_kwargs": client}
        self._model = OpenAIModel(**where, **model_arguments(endpoint.model, endpoint.options))

    def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **listeners: Any
    ) -> ProviderResponse:
        """See `turnproof.provider.StatelessProvider`."""
        history = [_chat_message(one) for one in written_messages(messages, system_instruction)]
        with raised_as(passed_error):
            if listeners.get("on_chunk"):
                message = self._streamed(history, tools, listeners)
            else:
                message = self._model.generate(history, **tool_arguments(tools))
        return notify_at_end(listeners, read_message(message))

    def _streamed(self, history: list[ChatMessage], tools: Any, listeners: Mapping[str, Any]) -> ChatMessage:
        deltas = []
        for delta in self._model.generate_stream(history, **tool_arguments(tools)):
            deltas.append(delta)
            notify(listeners, "on_chunk", delta.content)
        return agglomerate_stream_deltas(deltas)


def _chat_message(written: Mapping[str, Any]) -> ChatMessage:
    content = [
        {**one, "image": Image.open(io.BytesIO(one["image"]))} if one["type"] == "image" else one
        for one in written["content"]
    ]
    return ChatMessage.from_dict({**written, "content": content})


OPENAI = services.OPENAI.binding(
    "smolagents",
    Smol,
    "smolagents",
    SmolCalls(),
    # A stream is a plain generator whose reads nothing interrupts.
    cancel=False,
    cancel_batch=False,
    documents=False,
    image_urls=False,
    # What the library gives has no finish reason, and one text in front of its calls, which go back as texts.
    finish_reasons=False,
    native_calls=False,
    part_order=False,
)
