"""The server in a reproducing file: it answers the requests that the run had, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest

from turnproof.commands.reproduce.file_source import _answers, _server
from turnproof.commands.reproduce.recorded_answers import RecordedAnswer

MODELS = RecordedAnswer(200, {}, (b'{"data": []}',), "end", "GET")
ANSWER = RecordedAnswer(200, {}, (b'{"text": "Moist."}',), "end")


def lines(*answers: RecordedAnswer) -> list[str]:
    return [*_answers(answers, joined=True), *_server(answers, heads=False)]


@pytest.fixture
def served() -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of a server of such a file, and what its names stand for."""
    names: dict[str, Any] = {}
    exec("import http.server, json\n" + "\n".join(lines(MODELS, ANSWER)), names)
    with ThreadingHTTPServer(("127.0.0.1", 0), names["Server"]) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", names
        server.shutdown()


def test_a_request_without_a_body_is_answered_too(served: tuple[str, dict[str, Any]]) -> None:
    address, names = served
    with urlopen(f"{address}/v1/models", timeout=10) as answer:
        assert answer.read() == MODELS.pieces[0]
    with urlopen(Request(f"{address}/v1/chat/completions", data=b'{"model": "m"}'), timeout=10) as answer:
        assert answer.read() == ANSWER.pieces[0]
    assert names["requests"] == [None, {"model": "m"}]


def test_a_file_with_calls_alone_has_no_line_more() -> None:
    assert lines(ANSWER)[-1].startswith("            self.wfile.write(")
    assert any("def do_POST" in line for line in lines(ANSWER))
    assert not any("do_GET" in line for line in lines(ANSWER))
