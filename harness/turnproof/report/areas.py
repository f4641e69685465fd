"""What profiles and claims are called on pages for people who do not know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_AREAS: Final[Mapping[str, str]] = {
    "core": "Questions and answers",
    "streaming": "Answers that appear as they are written",
    "tools": "Tools",
    "cancellation": "Stopping an answer",
    "errors": "Failures of the service",
    "accounting": "Tokens and cost",
    "cache": "Prompt cache",
    "thinking": "Thinking",
    "structured": "Answers in a required format",
    "multimodal": "Images and documents",
    "gc": "Conversations that become too long",
    "recovery": "Trying again after a failure",
    "persistence": "Saving and loading",
    "history": "The conversation's history",
    "handoff": "Changing the provider",
    "subagents": "Subagents",
    "stored": "Conversations that the service keeps",
    "telemetry": "Traces and dashboards",
    "sessions": "Sessions of an agent",
    "parity": "Turns as a whole",
    "security": "Keys",
}

_CLAIMS: Final[Mapping[str, str]] = {
    "streaming": "answers that appear as they are written",
    "tools": "tools",
    "parallel_tools": "several tool calls at once",
    "thinking": "thinking",
    "opaque_thinking": "encrypted thinking",
    "structured": "answers in a required format",
    "images": "images",
    "documents": "documents",
    "result_images": "images in tool results",
    "service_tools": "tools that the service runs itself",
    "mid_system": "instructions in the middle of a conversation",
    "cancel": "stopping an answer",
    "cancel_batch": "stopping an answer that is not streamed",
    "count_tokens": "counting tokens in advance",
    "typed_errors": "errors that tell failures apart",
    "error_details": "errors with what had arrived and the service's own type",
    "thinking_tokens": "token counts of thinking",
    "lifecycle": "a start and a shutdown of its own",
    "cache": "a prompt cache",
    "chain": "conversations that the service keeps",
    "websocket": "conversations in the memory of a connection",
    "chain_deletion": "stored conversations that can be deleted",
    "background": "answers in the background of the service",
    "usage": "token counts",
    "early_usage": "token counts of an answer that was stopped",
    "finish_reasons": "the reason why an answer ended",
    "finish_words": "the service's own word for that reason",
    "part_order": "the model's order of texts and calls",
    "separate_thoughts": "each thought by itself",
    "pair_repair": "calls without a result repaired or refused",
    "native_calls": "earlier calls and results in the form of the API",
    "image_urls": "images by address",
    "serialisers": "a conversation saved as text by the adapter",
    "retries": "trying again after a failure",
    "result_cutting": "cutting tool results that are too long",
    "window": "a window of the conversation instead of all of it",
    "given_texts": "requests without texts of the framework's own",
    "chain_expiry": "stored conversations that end after a time",
}

_CACHES: Final = {"explicit": "marks for a prompt cache", "managed": "a stored prompt cache"}


def area(profile: str) -> str:
    """A profile in the words of a user."""
    return _AREAS.get(profile, profile)


def claim_in_words(name: str) -> str:
    """A claim (`images`, `cache:explicit`) in the words of a user; of what the wire API alone decides, nothing."""
    what, _, kind = name.partition(":")
    if what == "wire":
        return ""
    return _CACHES.get(kind) or _CLAIMS.get(what, what)
