"""What is remembered of a conversation decides what the next request costs, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from turnproof.errors import InvalidRequestError
from turnproof.messages import Message
from turnproof_adapters._encoded_messages import Encoder, encode


@dataclass(frozen=True)
class Row:
    text: str
    marked: bool


@dataclass
class Arrangement:
    """The texts in order, and how many of them had to be added."""

    texts: list[str] = field(default_factory=list)
    added: int = 0

    def copy(self) -> Arrangement:
        return Arrangement(list(self.texts))

    def add(self, row: Row) -> None:
        self.texts.append(row.text)
        self.added += 1


def encoder(marked: Sequence[str] = ()) -> Encoder[Arrangement]:
    return Encoder(Arrangement, lambda message: Row(message.text, message.text in marked))


def conversation(count: int, name: str = "") -> list[Message]:
    return [Message.user(f"{name}{number}") for number in range(count)]


def cost(encoder: Encoder[Arrangement], messages: Sequence[Message]) -> int:
    """Messages that had to be arranged; that they all are there, in order, is checked on the way."""
    arranged = encoder.arranged(messages)
    assert arranged.texts == [message.text for message in messages]
    return arranged.added


def test_a_message_is_encoded_once() -> None:
    memo, messages = encoder(), conversation(6)
    for length in (1, 3, 6, 2, 6):
        memo.arranged(messages[:length])
    assert memo.encoded == 6


@pytest.mark.parametrize("length", range(1, 7))
@pytest.mark.parametrize("more", range(1, 5))
def test_a_conversation_goes_on_from_all_but_the_last_message_of_the_request_before(length: int, more: int) -> None:
    memo, messages = encoder(), conversation(length + more)
    assert cost(memo, messages[:length]) == length
    assert cost(memo, messages) == more + 1


def test_what_is_marked_and_what_follows_is_arranged_anew() -> None:
    memo, messages = encoder(marked=["3"]), conversation(8)
    memo.arranged(messages[:6])
    assert cost(memo, messages) == 8 - 3


def test_of_two_marks_the_first_counts() -> None:
    memo, messages = encoder(marked=["2", "4"]), conversation(8)
    memo.arranged(messages[:6])
    assert cost(memo, messages) == 8 - 2


def test_a_conversation_that_goes_back_is_arranged_from_the_start() -> None:
    memo, messages = encoder(), conversation(9)
    memo.arranged(messages)
    assert cost(memo, messages[:4]) == 4
    assert cost(memo, [*messages[:4], *conversation(2, "other ")]) == 3


def test_a_beginning_is_known_by_its_messages_and_not_by_its_last_one_alone() -> None:
    memo, messages = encoder(), conversation(6)
    memo.arranged(messages)
    changed = [Message.user("changed"), *messages[1:]]
    assert cost(memo, changed) == 6


@pytest.mark.parametrize("more", [Encoder.LOOK_BACK - 1, Encoder.LOOK_BACK])
def test_a_beginning_is_looked_for_so_far_from_the_end(more: int) -> None:
    memo, messages = encoder(), conversation(4 + more)
    memo.arranged(messages[:5])
    assert cost(memo, messages) == (more if more < Encoder.LOOK_BACK else more + 4)


def test_a_conversation_that_grows_takes_one_place_and_no_other_loses_its_own() -> None:
    memo, growing = encoder(), conversation(20)
    others = [conversation(4, f"{number}: ") for number in range(Encoder.BEGINNINGS - 1)]
    for other in others:
        memo.arranged(other)
    for length in range(2, len(growing)):
        memo.arranged(growing[:length])
    assert [cost(memo, other) for other in others] == [1] * len(others)


def test_first_words_take_no_place() -> None:
    memo, other = encoder(), conversation(4, "other ")
    first = [conversation(1) for _ in range(Encoder.BEGINNINGS + 1)]
    memo.arranged(other)
    for messages in first:
        memo.arranged(messages)
    assert cost(memo, other) == 1


def test_the_conversation_that_grew_longest_ago_is_forgotten_first() -> None:
    memo = encoder()
    many = [conversation(3, f"{number}: ") for number in range(Encoder.BEGINNINGS + 1)]
    for messages in many:
        memo.arranged(messages)
    assert [cost(memo, messages) for messages in (many[1], many[-1])] == [1, 1]
    assert cost(memo, many[0]) == 3


def test_a_conversation_that_has_just_grown_is_the_last_to_be_forgotten() -> None:
    memo = encoder()
    many = [conversation(5, f"{number}: ") for number in range(Encoder.BEGINNINGS)]
    for messages in many:
        memo.arranged(messages[:3])
    memo.arranged(many[0])
    memo.arranged(conversation(3, "one more "))
    assert cost(memo, many[0]) == 1
    assert cost(memo, many[1][:3]) == 3


def test_what_is_forgotten_is_encoded_again_and_comes_out_the_same() -> None:
    memo, messages = encoder(), conversation(4)
    memo.arranged(messages)
    memo.forget()
    assert cost(memo, messages) == 4
    assert memo.encoded == 8


def test_what_is_added_to_an_arrangement_does_not_get_into_the_next() -> None:
    memo, messages = encoder(), conversation(4)
    memo.arranged(messages).add(Row("stray", marked=False))
    assert cost(memo, messages) == 1


def test_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="not valid Unicode"):
        encode({"text": "\ud800"})
