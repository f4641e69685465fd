"""The legacy path with a conversation object: each request names it, and a break begins another one with everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from dialects.answers import reply

from turnproof.cancel import CancelToken
from turnproof.chains import ChainPolicy
from turnproof.dialects.base import Call, Refusal, Rendered, Reply
from turnproof.dialects.openai_responses import rules
from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason, FunctionCall, Text, ToolResult
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun

from ..contract.chains import OPENAI, ChainConversation, request_texts

pytest.importorskip("openai")

from turnproof_adapters.openai_responses.at_openai.conversation_legacy import OpenAIResponsesConversation

NOT_FOUND = Refusal(rules.CONVERSATION_NOT_FOUND, 404, "invalid_request_error", "Conversation with id 'c' not found.")


@pytest.fixture
def talk(server: EmulatorServer) -> Iterator[ChainConversation]:
    opened = ChainConversation(server, replace(OPENAI, provider=OpenAIResponsesConversation))
    yield opened
    opened.provider.shutdown()


def conversations(talk: ChainConversation) -> list[Any]:
    """The conversation that each request for an answer names."""
    calls = [one.call for one in talk.run.exchanges if one.operation == "generate"]
    return [call.body.get("conversation") for call in calls if call is not None and isinstance(call.body, dict)]


def test_each_request_names_one_conversation_and_has_what_is_new(talk: ChainConversation) -> None:
    first, second = talk.say("One"), talk.say("Two")
    assert "previous_response_id" not in second
    assert first["conversation"] == second["conversation"]
    assert second["conversation"].startswith("conv_")
    assert request_texts(second) == ["Two"]
    assert [one.operation for one in talk.run.exchanges] == ["stored", "generate", "generate"]
    assert [message.text for message in talk.provider.get_history()] == ["One", "Yes.", "Two", "Yes."]


def test_results_answer_the_calls_that_the_conversation_holds(talk: ChainConversation) -> None:
    talk.say("Look.", FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    (call,) = talk.provider.get_history()[-1].calls
    talk.answers(reply(Text("Dry.")))
    talk.provider.send_tool_results([ToolResult(call.id, "look", "41 %")])
    assert [item["type"] for item in talk.sent()["input"]] == ["function_call_output"]
    assert len({*conversations(talk)}) == 1


def test_behind_a_cancelled_answer_another_conversation_is_told_everything(talk: ChainConversation) -> None:
    talk.say("One")
    talk.answers(reply(Text("A long answer that is cut.")))
    token = CancelToken()
    talk.provider.send_message_streaming("Two", lambda piece: token.cancel(), cancel_token=token)
    texts = request_texts(talk.say("Three"))
    assert (texts[:3], texts[-1]) == (["One", "Yes.", "Two"], "Three")
    first, second, third = conversations(talk)
    assert first == second != third


def test_behind_an_answer_that_was_cut_off_another_conversation_is_told_everything(talk: ChainConversation) -> None:
    talk.say("One", Text("I wri"), finish=FinishReason.MAX_TOKENS)
    assert request_texts(talk.say("Two")) == ["One", "I wri", "Two"]
    assert len({*conversations(talk)}) == 2


def test_behind_a_failed_request_another_conversation_is_told_everything(talk: ChainConversation) -> None:
    talk.say("One")
    talk.responder.reply = talk.kind.refusal
    with pytest.raises(InvalidRequestError):
        talk.provider.send_message("Two")
    assert request_texts(talk.say("Three")) == ["One", "Yes.", "Three"]


class ForgetsOnce:
    """A service that has not got the conversation of the next request."""

    def __init__(self, inner: Any) -> None:
        self._inner, self._is_due = inner, True

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        self._inner.reply, reply = (NOT_FOUND, self._inner.reply) if self._is_due else (self._inner.reply, None)
        rendered: Rendered = await self._inner.answer(run, exchange, call)
        if isinstance(reply, Reply):
            self._inner.reply, self._is_due = reply, False
        return rendered


def test_a_conversation_that_is_gone_is_told_again_in_another_one(talk: ChainConversation) -> None:
    talk.say("One")
    talk.run.responder = ForgetsOnce(talk.responder)
    assert request_texts(talk.say("Two")) == ["One", "Yes.", "Two"]
    first, second, third = conversations(talk)
    assert first == second != third


def test_what_the_policy_does_not_store_names_no_conversation(talk: ChainConversation) -> None:
    talk.provider.set_chain_policy(ChainPolicy(store=False))
    talk.say("One")
    body = talk.say("Two")
    assert "conversation" not in body
    assert body["store"] is False
    assert request_texts(body) == ["One", "Yes.", "Two"]


def test_a_conversation_that_is_left_is_deleted_with_its_answers(talk: ChainConversation) -> None:
    talk.provider.set_chain_policy(ChainPolicy(delete=True))
    talk.say("One")
    assert len(talk.run.dialect.stored_ids(talk.run.world)) == 2
    talk.provider.end_chain()
    talk.provider.delete_left_answers()
    assert talk.run.dialect.stored_ids(talk.run.world) == ()
