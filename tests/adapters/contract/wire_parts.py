"""The parts of an answer, in no API's form: what a test asks a kit to write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Ending: TypeAlias = Literal["stop", "calls", "limit"]
"""Why an answer ended: the model was done, it calls tools, or it reached the limit of tokens."""


@dataclass(frozen=True)
class _Words:
    """Words, one piece per event of a stream."""

    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class WireText(_Words):
    """A text."""


class WireThinking(_Words):
    """Thinking."""


@dataclass(frozen=True)
class WireCall:
    """A tool call. `arguments` is JSON, one piece per event where the API cuts it into pieces."""

    call_id: str
    name: str
    arguments: tuple[str, ...] = ("{}",)

    @property
    def json(self) -> str:
        return "".join(self.arguments)


WirePart: TypeAlias = WireText | WireThinking | WireCall


def text(*pieces: str) -> WireText:
    return WireText(pieces)


def thinking(*pieces: str) -> WireThinking:
    return WireThinking(pieces)


def call(call_id: str, name: str = "rm", *arguments: str) -> WireCall:
    return WireCall(call_id, name, arguments or ("{}",))
