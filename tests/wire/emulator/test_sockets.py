"""WebSockets of the emulator with a plain client: what is written, recorded, refused and broken off."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply, ReplyPart
from turnproof.messages import FinishReason, Text
from turnproof.scenarios.model import Fault
from turnproof.wire.emulator import EmulatorServer, Exchange, ScriptResponder, ServerRun
from turnproof.wire.emulator.echo import EchoResponder
from turnproof.wire.emulator.server_run import CANARY_KEY

from .recording import turn

client: Any = pytest.importorskip("websockets.sync.client")
exceptions: Any = pytest.importorskip("websockets.exceptions")

Json = dict[str, Any]
KEY = {"authorization": f"Bearer {CANARY_KEY}"}
QUESTION = "".join(part.text for part in turn().user)  # type: ignore[union-attr]


def address(run: ServerRun) -> str:
    return run.base_url.replace("http", "ws", 1) + "/responses"


@contextlib.contextmanager
def connected(run: ServerRun, **options: Any) -> Iterator[Any]:
    options = {"additional_headers": KEY, "compression": None, "proxy": None, **options}
    with client.connect(address(run), **options) as connection:
        yield connection


def create(text: str = QUESTION, **more: Any) -> str:
    return json.dumps({"type": "response.create", "model": "gpt-5", "input": text, "store": False, **more})


def received(connection: Any) -> list[Json]:
    """The messages of one answer."""
    found: list[Json] = []
    while not found or found[-1]["type"] not in ("response.completed", "error"):
        found.append(json.loads(connection.recv(timeout=60)))
    return found


def answer_of(run: ServerRun) -> list[Json]:
    """The messages of the answer to one request on a socket of its own."""
    with connected(run) as connection:
        connection.send(create())
        return received(connection)


def until_closed(run: ServerRun) -> list[Json]:
    """What a client gets of one answer until it has lost the socket."""
    messages: list[Json] = []
    with contextlib.suppress(exceptions.ConnectionClosed), connected(run, close_timeout=1) as connection:
        connection.send(create())
        while True:
            messages.append(json.loads(connection.recv(timeout=60)))
    return messages


def scripted(server: EmulatorServer, *faults: Fault) -> ServerRun:
    run = server.open_run(dialect("openai-responses"), ScriptResponder(), seed="sockets")
    armed = turn(faults[0] if faults else None)
    run.arm(0, armed, armed.tools or ())
    return run


def last(run: ServerRun) -> Exchange:
    """The last exchange, when the server is done with it."""
    exchange = run.exchanges[-1]
    assert exchange.done.wait(60)
    return exchange


@pytest.fixture
def echo(server: EmulatorServer) -> ServerRun:
    return server.open_run(dialect("openai-responses"), EchoResponder())


def test_each_message_is_an_exchange_and_so_is_the_handshake(echo: ServerRun) -> None:
    with connected(echo) as one, connected(echo) as other:
        for connection in (one, other, one):
            connection.send(create("Hi"))
            assert received(connection)[-1]["type"] == "response.completed"
    seen = [(each.request.method, each.status, each.connection) for each in echo.exchanges]
    assert seen == [
        ("GET", 101, 0), ("GET", 101, 1), ("WEBSOCKET", 200, 0), ("WEBSOCKET", 200, 1), ("WEBSOCKET", 200, 0),
    ]  # fmt: skip
    assert [each.ended for each in echo.exchanges] == ["completed"] * 5
    assert all(each.done.is_set() and each.over is not None for each in echo.exchanges)


def test_what_is_recorded_are_the_messages_as_they_went_out_one_a_line(server: EmulatorServer) -> None:
    run = scripted(server)
    with connected(run) as connection:
        connection.send(create())
        messages = received(connection)
    exchange = last(run)
    assert [json.loads(line) for line in bytes(exchange.body).splitlines()] == messages
    assert exchange.sent == exchange.body
    assert [json.loads(event.data) for event in exchange.events] == messages
    read = run.dialect.read_response(exchange.status, exchange.headers, bytes(exchange.body))
    assert read.complete


def test_a_second_create_is_answered_when_the_first_is(echo: ServerRun) -> None:
    with connected(echo) as connection:
        connection.send(create("one"))
        connection.send(create("two"))
        answers = [received(connection), received(connection)]
    texts = [answer[-1]["response"]["output"][0]["content"][0]["text"] for answer in answers]
    assert texts == ["You said: one", "You said: two"]
    first, second = echo.exchanges[1:]
    assert first.over is not None
    assert second.began >= first.over


def test_lanes_are_answered_at_the_same_time(server: EmulatorServer) -> None:
    run = scripted(server, Fault("stall", after="start"))
    run.stall_limit = 60
    with connected(run) as connection:
        connection.send(create(stream_id="held"))
        assert json.loads(connection.recv(timeout=60))["stream_id"] == "held"
        connection.send(create(stream_id="free"))
        messages = [one for one in received(connection) if one.get("stream_id") == "free"]
    assert messages[-1]["type"] == "response.completed"


@pytest.mark.parametrize("sent", ["Hello", "[1]", "{}", '{"type": "session.update"}', b"\x00\xff", b"{}", ""], ids=repr)
def test_what_is_no_request_is_answered_with_an_error_and_the_socket_stays(echo: ServerRun, sent: str | bytes) -> None:
    with connected(echo) as connection:
        connection.send(sent)
        (refused,) = received(connection)
        connection.send(create("Hi"))
        assert received(connection)[-1]["type"] == "response.completed"
    assert (refused["type"], refused["status"], refused["error"]["type"]) == ("error", 400, "invalid_request_error")
    assert echo.failure == ""


def test_a_response_of_another_socket_is_not_found(echo: ServerRun) -> None:
    with connected(echo) as one, connected(echo) as other:
        one.send(create("Hi"))
        name = received(one)[-1]["response"]["id"]
        other.send(create("More", previous_response_id=name))
        (refused,) = received(other)
        one.send(create("More", previous_response_id=name))
        assert received(one)[-1]["type"] == "response.completed"
    assert refused["error"]["code"] == "previous_response_not_found"


@pytest.mark.parametrize(("headers", "status"), [({}, 401), ({"authorization": "Bearer other"}, 401)])
def test_without_the_key_there_is_no_socket(echo: ServerRun, headers: Json, status: int) -> None:
    with (
        pytest.raises(exceptions.InvalidStatus) as failure,
        client.connect(address(echo), additional_headers=headers, proxy=None),
    ):
        pass
    assert failure.value.response.status_code == status
    assert last(echo).findings


def test_a_request_for_a_socket_that_is_no_handshake_is_refused(echo: ServerRun) -> None:
    response = httpx.get(echo.base_url + "/responses", headers={**KEY, "upgrade": "websocket", "connection": "upgrade"})
    assert (response.status_code, response.text[:20]) == (400, "This is no handshake")
    assert last(echo).status == 400
    assert echo.failure == ""


def test_a_dialect_without_sockets_opens_none(server: EmulatorServer) -> None:
    run = server.open_run(dialect("openai-chat"), EchoResponder(), any_key=True)
    where = run.base_url.replace("http", "ws", 1) + "/chat/completions"
    with pytest.raises(exceptions.InvalidStatus) as failure, client.connect(where, additional_headers=KEY, proxy=None):
        pass
    assert failure.value.response.status_code >= 400


def test_a_socket_ends_with_its_hour(echo: ServerRun) -> None:
    with connected(echo) as connection:
        connection.send(create("Hi"))
        received(connection)
        echo.clock_offset += 3600
        connection.send(create("Hi"))
        (refused,) = received(connection)
        with pytest.raises(exceptions.ConnectionClosedOK):
            connection.recv(timeout=60)
    assert refused["error"]["code"] == "websocket_connection_limit_reached"
    with connected(echo) as connection:
        connection.send(create("Hi"))
        assert received(connection)[-1]["type"] == "response.completed"


@pytest.mark.parametrize("kind", ["split", "drip", "comment", "merged"])
def test_a_message_may_arrive_in_any_pieces(server: EmulatorServer, kind: Any) -> None:
    plain, run = scripted(server), scripted(server, Fault(kind))
    assert answer_of(plain) == answer_of(run)
    exchange = last(run)
    assert (exchange.fault, exchange.ended) == (kind, "completed")
    assert exchange.sent == exchange.body == last(plain).body


@pytest.mark.parametrize("spelling", ["crlf", "folded"])
def test_a_message_may_have_blanks_and_line_ends_in_it(server: EmulatorServer, spelling: Any) -> None:
    plain, run = scripted(server), scripted(server, Fault("respelled", spelling=spelling))
    assert answer_of(plain) == answer_of(run)
    exchange = last(run)
    assert (exchange.fault, exchange.spelling) == ("respelled", spelling)
    assert exchange.body == last(plain).body
    assert exchange.sent != exchange.body


@pytest.mark.parametrize("accepted", [True, False])
def test_messages_are_compressed_for_a_client_that_offers_it(server: EmulatorServer, *, accepted: bool) -> None:
    run = scripted(server, Fault("compressed"))
    with connected(run, compression="deflate" if accepted else None) as connection:
        connection.send(create())
        assert received(connection)[-1]["type"] == "response.completed"
        assert connection.protocol.extensions == [] or accepted
    assert last(run).fault == "compressed"


def test_a_spelling_that_a_message_does_not_have_is_none(server: EmulatorServer) -> None:
    run = scripted(server, Fault("respelled", spelling="unspaced"))
    with connected(run) as connection:
        connection.send(create())
        assert received(connection)[-1]["type"] == "response.completed"
    assert (last(run).fault, last(run).spelling) == (None, "")


@pytest.mark.parametrize("kind", ["truncate", "reset", "no-end"])
def test_a_socket_can_be_cut_behind_every_message(server: EmulatorServer, kind: Any) -> None:
    plain = scripted(server)
    with connected(plain) as connection:
        connection.send(create())
        whole = received(connection)
    for place in range(len(whole)):
        run = scripted(server, Fault(kind, index=place))
        messages = until_closed(run)
        arrived = place if kind == "truncate" else min(place + 1, len(whole) - (kind == "no-end"))
        assert messages == whole[:arrived]
        exchange = last(run)
        assert exchange.ended == "cut-by-us"
        read = run.dialect.read_response(exchange.status, exchange.headers, bytes(exchange.body))
        assert read.complete is (kind == "reset" and place == len(whole) - 1)


def test_a_lost_tail_closes_the_socket_in_place_of_the_last_message(server: EmulatorServer) -> None:
    run = scripted(server, Fault("no-end", index=-1))
    with connected(run) as connection:
        connection.send(create())
        with pytest.raises(exceptions.ConnectionClosedError) as failure:
            received(connection)
    assert failure.value.rcvd.code == 1011
    assert last(run).ended == "cut-by-us"


def test_garbage_is_a_message_that_is_no_json(server: EmulatorServer) -> None:
    run = scripted(server, Fault("garbage", after="start"))
    with connected(run) as connection:
        connection.send(create())
        connection.recv(timeout=60)
        with pytest.raises(ValueError, match="control character"):
            json.loads(connection.recv(timeout=60))
        assert received(connection)[-1]["type"] == "response.completed"


def test_an_error_in_the_middle_ends_the_answer_and_the_chain_and_not_the_socket(server: EmulatorServer) -> None:
    run = scripted(server, Fault("error-event", status=500, after="start"))
    with connected(run) as connection:
        connection.send(create())
        messages = received(connection)
        assert messages[-1]["error"]["type"] == "server_error"
        connection.send(create(previous_response_id=messages[0]["response"]["id"]))
        assert received(connection)[-1]["error"]["code"] == "previous_response_not_found"
        connection.send(create())
        assert received(connection)[-1]["type"] == "response.completed"


def test_a_scripted_status_is_an_error_with_its_wait(server: EmulatorServer) -> None:
    run = scripted(server, Fault("status", status=429, retry_after=3))
    with connected(run) as connection:
        connection.send(create())
        (refused,) = received(connection)
        connection.send(create())
        assert received(connection)[-1]["type"] == "response.completed"
    assert (refused["status"], refused["error"]["headers"]) == (429, {"retry-after": "3"})
    assert (run.exchanges[1].fault, run.exchanges[1].status) == ("status-429", 429)


def test_a_client_that_leaves_within_an_answer_has_cut_it(server: EmulatorServer) -> None:
    run = scripted(server, Fault("stall", after="start"))
    with connected(run) as connection:
        connection.send(create())
        connection.recv(timeout=60)
    assert last(run).ended == "cut-by-peer"
    assert run.failure == ""


class Talkative:
    """Answers with sixteen pieces of a million characters."""

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        if call.operation != "generate":
            return run.dialect.render_extra(call, PromptUsage(0), run.world, run.seed)
        pieces = tuple("x" * 1_000_000 for _ in range(16))
        reply = Reply((ReplyPart(Text("".join(pieces)), pieces),), FinishReason.STOP)
        return run.dialect.render(call, reply, PromptUsage(0), run.world, run.seed)


def test_the_server_waits_for_a_client_that_does_not_read(server: EmulatorServer) -> None:
    run = server.open_run(dialect("openai-responses"), Talkative())
    with connected(run, max_queue=1, max_size=None, ping_interval=None) as connection:
        connection.send(create())
        time.sleep(0.5)
        exchange = run.exchanges[-1]
        early = len(exchange.sent)
        assert not exchange.done.is_set()
        assert received(connection)[-1]["type"] == "response.completed"
    assert last(run).ended == "completed"
    assert early < len(exchange.sent) / 2


def test_a_stopped_server_leaves_no_socket_open() -> None:
    with EmulatorServer() as running:
        run = running.open_run(dialect("openai-responses"), EchoResponder())
        connection = client.connect(address(run), additional_headers=KEY, proxy=None)
        connection.send(create("Hi"))
        received(connection)
    with pytest.raises(exceptions.ConnectionClosed):
        connection.recv(timeout=30)
    assert run.open_connections(5) == 0
