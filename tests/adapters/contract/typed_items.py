"""What the kits of APIs share whose answers are lists of typed items, each of which opens, grows and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from turnproof.messages import Message, Text, Thought
from turnproof_adapters.openai_responses.arrange import Arrangement
from turnproof_adapters.openai_responses.items import Codec, Row

from .adapter_kit import AdapterKit, CancelMoment
from .wire_parts import WireCall, WirePart, WireText, WireThinking

Json = dict[str, Any]


def as_it_is(item: Json) -> Json:
    """The codec of items that a test looks at."""
    return item


def arranged(
    arrangement: Arrangement[Json],
    row: Callable[[Message, Codec[Json], str], Row[Json]],
    *messages: Message,
    model: str,
) -> list[Json]:
    """A conversation as the items that both paths make of it."""
    for message in messages:
        arrangement.add(row(message, as_it_is, model))
    return arrangement.finish()


class ItemsKit(AdapterKit):
    """Builders of the events of such a stream; `place` is that of an item in the answer."""

    messages_place = ("input",)
    started: Callable[[], bytes]
    """The event that opens a stream."""
    says: Callable[..., list[bytes]]
    """The events of a text, from its place and its pieces."""
    thinks: Callable[..., list[bytes]]
    """Those of a thought, whose last events bring what its service signed or sealed."""
    calls: Callable[..., list[bytes]]
    """Those of a call, from its place, id, name and pieces of arguments."""
    thought_ends_with: int = 1
    """How many events of a thought come behind its words."""

    def wire_events(self, place: int, part: WirePart) -> list[bytes]:
        """The events of one part of an answer."""
        match part:
            case WireText():
                return self.says(place, *part.pieces)
            case WireThinking():
                return self.thinks(place, *part.pieces)
            case WireCall():
                return self.calls(place, part.call_id, part.name, *part.arguments)

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        start = self.started()
        thought, words = self.thinks(0, "hm"), self.says(1, "so ", "far")
        called = self.calls(2, "a", "rm", '{"path": "/', '"}')
        return {
            "before-anything": CancelMoment([]),
            "after-the-head": CancelMoment([start]),
            "in-thinking": CancelMoment([start, *thought[: -self.thought_ends_with]]),
            "in-text": CancelMoment([start, *words[:-1]], (Text,), "so far"),
            "in-arguments": CancelMoment([start, *words, *called[:-1]], (Text,), "so far"),
            "after-a-call": CancelMoment([start, *words, *called], (Text,), "so far"),
            "after-thinking": CancelMoment([start, *thought, *words[:-1]], (Thought, Text), "so far"),
        }
