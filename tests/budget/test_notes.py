"""A collector's own messages are known by their ids, whatever anybody types."""

from __future__ import annotations

import pytest

from turnproof.budget import begins_turn, is_note, note
from turnproof.messages import FileRef, Message, Text, dump_messages, load_messages

OLD_MESSAGES = [Message.user("a"), Message.model("b")]


def test_a_note_is_known_after_save_and_load() -> None:
    loaded = load_messages(
        dump_messages([note("summary", "They talked.", OLD_MESSAGES), note("notice", "Gone.", OLD_MESSAGES)])
    )
    assert [(is_note(one), is_note(one, "summary"), is_note(one, "notice")) for one in loaded] == [
        (True, True, False),
        (True, False, True),
    ]


def test_who_types_the_same_words_begins_a_turn() -> None:
    summary = note("summary", "They talked.", OLD_MESSAGES)
    typed = Message.user("They talked.")
    assert (begins_turn(summary), begins_turn(typed), is_note(typed)) == (False, True, False)


def test_the_id_follows_from_what_is_gone() -> None:
    assert note("notice", "x", OLD_MESSAGES).message_id == note("notice", "y", OLD_MESSAGES).message_id
    ids = {
        note("notice", "x", messages).message_id
        for messages in ([], OLD_MESSAGES, OLD_MESSAGES[:1], OLD_MESSAGES[::-1])
    }
    assert len(ids) == 4


@pytest.mark.parametrize(
    ("message", "begins"),
    [
        (Message.user("a"), True),
        (Message.user(FileRef("image/png", "u"), "what is this?"), True),
        (Message.user(FileRef("image/png", "u")), False),
        (Message.user(Text("")), False),
        (Message("user", ()), False),
        (Message.model("a"), False),
        (Message.system("a"), False),
    ],
)
def test_a_turn_begins_where_the_user_says_something_in_words(message: Message, begins: bool) -> None:
    assert begins_turn(message) is begins
