"""Connects to a cluster. Nothing else here uses `dask.distributed`.

Nothing is sent unless it is encrypted or stays on this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from ..._base.counts import counted
from ..._base.loopback import is_loopback
from ...errors import HarnessError, UsageError
from . import host_process

CONNECT_LIMIT = 5.0
"""Seconds that a scheduler has to answer."""

WORKERS_LIMIT = 10.0
"""Seconds that a cluster has to show its first worker."""

_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")


def check_address(address: str) -> None:
    """Raises UsageError for what is no address of a cluster, and for one that would be spoken to in the clear."""
    if _LOCAL.fullmatch(address):
        return
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("tcp", "tls") or not parts.hostname or port is None:
        raise UsageError(
            f"--cluster {address}: name a scheduler as tls://HOST:PORT, or tcp://127.0.0.1:PORT on this machine, "
            "or local:N for N workers that end with the command"
        )
    _refuse_clear(address, "--cluster")


def _refuse_clear(address: str, what: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "tls" and not is_loopback(parts.hostname or ""):
        raise UsageError(
            f"{what} {address}: neither encrypted nor on this machine, so anybody on the way could run code; "
            "give scheduler, workers and this command certificates, and name it as tls:// (docs/cluster.md)"
        )


@contextmanager
def standing(address: str) -> Iterator[str]:
    """The address of a cluster that several runners connect to, one after the other: that of the scheduler of
    `local:N`, which is started once and ends with the `with`, and any other as it is."""
    local = _LOCAL.fullmatch(address)
    if local is None:
        yield address
        return
    check_installed()
    with _local_cluster(int(local[1])) as cluster:
        yield str(cluster.scheduler_address)


def check_installed() -> None:
    """Raise UsageError where the extra is not installed."""
    if find_spec("distributed") is None:
        raise UsageError("--cluster needs dask.distributed: pip install 'turnproof[cluster]'")


def is_on_this_machine(address: str) -> bool:
    """Whether the cluster, or its scheduler, is on this machine."""
    return _LOCAL.fullmatch(address) is not None or is_loopback(urlsplit(address).hostname or "")


class Cluster:
    """A connection to a cluster, while the `with` lasts. `local:N` starts one, which ends with it.

    Raises UsageError where nobody answers, there is no worker, or the extra is not installed.
    """

    def __init__(self, address: str) -> None:
        check_address(address)
        self.address = address
        self._stack = ExitStack()
        self._client: Any = None
        self._futures: dict[str, Any] = {}

    def __enter__(self) -> Cluster:
        check_installed()
        with self._stack:
            self._connect()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def dashboard(self) -> str:
        """The address of the cluster's own dashboard; empty without one."""
        return str(self._client.dashboard_link) if self._client.scheduler_info(n_workers=0)["services"] else ""

    def threads(self) -> Mapping[str, int]:
        """The workers by address, with how many batches each makes at a time.

        Raises UsageError for one that is spoken to in the clear, and HarnessError where the scheduler is gone.
        """
        with self._speaking():
            found: Mapping[str, int] = self._client.nthreads()
        for worker in found:
            _refuse_clear(worker, "the cluster's worker")
        return found

    def check_workers(self, setup: bytes) -> Mapping[str, bytes | str]:
        """What each worker, by its address, answers to a setup: an encoded `Answer`, or why it gave none, as text."""
        with self._speaking():
            found = self._client.run(host_process.check, setup, on_error="return")
        return {worker: one if isinstance(one, bytes) else _words(one) for worker, one in found.items()}

    def forget(self, setup: bytes) -> None:
        """Let the workers end what they have started for a setup."""
        with contextlib.suppress(Exception):
            self._client.run(host_process.forget, setup, on_error="ignore")

    def submit(self, name: str, setup: bytes, batch: bytes, ended: Callable[[str], None]) -> None:
        """Let a worker make a batch; `ended` is called with its name, from another thread, when that is over."""
        with self._speaking():
            future = self._client.submit(host_process.run_batch, setup, batch, key=f"turnproof-{name}", pure=False)
        self._futures[name] = future
        future.add_done_callback(lambda _: ended(name))

    def outcome(self, name: str) -> bytes | str:
        """What a worker answered to a batch: an encoded `Answer`, or how the batch was lost, as text. To be read once.

        Raises UsageError where a worker has no turnproof, and HarnessError where the scheduler is gone.
        """
        future = self._futures.pop(name)
        try:
            with self._speaking():
                answer = future.result(timeout=CONNECT_LIMIT)
            return answer if isinstance(answer, bytes) else "its answer is none of ours"
        except UsageError:
            raise
        except (Exception, CancelledError) as error:
            if isinstance(error, ModuleNotFoundError):
                raise UsageError(f"a worker of the cluster has no turnproof: {error}") from error
            if self._client.status != "running":
                raise HarnessError(self._gone_message()) from error
            return _words(error)
        finally:
            future.release()

    def cancel(self) -> None:
        """Drop all batches that have not ended."""
        with contextlib.suppress(Exception):
            self._client.cancel([*self._futures.values()], force=True)
        self._futures.clear()

    @property
    def is_connected(self) -> bool:
        """Whether the scheduler is there."""
        return bool(self._client.status == "running")

    def _gone_message(self) -> str:
        return f"the scheduler at {self.address} is gone; start it again, then go on with --resume"

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Raise HarnessError where the scheduler ends while it is spoken to."""
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            if self.is_connected:
                raise
            raise HarnessError(self._gone_message()) from error

    def _connect(self) -> None:
        import dask

        # Errors here name lost workers; the log of distributed would repeat them with tracebacks.
        dask.config.set({"logging.distributed": "critical", "distributed.client.security-loader": None})
        from distributed import Client

        stack = self._stack
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        local = _LOCAL.fullmatch(self.address)
        if local is None:
            self._look_for_scheduler()
        scheduler: Any = stack.enter_context(_local_cluster(int(local[1]))) if local else self.address
        try:
            self._client = Client(scheduler, timeout=CONNECT_LIMIT, set_as_default=False)
        except Exception as error:
            raise UsageError(self._nobody(_words(error))) from error
        stack.callback(self._client.close, timeout=2)
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_LIMIT)
        except Exception as error:
            raise UsageError(
                f"--cluster {self.address}: the cluster has no worker after {WORKERS_LIMIT:g} s; start some with "
                f"`dask worker {self.address}`"
            ) from error

    def _look_for_scheduler(self) -> None:
        """Raise UsageError where no scheduler is. A client would wait for long where something else answers."""
        try:
            kind = asyncio.run(_kind_at(self.address))
        except Exception as error:  # what stands at an address may be anything
            if "ssl_context" in str(error):
                raise UsageError(
                    f"--cluster {self.address}: Dask's configuration names no certificates for tls://, see "
                    "distributed.comm.tls there (docs/cluster.md)"
                ) from error
            raise UsageError(self._nobody(_words(error))) from error
        if kind != "Scheduler":
            raise UsageError(self._nobody(f"it is a {kind}"))

    def _nobody(self, reason: str) -> str:
        return (
            f"--cluster {self.address}: no scheduler answers there ({reason}); start one with `dask scheduler` and "
            "name the address that it tells"
        )


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """A cluster of this command's own, on this machine."""
    import dask

    # Errors here name lost workers; the log of distributed would repeat them with tracebacks.
    dask.config.set({"logging.distributed": "critical", "distributed.client.security-loader": None})
    from distributed import LocalCluster

    with tempfile.TemporaryDirectory(prefix="turnproof-dask-", ignore_cleanup_errors=True) as folder:
        try:
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                local_directory=folder,
                silence_logs=50,
            )
        except Exception as error:
            what = counted(workers, "worker")
            raise HarnessError(f"a cluster of {what} could not be started here: {_words(error)}") from error
        with contextlib.closing(cluster):
            yield cluster


async def _kind_at(address: str) -> str:
    """What of Dask is at an address: a scheduler or a worker."""
    from distributed.core import connect
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    line = await asyncio.wait_for(connect(address, timeout=CONNECT_LIMIT, **arguments), CONNECT_LIMIT)
    try:
        await line.write({"op": "identity", "reply": True})
        found = await asyncio.wait_for(line.read(), CONNECT_LIMIT)
    finally:
        line.abort()
    return str(found["type"])


def _words(error: object) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0][:300]
