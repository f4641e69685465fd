"""Connections of every kind can be cut: through TLS, during its handshake, and through a proxy."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, TransportError
from turnproof.messages import FinishReason, Message, ProviderResponse
from turnproof_adapters._http import Connection
from turnproof_adapters._interrupt import Cut, _Backend
from turnproof_adapters.anthropic.client import open_client

from ..background_call import BackgroundCall, wait_until
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, ScriptedServer, scripted
from .kit import KEY, answer, start, stateless, text

HI = [Message.user("hi")]
# A handshake takes part in the time that there is to connect.
pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 with its key, made for this run."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is needed to make a certificate")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(file), "-out", str(file) + ".crt"),
        ],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + Path(str(file) + ".crt").read_bytes())
    return file


@contextmanager
def tls_in_front(url: str, certificate: Path, wait: threading.Event | None = None) -> Iterator[str]:
    """A TLS terminator before a plain server; with `wait` it does not shake hands before that is set."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    port = int(url.rpartition(":")[2])

    def open_target(client: socket.socket) -> tuple[socket.socket, socket.socket]:
        if wait is not None:
            wait.wait(LIMIT)
        return context.wrap_socket(client, server_side=True), socket.create_connection(("127.0.0.1", port))

    with relay(open_target) as relayed:
        yield relayed.replace("http:", "https:")


@contextmanager
def relay(open_target: Callable[[socket.socket], tuple[socket.socket, socket.socket]]) -> Iterator[str]:
    """Passes bytes both ways between each client and the target opened for it; closing travels too."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for each in (source, sink):
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    each.close()

    def serve(client: socket.socket) -> None:
        try:
            near, far = open_target(client)
        except OSError:
            client.close()
            return
        threading.Thread(target=pump, args=(far, near), daemon=True).start()
        pump(near, far)

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        # Whoever waits for a client notices a shutdown, and no mere close().
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join(LIMIT)
        listener.close()


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certificate)


def write_and_hold(stall: threading.Event) -> Callable[[Exchange], None]:
    def script(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(start())
        stall.set()
        exchange.wait_for_hangup()

    return script


def assert_cut(running: BackgroundCall[ProviderResponse], stall: threading.Event, server: ScriptedServer) -> None:
    """A call whose stream has begun returns as cancelled, and its connection is closed."""
    assert stall.wait(LIMIT)
    running.token.cancel()
    response = running.result()
    assert isinstance(response, ProviderResponse), response
    assert response.finish_reason is FinishReason.CANCELLED
    assert server.hung_up.wait(LIMIT)


def test_a_silent_stream_through_tls_is_cut(certificate: Path) -> None:
    stall = threading.Event()
    with scripted(write_and_hold(stall)) as server, tls_in_front(server.url, certificate) as url:
        provider = stateless(url, ssl_context=trusting(certificate))
        recorder = CallbackRecorder()
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token, **recorder.callbacks))
        assert_cut(running, stall, server)


def test_calls_through_tls_work_and_share_a_connection(certificate: Path) -> None:
    reply = answer(text("hi"))
    with scripted(lambda exchange: exchange.answer(reply)) as server, tls_in_front(server.url, certificate) as url:
        provider = stateless(url, ssl_context=trusting(certificate))
        assert [provider.complete(HI).text for _ in range(3)] == ["hi"] * 3
        assert server.connections == 1
        with pytest.raises(TransportError):
            stateless(url).complete(HI)


def test_a_call_that_is_still_shaking_hands_is_cut_and_counts_as_never_sent(certificate: Path) -> None:
    go = threading.Event()
    with scripted(lambda exchange: exchange.answer({})) as server, tls_in_front(server.url, certificate, go) as url:
        provider = stateless(url, ssl_context=trusting(certificate))
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token))
        wait_until(lambda: "do_handshake" in running.frames)
        running.token.cancel()
        assert isinstance(running.result(), Cancelled)
        go.set()


def test_a_call_is_cut_through_a_proxy_and_before_the_proxy_has_opened_its_tunnel(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy_request, open_up, stall = threading.Event(), threading.Event(), threading.Event()

    def tunnel(client: socket.socket) -> tuple[socket.socket, socket.socket]:
        assert b"CONNECT api.invalid:443" in client.recv(65536)
        proxy_request.set()
        open_up.wait(LIMIT)
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return client, socket.create_connection(("127.0.0.1", int(terminator.rpartition(":")[2])))

    context = trusting(certificate)
    context.check_hostname = False
    with (
        scripted(write_and_hold(stall)) as server,
        tls_in_front(server.url, certificate) as terminator,
        relay(tunnel) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        provider = stateless("https://api.invalid", ssl_context=context)
        running = BackgroundCall(
            lambda token: provider.complete(HI, cancel_token=token, **CallbackRecorder().callbacks)
        )
        assert proxy_request.wait(LIMIT)
        running.token.cancel()
        assert isinstance(running.result(), Cancelled)
        open_up.set()
        running = BackgroundCall(
            lambda token: provider.complete(HI, cancel_token=token, **CallbackRecorder().callbacks)
        )
        assert_cut(running, stall, server)


def test_the_http_client_still_lets_its_connections_be_watched() -> None:
    """Two private names of httpx2 are used; this fails first if a new version moves them."""
    client = open_client(Connection(), "http://127.0.0.1:1", KEY)
    assert isinstance(client._client, httpx2.Client)
    assert isinstance(client._client._transport._pool._network_backend, _Backend)  # type: ignore[attr-defined]


def test_a_cut_may_fire_before_during_and_after_and_more_than_once() -> None:
    cut, token = Cut(), CancelToken()
    with scripted(lambda exchange: exchange.answer(answer(text("hi")))) as server:
        provider = stateless(server.url)
        assert provider.complete(HI, cancel_token=token).text == "hi"
        token.cancel()
        assert provider.complete(HI).text == "hi"
        for _ in range(2):
            cut.fire()
        with cut.in_force(), pytest.raises(TransportError):
            # On a connection of the pool, on a new one: a call that was ended writes nothing.
            provider.list_models()
        with cut.in_force(), pytest.raises(TransportError):
            stateless(server.url).list_models()
        assert not cut.written
        assert len(server.requests) == 2
