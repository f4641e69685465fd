"""What the machine lets turnproof do: listen and call on loopback, start processes, write reports, print symbols."""

from __future__ import annotations

import http.client
import locale
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.request import getproxies, proxy_bypass

from ...errors import HarnessError
from ...wire.emulator import EmulatorServer
from .model import Diagnostic, ok, warning, wrong

AREA = "machine"
_LOOPBACK = "127.0.0.1"
_START = 60.0
"""Seconds that a worker process may take to start on a busy machine."""
_SYMBOLS = "✓✗–…"


def machine(out: Path) -> Iterator[Diagnostic]:
    """Everything that does not depend on what is installed."""
    yield folder(out)
    yield _loopback()
    yield proxies()
    yield workers()
    yield the_clock(time.time())
    yield encoding(sys.stdout.encoding or "")


def folder(out: Path) -> Diagnostic:
    """Whether reports can be written: to the folder, or to where it would be made."""
    place = next((each for each in (out, *out.absolute().parents) if each.exists()), Path.cwd())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        advice = "give another folder with --out, or out in [tool.turnproof]"
        return wrong(AREA, "reports", f"{place} cannot be written: {error.strerror or error}", advice)
    return ok(AREA, "reports", f"{out} can be written")


def _loopback() -> Diagnostic:
    try:
        with EmulatorServer() as server:
            connection = http.client.HTTPConnection(_LOOPBACK, server.port, timeout=30)
            connection.request("GET", "/run/nobody/")
            status = connection.getresponse().status
            connection.close()
    except (OSError, HarnessError) as error:
        advice = "let this process listen and connect on 127.0.0.1 (sandbox, container, firewall)"
        return wrong(AREA, "loopback", f"the emulator cannot be reached on {_LOOPBACK}: {error}", advice)
    if status != 404:
        advice = "find out what answers on loopback instead (a proxy, a security product)"
        return wrong(AREA, "loopback", f"something else answers for the emulator, with status {status}", advice)
    return ok(AREA, "loopback", f"the emulator listens and answers on {_LOOPBACK}")


def proxies() -> Diagnostic:
    """Whether a proxy of the environment would catch what is meant for loopback. Its address is not told: it may have
    a password."""
    kinds = [kind for kind in getproxies() if kind in ("http", "https", "all")]
    names = ", ".join(f"{kind}_proxy" for kind in kinds)
    if not kinds:
        return ok(AREA, "proxies", "none is set")
    if proxy_bypass(_LOOPBACK):
        return ok(AREA, "proxies", f"{names} is set, and not for {_LOOPBACK}")
    advice = f"export NO_PROXY={_LOOPBACK},localhost: an adapter's client may hand its requests to the proxy"
    return warning(AREA, "proxies", f"{names} is set, also for {_LOOPBACK}", advice)


def workers() -> Diagnostic:
    """Whether a process can be started as a run's worker is."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    began = time.monotonic()
    process = context.Process(target=_hello, args=(theirs,), daemon=True)
    try:
        process.start()
        theirs.close()
        message = ours.recv() if ours.poll(_START) else ""
    except (OSError, EOFError, RuntimeError) as error:
        message = f"{type(error).__name__}: {error}"
    finally:
        if process.pid is not None:
            process.join(timeout=1)
            process.kill()
        ours.close()
    if message != "hello":
        advice = "let it start processes, or certify with --in-process"
        return wrong(AREA, "workers", f"a worker process does not start: {message or 'no word from it'}", advice)
    return ok(AREA, "workers", f"a worker process starts, in {time.monotonic() - began:.1f} s")


def _hello(line: Connection) -> None:
    line.send("hello")


def the_clock(now: float) -> Diagnostic:
    """Whether the clock is later than the files of this installation; known issues expire by it."""
    written = max(file.stat().st_mtime for file in Path(__file__).parents[1].glob("*.py"))
    day = time.strftime("%Y-%m-%d", time.gmtime(now))
    if now < written - 86400:
        advice = "set the clock: known issues expire by it, and reports are dated"
        return warning(AREA, "clock", f"it answers {day}, and turnproof was installed later than that", advice)
    return ok(AREA, "clock", day)


def encoding(name: str) -> Diagnostic:
    """Whether the symbols of reports can be printed; each has its word beside it."""
    message = f"output {name or 'unknown'}, files {sys.getfilesystemencoding()}, locale {locale.getlocale()[0] or 'C'}"
    try:
        _SYMBOLS.encode(name)
    except (LookupError, UnicodeEncodeError):
        return warning(
            AREA, "encoding", f"{message}: symbols are printed as ?", "export PYTHONUTF8=1, or a UTF-8 locale"
        )
    return ok(AREA, "encoding", message)
