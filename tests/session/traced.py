"""Sessions whose spans are kept in memory, and those spans as trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse
from turnproof.session import Session, Tracing

from .fakes import Play, Step, open_session, reply, tool

Talk: TypeAlias = Callable[[Session], object]
"""What is done with a session."""


@dataclass(frozen=True)
class Node:
    """A span by what it says, with its children in the order in which they began."""

    name: str
    kind: str
    attributes: dict[str, Any]
    failed: bool
    children: tuple[Node, ...]

    def lines(self, depth: int = 0) -> Iterator[str]:
        """An outline: name, how it ended, and what hangs below it."""
        end = self.attributes.get("error.type") if self.failed else self.attributes.get("turnproof.outcome")
        yield "  " * depth + self.name + (f" [{end}]" if end else "")
        for child in self.children:
            yield from child.lines(depth + 1)


class Began(SpanProcessor):
    """The ids of spans in the order in which they began. Their times are of a clock that may be set back."""

    def __init__(self) -> None:
        self.ids: list[int] = []

    def on_start(self, span: ReadableSpan, parent_context: object = None) -> None:
        self.ids.append(span.context.span_id)


class Spans:
    """A tracer provider that keeps what it is told. Give `tracing()` to sessions."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self._began = Began()
        self.provider.add_span_processor(self._began)
        self.tracer = self.provider.get_tracer("test")

    def tracing(self, **options: Any) -> Tracing:
        return Tracing(self.tracer, **options)

    @property
    def finished(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        """The one span of that name."""
        (found,) = (span for span in self.finished if span.name == name)
        return found

    def trees(self, without: tuple[str, ...] = ()) -> tuple[Node, ...]:
        """All spans, each below its parent; some attributes left out."""
        return self._below(None, without)

    def outline(self) -> list[str]:
        return [line for tree in self.trees() for line in tree.lines()]

    def _below(self, parent: int | None, without: tuple[str, ...]) -> tuple[Node, ...]:
        here = [span for span in self.finished if (span.parent.span_id if span.parent else None) == parent]
        return tuple(
            Node(
                name=span.name,
                kind=span.kind.name,
                attributes={key: value for key, value in (span.attributes or {}).items() if key not in without},
                failed=span.status.status_code is StatusCode.ERROR,
                children=self._below(span.context.span_id, without),
            )
            for span in sorted(here, key=lambda span: self._began.ids.index(span.context.span_id))
        )


def open_traced(spans: Spans, path: str, *steps: Step, **options: Any) -> Session:
    """A session on a scripted provider that is called the same on both paths."""
    options.setdefault("tracing", spans.tracing())
    session, provider = open_session(path, *steps, **options)
    provider.name, provider.model_name = "fake", "fake-1"
    return session


def all_text(spans: Spans) -> str:
    """Everything that the spans hold, as one text to search in."""
    return "\n".join(span.to_json() for span in spans.finished)


def say(session: Session) -> None:
    """One turn in one piece."""
    session.send("Hi")


def stream(session: Session) -> None:
    """One turn, streamed."""
    session.send("Hi", on_chunk=lambda piece: None, on_usage_update=lambda usage: None)


def fails(error: type[BaseException], talk: Talk = say) -> Talk:
    """The same, raising."""

    def failing(session: Session) -> None:
        with pytest.raises(error):
            talk(session)

    return failing


def raising(error: BaseException) -> Callable[..., Any]:
    """A function that always raises this."""

    def run(*_: Any) -> Any:
        raise error

    return run


def cut(play: Play) -> ProviderResponse:
    """The turn is cancelled in the middle of this answer."""
    play.stream("Let me")
    play.token.cancel()
    return reply("Let me", finish="cancelled")


def twice(session: Session) -> None:
    """Two turns."""
    session.send("Hi")
    session.send("And?")


def collected(session: Session) -> None:
    """Two turns, a collection, and one more."""
    twice(session)
    session.collect(keep_turns=1)
    session.send("So?")


def _cancels(args: dict[str, Any], token: CancelToken) -> None:
    token.cancel()
    token.raise_if_cancelled()


TOOLS = (tool(), tool("fail", raising(TimeoutError("no sensor"))), tool("stop", _cancels))
"""One that works, one that fails, and one in which the turn is cancelled."""
