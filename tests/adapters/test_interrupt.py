"""A cut takes hold of the connections of its thread, from before their first packet; plain sockets on both ends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpcore2
import pytest

from turnproof_adapters import _interrupt
from turnproof_adapters._interrupt import Cut, CutOff, TcpLine, _Backend, _Stream


class Inner(httpcore2.NetworkStream):
    """Keeps what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.done.append(("read", max_bytes, timeout))
        return b"data"

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.done.append(("write", buffer, timeout))

    def close(self) -> None:
        self.done.append(("close",))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Inner:
        self.done.append(("start_tls", ssl_context, server_hostname, timeout))
        return self

    def get_extra_info(self, info: str) -> str:
        return f"the {info}"


class Ends:
    """Two ends of one connection: `line` is ours, `peer` the other side's."""

    def __init__(self) -> None:
        ours, self.peer = socket.socketpair()
        self.line = TcpLine(ours)
        self._ours = ours

    @property
    def is_shut(self) -> bool:
        self.peer.setblocking(False)
        try:
            return self.peer.recv(1) == b""
        except BlockingIOError:
            return False

    def close(self) -> None:
        self.line.close()
        self._ours.close()
        self.peer.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    opened = Ends()
    yield opened
    opened.close()


@pytest.fixture
def other() -> Iterator[Ends]:
    opened = Ends()
    yield opened
    opened.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        yield opened


def connect(listener: socket.socket, **options: Any) -> _Stream:
    return _Backend().connect_tcp("127.0.0.1", listener.getsockname()[1], **options)


# -- a cut and its connection


def test_a_cut_that_has_taken_nothing_ends_nothing_and_lets_nothing_begin(ends: Ends) -> None:
    cut = Cut()
    cut.fire()
    with pytest.raises(CutOff):
        cut.use_line(ends.line, writes=True)
    with pytest.raises(CutOff):
        cut.use_line(ends.line, writes=False)
    assert (cut.written, ends.is_shut) == (False, False)


@pytest.mark.parametrize("writes", [True, False])
def test_a_cut_ends_the_connection_that_it_has_taken(ends: Ends, writes: bool) -> None:
    cut = Cut()
    cut.use_line(ends.line, writes=writes)
    assert cut.written is writes
    assert not ends.is_shut
    cut.fire()
    assert ends.is_shut
    cut.fire()


def test_only_the_last_connection_of_a_call_is_ended(ends: Ends, other: Ends) -> None:
    cut = Cut()
    cut.use_line(ends.line, writes=True)
    cut.use_line(other.line, writes=True)
    cut.fire()
    assert (ends.is_shut, other.is_shut) == (False, True)


def test_a_connection_that_another_call_uses_by_now_is_left_alone(ends: Ends) -> None:
    earlier, later = Cut(), Cut()
    earlier.use_line(ends.line, writes=True)
    later.use_line(ends.line, writes=True)
    earlier.fire()
    assert not ends.is_shut
    later.fire()
    assert ends.is_shut


def test_a_request_that_is_begun_may_be_written_to_its_end_after_the_cut(ends: Ends) -> None:
    cut = Cut()
    cut.use_line(ends.line, writes=True)
    cut.fire()
    cut.use_line(ends.line, writes=True)
    with pytest.raises(CutOff):
        cut.use_line(ends.line, writes=False)


def test_the_way_to_a_proxy_is_not_the_request(ends: Ends) -> None:
    cut = Cut()
    cut.use_line(ends.line, writes=False)
    cut.fire()
    with pytest.raises(CutOff):
        cut.use_line(ends.line, writes=True)


def test_a_request_sent_again_over_another_connection_may_be_written_after_the_cut(ends: Ends, other: Ends) -> None:
    cut = Cut()
    cut.use_line(ends.line, writes=True)
    cut.fire()
    cut.use_line(other.line, writes=True)
    assert not other.is_shut


def test_ending_a_connection_that_is_not_connected_is_no_failure() -> None:
    with socket.socket() as unconnected:
        line, cut = TcpLine(unconnected), Cut()
        cut.use_line(line, writes=False)
        cut.fire()
        line.close()


# -- a stream


@pytest.mark.parametrize(
    ("timeout", "brief", "expected"),
    [(None, False, None), (5.0, False, 5.0), (None, True, Cut.PATIENCE), (5.0, True, Cut.PATIENCE), (0.1, True, 0.1)],
)
def test_a_read_waits_as_long_as_asked_and_only_briefly_behind_the_end(
    ends: Ends, timeout: float | None, brief: bool, expected: float | None
) -> None:
    inner, cut = Inner(), Cut()
    stream = _Stream(inner, ends.line)
    with cut.in_force():
        if brief:
            cut.be_brief()
        assert stream.read(100, timeout) == b"data"
    assert inner.done == [("read", 100, expected)]


def test_without_a_call_in_force_a_stream_reads_writes_and_belongs_to_nobody(ends: Ends) -> None:
    inner, cut, failures = Inner(), Cut(), list[BaseException]()
    stream = _Stream(inner, ends.line)
    with cut.in_force():
        stream.write(b"GET / HTTP/1.1", 3.0)

    def elsewhere() -> None:
        try:
            stream.write(b"more", 4.0)
            stream.read(10, 5.0)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert failures == []
    assert inner.done == [("write", b"GET / HTTP/1.1", 3.0), ("write", b"more", 4.0), ("read", 10, 5.0)]
    cut.fire()
    assert not ends.is_shut


@pytest.mark.parametrize(
    ("data", "written"), [(b"CONNECT host:443 HTTP/1.1", False), (b"POST / HTTP/1.1", True), (b"CONNECTED", True)]
)
def test_asking_a_proxy_for_a_tunnel_is_no_request(ends: Ends, data: bytes, written: bool) -> None:
    cut = Cut()
    with cut.in_force():
        _Stream(Inner(), ends.line).write(data)
    assert cut.written is written


def test_an_empty_write_is_none(ends: Ends) -> None:
    inner, cut = Inner(), Cut()
    with cut.in_force():
        _Stream(inner, ends.line).write(b"")
    assert (inner.done, cut.written) == ([], False)


def test_a_stream_tells_of_its_socket(ends: Ends) -> None:
    assert _Stream(Inner(), ends.line).get_extra_info("socket") == "the socket"


def test_tls_is_laid_over_a_connection_that_stays_with_the_call(ends: Ends) -> None:
    inner, cut, context = Inner(), Cut(), object()
    covered = _Stream(inner, ends.line).start_tls(context, "host", 4.0)
    with cut.in_force():
        covered.write(b"POST /", 5.0)
    assert inner.done == [("start_tls", context, "host", 4.0), ("write", b"POST /", 5.0)]
    cut.fire()
    assert ends.is_shut


def test_the_call_before_is_in_force_again_afterwards(ends: Ends) -> None:
    outer, inner = Cut(), Cut()
    with outer.in_force():
        with inner.in_force():
            pass
        _Stream(Inner(), ends.line).write(b"POST /")
    assert (outer.written, inner.written) == (True, False)


# -- connecting


def test_a_connection_is_quick_and_kept_alive_through_long_silences(listener: socket.socket) -> None:
    stream = connect(listener)
    opened: socket.socket = stream.get_extra_info("socket")
    tcp = {name: opened.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in KEPT_ALIVE}
    assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert tcp == KEPT_ALIVE
    stream.close()


# As anthropic 2.12 has them (`DefaultHttpxClient`), in seconds and probes.
KEPT_ALIVE = {
    name: value
    for name, value in {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 60, "TCP_KEEPCNT": 5}.items()
    if hasattr(socket, name)
}


def test_options_of_the_caller_come_on_top(listener: socket.socket) -> None:
    stream = connect(listener, socket_options=[(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 0)])
    assert stream.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 0
    stream.close()


def test_a_connection_has_its_time_limit_and_its_own_address(listener: socket.socket) -> None:
    stream = connect(listener, timeout=7.5, local_address="127.0.0.2")
    opened: socket.socket = stream.get_extra_info("socket")
    address, port = opened.getsockname()
    assert (opened.gettimeout(), address) == (7.5, "127.0.0.2")
    assert port >= 1024  # any that is free
    stream.close()


def test_a_connection_belongs_to_the_call_from_the_first_moment_and_nothing_counts_as_written(
    listener: socket.socket,
) -> None:
    cut = Cut()
    with cut.in_force():
        stream = connect(listener)
    peer, _ = listener.accept()
    peer.settimeout(60)
    assert cut.written is False
    cut.fire()
    assert peer.recv(1) == b""
    stream.close()
    peer.close()


def test_a_call_that_was_cut_connects_to_nothing(listener: socket.socket) -> None:
    cut = Cut()
    cut.fire()
    with cut.in_force(), pytest.raises(httpcore2.NetworkError):
        connect(listener)
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_a_refused_connection_and_an_unknown_name_are_connect_errors() -> None:
    with socket.socket() as taken_port:
        # Nobody listens, and nobody else can meanwhile.
        taken_port.bind(("127.0.0.1", 0))
        for host, words in (("127.0.0.1", "refused"), ("nowhere.invalid", r"\w+ .*\w+")):
            with pytest.raises(httpcore2.ConnectError, match=words):
                _Backend().connect_tcp(host, taken_port.getsockname()[1])


def test_the_host_that_is_named_is_the_one_connected_to() -> None:
    with socket.create_server(("127.0.0.3", 0)) as there:
        stream = _Backend().connect_tcp("127.0.0.3", there.getsockname()[1])
        assert stream.get_extra_info("socket").getpeername() == there.getsockname()
        stream.close()


def test_a_connection_that_takes_too_long_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(*_: object) -> None:
        raise TimeoutError("timed out")

    monkeypatch.setattr(_interrupt, "_connect", too_long)
    with pytest.raises(httpcore2.ConnectTimeout, match="timed out"):
        _Backend().connect_tcp("127.0.0.1", 9)


def test_a_pause_between_attempts_is_as_long_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("turnproof_adapters._interrupt.time.sleep", slept.append)
    _Backend().sleep(0.5)
    assert slept == [0.5]
