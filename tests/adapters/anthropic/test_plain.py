"""The plain call is what a turn is measured against: it must send what the paths send, and do nothing for itself."""

from __future__ import annotations

import anthropic
import pytest

from turnproof.commands.bench.conversations import QUESTION, SHORT, conversation
from turnproof_adapters.anthropic.binding import BINDING
from turnproof_adapters.anthropic.plain import MessagesCreate

from ..scripted_server import Exchange, ScriptedServer, scripted
from .kit import answer, endpoint, event, legacy, start, stateless, text, text_block

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")

TALK = conversation(20, tools=True)


def whole(exchange: Exchange) -> None:
    exchange.answer(answer(text("Bed 3 "), text("is dry.")))


def streamed(exchange: Exchange) -> None:
    end = event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 7})
    exchange.stream(start(), *text_block(0, *SHORT.pieces), end, event("message_stop"))


def plain(server: ScriptedServer) -> MessagesCreate:
    call = BINDING.plain_calls["messages.create"](endpoint(server.url), TALK)
    assert isinstance(call, MessagesCreate)
    return call


def test_the_plain_call_gives_the_text_whole_and_in_pieces() -> None:
    with scripted(whole, streamed) as server:
        call = plain(server)
        call.ready()
        assert call.ask() == "Bed 3 is dry."
        pieces: list[str] = []
        call.ready()
        call.stream(pieces.append)
        assert tuple(pieces) == SHORT.pieces
        call.close()


def test_the_plain_call_sends_what_both_paths_send() -> None:
    with scripted(whole) as server:
        plain(server).ask()
        stateless(server.url).complete(TALK.messages, TALK.system, TALK.tools)
        provider = legacy(server.url)
        provider.create_session(TALK.system, TALK.tools, TALK.messages[:-1])
        provider.send_message(QUESTION)
        by_sdk, by_stateless, by_legacy = (exchange.json for exchange in server.requests)
    assert by_sdk == by_stateless == by_legacy


def test_the_plain_call_sends_the_same_every_time_and_does_not_retry() -> None:
    with scripted(whole, whole, lambda exchange: exchange.answer({}, status=503)) as server:
        call = plain(server)
        for _ in range(2):
            call.ready()
            call.ask()
        with pytest.raises(anthropic.InternalServerError):
            call.ask()
        assert len(server.requests) == 3
        assert len({exchange.body for exchange in server.requests}) == 1
        assert server.connections == 1
