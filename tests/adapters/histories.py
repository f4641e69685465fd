"""Conversations of many shapes, made from a seed: what a converter must survive, legal or not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from turnproof.messages import FunctionCall, Message, Part, ProviderData, ToolResult

WORDS = ["yes", "’北🌍", 'quote " and \\', "line\nbreak", "\u2028", "tab\t\x7f", " "]


def ordinary(length: int, id_prefix: str, provider_data: ProviderData | None = None) -> list[Message]:
    """An ordinary conversation with tool rounds, whose calls carry this data."""
    messages: list[Message] = []
    for n in range(length):
        match n % 4:
            case 0:
                messages.append(Message.user(f"question {n}"))
            case 1:
                call = FunctionCall(f"{id_prefix}{n}", "plain", {"n": n}, provider_data=provider_data)
                messages.append(Message.model(f"let me look {n}", call))
            case 2:
                messages.append(Message.tool(ToolResult(f"{id_prefix}{n - 1}", "plain", {"rows": [n, None, "’北"]})))
            case _:
                messages.append(Message.model(f"answer {n}"))
    return messages


@dataclass(frozen=True)
class RandomConversations:
    """Conversations in which anything may follow anything, of the parts that one API has."""

    words: list[str]
    result: Callable[[random.Random], ToolResult]
    user_part: Callable[[random.Random], Part]
    model_part: Callable[[random.Random], Part]

    def conversation(self, seed: int) -> list[Message]:
        rng = random.Random(seed)
        return [self._message(rng) for _ in range(rng.randrange(1, 14))]

    def _message(self, rng: random.Random) -> Message:
        role = rng.choice(["user", "model", "tool", "system"])
        count = rng.randrange(0, 4)
        match role:
            case "tool":
                return Message.tool(*(self.result(rng) for _ in range(count)))
            case "system":
                return Message.system(rng.choice(self.words))
            case "model":
                return Message("model", tuple(self.model_part(rng) for _ in range(count)))
            case _:
                return Message("user", tuple(self.user_part(rng) for _ in range(count)))
