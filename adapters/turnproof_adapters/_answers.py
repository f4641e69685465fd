"""What the answers of every provider have in common, once they are in neutral form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from turnproof.messages import JSON, FinishReason, FunctionCall, Part, ProviderResponse, Text, Thought, TokenUsage


@dataclass(frozen=True, slots=True)
class Listeners:
    """The caller's callbacks; whatever they raise is theirs and passes through unchanged."""

    on_chunk: Callable[[str], None] | None = None
    on_usage_update: Callable[[TokenUsage], None] | None = None
    on_function_call: Callable[[FunctionCall], None] | None = None
    on_thinking: Callable[[str], None] | None = None

    def hear_answer(self, parts: Iterable[Part], usage: TokenUsage) -> None:
        """Tell of an answer that came whole: its thoughts and calls in model order, then the usage. Not of its text,
        which is shown only as it grows."""
        for part in parts:
            if isinstance(part, Thought) and part.text and self.on_thinking is not None:
                self.on_thinking(part.text)
            self.hear_call(part)
        if self.on_usage_update is not None:
            self.on_usage_update(usage)

    def hear_call(self, part: Part) -> None:
        """Tell of a part that is a call, and whole."""
        if isinstance(part, FunctionCall) and self.on_function_call is not None:
            self.on_function_call(part)


def token_count(figure: int | None) -> int:
    """A figure as a service gives it: what is missing, below nothing, or more than anybody can have, is nothing."""
    return 0 if figure is None or figure >= _TOO_MANY else max(0, figure)


_TOO_MANY = 1 << 50


def highest_usage(shown: TokenUsage, now: TokenUsage) -> TokenUsage:
    """What a callback may be told after `shown`: no field falls, whatever the service corrects at the end."""
    return TokenUsage(
        prompt_tokens=max(shown.prompt_tokens, now.prompt_tokens),
        output_tokens=max(shown.output_tokens, now.output_tokens),
        total_tokens=max(shown.total_tokens, now.total_tokens),
        cache_read_tokens=max(shown.cache_read_tokens, now.cache_read_tokens),
        cache_creation_tokens=max(shown.cache_creation_tokens, now.cache_creation_tokens),
        thinking_tokens=max(shown.thinking_tokens, now.thinking_tokens),
    )


def stands_alone(part: Part) -> bool:
    """Whether a part makes sense in a history without what would have followed it: a text, and a thought that has what
    its service signed or sealed."""
    if isinstance(part, Thought):
        return part.provider_data is not None
    return isinstance(part, Text)


def cancelled_response(parts: Iterable[Part], usage: TokenUsage, model: str | None) -> ProviderResponse:
    """What is kept of an answer that was cancelled. `parts` are those that stand alone, and never a call."""
    return ProviderResponse(parts=tuple(parts), usage=usage, finish_reason=FinishReason.CANCELLED, model=model or None)


def with_structured_output(response: ProviderResponse, schema: JSON) -> ProviderResponse:
    """The response with its text read as JSON, where a schema was asked for and the answer came to its end."""
    if schema is None or response.finish_reason is not FinishReason.STOP:
        return response
    try:
        structured = msgspec.json.decode(response.text)
    except (msgspec.DecodeError, RecursionError):
        return response
    return msgspec.structs.replace(response, structured_output=structured)
