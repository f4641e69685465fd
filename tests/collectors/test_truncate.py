"""`TruncateGC`: the oldest turns go, whole, and the rest stays as it is."""

from __future__ import annotations

import pytest

from turnproof.gc import GCConfig, GCResult, Reason, TruncateGC
from turnproof.messages import Message

from .histories import PICTURE, ask, give, ids, same_objects, talk

ONE = [Message.user("one"), ask("a"), give("a"), Message.model("done")]
TWO = [Message.user("two"), Message.model("b")]
THREE = [Message.user("three"), ask("c", "d"), give("c", "d"), ask("e"), give("e"), Message.model("done")]
ALL = ONE + TWO + THREE


def truncated(history: list[Message], keep: int, **config: object) -> GCResult:
    return TruncateGC().collect(history, config=GCConfig(keep_turns=keep, **config))  # type: ignore[arg-type]


@pytest.mark.parametrize(("keep", "messages"), [(1, THREE), (2, TWO + THREE), (3, ALL), (9, ALL)])
def test_the_last_turns_stay_whole(keep: int, messages: list[Message]) -> None:
    result = truncated(ALL, keep)
    assert same_objects(result.messages, messages)
    assert result.removed_ids == tuple(message.message_id for message in ALL[: len(ALL) - len(messages)])
    assert (result.before, result.after) == (len(ALL), len(messages))


def test_an_empty_history_stays_empty() -> None:
    result = truncated([], 1)
    assert (result.messages, result.removed_ids, result.before, result.after) == ((), (), 0, 0)


def test_what_stands_before_the_first_turn_goes_when_a_turn_goes_and_not_before() -> None:
    head = [Message.user(PICTURE), Message.model("a picture")]
    assert same_objects(truncated(head + TWO + THREE, 2).messages, head + TWO + THREE)
    assert same_objects(truncated(head + TWO + THREE, 1).messages, THREE)


def test_a_cut_moves_to_an_earlier_turn_rather_than_part_a_call_from_its_result() -> None:
    strayed = [Message.user("two"), ask("a"), Message.user("meanwhile"), give("a"), Message.model("done")]
    history = ONE + strayed
    assert same_objects(truncated(history, 1).messages, strayed)


def test_if_every_cut_would_part_a_pair_all_stays() -> None:
    history = [Message.user("one"), ask("a"), Message.user("two"), give("a")]
    result = truncated(history, 1)
    assert same_objects(result.messages, history)
    assert result.removed_ids == ()


def test_an_id_that_is_used_again_does_not_tie_turns_together() -> None:
    again = [Message.user("two"), ask("a"), give("a")]
    assert same_objects(truncated(ONE + again, 1).messages, again)


def test_a_recent_turn_goes_too_where_those_that_are_kept_are_above_the_target() -> None:
    history = talk(5, size=400)  # 2 x 102 tokens a turn
    config = GCConfig(context_limit=1000, keep_turns=3, target=0.45)
    assert ids(TruncateGC().collect(history, config=config, reason="threshold").messages) == ids(history[6:])


def test_the_last_turn_stays_however_large_it_is() -> None:
    history = talk(3, size=4000)
    config = GCConfig(context_limit=1000, keep_turns=2)
    assert same_objects(TruncateGC().collect(history, config=config, reason="overflow").messages, history[4:])


@pytest.mark.parametrize("reason", ["manual", "turn-limit"])
def test_who_asks_for_a_number_of_turns_gets_it_whatever_the_target(reason: Reason) -> None:
    history = talk(5, size=4000)
    config = GCConfig(context_limit=1000, keep_turns=3)
    assert same_objects(TruncateGC().collect(history, config=config, reason=reason).messages, history[4:])


def test_a_pinned_message_stays_with_what_it_needs() -> None:
    result = truncated(ALL, 1, pinned=frozenset({ONE[2].message_id}))
    assert same_objects(result.messages, [*ONE[:3], *THREE]), "the result, its call, and the question"
    assert result.removed_ids == (ONE[3].message_id, *ids(TWO))
