"""The plain call is what a turn is measured against: it must send what the paths send, and do nothing for itself."""

from __future__ import annotations

import openai
import pytest

from turnproof.commands.bench.conversations import QUESTION, conversation
from turnproof_adapters.openai.binding import BINDING
from turnproof_adapters.openai.plain import ChatCompletionsCreate

from ..callback_recorder import CallbackRecorder
from ..scripted_server import Exchange, ScriptedServer, scripted
from .kit import answer, endpoint, legacy, stateless, stream, texts

TALK = conversation(20, tools=True)
PIECES = ("Bed 3 ", "is dry.")


def whole(exchange: Exchange) -> None:
    exchange.answer(answer("".join(PIECES)))


def streamed(exchange: Exchange) -> None:
    exchange.stream(*stream(texts(*PIECES)))


def plain(server: ScriptedServer) -> ChatCompletionsCreate:
    call = BINDING.plain_calls["chat.completions.create"](endpoint(server.url + "/v1"), TALK)
    assert isinstance(call, ChatCompletionsCreate)
    return call


def test_the_plain_call_gives_the_text_whole_and_in_pieces() -> None:
    with scripted(whole, streamed) as server:
        call = plain(server)
        call.ready()
        assert call.ask() == "Bed 3 is dry."
        pieces: list[str] = []
        call.ready()
        call.stream(pieces.append)
        assert tuple(pieces) == PIECES
        call.close()


def test_the_plain_call_sends_what_both_paths_send() -> None:
    with scripted(whole, whole, whole, streamed) as server:
        call = plain(server)
        call.ask()
        stateless(server.url).complete(TALK.messages, TALK.system, TALK.tools)
        provider = legacy(server.url)
        provider.create_session(TALK.system, TALK.tools, TALK.messages[:-1])
        provider.send_message(QUESTION)
        call.stream(print)
        stateless(server.url).complete(TALK.messages, TALK.system, TALK.tools, **CallbackRecorder().callbacks)
        by_sdk, by_stateless, by_legacy, streamed_by_sdk, streamed_by_us = (each.json for each in server.requests)
    assert by_sdk == by_stateless == by_legacy
    assert streamed_by_sdk == streamed_by_us


def test_the_plain_call_sends_the_same_every_time_and_does_not_retry() -> None:
    with scripted(whole, whole, lambda exchange: exchange.answer({}, status=503)) as server:
        call = plain(server)
        for _ in range(2):
            call.ready()
            call.ask()
        with pytest.raises(openai.InternalServerError):
            call.ask()
        assert len(server.requests) == 3
        assert len({exchange.body for exchange in server.requests}) == 1
        assert server.connections == 1
