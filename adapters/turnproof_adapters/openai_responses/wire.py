"""The API's answers as typed data: a whole response, and the events of a stream (`openai` 3.54, `types/responses`).

Only what the adapter uses is named; everything else is ignored. Items stay plain dictionaries, since one of a type
unknown here is kept verbatim. Fields whose type depends on the kind of the event are looked at by whoever reads it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from turnproof.messages import TokenUsage

from .._answers import token_count
from .._decoding import decode_json
from ..openai.wire import Failure, OutputDetails, PromptDetails, failure_of


class Usage(msgspec.Struct, frozen=True):
    """Token figures as the API gives them."""

    input_tokens: int | None = None
    input_tokens_details: PromptDetails | None = None
    output_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None


class Incomplete(msgspec.Struct, frozen=True):
    """Why a response is not complete."""

    reason: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """A response at any stage of its life."""

    id: str | None = None
    status: str | None = None
    model: str | None = None
    output: list[dict[str, Any]] | None = None
    usage: Usage | None = None
    error: Any = None
    incomplete_details: Incomplete | None = None

    @property
    def failure(self) -> Failure | None:
        """The failure that this is instead of an answer, or None."""
        return failure_of(self.error) if self.error or self.status == "failed" else None

    @property
    def ending(self) -> str | None:
        """The one word that says most about its end: the reason if there is one, else the status."""
        return (self.incomplete_details.reason if self.incomplete_details is not None else None) or self.status


class Event(msgspec.Struct, frozen=True):
    """One event of a stream; which field is set, and to what, depends on its type."""

    type: str = ""
    response: Answer | None = None
    output_index: int = -1
    item_id: Any = None
    content_index: int = 0
    summary_index: int = 0
    item: Any = None
    delta: Any = None
    code: Any = None
    message: Any = None
    error: Any = None
    status: Any = None
    sequence_number: Any = None

    @property
    def failure(self) -> Failure:
        """What an error event tells. It is documented as the error itself; gateways have an `error` in it."""
        return failure_of(self.error or {"code": self.code, "message": self.message})


_answers = msgspec.json.Decoder(Answer)
_events = msgspec.json.Decoder(Event)


def decode_answer(body: bytes) -> Answer:
    """A whole response. Raises ValueError for what is none, RecursionError for one that is nested too deeply."""
    return decode_json(_answers, body)


def decode_event(data: bytes) -> Event:
    """An event of a stream, in the same way."""
    return decode_json(_events, data)


def tokens(usage: Usage | None) -> TokenUsage:
    """The neutral figures. Missing ones count as 0, and a part is never more than its whole: `input_tokens` holds what
    the cache read or wrote, `output_tokens` reasoning."""
    if usage is None:
        return TokenUsage()
    prompt, output = token_count(usage.input_tokens), token_count(usage.output_tokens)
    input_details = usage.input_tokens_details or PromptDetails()
    output_details = usage.output_tokens_details or OutputDetails()
    read = min(token_count(input_details.cached_tokens), prompt)
    return TokenUsage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cache_read_tokens=read,
        cache_creation_tokens=min(token_count(input_details.cache_write_tokens), prompt - read),
        thinking_tokens=min(token_count(output_details.reasoning_tokens), output),
    )
