"""Chains of stored answers, against the emulated services: what a request goes on from, and what is sent again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dialects.answers import reply

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason, FunctionCall, Message, Text, ToolResult, same_history
from turnproof.wire.emulator import EmulatorServer

from .chains import GOOGLE, OPENAI, ChainConversation, request_texts


@pytest.fixture(params=[OPENAI, GOOGLE], ids=["openai_responses", "google_interactions"])
def chain(server: EmulatorServer, request: pytest.FixtureRequest) -> Iterator[ChainConversation]:
    opened = ChainConversation(server, request.param)
    yield opened
    opened.provider.shutdown()


def test_a_turn_goes_on_from_the_last_answer_with_what_is_new(chain: ChainConversation) -> None:
    first = chain.say("One")
    assert chain.kind.head not in first
    second = chain.say("Two")
    assert request_texts(second) == ["Two"]
    assert second[chain.kind.head].startswith(chain.kind.names_begin)
    assert second["store"] is True
    texts = [message.text for message in chain.provider.get_history()]
    assert texts == ["One", "Yes.", "Two", "Yes."]


def test_instructions_and_tools_go_out_with_every_request(chain: ChainConversation) -> None:
    for text in ("One", "Two"):
        body = chain.say(text)
        assert body[chain.kind.instructions] == "Be brief."
        assert [tool["name"] for tool in body["tools"]] == ["look"]


def test_results_answer_the_calls_that_the_service_holds(chain: ChainConversation) -> None:
    chain.say("Look.", FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    (call,) = chain.provider.get_history()[-1].calls
    chain.answers(reply(Text("Dry.")))
    chain.provider.send_tool_results([ToolResult(call.id, "look", "41 %")])
    assert [item["type"] for item in chain.sent()["input"]] == [chain.kind.result]


def test_a_call_that_nobody_answered_is_answered_before_the_chain_goes_on(chain: ChainConversation) -> None:
    chain.say("Look.", FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    body = chain.say("Never mind.")
    assert [item["type"] for item in body["input"]] == [chain.kind.result, chain.kind.user_message]
    assert chain.kind.head in body


def test_an_answer_that_was_cut_off_is_not_gone_on_from(chain: ChainConversation) -> None:
    chain.say("One")
    head = chain.say("Two", Text("I wri"), finish=FinishReason.MAX_TOKENS)[chain.kind.head]
    body = chain.say("Three")
    assert body[chain.kind.head] == head
    assert request_texts(body) == ["Two", "I wri", "Three"]


def test_a_blank_answer_is_not_gone_on_from(chain: ChainConversation) -> None:
    chain.say("One", Text(" "))
    body = chain.say("Two")
    assert chain.kind.head not in body
    assert request_texts(body) == ["One", "Two"]


def test_a_turn_that_failed_leaves_the_chain_as_it_was(chain: ChainConversation) -> None:
    chain.say("One")
    chain.responder.reply = chain.kind.refusal
    with pytest.raises(InvalidRequestError):
        chain.provider.send_message("Two")
    body = chain.say("Three")
    assert request_texts(body) == ["Three"]
    assert len(chain.provider.get_history()) == 4


def test_a_turn_that_was_cancelled_is_told_and_not_gone_on_from(chain: ChainConversation) -> None:
    head = chain.say("One") and chain.say("Two")[chain.kind.head]
    chain.answers(reply(Text("A long answer that is cut.")))
    token = CancelToken()
    answer = chain.provider.send_message_streaming("Three", lambda piece: token.cancel(), cancel_token=token)
    assert answer.finish_reason is FinishReason.CANCELLED
    body = chain.say("Four")
    assert body[chain.kind.head] != head
    assert request_texts(body)[0] == "Three"
    assert request_texts(body)[-1] == "Four"


def test_another_model_is_told_everything(chain: ChainConversation) -> None:
    chain.say("One")
    chain.provider.connect(chain.kind.models[1])
    body = chain.say("Two")
    assert chain.kind.head not in body
    assert request_texts(body) == ["One", "Yes.", "Two"]


def test_what_the_service_has_forgotten_is_told_anew(chain: ChainConversation) -> None:
    chain.say("One")
    chain.run.world.resources.clear()
    body = chain.say("Two")
    assert chain.kind.head in chain.sent(back=chain.kind.requests_when_forgotten)
    assert chain.kind.head not in body
    assert request_texts(body) == ["One", "Yes.", "Two"]
    assert request_texts(chain.say("Three")) == ["Three"]


def test_a_new_conversation_goes_on_from_nothing(chain: ChainConversation) -> None:
    chain.say("One")
    history = [Message.user("Before"), Message.model("Then.")]
    chain.provider.create_session("Be brief.", history=history)
    body = chain.say("Two")
    assert chain.kind.head not in body
    assert request_texts(body) == ["Before", "Then.", "Two"]
    assert same_history(chain.provider.get_history()[:2], history, ids=False)


def test_a_stream_is_gone_on_from_like_a_whole_answer(chain: ChainConversation) -> None:
    chain.answers(reply(Text("Yes.")))
    chain.provider.send_message_streaming("One", lambda piece: None)
    body = chain.say("Two")
    assert request_texts(body) == ["Two"]
    assert chain.kind.head in body
