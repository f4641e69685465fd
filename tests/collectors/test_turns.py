"""Where turns begin and what belongs together."""

from __future__ import annotations

from turnproof.budget import note
from turnproof.gc import links, turn_starts
from turnproof.gc.turns import connected, openings, whole_starts, with_needed
from turnproof.messages import Message

from .histories import PICTURE, ask, give


def test_a_turn_starts_at_a_user_message_with_text() -> None:
    history = [
        Message.user("a"),
        Message.system("be kind"),
        Message.model("b"),
        Message.user(PICTURE),
        Message.model("c"),
        Message.user(PICTURE, "and this?"),
        ask("x"),
        give("x"),
        Message.user(""),
    ]
    assert turn_starts(history) == [0, 5]


def test_notes_of_a_collector_start_no_turn() -> None:
    message = Message.user("a")
    history = [note("notice", "older messages are gone", []), note("summary", "they talked", []), message]
    assert turn_starts(history) == [2]


def test_a_message_that_is_said_to_be_no_turn_starts_none() -> None:
    history = [Message.user("a"), Message.user("the weather today"), Message.model("b")]
    assert turn_starts(history, except_for={history[1].message_id}) == [0]


def test_a_result_belongs_to_the_latest_call_of_its_id() -> None:
    assert links([ask("a"), give("a"), ask("a"), give("a")]) == {0: [1], 1: [0], 2: [3], 3: [2]}


def test_an_orphan_belongs_to_nothing() -> None:
    assert links([give("a"), ask("a"), Message.user("never mind")]) == {}


def test_an_instruction_belongs_to_the_answer_behind_it() -> None:
    assert links([Message.user("a"), Message.system("be kind"), Message.model("b")]) == {1: [2], 2: [1]}
    assert links([Message.user("a"), Message.system("be kind"), Message.user("b")]) == {}


def test_what_is_connected_by_several_links_is_one() -> None:
    scattered = [ask("a"), ask("b"), give("a"), give("b", "a"), Message.model("done")]
    assert connected(0, links(scattered)) == {0, 1, 2, 3}
    assert connected(4, links(scattered)) == {4}


def test_only_a_turn_into_which_no_result_strays_begins_a_whole() -> None:
    history = [Message.user("one"), ask("a"), Message.user("meanwhile"), give("a"), Message.user("two")]
    assert whole_starts(turn_starts(history), links(history), len(history)) == [0, 4]


def test_a_kept_message_needs_its_pair_and_the_question_and_theirs() -> None:
    history = [Message.user("one"), ask("a"), Message.user("meanwhile"), give("a"), Message.user("two")]
    opening = openings(turn_starts(history), len(history))
    assert opening == [0, 0, 2, 2, 4]
    assert with_needed([3], links(history), opening) == {0, 1, 2, 3}
    assert with_needed([4], links(history), opening) == {4}


def test_what_stands_before_the_first_turn_needs_no_question() -> None:
    history = [Message.user(PICTURE), Message.model("a picture"), Message.user("one")]
    assert openings(turn_starts(history), 3) == [None, None, 2]
    assert openings([], 2) == [None, None]
