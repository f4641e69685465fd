"""Purity probes: the run's calls once more, on a fresh object, in another order, from several threads and loops.

`complete()` must send the same bytes each time; the server gives an identical request the identical reply, so
only the requests are of interest.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..._base.coroutines import in_fresh_loops
from ..transcript import CallBegan, Response
from .job import Job
from .recorder import Recorder
from .tap import failed

LOOPS = 2
"""Calls that are made again in an event loop of their own: what belongs to the first shows in the second."""


def run_probes(job: Job, recorder: Recorder, calls: Sequence[CallBegan], open_provider: Callable[[], Any]) -> None:
    """Re-send the calls that were answered, as the scenario's `probes` ask."""
    for probe in job.scenario.probes:
        recorder.probe = probe
        recorder.control.ask("probe", probe)
        match probe:
            case "fresh":
                for call in calls:
                    _resend(open_provider(), call, recorder)
            case "reversed":
                provider = open_provider()
                for call in reversed(calls):
                    _resend(provider, call, recorder)
            case "threads":
                _from_threads(open_provider(), calls, recorder)
            case "loops":
                _from_loops(open_provider(), calls, recorder)
    recorder.probe = ""
    recorder.control.ask("probe", "")


def _from_loops(provider: Any, calls: Sequence[CallBegan], recorder: Recorder) -> None:
    """Each call from inside an event loop of its own, one after the other: as programs do that call `asyncio.run()`."""

    async def inside(call: CallBegan) -> None:
        _resend(provider, call, recorder)

    with in_fresh_loops():
        for call in calls[:LOOPS]:
            asyncio.run(inside(call))


def _resend(provider: Any, call: CallBegan, recorder: Recorder) -> None:
    recorder.call = call.call
    recorder.begin(msgspec.structs.replace(call, probe=recorder.probe, turn=-1))
    where = recorder.place
    try:
        response = _complete(provider, call)
    except Exception as error:
        recorder.end()
        recorder.event(failed("call", error, recorder.raised(error), **where))
        return
    recorder.end()
    recorder.event(Response(response=msgspec.structs.replace(response, raw=None), **where))


def _complete(provider: Any, call: CallBegan) -> Any:
    chunks: list[str] = []
    return provider.complete(
        list(call.messages),
        call.system,
        list(call.tools) or None,
        response_schema=call.response_schema,
        on_chunk=chunks.append if call.streamed else None,
    )


def _from_threads(provider: Any, calls: Sequence[CallBegan], recorder: Recorder) -> None:
    """All calls at once through one object. Which exchange is whose is told by its bytes alone."""
    results: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run_probe(position: int) -> None:
        barrier.wait()
        try:
            results[position] = _complete(provider, calls[position])
        except Exception as error:
            results[position] = error

    threads = [threading.Thread(target=run_probe, args=(n,), daemon=True) for n in range(len(calls))]
    recorder.call = -1
    recorder.control.ask("call-begins", (-1, recorder.probe))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    recorder.end()
    for call, result in zip(calls, results, strict=True):
        where: dict[str, Any] = {"turn": -1, "call": call.call, "probe": recorder.probe}
        if isinstance(result, BaseException):
            recorder.event(failed("call", result, recorder.raised(result), **where))
        elif result is not None:
            recorder.event(Response(response=msgspec.structs.replace(result, raw=None), **where))
