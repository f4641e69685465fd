"""The plain calls are what a turn is measured against: they must send what the paths send, and do nothing for
themselves."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import errors

from turnproof.commands.bench.conversations import QUESTION, SHORT, conversation
from turnproof.provider import PlainCall
from turnproof_adapters.google_genai.binding import BINDING

from ..scripted_server import Exchange, ScriptedServer, scripted
from .kit import answer, chunk, endpoint, legacy, stateless, text

TALK = conversation(20, tools=True)
NAMES = list(BINDING.plain_calls)


def whole(exchange: Exchange) -> None:
    exchange.answer(answer(text("Bed 3 "), text("is dry.")))


def streamed(exchange: Exchange) -> None:
    exchange.stream(*(chunk(text(piece)) for piece in SHORT.pieces), chunk(finish="STOP"))


def plain(name: str, server: ScriptedServer) -> PlainCall:
    return BINDING.plain_calls[name](endpoint(server.url), TALK)


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_call_gives_the_text_whole_and_in_pieces(name: str) -> None:
    with scripted(whole, streamed) as server:
        call = plain(name, server)
        call.ready()
        assert call.ask() == "Bed 3 is dry."
        pieces: list[str] = []
        call.ready()
        call.stream(pieces.append)
        assert tuple(pieces) == SHORT.pieces
        call.close()


def told(body: Any) -> Any:
    """A request, whichever of the two spellings that the API takes it is in."""
    match body:
        case dict():
            return {key.replace("parameters_json_schema", "parametersJsonSchema"): told(body[key]) for key in body}
        case list():
            return [told(item) for item in body]
    return body


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_call_sends_the_contents_that_both_paths_send(name: str) -> None:
    with scripted(whole) as server:
        call = plain(name, server)
        call.ready()
        call.ask()
        stateless(server.url).complete(TALK.messages, TALK.system, TALK.tools)
        provider = legacy(server.url)
        provider.create_session(TALK.system, TALK.tools, TALK.messages[:-1])
        provider.send_message(QUESTION)
        by_sdk, by_stateless, by_legacy = (told(exchange.json) for exchange in server.requests)
    for key in ("contents", "systemInstruction", "tools"):
        assert by_sdk[key] == by_legacy[key]
        assert by_sdk[key] == by_stateless[key]


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_call_sends_the_same_every_time_and_does_not_retry(name: str) -> None:
    with scripted(whole, whole, lambda exchange: exchange.answer({}, status=503)) as server:
        call = plain(name, server)
        for _ in range(2):
            call.ready()
            call.ask()
        call.ready()
        with pytest.raises(errors.ServerError):
            call.ask()
        assert len(server.requests) == 3
        assert len({exchange.body for exchange in server.requests}) == 1
        assert server.connections == 1
