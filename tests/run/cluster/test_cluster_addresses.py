"""The address of a cluster: what is refused is refused before anything is sent, and within seconds."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from run.cluster.clusters import subjects
from turnproof.errors import UsageError
from turnproof.run.backends import Backends, Choice
from turnproof.run.cluster import connection
from turnproof.run.cluster.connection import check_address
from turnproof.run.cluster.options import ClusterOptions
from turnproof.run.places import run_place
from turnproof.wire.controls import CONTROLS

ADAPTER = CONTROLS["anthropic-messages"]


@pytest.mark.parametrize("address", ["local:1", "tcp://127.0.0.1:8786", "tcp://localhost:1", "tls://scheduler:8786"])
def test_what_stays_here_or_is_encrypted_is_an_address(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    "address", ["", "local", "local:0", "local:x", "10.0.0.1:8786", "http://127.0.0.1:1", "tcp://127.0.0.1", "tls://:1"]
)
def test_what_is_no_address_is_refused_with_what_is_one(address: str) -> None:
    with pytest.raises(UsageError, match="name a scheduler as tls://HOST:PORT"):
        check_address(address)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tcp://scheduler:8786", "tcp://[2001:db8::1]:8786"])
def test_another_machine_is_not_spoken_to_in_the_clear(address: str) -> None:
    with pytest.raises(UsageError, match="neither encrypted nor on this machine"):
        check_address(address)


def test_a_live_key_never_goes_to_a_cluster() -> None:
    backends = Backends({ADAPTER: Choice("live")})
    with pytest.raises(UsageError, match=f"{ADAPTER} is live: a key never leaves this machine"):
        run_place(ClusterOptions("local:1"), subjects(ADAPTER), responders=backends)


def test_a_cluster_elsewhere_needs_a_folder_that_all_share() -> None:
    with pytest.raises(UsageError, match="name the folder that all machines of the cluster share"):
        run_place(ClusterOptions("tls://scheduler:8786"), subjects(ADAPTER))


def test_in_process_is_about_this_machine() -> None:
    with pytest.raises(UsageError, match="leave --in-process away"):
        run_place(ClusterOptions("local:1"), subjects(ADAPTER), in_process=True)


def test_without_the_extra_the_command_to_install_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'turnproof\[cluster\]'"):
        run_place(ClusterOptions("local:1"), subjects(ADAPTER)).__enter__()


@contextlib.contextmanager
def mute_server() -> Iterator[int]:
    """Something that takes connections and says nothing; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_take_connections, args=(server,), daemon=True).start()
        yield server.getsockname()[1]


def _take_connections(server: socket.socket) -> None:
    connections = []
    with contextlib.suppress(OSError):
        while True:
            connections.append(server.accept())


def test_an_address_where_something_else_answers_is_told_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(connection, "CONNECT_LIMIT", 1.0)
    began = time.monotonic()
    with mute_server() as port, pytest.raises(UsageError, match=f"127.0.0.1:{port}: no scheduler answers there"):
        run_place(ClusterOptions(f"tcp://127.0.0.1:{port}"), subjects(ADAPTER)).__enter__()
    assert time.monotonic() - began < 10


def test_an_address_where_nobody_answers_is_told_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(connection, "CONNECT_LIMIT", 1.0)
    with pytest.raises(UsageError, match="no scheduler answers there"):
        run_place(ClusterOptions("tcp://127.0.0.1:1"), subjects(ADAPTER)).__enter__()


def test_a_cluster_without_workers_is_told_with_the_command_that_starts_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    from run.cluster.clusters import dask_cluster

    monkeypatch.setattr(connection, "WORKERS_LIMIT", 0.5)
    with dask_cluster(0, str(tmp_path)) as dask, pytest.raises(UsageError, match="start some with `dask worker tcp://"):
        run_place(ClusterOptions(dask.scheduler_address), subjects(ADAPTER)).__enter__()
