"""Freedoms of the members beside the conversation: settings that are spelled out, who asks, and cache breakpoints."""

from __future__ import annotations

from ..mutants._wire import Json
from ._body import OfEachAPI, blocks_of_all
from ._right import right


@right("defaults-spelled-out")
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


@right("tool-choice-spelled-out")
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


@right("parallel-calls-allowed")
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


@right("other-limit-of-tokens")
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


@right("user-named")
class _UserNamed(OfEachAPI):
    """The request names the user whom it is made for, by a token that says nothing."""

    def change_messages(self, body: Json) -> None:
        body["metadata"] = {"user_id": "gardener-7"}

    def change_chat(self, body: Json) -> None:
        body["user"] = "gardener-7"

    def change_responses(self, body: Json) -> None:
        body["user"] = "gardener-7"


@right("not-stored")
class _NotStored(OfEachAPI):
    """The request lets the service keep no copy of the answer; the adapter sends the whole conversation anyway."""

    def change_chat(self, body: Json) -> None:
        body["store"] = False

    def change_responses(self, body: Json) -> None:
        body["store"] = False


@right("service-tier-by-itself")
class _ServiceTierByItself(OfEachAPI):
    """The service chooses the tier that answers: the default, spelled out."""

    def change_messages(self, body: Json) -> None:
        body["service_tier"] = "auto"

    def change_chat(self, body: Json) -> None:
        body["service_tier"] = "auto"

    def change_responses(self, body: Json) -> None:
        body["service_tier"] = "auto"


@right("key-of-the-cache")
class _KeyOfTheCache(OfEachAPI):
    """The request names a key for the service's own prompt cache: equal keys go to the same machine."""

    def change_chat(self, body: Json) -> None:
        body["prompt_cache_key"] = "greenhouse"

    def change_responses(self, body: Json) -> None:
        body["prompt_cache_key"] = "greenhouse"


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


@right("mark-on-the-tools")
class _MarkOnTheTools(OfEachAPI):
    """The last tool has a cache breakpoint as well, where one is left: what the model reads is the same."""

    def change_messages(self, body: Json) -> None:
        _mark_last(body, body.get("tools"))


@right("mark-on-the-system")
class _MarkOnTheSystem(OfEachAPI):
    """The system text has a cache breakpoint as well, where one is left."""

    def change_messages(self, body: Json) -> None:
        _mark_last(body, body.get("system"))


@right("marked-by-the-service")
class _MarkedByTheService(OfEachAPI):
    """The service sets a cache breakpoint by itself, on the last block that can have one."""

    def change_messages(self, body: Json) -> None:
        if _marks(body) < _MARKS:
            body.setdefault("cache_control", {"type": "ephemeral"})
