"""The API's answers as typed data: a whole interaction, and the events of a stream (google-genai 3.6).

Only what the adapter uses is named; everything else is ignored. Steps stay plain dictionaries, since one of a type
unknown here is kept verbatim.
"""

from __future__ import annotations

from typing import Any

import msgspec

from turnproof.messages import TokenUsage

from .._answers import token_count
from .._decoding import decode_json
from ..google_genai.usage import token_usage


class Usage(msgspec.Struct, frozen=True):
    """Token figures as the API gives them."""

    total_input_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_output_tokens: int | None = None
    total_thought_tokens: int | None = None
    total_tool_use_tokens: int | None = None


class Failure(msgspec.Struct, frozen=True):
    """What an error tells: a code, which is a word, and a message."""

    code: Any = None
    message: Any = None


class Interaction(msgspec.Struct, frozen=True):
    """An interaction at any stage of its life."""

    id: str | None = None
    status: str | None = None
    model: str | None = None
    steps: list[dict[str, Any]] | None = None
    usage: Usage | None = None
    errors: list[Failure] | None = None
    error: Failure | None = None

    @property
    def failure(self) -> Failure | None:
        """The failure that this is instead of an answer, or None."""
        if self.error is not None or self.status != "failed":
            return self.error
        return self.errors[0] if self.errors else Failure(message="the interaction failed")


class Metadata(msgspec.Struct, frozen=True):
    """What an event tells beside what it says: figures so far, under their recorded name, or the described one."""

    usage: Usage | None = None
    total_usage: Usage | None = None


class Event(msgspec.Struct, frozen=True):
    """One event of a stream; which field is set, and to what, depends on its type."""

    event_type: str = ""
    interaction: Interaction | None = None
    index: int = -1
    step: Any = None
    delta: Any = None
    metadata: Metadata | None = None
    error: Failure | None = None
    event_id: Any = None

    @property
    def usage(self) -> Usage | None:
        """The figures that the event tells."""
        if self.interaction is not None and self.interaction.usage is not None:
            return self.interaction.usage
        return (self.metadata.usage or self.metadata.total_usage) if self.metadata is not None else None


_interactions = msgspec.json.Decoder(Interaction)
_events = msgspec.json.Decoder(Event)

_END = b"[DONE]"


def decode_interaction(body: bytes) -> Interaction:
    """A whole interaction. Raises ValueError for what is none, RecursionError for one that is nested too deeply."""
    return decode_json(_interactions, body)


def decode_event(data: bytes) -> Event:
    """An event of a stream, in the same way; the word behind the last one is an event that says nothing."""
    return Event() if data.strip() == _END else decode_json(_events, data)


def tokens(usage: Usage | None) -> TokenUsage:
    """The neutral figures. Missing ones count as 0, and a part is never more than its whole: the input holds what the
    cache read, and thoughts are output."""
    if usage is None:
        return TokenUsage()
    prompt = token_count(usage.total_input_tokens) + token_count(usage.total_tool_use_tokens)
    thoughts, text = token_count(usage.total_thought_tokens), token_count(usage.total_output_tokens)
    return token_usage(prompt, text, thoughts, cached=min(token_count(usage.total_cached_tokens), prompt))
