"""What is Google's own about a chain: when an interaction counts as gone, and what becomes of thoughts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dialects.answers import reply

from turnproof.dialects.base import Call, PromptUsage, Refusal, Rendered
from turnproof.dialects.gemini_interactions import DIALECT, rules
from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason, FunctionCall, Text, Thought, ToolResult
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun

from ..contract.chains import GOOGLE, ChainConversation, request_texts


@pytest.fixture
def chain(server: EmulatorServer) -> Iterator[ChainConversation]:
    opened = ChainConversation(server, GOOGLE)
    yield opened
    opened.provider.shutdown()


def test_a_refusal_of_the_statuses_of_what_is_gone_leaves_the_chain_where_it_is_kept(
    chain: ChainConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.say("One")

    async def refuse(run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        if call.operation == "generate":
            return DIALECT.render_refusal(Refusal(rules.UNKNOWN_MODEL, 404, "not_found", "No such tool."), "s")
        return DIALECT.render_extra(call, PromptUsage(0), run.world, "s")

    count = len(chain.run.exchanges)
    with monkeypatch.context() as patch:
        patch.setattr(chain.responder, "answer", refuse)
        with pytest.raises(InvalidRequestError):
            chain.provider.send_message("Two")
    # The second request asks whether the interaction is kept.
    assert len(chain.run.exchanges) == count + 2
    assert request_texts(chain.say("Three")) == ["Three"]


def test_what_was_thought_stays_in_the_chain_and_is_told_with_its_signature_anew(chain: ChainConversation) -> None:
    chain.say("One", Thought("Hm."), FunctionCall("c", "look", {}), finish=FinishReason.TOOL_USE)
    chain.answers(reply(Text("Dry.")))
    chain.run.world.resources = {
        name: resource for name, resource in chain.run.world.resources.items() if not name.startswith("v1_")
    }
    chain.provider.send_tool_results([ToolResult("c", "look", "41 %")])
    steps = chain.sent()["input"]
    assert [step["type"] for step in steps] == ["user_input", "thought", "function_call", "function_result"]
    assert steps[1]["signature"] in chain.run.world.issued
