"""A text is said wherever it stands, in however many blocks; one that lacks a word is not."""

from __future__ import annotations

import pytest

from turnproof.messages import Message, Text
from turnproof_suites.words import times_users_say, times_users_say_without_notes, user_words, users_say

TEXT = "I sowed tomatoes in bed 1."


@pytest.mark.parametrize(
    "messages",
    [
        [Message.user(TEXT)],
        [Message.user("I sowed tomatoes", " in bed 1.")],
        [Message.user("Hello."), Message.user("I sowed", "", "\n", "tomatoes in bed 1.")],
        [Message.user(f"Hello.\n\n{TEXT} Thanks.")],
    ],
)
def test_blocks_neighbours_and_blanks_do_not_matter(messages: list[Message]) -> None:
    assert users_say(messages, TEXT)
    assert times_users_say(messages, TEXT) == 1


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [Message.user("I sowed tomatoes")],
        [Message.user("in bed 1.", "I sowed tomatoes")],
        [Message.user("I sowed"), Message.model(TEXT)],
        [Message.user("I sowed potatoes", " in bed 1.")],
    ],
)
def test_a_lost_changed_or_moved_piece_and_another_speaker_do(messages: list[Message]) -> None:
    assert not users_say(messages, TEXT)


def test_a_text_is_counted_each_time() -> None:
    assert times_users_say([Message.user(TEXT, Text(TEXT)), Message.user(TEXT)], TEXT) == 3


@pytest.mark.parametrize(
    ("sent", "times"),
    [
        (["Yes.", "Attachments of the result of a", "s"], 2),
        (["Yes.", "Attachments of the result of a", "s", "s"], 3),
        (["Yes.", "The user says: s", "s"], 3),
        (["Yes.", "s s"], 3),
        (["Yes.\n\ns"], 2),
        (["Yes.", "s s s"], 4),
    ],
)
def test_a_short_text_within_the_words_of_an_adapters_own_note_does_not_count(sent: list[str], times: int) -> None:
    session_words = user_words([Message.user("Yes."), Message.user("s")])
    assert times_users_say_without_notes([Message.user(*sent)], "s", session_words) == times


def test_a_message_that_stands_twice_in_one_text_counts_twice() -> None:
    sent = [Message.user("I sowed basil in bed 3.I sowed basil in bed 3.")]
    held_words = user_words([Message.user("I sowed basil in bed 3.")])
    assert times_users_say_without_notes(sent, "I sowed basil in bed 3.", held_words) == 2
