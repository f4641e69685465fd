"""Freedoms of the members beside the conversation: settings that are spelled out, who asks, and cache breakpoints."""

from __future__ import annotations

from typing import Final

from ..mutants._wire import Json
from ._body import OfEachAPI, blocks_of_all
from ._libraries import (
    LANGCHAIN_CACHING,
    LANGCHAIN_CODEX,
    LANGCHAIN_OPENAI,
    LITELLM_ANTHROPIC,
    PYDANTIC_AI_ANTHROPIC,
    PYDANTIC_AI_CHAT,
    STRANDS_OPENAI,
)
from ._right import right

_PLAIN = ("basics/*", "tools/one", "tools/parallel", "faults/plain_streams")
_FIELDS: Final = "request fields"
_OPENAI = ("openai-chat", "openai-responses")


@right("defaults-spelled-out", "settings", scenarios=_PLAIN)
class _DefaultsSpelledOut(OfEachAPI):
    """Settings go out with the values that they have anyway, as libraries send them that have defaults of their own."""

    def change_messages(self, body: Json) -> None:
        body.setdefault("stream", False)

    def change_chat(self, body: Json) -> None:
        body.setdefault("stream", False)
        body["n"] = 1

    def change_responses(self, body: Json) -> None:
        body.setdefault("stream", False)
        body["truncation"] = "disabled"

    def change_gemini(self, body: Json) -> None:
        body.setdefault("generationConfig", {})["candidateCount"] = 1


@right("tool-choice-spelled-out", "settings", scenarios=("tools/*",), seen_in=STRANDS_OPENAI, capability=("tools",))
class _ToolChoiceSpelledOut(OfEachAPI):
    """Where there are tools, the request lets the model choose by itself: the default."""

    def change_messages(self, body: Json) -> None:
        if body.get("tools"):
            body.setdefault("tool_choice", {"type": "auto"})

    def change_chat(self, body: Json) -> None:
        if body.get("tools"):
            body.setdefault("tool_choice", "auto")

    def change_responses(self, body: Json) -> None:
        self.change_chat(body)

    def change_gemini(self, body: Json) -> None:
        if body.get("tools"):
            body.setdefault("toolConfig", {"functionCallingConfig": {"mode": "AUTO"}})


@right(
    "parallel-calls-allowed",
    "settings",
    scenarios=("tools/*",),
    seen_in=LITELLM_ANTHROPIC,
    capability=("tools",),
    dialects=("anthropic-messages", *_OPENAI),
)
class _ParallelCallsAllowed(OfEachAPI):
    """Where there are tools, the model may call several at once: the default, spelled out."""

    def change_messages(self, body: Json) -> None:
        if body.get("tools"):
            body.setdefault("tool_choice", {"type": "auto"}).setdefault("disable_parallel_tool_use", False)

    def change_chat(self, body: Json) -> None:
        if body.get("tools"):
            body.setdefault("parallel_tool_calls", True)

    def change_responses(self, body: Json) -> None:
        self.change_chat(body)


@right("other-limit-of-tokens", "settings", scenarios=_PLAIN, seen_in=PYDANTIC_AI_ANTHROPIC)
class _OtherLimitOfTokens(OfEachAPI):
    """An answer may have another number of tokens at most, more than any here has. What the caller set stays: it is
    smaller than what adapters set by themselves."""

    OWN = 4096

    def change_messages(self, body: Json) -> None:
        self._limit(body, "max_tokens")

    def change_chat(self, body: Json) -> None:
        self._limit(body, "max_completion_tokens")

    def change_responses(self, body: Json) -> None:
        self._limit(body, "max_output_tokens")

    def change_gemini(self, body: Json) -> None:
        self._limit(body.setdefault("generationConfig", {}), "maxOutputTokens")

    def _limit(self, settings: Json, name: str) -> None:
        if settings.get(name, self.OWN) >= 1024:
            settings[name] = self.OWN


@right("user-named", _FIELDS, scenarios=_PLAIN, seen_in=LITELLM_ANTHROPIC, dialects=("anthropic-messages", *_OPENAI))
class _UserNamed(OfEachAPI):
    """The request names the user whom it is made for, by a token that says nothing."""

    def change_messages(self, body: Json) -> None:
        body["metadata"] = {"user_id": "gardener-7"}

    def change_chat(self, body: Json) -> None:
        body["user"] = "gardener-7"

    def change_responses(self, body: Json) -> None:
        body["user"] = "gardener-7"


@right("not-stored", _FIELDS, scenarios=_PLAIN, seen_in=LANGCHAIN_CODEX, dialects=_OPENAI)
class _NotStored(OfEachAPI):
    """The request lets the service keep no copy of the answer; the adapter sends the whole conversation anyway."""

    def change_chat(self, body: Json) -> None:
        body["store"] = False

    def change_responses(self, body: Json) -> None:
        body["store"] = False


@right(
    "service-tier-by-itself",
    _FIELDS,
    scenarios=_PLAIN,
    seen_in=LANGCHAIN_OPENAI,
    dialects=("anthropic-messages", *_OPENAI),
)
class _ServiceTierByItself(OfEachAPI):
    """The service chooses the tier that answers: the default, spelled out."""

    def change_messages(self, body: Json) -> None:
        body["service_tier"] = "auto"

    def change_chat(self, body: Json) -> None:
        body["service_tier"] = "auto"

    def change_responses(self, body: Json) -> None:
        body["service_tier"] = "auto"


@right("key-of-the-cache", _FIELDS, scenarios=(*_PLAIN, "cache/*"), seen_in=PYDANTIC_AI_CHAT, dialects=_OPENAI)
class _KeyOfTheCache(OfEachAPI):
    """The request names a key for the service's own prompt cache: equal keys go to the same machine."""

    def change_chat(self, body: Json) -> None:
        body["prompt_cache_key"] = "greenhouse"

    def change_responses(self, body: Json) -> None:
        body["prompt_cache_key"] = "greenhouse"


_MARKED = ("basics/*", "tools/*", "cache/*")
_MARKS = 4
"""As many breakpoints as a request may have."""


def _marks(body: Json) -> int:
    blocks = [*body.get("tools", ()), *blocks_of_all(body["messages"])]
    if isinstance(body.get("system"), list):
        blocks += body["system"]
    return sum("cache_control" in block for block in blocks) + ("cache_control" in body)


def _mark_last(body: Json, blocks: object) -> None:
    if isinstance(blocks, list) and blocks and _marks(body) < _MARKS:
        blocks[-1].setdefault("cache_control", {"type": "ephemeral"})


@right(
    "mark-on-the-tools",
    "cache marks",
    scenarios=_MARKED,
    seen_in=LANGCHAIN_CACHING,
    capability=("tools",),
    dialects=("anthropic-messages",),
)
class _MarkOnTheTools(OfEachAPI):
    """The last tool has a cache breakpoint as well, where one is left: what the model reads is the same."""

    def change_messages(self, body: Json) -> None:
        _mark_last(body, body.get("tools"))


@right(
    "mark-on-the-system",
    "cache marks",
    scenarios=_MARKED,
    seen_in=PYDANTIC_AI_ANTHROPIC,
    dialects=("anthropic-messages",),
)
class _MarkOnTheSystem(OfEachAPI):
    """The system text has a cache breakpoint as well, where one is left."""

    def change_messages(self, body: Json) -> None:
        _mark_last(body, body.get("system"))


@right(
    "marked-by-the-service",
    "cache marks",
    scenarios=_MARKED,
    seen_in=LANGCHAIN_CACHING,
    dialects=("anthropic-messages",),
)
class _MarkedByTheService(OfEachAPI):
    """The service sets a cache breakpoint by itself, on the last block that can have one."""

    def change_messages(self, body: Json) -> None:
        if _marks(body) < _MARKS:
            body.setdefault("cache_control", {"type": "ephemeral"})
