"""The chain, against the emulated service: what a request goes on from, and what it tells anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dialects.answers import reply
from dialects.responders import ScriptedService

from turnproof.cancel import CancelToken
from turnproof.dialects.base import Call, PromptUsage, Refusal, Rendered, Reply
from turnproof.dialects.gemini_interactions import DIALECT, rules
from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason, FunctionCall, Message, Text, Thought, ToolResult, ToolSchema, same_history
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun
from turnproof_adapters.google_interactions.legacy import InteractionsChain

MODEL = "gemini-3.5-flash"
LOOK = ToolSchema("look", "Look at a bed.", {"type": "object", "properties": {}})


class Chain(ScriptedService):
    """A running service and a conversation with it."""

    def __init__(self, server: EmulatorServer) -> None:
        super().__init__(server, DIALECT)
        self.provider = InteractionsChain()
        self.provider.initialize({"api_key": "key", "base_url": self.run.base_url})
        self.provider.connect(MODEL)
        self.provider.create_session("Be brief.", [LOOK])

    def say(self, said: str, *answer: Text | Thought | FunctionCall, finish: FinishReason = FinishReason.STOP) -> Any:
        """A turn, and the body of its last request."""
        self.answers(reply(*answer or (Text("Yes."),), finish=finish))
        self.provider.send_message(said)
        return self.sent()

    def answers(self, said: Reply) -> None:
        self.responder.reply = said

    def sent(self, back: int = 1) -> Any:
        """The body of a request, counted from the last."""
        call = self.run.exchanges[-back].call
        assert call is not None
        return call.body


def spoken(body: Any) -> list[str]:
    """The texts of the steps in a request."""
    return [block["text"] for step in body["input"] if "content" in step for block in step["content"]]


@pytest.fixture
def chain() -> Iterator[Chain]:
    with EmulatorServer() as server:
        opened = Chain(server)
        yield opened
        opened.provider.shutdown()


def test_a_turn_goes_on_from_the_last_interaction_with_what_is_new(chain: Chain) -> None:
    first = chain.say("One")
    assert "previous_interaction_id" not in first
    second = chain.say("Two")
    assert spoken(second) == ["Two"]
    assert second["previous_interaction_id"].startswith("v1_")
    assert second["store"] is True
    texts = [message.text for message in chain.provider.get_history()]
    assert texts == ["One", "Yes.", "Two", "Yes."]


def test_instructions_and_tools_go_out_with_every_request(chain: Chain) -> None:
    for said in ("One", "Two"):
        body = chain.say(said)
        assert body["system_instruction"] == "Be brief."
        assert [tool["name"] for tool in body["tools"]] == ["look"]


def test_results_answer_the_calls_that_the_service_holds(chain: Chain) -> None:
    chain.say("Look.", FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    (made,) = chain.provider.get_history()[-1].calls
    chain.answers(reply(Text("Dry.")))
    chain.provider.send_tool_results([ToolResult(made.id, "look", "41 %")])
    assert [item["type"] for item in chain.sent()["input"]] == ["function_result"]


def test_a_call_that_nobody_answered_is_answered_before_the_chain_goes_on(chain: Chain) -> None:
    chain.say("Look.", FunctionCall("", "look", {}), finish=FinishReason.TOOL_USE)
    body = chain.say("Never mind.")
    assert [item["type"] for item in body["input"]] == ["function_result", "user_input"]
    assert "previous_interaction_id" in body


def test_an_answer_that_was_cut_off_is_not_gone_on_from(chain: Chain) -> None:
    chain.say("One")
    head = chain.say("Two", Text("I wri"), finish=FinishReason.MAX_TOKENS)["previous_interaction_id"]
    body = chain.say("Three")
    assert body["previous_interaction_id"] == head
    assert spoken(body) == ["Two", "I wri", "Three"]


def test_a_blank_answer_is_not_gone_on_from(chain: Chain) -> None:
    chain.say("One", Text(" "))
    body = chain.say("Two")
    assert "previous_interaction_id" not in body
    assert spoken(body) == ["One", "Two"]


def test_a_turn_that_failed_leaves_the_chain_as_it_was(chain: Chain) -> None:
    chain.say("One")
    chain.responder.reply = Refusal(rules.MALFORMED_BODY, 400, "invalid_request", "This time it is wrong.")
    with pytest.raises(InvalidRequestError):
        chain.provider.send_message("Two")
    body = chain.say("Three")
    assert spoken(body) == ["Three"]
    assert len(chain.provider.get_history()) == 4


def test_a_turn_that_was_cancelled_is_told_and_not_gone_on_from(chain: Chain) -> None:
    head = chain.say("One") and chain.say("Two")["previous_interaction_id"]
    chain.answers(reply(Text("A long answer that is cut.")))
    token = CancelToken()
    answer = chain.provider.send_message_streaming("Three", lambda piece: token.cancel(), cancel_token=token)
    assert answer.finish_reason is FinishReason.CANCELLED
    body = chain.say("Four")
    assert body["previous_interaction_id"] != head
    assert spoken(body)[0] == "Three"
    assert spoken(body)[-1] == "Four"


def test_another_model_is_told_everything(chain: Chain) -> None:
    chain.say("One")
    chain.provider.connect("gemini-2.5-flash")
    body = chain.say("Two")
    assert "previous_interaction_id" not in body
    assert spoken(body) == ["One", "Yes.", "Two"]


def test_what_the_service_has_forgotten_is_told_anew(chain: Chain) -> None:
    chain.say("One")
    chain.run.world.resources.clear()
    body = chain.say("Two")
    assert "previous_interaction_id" in chain.sent(back=3)
    assert "previous_interaction_id" not in body
    assert spoken(body) == ["One", "Yes.", "Two"]
    assert spoken(chain.say("Three")) == ["Three"]


def test_a_new_conversation_goes_on_from_nothing(chain: Chain) -> None:
    chain.say("One")
    held = [Message.user("Before"), Message.model("Then.")]
    chain.provider.create_session("Be brief.", history=held)
    body = chain.say("Two")
    assert "previous_interaction_id" not in body
    assert spoken(body) == ["Before", "Then.", "Two"]
    assert same_history(chain.provider.get_history()[:2], held, ids=False)


def test_a_stream_is_gone_on_from_like_a_whole_answer(chain: Chain) -> None:
    chain.answers(reply(Text("Yes.")))
    chain.provider.send_message_streaming("One", lambda piece: None)
    body = chain.say("Two")
    assert spoken(body) == ["Two"]
    assert "previous_interaction_id" in body


def test_a_refusal_of_the_statuses_of_what_is_gone_leaves_the_chain_where_it_is_kept(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.say("One")

    async def refuse(run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        if call.operation == "generate":
            return DIALECT.render_refusal(Refusal(rules.UNKNOWN_MODEL, 404, "not_found", "No such tool."), "s")
        return DIALECT.render_extra(call, PromptUsage(0), run.world, "s")

    asked = len(chain.run.exchanges)
    with monkeypatch.context() as patch:
        patch.setattr(chain.responder, "answer", refuse)
        with pytest.raises(InvalidRequestError):
            chain.provider.send_message("Two")
    # The second request asks whether the interaction is kept.
    assert len(chain.run.exchanges) == asked + 2
    assert spoken(chain.say("Three")) == ["Three"]


def test_what_was_thought_stays_in_the_chain_and_is_told_with_its_signature_anew(chain: Chain) -> None:
    chain.say("One", Thought("Hm."), FunctionCall("c", "look", {}), finish=FinishReason.TOOL_USE)
    chain.answers(reply(Text("Dry.")))
    chain.run.world.resources = {
        name: kept for name, kept in chain.run.world.resources.items() if not name.startswith("v1_")
    }
    chain.provider.send_tool_results([ToolResult("c", "look", "41 %")])
    told = chain.sent()["input"]
    assert [step["type"] for step in told] == ["user_input", "thought", "function_call", "function_result"]
    assert told[1]["signature"] in chain.run.world.issued
