"""The OpenTelemetry spans of a run, taken from the SDK as an exporter would get them.

What may differ from one run to the next without meaning anything is replaced: ids by a place in the tree, times by how
far the conversation had come. Which setting of OpenTelemetry stands in the environment makes no difference.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from inspect import signature
from itertools import groupby
from typing import Any, Literal

import msgspec
from opentelemetry.context import Context
from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import StatusCode

from ..._base.canonical import canonical
from ..transcript import SpanMade
from .recorder import Recorder, in_child

_STATUS: Mapping[StatusCode, Literal["unset", "ok", "error"]] = {
    StatusCode.UNSET: "unset",
    StatusCode.OK: "ok",
    StatusCode.ERROR: "error",
}


@dataclass(slots=True)
class _Watched:
    """A span, with how far the run had come when it began and when it ended."""

    span: ReadableSpan
    turn: int
    during: str
    began: int
    ended: int | None = None


class RunSpans:
    """The spans that begin while this run is the one that goes on. `provider` makes them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._watched: dict[int, _Watched] = {}
        self._lock = threading.Lock()
        self.provider, self._current = _process_wide()
        self._current.run = self
        self._tracer = self.provider.get_tracer("turnproof.driver")
        recorder.at_work = self._work

    def _work(self, tool: str) -> None:
        """A span such as an instrumented client makes in a tool, or in a provider: it shows which one is current."""
        if self._recorder.doing:  # and not in a probe, which calls a provider past the session
            self._tracer.start_span("turnproof.work", attributes={"turnproof.work.tool": tool}).end()

    def began(self, span: ReadableSpan) -> None:
        """A span has begun."""
        recorder = self._recorder
        during = "child" if in_child.get() else recorder.doing
        with self._lock:
            self._watched[_id(span)] = _Watched(span, recorder.turn, during, recorder.call + 1)

    def ended(self, span: ReadableSpan) -> None:
        """A span has ended; one of an earlier run is no concern of this one."""
        with self._lock:
            if (watched := self._watched.get(_id(span))) is not None:
                watched.ended = self._recorder.call + 1

    def close(self) -> None:
        """The run is over: record them all, as a tree."""
        self._current.run = None
        with self._lock:
            every = list(self._watched.values())
        numbers: dict[int, int] = {}
        for number, watched in enumerate(_in_order(every)):
            numbers[_id(watched.span)] = number
            self._recorder.event(_event(watched, number, numbers, self._recorder.call + 1))


class _Current(SpanProcessor):
    """Passes spans on to the run that goes on."""

    run: RunSpans | None = None

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        if (run := self.run) is not None:
            run.began(span)

    def on_end(self, span: ReadableSpan) -> None:
        if (run := self.run) is not None:
            run.ended(span)


@cache
def _process_wide() -> tuple[TracerProvider, _Current]:
    """One tracer provider for all runs: what is instrumented, or made global, can be so only once in a process."""
    current = _Current()
    unlimited = SpanLimits(**dict.fromkeys(signature(SpanLimits).parameters, SpanLimits.UNSET))
    with _enabled():
        provider = TracerProvider(ALWAYS_ON, Resource.get_empty(), shutdown_on_exit=False, span_limits=unlimited)
    provider.add_span_processor(current)
    return provider, current


@contextmanager
def _enabled() -> Iterator[None]:
    """The SDK reads once, when a provider is made, whether it has been turned off."""
    found = os.environ.pop(OTEL_SDK_DISABLED, None)
    try:
        yield
    finally:
        if found is not None:
            os.environ[OTEL_SDK_DISABLED] = found


def _in_order(every: Iterable[_Watched]) -> Iterator[_Watched]:
    """Parents first; a span whose parent belongs to nobody here has none."""
    every = list(every)
    known = {_id(watched.span) for watched in every}
    below: dict[int | None, list[_Watched]] = defaultdict(list)
    for watched in every:
        parent = watched.span.parent.span_id if watched.span.parent is not None else None
        below[parent if parent in known else None].append(watched)

    def walk(parent: int | None) -> Iterator[_Watched]:
        for watched in _siblings(below[parent]):
            yield watched
            yield from walk(_id(watched.span))

    yield from walk(None)


def _siblings(spans: Iterable[_Watched]) -> Iterator[_Watched]:
    """As they began; tool calls that follow each other by what they say, since they may have begun at once."""
    for at_once, group in groupby(spans, key=_calls_a_tool):
        neighbours = list(group)
        yield from sorted(neighbours, key=_content) if at_once else neighbours


def _calls_a_tool(watched: _Watched) -> bool:
    return (watched.span.attributes or {}).get("gen_ai.operation.name") == "execute_tool"


def _content(watched: _Watched) -> tuple[int, bytes]:
    span = watched.span
    return watched.began, canonical([span.name, _attributes(span.attributes)])


def _event(watched: _Watched, number: int, numbers: Mapping[int, int], calls: int) -> SpanMade:
    span, parent = watched.span, watched.span.parent
    return SpanMade(
        turn=watched.turn,
        span=number,
        parent=numbers.get(parent.span_id, -1) if parent is not None else -1,
        name=span.name,
        kind=span.kind.name.lower(),
        attributes=_attributes(span.attributes),
        status=_STATUS[span.status.status_code],
        description=span.status.description or "",
        notes=tuple({"name": one.name, "attributes": _attributes(one.attributes)} for one in span.events),
        during=watched.during,
        calls=(watched.began, watched.ended if watched.ended is not None else calls),
        ended=watched.ended is not None,
    )


def _attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Sorted, since the order in which attributes were set says nothing."""
    return {name: _plain(value) for name, value in sorted((attributes or {}).items())}


def _plain(value: Any) -> Any:
    """A value as JSON has it; by its `repr` where JSON has none."""
    plain = list(value) if isinstance(value, tuple) else value
    try:
        canonical(plain)
    except (TypeError, ValueError, msgspec.MsgspecError):
        return repr(value)
    return plain


def _id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None  # of a span that was made, and not of one that stands for none
    return context.span_id
