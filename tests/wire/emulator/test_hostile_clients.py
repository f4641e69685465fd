"""The emulator among strangers: bombs, and requests that would write into its log."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import socket
import zlib
from collections.abc import Iterator

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import HttpRequest
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder
from turnproof.wire.emulator.http_server import MAX_BODY, is_own_host
from turnproof.wire.emulator.serve import describe
from turnproof.wire.emulator.server_run import CANARY_KEY, Exchange, ServerRun

HEADERS = {"content-type": "application/json", "x-api-key": CANARY_KEY, "anthropic-version": "2023-06-01"}
QUESTION = json.dumps(
    {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
).encode()


@pytest.fixture
def run() -> Iterator[ServerRun]:
    with EmulatorServer() as server:
        yield server.open_run(dialect("anthropic-messages"), EchoResponder())


def post(run: ServerRun, body: bytes, **headers: str) -> tuple[int, bytes]:
    host, _, path = run.base_url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=60)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", f"/{path}/v1/messages", body, {**HEADERS, **names})
    response = connection.getresponse()
    found = response.status, response.read()
    connection.close()
    return found


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_body_is_read(run: ServerRun, encoding: str, pack: object) -> None:
    assert callable(pack)
    assert post(run, pack(QUESTION), content_encoding=encoding)[0] == 200


@pytest.mark.parametrize("body", [gzip.compress(QUESTION)[:-9], b"no gzip"], ids=["cut", "no gzip"])
def test_a_compressed_body_that_is_damaged_is_refused(run: ServerRun, body: bytes) -> None:
    assert post(run, body, content_encoding="gzip")[0] == 400


def test_a_body_that_unpacks_to_more_than_the_limit_is_refused(run: ServerRun) -> None:
    packed = gzip.compress(bytes(MAX_BODY + 1), 1)
    assert len(packed) < MAX_BODY // 100
    assert post(run, packed, content_encoding="gzip")[0] == 413
    assert run.exchanges == []


@pytest.mark.parametrize("coding", ["zstd", "br", "gzip, gzip", "nonsense"])
def test_a_body_in_a_coding_that_is_not_read_is_noted_and_accepted_where_it_is_json_all_the_same(
    run: ServerRun, coding: str
) -> None:
    """No service was seen refusing it, so no adapter is accused of it."""
    assert post(run, QUESTION, content_encoding=coding)[0] == 200
    (exchange,) = run.exchanges
    (finding,) = exchange.findings
    assert (finding.rule.id, finding.status, finding.enforced) == ("http/content-encoding", 415, False)
    assert f"would perhaps be refused: The body has the Content-Encoding '{coding}'" in describe(1, exchange)


def test_a_body_that_cannot_be_read_is_refused_and_its_coding_is_noted(run: ServerRun) -> None:
    assert post(run, b"(\xb5/\xfd", content_encoding="zstd")[0] == 400
    assert [one.rule.id for one in run.exchanges[0].findings] == [
        "anthropic-messages/malformed-json",
        "http/content-encoding",
    ]


@pytest.mark.parametrize("coding", ["identity", "", "GZIP"])
def test_a_usual_coding_is_noted_nowhere(run: ServerRun, coding: str) -> None:
    body = gzip.compress(QUESTION) if coding == "GZIP" else QUESTION
    assert post(run, body, content_encoding=coding)[0] == 200
    assert [list(one.findings) for one in run.exchanges] == [[]]


def test_a_line_of_the_log_is_printable_and_cannot_be_forged() -> None:
    path = "/v1/messages\x1b]0;pwn\x07\n#77 POST fake -> 200"
    line = describe(1, Exchange(0, HttpRequest("POST", path, {}, {}, b""), status=400))
    assert "\n" not in line
    assert line.isprintable()


def test_findings_stand_in_the_line_of_their_request(run: ServerRun) -> None:
    assert post(run, QUESTION.replace(b'"user"', b'"nobody\\n#2"'))[0] == 400
    (exchange,) = run.exchanges
    assert exchange.findings
    line = describe(1, exchange)
    assert line.isprintable()
    assert f"refused: {exchange.findings[0].message.splitlines()[0][:20]}" in line


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403),
        ("evil.example:80", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
        ("localhost:{port}", 200),
        ("LOCALHOST", 200),
        ("a.localhost", 200),
        ("127.0.0.1:{port}", 200),
        ("[::1]:{port}", 200),
    ],
)
def test_a_page_whose_name_was_made_to_lead_here_is_refused(run: ServerRun, host: str, status: int) -> None:
    port = run.base_url.rpartition(":")[2].partition("/")[0]
    assert post(run, QUESTION, host=host.format(port=port))[0] == status
    assert len(run.exchanges) == (status == 200)


def test_who_listens_for_others_is_known_by_any_name() -> None:
    assert is_own_host("emulator.internal:8080", listening_on="0.0.0.0")
    assert not is_own_host("emulator.internal:8080", listening_on="localhost")


HEAD = b"POST /run/r1/v1/messages HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (HEAD, b""),
        (HEAD + b"Content-Length: 90\r\n\r\n{", b"HTTP/1.1 408"),
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_what_never_comes_is_not_waited_for(sent: bytes, answer: bytes) -> None:
    with EmulatorServer(idle_limit=0.3) as server:
        server.open_run(dialect("anthropic-messages"), EchoResponder())
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(sent)
            data = b""
            with contextlib.suppress(ConnectionResetError):
                while more := connection.recv(4096):
                    data += more
            assert data.startswith(answer) if answer else data == b""
