"""Where the CPU time of a certification goes, and what the provider's SDK alone takes for the same requests.

    python benchmarks/bench_shares.py [openai | anthropic | openai_responses] [--depth quick|full] [--rounds 3]

The certification is made as `turnproof certify ADAPTER --backend emulate` makes it, in parts. CPU time is that of the
threads of this process and of all processes below it, so that other programs on the machine count for little.

The floor is the SDK's own call, with the same requests and the answers that were recorded, against a server in another
process that sends bytes. An adapter that uses the SDK's typed calls cannot take less; one that goes below them may. It
is measured with one client for all requests, and with a new client for each run, as an application starts. Requests
whose answer was a fault of the scenario or an error are left out, and reckoned at what the others take on average.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import inspect
import multiprocessing
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from turnproof._base.depth import DEPTHS
from turnproof._base.settings import Depth
from turnproof.commands.certify.campaign import Campaign
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.plan import plan, select
from turnproof.commands.certify.run_head import adapter_line, header
from turnproof.commands.certify.scenarios import chosen_scenarios, suite_scenarios
from turnproof.commands.certify.sweep import Sweep
from turnproof.judge.requirements import load_suite
from turnproof.judge.run_log import RequirementLine, read_run
from turnproof.judge.view import View
from turnproof.report import write_reports
from turnproof.report.begin_run import begin_run
from turnproof.run.backends import Backends, choose_backend
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner
from turnproof.run.driver.prefork import prepare
from turnproof.run.evidence import EvidenceStore


@dataclass(frozen=True)
class SdkCall:
    """The SDK's own call for the generating requests of an adapter: its client, and the method that takes the body."""

    client: str
    method: str
    base: str
    path: str


CALLS = {
    "openai": SdkCall("openai:OpenAI", "chat.completions.create", "/v1", "/chat/completions"),
    "openai_responses": SdkCall("openai:OpenAI", "responses.create", "/v1", "/responses"),
    "anthropic": SdkCall("anthropic:Anthropic", "messages.create", "", "/v1/messages"),
}


@dataclass(frozen=True)
class Shares:
    """Seconds of CPU of one certification, by part."""

    start: float
    imports: float
    workers: float
    emulator: float
    feeding: float
    evidence: float
    judging: float
    reporting: float


Exchanges = list[list[tuple[dict[str, Any], bytes]]]
"""For each run its requests, each with the bytes of the answer."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter", nargs="?", default="openai", choices=CALLS)
    parser.add_argument("--depth", choices=DEPTHS, default="full")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    shares, views = certification(options.adapter, options.depth)
    requests = sum(len(view.exchanges) for view in views)
    exchanges = exchanges_of(views, CALLS[options.adapter])
    replayed = sum(map(len, exchanges))
    if not replayed:
        print("no request of this certification can be made again by the SDK alone", file=sys.stderr)
        return 1
    print(
        f"{options.adapter}, {options.depth}: {len(views)} runs, {requests} requests, {replayed} of them made again\n"
    )
    one, each, server = floors(CALLS[options.adapter], exchanges, options.rounds)
    print_shares(shares, len(views), one * requests / replayed)
    print(
        f"\nThe SDK alone takes {1000 * one / replayed:.2f} ms a request with one client for all, "
        f"{1000 * each / replayed:.2f} ms with a new client for each run; the server of bytes "
        f"{1000 * server / replayed:.2f} ms."
    )
    return 0


def print_shares(shares: Shares, runs: int, sdk: float) -> None:
    """The table; `sdk` are the seconds that the SDK alone takes for all requests."""
    rows = (
        ("the SDK's own calls (the floor)", sdk),
        ("worker processes beside it: session, adapter, recording", shares.workers - sdk),
        ("emulator: HTTP server, reading, refusing and answering", shares.emulator),
        ("driver in the parent: jobs, messages of the workers, transcripts", shares.feeding),
        ("evidence: digest, file, view, which runs are made twice", shares.evidence),
        ("judging", shares.judging),
        ("reports", shares.reporting),
        ("start: imports of the command, suite, plan", shares.start),
        ("imports of the SDK, once for all workers", shares.imports),
    )
    total = sum(seconds for _, seconds in rows)
    print("| Part | CPU | A run | Share |\n|---|---|---|---|")
    for name, seconds in (*rows, ("all", total)):
        print(f"| {name} | {seconds:.2f} s | {1000 * seconds / runs:.1f} ms | {seconds / total:.0%} |")


# -- the certification ------------------------------------------------------------------------------------------------


def certification(adapter: str, depth: Depth) -> tuple[Shares, tuple[View, ...]]:
    """Certify an adapter, and take the time of each part."""
    gc.set_threshold(50_000, 10, 10)  # as the command does
    subject = resolve_subject(adapter)
    prepare(subject.modules)
    subjects = {adapter: subject}
    options = CertifyOptions(adapters=(adapter,), backend="emulate", depth=depth)
    backends = Backends({adapter: choose_backend(adapter, subject, "emulate")})
    suite = load_suite()
    every = suite_scenarios(suite)
    the_plan = plan(subjects, suite, chosen_scenarios(every, ()), select(suite, (), (), ()), depth=depth, showing=True)
    sweep = Sweep([adapter], ()) if depth == "full" else None
    with tempfile.TemporaryDirectory(prefix="turnproof-shares-") as name:
        out = Path(name)
        store = EvidenceStore(out / "evidence")
        with Runner(responders=backends) as runner, begin_run(out, store, ()) as writer:
            head = header(suite, subjects.values(), backends, options, reproduce=options.reproduce)
            writer.write(head)
            for requirement in suite.requirements:
                writer.write(RequirementLine.of(requirement, suite.registry.templates))
            writer.write(adapter_line(adapter, subject, backends, (run.scenario for run in the_plan.runs)))
            campaign = Campaign(the_plan, subjects, runner, store, every, writer, sweep=sweep, shown=suite.shown)
            start = time.process_time()
            server = next(one for one in threading.enumerate() if one.name == EMULATOR_THREAD)
            main_before, server_before = time.thread_time(), thread_seconds(server)
            campaign.measure()
            measured, main_after = time.process_time(), time.thread_time()
            emulator, evidence = thread_seconds(server) - server_before, main_after - main_before
            imports, workers = below()
            for item in the_plan.items:
                campaign.verdict(item)
            judged = time.process_time()
            for line in campaign.results:
                writer.write(line)
            writer.finish(0, 0.0)
        write_reports(read_run(out / "run.ndjson"), out, store)
        reported = time.process_time()
    shares = Shares(
        start=start,
        imports=imports,
        workers=workers,
        emulator=emulator,
        feeding=measured - start - emulator - evidence,
        evidence=evidence,
        judging=judged - measured,
        reporting=reported - judged,
    )
    return shares, campaign.views(adapter)


EMULATOR_THREAD = "turnproof-emulator"


def thread_seconds(thread: threading.Thread) -> float:
    """CPU time of a thread so far."""
    found = next(one for one in psutil.Process().threads() if one.id == thread.native_id)
    return float(found.user_time + found.system_time)


def below() -> tuple[float, float]:
    """CPU time of what is below this process: of the process that workers are forked from, and of all others, ended
    ones included."""
    imports = workers = 0.0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            user, system, ended_user, ended_system = child.cpu_times()[:4]
            own = user + system
            if any("forkserver" in word for word in child.cmdline()) and child.ppid() == psutil.Process().pid:
                imports += own
            else:
                workers += own
            workers += ended_user + ended_system
    return imports, workers


# -- the floor --------------------------------------------------------------------------------------------------------


def exchanges_of(views: Sequence[View], call: SdkCall) -> Exchanges:
    """The requests of each run that the SDK can make again, with whole and right answers."""
    found: Exchanges = []
    for view in views:
        own_requests = []
        for exchange in view.exchanges:
            request, response = exchange.request, exchange.response
            if response is None or response.status != 200 or response.fault is not None:
                continue
            if (
                response.ended == "completed"
                and request.path.split("?")[0].endswith(call.path)
                and isinstance(request.body, dict)
            ):
                kind = response.headers.get("content-type", "application/json")
                own_requests.append((request.body, answer_bytes(kind, response.bytes_sent)))
        if own_requests:
            found.append(own_requests)
    return found


def answer_bytes(kind: str, body: bytes) -> bytes:
    """An answer as it goes over the socket."""
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def floors(call: SdkCall, exchanges: Exchanges, rounds: int) -> tuple[float, float, float]:
    """Seconds that the SDK takes for all requests with one client and with one for each run, and those of the server:
    the median of so many rounds, after one that does not count."""
    module, _, name = call.client.partition(":")
    open_client: Callable[..., Any] = getattr(importlib.import_module(module), name)
    one, each, server = list[float](), list[float](), list[float]()
    for number in range(rounds + 1):
        for found, per_run in ((one, False), (each, True)):
            with byte_server([answer for run in exchanges for _, answer in run]) as (port, seconds):
                address = f"http://127.0.0.1:{port}{call.base}"
                began = time.process_time()
                replay(call, partial(open_client, base_url=address, api_key="none", max_retries=0), exchanges, per_run)
                used = time.process_time() - began
                answering = seconds()
            if number:
                found.append(used)
                server.append(answering)
    return statistics.median(one), statistics.median(each), statistics.median(server)


def replay(call: SdkCall, open_client: Callable[[], Any], exchanges: Exchanges, per_run: bool) -> None:
    client = open_client()
    for run in exchanges:
        if per_run:
            client.close()
            client = open_client()
        create = client
        for name in call.method.split("."):
            create = getattr(create, name)
        named = inspect.signature(create).parameters.keys()
        for body, _ in run:
            known = {name: value for name, value in body.items() if name in named}
            more = {name: value for name, value in body.items() if name not in named}
            answer = create(**known, extra_body=more or None)
            if body.get("stream"):
                for _ in answer:
                    pass
    client.close()


@contextlib.contextmanager
def byte_server(answers: Sequence[bytes]) -> Iterator[tuple[int, Callable[[], float]]]:
    """A process that answers the first request with the first answer, and so on: its port, and its CPU time so far."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=serve, args=(theirs, answers), daemon=True)
    process.start()
    try:
        yield ours.recv(), lambda: sum(psutil.Process(process.pid).cpu_times()[:2])
    finally:
        process.kill()
        process.join()


def serve(line: Connection, answers: Sequence[bytes]) -> None:
    """Answer one request after the other, whatever it is."""
    waiting = iter(answers)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line.send(listener.getsockname()[1])
        while True:
            client, _ = listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with client, client.makefile("rb") as incoming:
                while (length := request_length(incoming)) is not None:
                    incoming.read(length)
                    client.sendall(next(waiting))


def request_length(incoming: Any) -> int | None:
    """The length of the body of the next request, whose head is read; None where there is no further one."""
    length = 0
    while (row := incoming.readline()) not in (b"\r\n", b""):
        name, _, value = row.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return length if row else None


if __name__ == "__main__":
    sys.exit(main())
