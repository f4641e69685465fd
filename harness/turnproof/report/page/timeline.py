"""When a run called the adapter and when the adapter called the API, drawn as bars on one line of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..._base.counts import counted
from ...run.transcript import CallBegan, Transcript, WireRequest, WireResponse

_WIDTH, _ROW, _LEAST = 640, 14, 2
"""The width of the picture, the height of a row and the least width of a bar, in pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A call of the adapter (`call`) or an exchange on the wire (`exchange`), in pixels and in words."""

    kind: str
    words: str
    x: float
    y: int
    width: float
    height: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Calls and exchanges in the order in which they began."""

    title: str
    width: int
    height: int
    bars: tuple[Bar, ...]


def timeline(transcript: Transcript) -> Timeline | None:
    """The time line of a run; None where nobody measured its times, as in evidence from before they were kept."""
    spans = sorted(_spans(transcript), key=lambda span: (span[1], span[0] != "call"))
    if not spans:
        return None
    begin = spans[0][1]
    total = max(max(at + length for _, at, length, _ in spans) - begin, 0.1)
    rows = {name: row for row, name in enumerate(dict.fromkeys(kind for kind, *_ in spans))}
    bars = tuple(
        Bar(
            kind,
            f"{name}: {ms(length)}, from {ms(at - begin)}",
            round((at - begin) / total * (_WIDTH - _LEAST), 1),
            rows[kind] * (_ROW + 3),
            round(max(_LEAST, length / total * (_WIDTH - _LEAST)), 1),
            _ROW,
        )
        for kind, at, length, name in spans
    )
    calls, exchanges = (counted(sum(bar.kind == kind for bar in bars), kind) for kind in ("call", "exchange"))
    return Timeline(f"{calls} and {exchanges} in {ms(total)}", _WIDTH, len(rows) * (_ROW + 3), bars)


def ms(value: float) -> str:
    """Milliseconds in words: `12 ms`, `0.4 ms`, `3.2 s`."""
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def _spans(transcript: Transcript) -> Iterator[tuple[str, float, float, str]]:
    took = {event.exchange: event.ms for event in transcript.of(WireResponse)}
    for event in transcript.events:
        if event.probe:
            continue
        if isinstance(event, CallBegan) and event.at_ms is not None and event.ms is not None:
            yield "call", event.at_ms, event.ms, f"turn {event.turn}, call {event.call}"
        elif isinstance(event, WireRequest) and event.at_ms is not None:
            length = took.get(event.exchange)
            if length is not None:
                yield "exchange", event.at_ms, length, f"exchange {event.exchange}, {event.method} {event.path}"
