"""The plain calls of an SDK are what a turn is measured against: they must send what the paths send, and do nothing
for themselves."""

from __future__ import annotations

from typing import Any

import anthropic
import google.genai._interactions
import google.genai.errors
import openai
import pytest
from azure.core.exceptions import HttpResponseError

from turnproof.commands.bench.conversations import QUESTION, SHORT, conversation
from turnproof.provider import PlainCall

from ..callback_recorder import CallbackRecorder
from ..scripted_server import Exchange, ScriptedServer, scripted
from .adapter_kit import AdapterKit
from .subjects import KITS
from .wire_parts import text

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.parametrize(
        ("kit", "name"),
        [
            pytest.param(kit, name, id=f"{kit.name}-{name}")
            for kit in KITS
            if kit.binding is not None
            for name in kit.binding.plain_calls
        ],
    ),
]
TALK = conversation(20, tools=True)
SERVER_ERRORS = (
    anthropic.InternalServerError,
    openai.InternalServerError,
    google.genai.errors.ServerError,
    google.genai._interactions.InternalServerError,
    HttpResponseError,
)
"""What the SDKs raise for a status of 503."""


def plain_call(kit: AdapterKit, name: str, server: ScriptedServer) -> PlainCall:
    assert kit.binding is not None
    return kit.binding.plain_calls[name](kit.endpoint(server.url), TALK)


def test_a_plain_call_gives_the_text_as_a_batch_and_in_pieces(kit: AdapterKit, name: str) -> None:
    words = text(*SHORT.pieces)
    with scripted(
        lambda exchange: exchange.answer(kit.answer(words)), lambda exchange: exchange.stream(*kit.stream(words))
    ) as server:
        call = plain_call(kit, name, server)
        call.ready()
        assert call.ask() == words.text
        pieces: list[str] = []
        call.ready()
        call.stream(pieces.append)
        assert tuple(pieces) == SHORT.pieces
        call.close()


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_plain_call_sends_what_both_paths_send(kit: AdapterKit, name: str, streamed: bool) -> None:
    words = text("so")

    def reply(exchange: Exchange) -> None:
        if streamed:
            exchange.stream(*kit.stream(words))
        else:
            exchange.answer(kit.answer(words))

    recorder: dict[str, Any] = dict(CallbackRecorder().callbacks)
    with scripted(reply) as server:
        call = plain_call(kit, name, server)
        call.ready()
        call.stream(print) if streamed else call.ask()
        stateless, legacy = (kit.open(path, server.url) for path in ("stateless", "legacy"))
        legacy.create_session(TALK.system, TALK.tools, TALK.messages[:-1])
        stateless.complete(TALK.messages, TALK.system, TALK.tools, **(recorder if streamed else {}))
        legacy.send_message_streaming(QUESTION, **recorder) if streamed else legacy.send_message(QUESTION)
        by_sdk, by_stateless, by_legacy = (kit.conversation(exchange.json) for exchange in server.requests)
    assert by_sdk == by_stateless == by_legacy


def test_a_plain_call_sends_the_same_every_time_and_does_not_retry(kit: AdapterKit, name: str) -> None:
    answers = [lambda exchange: exchange.answer(kit.answer(text("so")))] * 2
    with scripted(*answers, lambda exchange: exchange.answer({}, status=503)) as server:
        call = plain_call(kit, name, server)
        for _ in answers:
            call.ready()
            call.ask()
        call.ready()
        with pytest.raises(SERVER_ERRORS):
            call.ask()
        assert len(server.requests) == 3
        assert len({exchange.body for exchange in server.requests}) == 1
        assert server.connections == 1
