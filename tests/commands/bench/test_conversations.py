"""What is measured has to be a conversation that an API accepts, the same one in every run."""

from __future__ import annotations

import itertools
import json

import pytest

from turnproof.commands.bench.conversations import (
    DELTAS,
    LONG,
    QUESTION,
    SHORT,
    WHOLE,
    conversation,
    half,
    history,
    is_sent_whole,
)
from turnproof.commands.bench.peers.process import as_json
from turnproof.errors import UsageError
from turnproof.gc import GCConfig, TruncateGC, turn_starts
from turnproof.messages import Message, same_history
from turnproof.session import is_paired

LENGTHS = (2, 4, 6, 8, 20, 42, 200)


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("messages", LENGTHS)
def test_a_history_has_its_length_in_whole_turns(messages: int, tools: bool) -> None:
    talk = history(messages, tools=tools)
    assert len(talk) == messages
    assert talk[0].role == "user"
    assert talk[-1].role == "model"
    assert not talk[-1].calls
    assert is_paired(talk)
    assert all(one.role != other.role for one, other in itertools.pairwise(talk))


def test_tools_are_called_in_it_only_where_they_are_claimed() -> None:
    assert any(message.calls for message in history(4, tools=True))
    assert conversation(4, tools=True).tools
    assert not any(message.calls for message in history(4, tools=False))
    assert conversation(4, tools=False).tools == ()


@pytest.mark.parametrize("messages", [-2, 0, 1, 3, 201])
def test_a_length_that_whole_turns_do_not_have_is_refused(messages: int) -> None:
    with pytest.raises(UsageError, match=f"even number of messages, at least 2: got {messages}"):
        history(messages, tools=True)


def test_a_conversation_ends_with_the_question_and_is_made_anew_each_time() -> None:
    one, other = conversation(8, tools=True), conversation(8, tools=True)
    assert one.messages[-1].text == QUESTION
    assert same_history(one.messages, other.messages, ids=False)
    assert not set(one.messages) & set(other.messages)
    assert not {message.message_id for message in one.messages} & {message.message_id for message in other.messages}


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("messages", LENGTHS)
def test_half_of_the_turns_are_what_a_collection_keeps(messages: int, tools: bool) -> None:
    talk = history(messages, tools=tools)
    keep = half(messages, tools=tools)
    assert keep == len(turn_starts(talk)) // 2
    if keep:
        remaining: tuple[Message, ...] = TruncateGC().collect(talk, config=GCConfig(keep_turns=keep)).messages
        assert len(turn_starts(remaining)) == keep
        assert len(remaining) < messages


def test_the_answers_differ_in_their_pieces_alone() -> None:
    assert (WHOLE.text, WHOLE.streamed) == (SHORT.text, False)
    assert LONG.text.startswith(SHORT.text)
    assert len(LONG.pieces) - len(SHORT.pieces) == DELTAS
    assert len(set(LONG.pieces)) == len(LONG.pieces)
    assert {len(piece) for piece in LONG.pieces} == {len("piece 000000 of it, ")}


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("tools", [True, False])
def test_a_request_without_one_of_the_messages_is_not_whole(tools: bool, ascii: bool) -> None:
    talk = conversation(8, tools=tools)
    messages = as_json(talk)["messages"]
    assert is_sent_whole(json.dumps(messages, ensure_ascii=ascii).encode(), talk)
    for place in range(len(messages) - 1):
        assert not is_sent_whole(
            json.dumps([*messages[:place], *messages[place + 1 :]], ensure_ascii=ascii).encode(), talk
        )
