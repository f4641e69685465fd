"""Reference adapters, each without one thing that some libraries lack: bound with the claim for it, and without."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from turnproof.errors import InvalidRequestError
from turnproof.messages import FileRef, FinishReason, FunctionCall, Part, ProviderResponse, Text, Thought, TokenUsage
from turnproof.provider import Binding, Endpoint
from turnproof.session.binding import REFERENCE
from turnproof.subject import SessionBinding, SessionSetup
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE

sys.path.append(str(Path(__file__).parents[3] / "examples" / "httpx_chat"))
HTTPX_CHAT: Binding = import_module("httpx_chat_binding").BINDING

Change = Callable[[ProviderResponse], ProviderResponse]


def as_it_is(response: ProviderResponse) -> ProviderResponse:
    return response


def without_finish_reason(response: ProviderResponse) -> ProviderResponse:
    if response.finish_reason is FinishReason.CANCELLED:
        return response
    return msgspec.structs.replace(response, finish_reason=FinishReason.UNKNOWN, raw_finish=None)


def without_finish_word(response: ProviderResponse) -> ProviderResponse:
    return msgspec.structs.replace(response, raw_finish=None)


def without_usage(response: ProviderResponse) -> ProviderResponse:
    return msgspec.structs.replace(response, usage=TokenUsage())


def without_the_last_word(response: ProviderResponse) -> ProviderResponse:
    def cut(part: Part) -> Part:
        return Text(part.text.rpartition(" ")[0]) if isinstance(part, Text) else part

    return msgspec.structs.replace(response, parts=tuple(map(cut, response.parts)))


def without_calls(response: ProviderResponse) -> ProviderResponse:
    parts = tuple(part for part in response.parts if not isinstance(part, FunctionCall))
    return msgspec.structs.replace(response, parts=parts)


def thoughts_joined(response: ProviderResponse) -> ProviderResponse:
    thoughts = [part for part in response.parts if isinstance(part, Thought)]
    if len(thoughts) < 2:
        return response
    rest = tuple(part for part in response.parts if not isinstance(part, Thought))
    whole = Thought("".join(part.text for part in thoughts))
    return msgspec.structs.replace(response, parts=(whole, *rest))


def thoughts_as_text(response: ProviderResponse) -> ProviderResponse:
    parts = tuple(Text(part.text) if isinstance(part, Thought) else part for part in response.parts)
    return msgspec.structs.replace(response, parts=parts)


class Changed:
    """The adapter, with its answers changed."""

    def __init__(self, inner: Any, change: Change) -> None:
        self._inner, self._change = inner, change

    def complete(self, messages: Any, *args: Any, **kwargs: Any) -> ProviderResponse:
        return self._change(self._inner.complete(messages, *args, **kwargs))

    def shutdown(self) -> None:
        self._inner.shutdown()


class UsageAtTheEnd(Changed):
    """The adapter, which reports token counts once an answer is whole, and none of an answer that was cancelled."""

    def complete(
        self, messages: Any, *args: Any, on_chunk: Any = None, on_usage_update: Any = None, **kwargs: Any
    ) -> ProviderResponse:
        response = super().complete(messages, *args, on_chunk=on_chunk, **kwargs)
        if response.finish_reason is FinishReason.CANCELLED:
            return msgspec.structs.replace(response, usage=TokenUsage())
        if on_usage_update:
            on_usage_update(response.usage)
        return response


class WithoutRepair(Changed):
    """The adapter of coroutines, which sends calls and results as it gets them, in pairs or not."""

    async def complete(self, messages: Any, *args: Any, **kwargs: Any) -> ProviderResponse:  # type: ignore[override]
        with patch("httpx_chat.check_pairs"):
            return self._change(await self._inner.complete(messages, *args, **kwargs))


class CallsBeforeText(Changed):
    """The adapter, which announces calls as they come, and text once all of it is there."""

    def complete(self, messages: Any, *args: Any, on_chunk: Any = None, **kwargs: Any) -> ProviderResponse:
        chunks: list[str] = []
        response = super().complete(messages, *args, on_chunk=on_chunk and chunks.append, **kwargs)
        for chunk in chunks:
            on_chunk(chunk)
        return response


class WithoutUrls(Changed):
    """The adapter, which refuses an image by reference."""

    def complete(self, messages: Any, *args: Any, **kwargs: Any) -> ProviderResponse:
        if any(isinstance(part, FileRef) for message in messages for part in message.parts):
            raise InvalidRequestError("images are sent as bytes")
        return super().complete(messages, *args, **kwargs)


def changed(of: Binding, change: Change, kind: type[Changed] = Changed, **claims: bool) -> Binding:
    """A binding of the stateless path of `of`, changed, with these claims changed as well."""
    opener = of.open_stateless
    assert opener is not None

    def opened(endpoint: Endpoint) -> Any:
        return kind(opener(endpoint), change)

    capabilities = replace(of.claims(), lifecycle=False, **claims)  # type: ignore[arg-type]
    return replace(
        of, name="limited", open_stateless=opened, open_legacy=None, capabilities=capabilities, declared=(), retained={}
    )


FINISH = changed(ANTHROPIC, without_finish_reason)
FINISH_SAID = changed(ANTHROPIC, without_finish_reason, finish_reasons=False)
FINISH_SPOILT = changed(ANTHROPIC, without_the_last_word, finish_reasons=False)

WORDS = changed(ANTHROPIC, without_finish_word)
WORDS_SAID = changed(ANTHROPIC, without_finish_word, finish_words=False)
WORDS_SPOILT = changed(ANTHROPIC, without_finish_reason, finish_words=False)

EARLY = changed(ANTHROPIC, as_it_is, UsageAtTheEnd)
EARLY_SAID = changed(ANTHROPIC, as_it_is, UsageAtTheEnd, early_usage=False)
EARLY_SPOILT = changed(ANTHROPIC, without_usage, UsageAtTheEnd, early_usage=False)

REPAIR = changed(HTTPX_CHAT, as_it_is, WithoutRepair)
REPAIR_SAID = changed(HTTPX_CHAT, as_it_is, WithoutRepair, pair_repair=False)
REPAIR_SPOILT = changed(HTTPX_CHAT, without_calls, WithoutRepair, pair_repair=False)

ORDER = changed(ANTHROPIC, as_it_is, CallsBeforeText)
ORDER_SAID = changed(ANTHROPIC, as_it_is, CallsBeforeText, part_order=False)
ORDER_SPOILT = changed(ANTHROPIC, without_calls, CallsBeforeText, part_order=False)

THOUGHTS = changed(GOOGLE, thoughts_joined)
THOUGHTS_SAID = changed(GOOGLE, thoughts_joined, separate_thoughts=False)
THOUGHTS_SPOILT = changed(GOOGLE, thoughts_as_text, separate_thoughts=False)

URLS = changed(ANTHROPIC, as_it_is, WithoutUrls)
URLS_SAID = changed(ANTHROPIC, as_it_is, WithoutUrls, image_urls=False)


class WithoutImages(Changed):
    """The adapter, which leaves every picture out."""

    def complete(self, messages: Any, *args: Any, **kwargs: Any) -> ProviderResponse:
        def seen(part: Part) -> bool:
            return not getattr(part, "mime_type", "").startswith("image/")

        text_messages = [replace_parts(message, tuple(filter(seen, message.parts))) for message in messages]
        return super().complete(text_messages, *args, **kwargs)


def replace_parts(message: Any, parts: tuple[Part, ...]) -> Any:
    return msgspec.structs.replace(message, parts=parts)


URLS_SPOILT = changed(ANTHROPIC, as_it_is, WithoutImages, image_urls=False)


def one_attempt(setup: SessionSetup) -> Any:
    return REFERENCE.open(replace(setup, attempts=1))


def _session(**claims: bool) -> SessionBinding:
    capabilities = replace(ANTHROPIC.claims(), **claims)  # type: ignore[arg-type]
    return replace(REFERENCE, name="limited", adapter=ANTHROPIC, open=one_attempt, capabilities=capabilities)


RETRIES = _session()
RETRIES_SAID = _session(retries=False)
