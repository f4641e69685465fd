"""`TruncateGC`: examples, and what must hold for every valid history and every number of turns to keep."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.errors import UsageError
from turnproof.gc import TruncateGC, splits_a_pair, turn_starts
from turnproof.messages import FunctionCall, InlineData, Message, TokenUsage, ToolResult
from turnproof.session import is_paired

PICTURE = InlineData("image/png", b"\x89PNG")


def ask(*ids: str) -> Message:
    return Message.model(*(FunctionCall(id, "look") for id in ids))


def give(*ids: str) -> Message:
    return Message.tool(*(ToolResult(id, "look", "seen") for id in ids))


ONE = [Message.user("one"), ask("a"), give("a"), Message.model("done")]
TWO = [Message.user("two"), Message.model("b")]
THREE = [Message.user("three"), ask("c", "d"), give("c", "d"), ask("e"), give("e"), Message.model("done")]
ALL = ONE + TWO + THREE


def same_objects(a: Sequence[Message], b: Sequence[Message]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("keep", "kept"), [(1, THREE), (2, TWO + THREE), (3, ALL), (9, ALL)])
def test_the_last_turns_stay_whole(keep: int, kept: list[Message]) -> None:
    result = TruncateGC(keep).collect(ALL)
    assert same_objects(result.messages, kept)
    assert result.removed_ids == tuple(message.message_id for message in ALL[: len(ALL) - len(kept)])
    assert (result.before, result.after) == (len(ALL), len(kept))


def test_keep_turns_can_be_overridden_for_one_collection() -> None:
    collector = TruncateGC(3)
    assert same_objects(collector.collect(ONE + TWO, keep_turns=1).messages, TWO)
    assert collector.keep_turns == 3


def test_an_empty_history_stays_empty() -> None:
    result = TruncateGC(1).collect([])
    assert (result.messages, result.removed_ids, result.before, result.after) == ((), (), 0, 0)


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


def test_what_stands_before_the_first_turn_goes_when_a_turn_goes_and_not_before() -> None:
    head = [Message.user(PICTURE), Message.model("a picture")]
    assert same_objects(TruncateGC(2).collect(head + TWO + THREE).messages, head + TWO + THREE)
    assert same_objects(TruncateGC(1).collect(head + TWO + THREE).messages, THREE)


def test_a_cut_moves_to_an_earlier_turn_rather_than_part_a_call_from_its_result() -> None:
    strayed = [Message.user("two"), ask("a"), Message.user("meanwhile"), give("a"), Message.model("done")]
    history = ONE + strayed
    assert splits_a_pair(history, len(ONE) + 2)
    assert same_objects(TruncateGC(1).collect(history).messages, strayed)


def test_if_every_cut_would_part_a_pair_all_stays() -> None:
    history = [Message.user("one"), ask("a"), Message.user("two"), give("a")]
    result = TruncateGC(1).collect(history)
    assert same_objects(result.messages, history)
    assert result.removed_ids == ()


def test_an_id_that_is_used_again_does_not_tie_turns_together() -> None:
    again = [Message.user("two"), ask("a"), give("a")]
    assert same_objects(TruncateGC(1).collect(ONE + again).messages, again)


@pytest.mark.parametrize("keep", [0, -1])
def test_keeping_nothing_is_refused(keep: int) -> None:
    with pytest.raises(UsageError, match="at least one turn"):
        TruncateGC(keep)
    with pytest.raises(UsageError, match="at least one turn"):
        TruncateGC(1).collect(ONE, keep_turns=keep)


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01])
def test_a_threshold_that_is_no_share_is_refused(threshold: float) -> None:
    with pytest.raises(UsageError, match="threshold"):
        TruncateGC(1, threshold=threshold)


@pytest.mark.parametrize(
    ("total", "limit", "due"), [(79, 100, False), (80, 100, True), (500, 100, True), (0, 100, False), (80, 0, False)]
)
def test_collection_is_due_at_the_threshold_of_a_known_limit(total: int, limit: int, due: bool) -> None:
    assert TruncateGC(1, threshold=0.8).should_collect(TokenUsage(total, 0, total), limit) is due


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Valid conversations: turns of tool rounds, cancelled ones, files, and instructions in between."""
    made: list[Message] = []
    calls = 0
    for turn in range(draw(st.integers(0, 6))):
        made.append(Message.user(*([PICTURE] if draw(st.booleans()) else []), f"turn {turn}"))
        if draw(st.integers(0, 9)) == 0:
            made.append(Message.system("be kind"))
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"c{calls + n}" for n in range(draw(st.integers(1, 3)))]
            calls += len(ids) if draw(st.booleans()) else 0  # providers may use their ids again
            made += [ask(*ids), give(*ids)]
        if draw(st.integers(0, 3)):
            made.append(Message.model("done"))
        if draw(st.integers(0, 5)) == 0:
            made += [Message.user(PICTURE), Message.model("a picture")]
    return made


@given(histories(), st.integers(1, 7))
def test_any_valid_history_stays_valid(history: list[Message], keep: int) -> None:
    before = list(history)
    result = TruncateGC(keep).collect(history)
    assert same_objects(history, before), "the input is untouched"
    assert same_objects(result.messages, history[result.before - result.after :]), "what stays is a tail, as it was"
    assert result.removed_ids == tuple(message.message_id for message in history[: result.before - result.after])
    assert is_paired(result.messages)
    assert len(turn_starts(result.messages)) == min(keep, len(turn_starts(history)))
    if result.removed_ids:
        first = result.messages[0]
        assert first.role == "user"
        assert first.text
    again = TruncateGC(keep).collect(result.messages)
    assert again.removed_ids == (), "collecting twice is collecting once"
