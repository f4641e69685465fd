"""The adapter over WebSockets: one socket for one call, a chain in its memory, and what a lost socket costs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.chains import ChainPolicy
from turnproof.dialects import dialect
from turnproof.errors import (
    AuthenticationError,
    ChainLostError,
    InvalidRequestError,
    OverloadedError,
    RateLimitError,
    TransportError,
    UsageError,
)
from turnproof.messages import FinishReason, Message
from turnproof.provider import Endpoint
from turnproof.scenarios.model import Fault, Turn
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun
from turnproof.wire.emulator.echo import EchoResponder
from turnproof_adapters.openai_responses.binding import WEBSOCKET

pytest.importorskip("openai")
pytest.importorskip("websockets")

KEY = "sk-canary-of-the-sockets"
MODEL = "gpt-5.5"


@pytest.fixture
def run(server: EmulatorServer) -> ServerRun:
    return server.open_run(dialect("openai-responses"), EchoResponder(), keys=frozenset({KEY}))


@contextmanager
def opened(path: Callable[[Endpoint], Any] | None, run: ServerRun) -> Iterator[Any]:
    """A provider of one path, shut down behind the test."""
    assert path is not None
    provider = path(Endpoint(run.base_url, KEY, MODEL))
    yield provider
    provider.shutdown()


@pytest.fixture
def legacy(run: ServerRun) -> Iterator[Any]:
    with opened(WEBSOCKET.open_legacy, run) as provider:
        yield provider


@pytest.fixture
def stateless(run: ServerRun) -> Iterator[Any]:
    with opened(WEBSOCKET.open_stateless, run) as provider:
        yield provider


def fail(run: ServerRun, *faults: Fault) -> None:
    """Let the next answers go wrong."""
    run.arm(0, Turn(user=(), rounds=(), faults=faults))


def request_facts(run: ServerRun) -> list[tuple[int | None, bool, int]]:
    """Of each request: its connection, whether it goes on from an answer, and how many messages it has itself."""
    return [(one.connection, _chained(one), _own(one)) for one in run.exchanges if one.operation == "generate"]


def _chained(exchange: Exchange) -> bool:
    assert exchange.call is not None
    return exchange.call.resource is not None


def _own(exchange: Exchange) -> int:
    assert exchange.call is not None
    return len(exchange.call.messages) - exchange.call.managed_messages


def test_a_turn_sends_what_is_new_over_one_socket(legacy: Any, run: ServerRun) -> None:
    for text in ("One", "Two"):
        assert legacy.send_message(text).text == f"You said: {text}"
    chunks: list[str] = []
    assert legacy.send_message_streaming("Three", chunks.append).text == "You said: Three"
    assert "".join(chunks) == "You said: Three"
    assert request_facts(run) == [(0, False, 1), (0, True, 1), (0, True, 1)]
    assert [one.text for one in legacy.get_history()][::2] == ["One", "Two", "Three"]
    assert run.dialect.stored_ids(run.world) == ()


def test_another_conversation_on_the_same_socket_begins_from_nothing(legacy: Any, run: ServerRun) -> None:
    legacy.send_message("One")
    legacy.create_session()
    legacy.send_message("Two")
    assert request_facts(run) == [(0, False, 1), (0, False, 1)]


def test_two_providers_have_a_socket_and_a_chain_each(legacy: Any, run: ServerRun) -> None:
    assert WEBSOCKET.open_legacy is not None
    other = WEBSOCKET.open_legacy(Endpoint(run.base_url, KEY, MODEL))
    for text in ("One", "Two"):
        legacy.send_message(text)
        other.send_message(text)
    other.shutdown()
    assert request_facts(run) == [(0, False, 1), (1, False, 1), (0, True, 1), (1, True, 1)]


@pytest.mark.parametrize("kind", ["truncate", "reset", "no-end"])
def test_behind_a_lost_socket_the_chain_begins_anew_with_all_that_is_held(
    legacy: Any, run: ServerRun, kind: Any
) -> None:
    legacy.send_message("One")
    fail(run, Fault(kind, after="text"))
    with pytest.raises(TransportError):
        legacy.send_message("Two")
    legacy.send_message("Two")
    legacy.send_message("Three")
    assert request_facts(run) == [(0, False, 1), (0, True, 1), (1, False, 3), (1, True, 1)]


@pytest.mark.parametrize("kind", ["truncate", "reset", "no-end", "garbage"])
@pytest.mark.parametrize("index", range(9))
def test_behind_whatever_message_a_socket_is_lost_nothing_is_lost_or_said_twice(
    legacy: Any, run: ServerRun, kind: Any, index: int
) -> None:
    legacy.send_message("One")
    fail(run, Fault(kind, index=index))
    with pytest.raises(TransportError):
        legacy.send_message_streaming("Two", lambda text: None)
    legacy.send_message("Two")
    legacy.send_message("Three")
    assert request_facts(run) == [(0, False, 1), (0, True, 1), (1, False, 3), (1, True, 1)]
    texts = [message.text for message in legacy.get_history()]
    assert texts == ["One", "You said: One", "Two", "You said: Two", "Three", "You said: Three"]


def test_a_socket_that_was_closed_in_between_costs_no_failure(legacy: Any, run: ServerRun) -> None:
    fail(run, Fault("idle-close"))
    legacy.send_message("One")
    deadline = threading.Event()
    deadline.wait(0.2)  # what the system needs to tell the client
    assert legacy.send_message("Two").text == "You said: Two"
    assert request_facts(run) == [(0, False, 1), (1, False, 3)]


def test_a_chain_that_was_lost_with_its_socket_fails_typed_where_the_policy_says_so(
    legacy: Any, run: ServerRun
) -> None:
    legacy.set_chain_policy(ChainPolicy(forgotten="fail"))
    legacy.send_message("One")
    head = legacy.chain_state.head
    fail(run, Fault("reset", after="text"))
    with pytest.raises(TransportError):
        legacy.send_message("Two")
    with pytest.raises(ChainLostError) as raised:
        legacy.send_message("Two")
    assert raised.value.answer == head
    legacy.end_chain()
    assert legacy.send_message("Two").text == "You said: Two"


def test_the_end_of_the_hour_costs_no_failure(legacy: Any, stateless: Any, run: ServerRun) -> None:
    legacy.send_message("One")
    stateless.complete([Message.user("One")])
    run.clock_offset += 3600
    assert legacy.send_message("Two").text == "You said: Two"
    assert stateless.complete([Message.user("Two")]).text == "You said: Two"
    assert request_facts(run) == [
        (0, False, 1), (1, False, 1), (0, True, 1), (2, False, 3), (1, False, 1), (3, False, 1),
    ]  # fmt: skip


def test_a_cancel_ends_the_socket_and_keeps_what_was_heard(legacy: Any, run: ServerRun) -> None:
    legacy.send_message("One")
    token = CancelToken()
    response = legacy.send_message_streaming("Two", lambda text: token.cancel(), cancel_token=token)
    assert response.finish_reason is FinishReason.CANCELLED
    assert "You said: Two".startswith(response.text)
    legacy.send_message("Three")
    assert request_facts(run) == [(0, False, 1), (0, True, 1), (1, False, 5)]


def test_a_cancel_wakes_a_call_that_waits_for_its_first_event(legacy: Any, run: ServerRun) -> None:
    fail(run, Fault("stall", index=-1))
    token = CancelToken()
    threading.Timer(0.3, token.cancel).start()
    assert legacy.send_message("One", cancel_token=token).finish_reason is FinishReason.CANCELLED


def test_a_failed_request_ends_the_chain_and_not_the_socket(legacy: Any, run: ServerRun) -> None:
    legacy.send_message("One")
    fail(run, Fault("status", status=500))
    with pytest.raises(OverloadedError):
        legacy.send_message("Two")
    legacy.send_message("Two")
    assert request_facts(run) == [(0, False, 1), (0, True, 1), (0, False, 3)]


def test_a_response_that_the_socket_does_not_hold_is_told_again(legacy: Any, run: ServerRun) -> None:
    legacy.send_message("One")
    for one in run.world.resources.values():
        if hasattr(one, "latest"):
            one.latest.clear()
    assert legacy.send_message("Two").text == "You said: Two"
    assert request_facts(run) == [(0, False, 1), (0, True, 1), (0, False, 3)]


def test_a_stateless_call_sends_everything_and_each_thread_has_a_socket(stateless: Any, run: ServerRun) -> None:
    ready = threading.Barrier(4)

    def ask(number: int) -> str:
        ready.wait(30)
        history = [Message.user("Hello"), Message.model("Hi"), Message.user(f"number {number}")]
        return str(stateless.complete(history).text)

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(ask, range(4))) == [f"You said: number {n}" for n in range(4)]
    assert {(chained, own) for _, chained, own in request_facts(run)} == {(False, 3)}
    before = len({one.connection for one in run.exchanges})
    ready = threading.Barrier(1)
    ask(5)
    assert len({one.connection for one in run.exchanges}) == before


@pytest.mark.parametrize("streamed", [True, False])
def test_an_error_is_typed_by_the_status_that_it_has(stateless: Any, run: ServerRun, *, streamed: bool) -> None:
    more = {"on_chunk": lambda text: None} if streamed else {}
    fail(run, Fault("status", status=429, retry_after=7))
    with pytest.raises(RateLimitError) as failure:
        stateless.complete([Message.user("Hello")], **more)
    assert failure.value.retry_after == 7
    fail(run, Fault("status", status=400))
    with pytest.raises(InvalidRequestError):
        stateless.complete([Message.user("Hello")], **more)
    fail(run, Fault("error-event", status=500, after="text"))
    with pytest.raises(OverloadedError):
        stateless.complete([Message.user("Hello")], **more)
    assert stateless.complete([Message.user("Hello")], **more).text == "You said: Hello"


def test_a_wrong_key_is_refused_at_the_handshake(run: ServerRun) -> None:
    assert WEBSOCKET.open_legacy is not None
    provider = WEBSOCKET.open_legacy(Endpoint(run.base_url, "sk-wrong", MODEL))
    with pytest.raises(AuthenticationError) as failure:
        provider.send_message("Hello")
    assert "sk-wrong" not in str(failure.value)
    provider.shutdown()


def test_the_key_is_in_no_log(legacy: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    legacy.send_message("Hello")
    assert KEY not in caplog.text


def test_behind_a_shutdown_there_is_no_connection_and_no_thread(run: ServerRun) -> None:
    before = threading.active_count()
    assert WEBSOCKET.open_legacy is not None
    provider = WEBSOCKET.open_legacy(Endpoint(run.base_url, KEY, MODEL))
    provider.send_message("Hello")
    provider.shutdown()
    assert run.open_connections(5) == 0
    assert threading.active_count() == before
    with pytest.raises(UsageError):
        provider.send_message("Hello")


@pytest.mark.long
def test_the_adapter_is_certified_over_sockets(tmp_path: Any) -> None:
    import subprocess
    import sys

    name = "turnproof_adapters.openai_responses.binding:WEBSOCKET"
    command = [sys.executable, "-m", "turnproof", "certify", name, "--backend", "emulate", "--jobs", "2"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "openai_responses_websocket is certified" in ended.stdout
