"""The plain call is what a turn is measured against: it must send what the paths send, and do nothing for itself."""

from __future__ import annotations

from turnproof.commands.bench.conversations import QUESTION, conversation
from turnproof_adapters.github_models.binding import GITHUB
from turnproof_adapters.github_models.plain import Complete

from ..scripted_server import Exchange, ScriptedServer, scripted
from .kit import MODEL, STREAMED, answer, endpoint, legacy, stateless, stream, unheard

TALK = conversation(20, tools=True)
PIECES = ("Bed 3 ", "is dry.")


def whole(exchange: Exchange) -> None:
    exchange.answer(answer("".join(PIECES)))


def streamed(exchange: Exchange) -> None:
    exchange.stream(*stream(*({"content": piece} for piece in PIECES)))


def plain(server: ScriptedServer) -> Complete:
    call = GITHUB.plain_calls["complete"](endpoint(server.url, MODEL), TALK)
    assert isinstance(call, Complete)
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
        call.stream(unheard)
        stateless(server.url).complete(TALK.messages, TALK.system, TALK.tools, **STREAMED)
        by_sdk, by_stateless, by_legacy, streamed_by_sdk, streamed_by_us = (each.json for each in server.requests)
    assert by_sdk == by_stateless == by_legacy
    assert streamed_by_sdk == streamed_by_us
