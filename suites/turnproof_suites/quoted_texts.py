"""Texts of a conversation with the places where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from turnproof.judge.finding import Place, Side
from turnproof.judge.view import Exchange
from turnproof.messages import Message, Text, ToolResult

from .content import spoken_text
from .steps import Step
from .words import without_blanks


@dataclass(frozen=True)
class Quote:
    """A text that stands in a place."""

    text: str
    place: Place

    @property
    def without_blanks(self) -> str:
        """The text without blanks."""
        return without_blanks([self.text])


def sent_messages(exchange: Exchange | None) -> tuple[Message, ...]:
    """The messages of a request; none where it cannot be read."""
    return tuple(exchange.call.messages) if exchange is not None and exchange.call is not None else ()


def answer_quotes(exchanges: Iterable[Exchange]) -> list[Quote]:
    """The visible text of each answer that has some, with the place where the wire carried it."""
    quotes = (Quote(spoken_text(one.answer.parts), one.at(Side.STREAM)) for one in exchanges if one.answer is not None)
    return [quote for quote in quotes if quote.text]


def texts_of(messages: Iterable[Message]) -> list[str]:
    """The visible text of each message that has some."""
    texts = (one.text if one.role == "user" else spoken_text(one.parts) for one in messages)
    return [text for text in texts if text]


def at_messages(exchange: Exchange) -> Place:
    """Where a request has its messages."""
    return exchange.at_read("messages")


def at_text(exchange: Exchange, text: str) -> Place:
    """Where a request has a text, whatever its blanks: the last part that holds it, or all messages."""
    found = _position(sent_messages(exchange), text)
    return at_messages(exchange) if found is None else exchange.at_read("messages", *found)


def at_held_text(step: Step, text: str) -> Place:
    """Where what a session holds after a step has a text, as `at_text`."""
    found = _position(step.history, text)
    return step.at_history(*(found or ()))


def _position(messages: Sequence[Message], text: str) -> tuple[int, str, int, str] | None:
    words = without_blanks([text])
    for number in reversed(range(len(messages))):
        for place, part in enumerate(messages[number].parts):
            if isinstance(part, Text) and words in without_blanks([part.text]):
                return number, "parts", place, "text"
            if isinstance(part, ToolResult) and words in without_blanks([str(part.result)]):
                return number, "parts", place, "result"
    return None
