"""The floor sends what was sent, and finds the text in whatever JSON an API answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from turnproof.commands.bench.callers import checked
from turnproof.commands.bench.canned_provider import CannedServer, Sent
from turnproof.commands.bench.conversations import SHORT, WHOLE, Answer
from turnproof.commands.bench.floor import Floor
from turnproof.errors import ProviderError


@pytest.fixture(scope="module")
def server() -> Iterator[CannedServer]:
    with CannedServer() as running:
        yield running


def answered(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def events(*values: Any) -> bytes:
    return b"".join(b"event: any\ndata: " + json.dumps(value).encode() + b"\n\n" for value in values)


def floor(server: CannedServer, body: bytes, answer: Answer, sent: bytes = b"{}") -> tuple[Floor, str]:
    url = server.add({"POST /v1/ask": answered(body)})
    return Floor(Sent("POST", f"{url}/v1/ask?alt=sse", sent), answer), url


def test_a_reply_in_one_piece_is_read_wherever_its_text_stands(server: CannedServer) -> None:
    reply = {"id": "x", "choices": [{"message": {"role": "assistant", "content": WHOLE.text}}]}
    caller, url = floor(server, json.dumps(reply).encode(), WHOLE, b'{"the": "very bytes"}')
    checked(caller, WHOLE)
    assert server.last(url) == Sent("POST", f"{url}/v1/ask?alt=sse", b'{"the": "very bytes"}')
    caller.close()


def test_a_stream_is_told_piece_by_piece_and_other_events_are_passed_over(server: CannedServer) -> None:
    pieces = [{"type": "delta", "delta": {"text": piece}} for piece in SHORT.pieces]
    others = {"type": "start"}, {"type": "stop", "delta": None}, {"type": "end", "delta": {}}
    body = events(others[0], *pieces, *others[1:]) + b"data: [DONE]\n\n"
    caller, _ = floor(server, body, SHORT)
    texts: list[str] = []
    caller.stream(texts.append)
    assert tuple(texts) == SHORT.pieces
    caller.close()


def test_a_stream_that_is_sent_for_an_answer_in_one_piece_is_added_up(server: CannedServer) -> None:
    body = events({"type": "start"}, *({"delta": {"text": piece}} for piece in WHOLE.pieces), {"type": "end"})
    reply = answered(body).replace(b"\r\n\r\n", b"\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n", 1)
    url = server.add({"POST /v1/ask": reply})
    caller = Floor(Sent("POST", f"{url}/v1/ask", b"{}"), WHOLE)
    checked(caller, WHOLE)
    assert caller.ask() == WHOLE.text
    caller.close()


def test_an_answer_that_stands_nowhere_is_no_floor(server: CannedServer) -> None:
    with pytest.raises(ProviderError, match=r"the answer 'piece 000000 of it, .*is nowhere in the server's reply"):
        floor(server, b'{"text": "something else"}', WHOLE)
