"""What the tests of this adapter share: answers as the service writes them, and providers pointed at a test.

Blocks and deltas are those of Anthropic's format; `..anthropic.kit` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from turnproof.messages import ProviderData, Thought
from turnproof_adapters.zai.binding import BINDING
from turnproof_adapters.zai.legacy import ZaiLegacy
from turnproof_adapters.zai.models import model as facts_of
from turnproof_adapters.zai.stateless import ZaiStateless

from ..anthropic.kit import MessagesKit, event, text, text_block, unsigned_cancel_moments
from ..call_modes import CallModes
from ..contract.adapter_kit import CancelMoment, Opener, Path, RequestRecorder

KEY = "3f2a9c0d1e4b5a69.zaiCanary0123456"
MODEL = "glm-4.7"
URL = "http://example.invalid/api/anthropic"

USAGE = {"input_tokens": 14, "output_tokens": 9, "cache_read_input_tokens": 64}
ZERO = {"input_tokens": 0, "output_tokens": 0}


stateless = Opener(ZaiStateless, BINDING.open_stateless, KEY, MODEL, URL)
legacy = Opener(ZaiLegacy, BINDING.open_legacy, KEY, MODEL, URL)


def answer(*content: dict[str, Any], stop: str | None = "end_turn", usage: Any = USAGE) -> dict[str, Any]:
    """A batch answer."""
    return {
        "id": "msg_20260901",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def stream(*blocks: Iterable[bytes], stop: str = "end_turn", usage: dict[str, Any] = USAGE) -> list[bytes]:
    """A whole stream: nothing is counted at its head, everything at its end."""
    delta = event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
    head = [event("message_start", message=answer(stop=None, usage=ZERO)), event("ping")]
    return [*head, *(each for events in blocks for each in events), delta, event("message_stop")]


def nameless(document: Any) -> bytes:
    """A frame that has data and no name."""
    return f"data: {json.dumps(document)}\n\n".encode()


def issued(words: str, model: str = MODEL, dialect: str = "zai", **data: Any) -> Thought:
    return Thought(words, provider_data=ProviderData(dialect, model, data))


class Service(RequestRecorder):
    """A transport in memory that records every request and answers `hi`."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(
            answer(text("hi")) if reply is None else reply, stream(text_block(0, "hi")) if events is None else events
        )


MODES = CallModes(stateless, legacy)


class Kit(MessagesKit):
    model = MODEL
    key = KEY
    batch = staticmethod(answer)
    events = staticmethod(stream)
    binding = BINDING
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    facts_of = staticmethod(facts_of)
    models = (MODEL, "glm-4.5v", "a-model-of-tomorrow")
    ignored_events = (event("ping"), event("something_new", index=0), b'data: {"later": true}\n\n', b"event: ping\n\n")

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        return unsigned_cancel_moments(stream()[:2])


KIT = Kit()
