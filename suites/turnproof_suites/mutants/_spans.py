"""A wrapper around any session whose spans can be changed on their way to the SDK.

A subclass overrides what happens when a span begins, gets attributes or a status, or ends. `WrappedSpan` is the span as
the session has it; the one in the SDK is its `inner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode, Tracer, TracerProvider, use_span
from opentelemetry.util.types import AttributeValue

from turnproof.subject import SessionSetup

from ._session import BrokenSession

Attributes = Mapping[str, AttributeValue]
Start = Callable[..., Span]
"""Begins a span, by the keyword arguments of `Tracer.start_span`."""


class BrokenSpans(BrokenSession):
    """Passes every span on as it is."""

    def start_span(self, start: Start, attributes: Attributes, **options: Any) -> Span:
        """A span begins with these attributes; `options` has what else `start` takes."""
        return start(attributes=attributes, **options)

    def change_attributes(self, span: WrappedSpan, attributes: Attributes) -> Attributes:
        """What a span says of itself, at its start or later."""
        return attributes

    def set_span_status(self, span: WrappedSpan, status: Status) -> None:
        """A span gets a status."""
        span.inner.set_status(status)

    def end_span(self, span: WrappedSpan, at: int | None) -> None:
        """A span ends."""
        span.inner.end(at)

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(self._with_tracer(setup))

    def load_handle(self, setup: SessionSetup, saved: str) -> Any:
        return super().load_handle(self._with_tracer(setup), saved)

    def _with_tracer(self, setup: SessionSetup) -> SessionSetup:
        options = setup.tracer_provider
        return setup if options is None else replace(setup, tracer_provider=_Provider(options, self))


class WrappedSpan(Span):
    """A span that asks the wrapper first. `failed` is the wrapper's to use."""

    def __init__(self, session: BrokenSpans, start: Start, attributes: Attributes, options: Mapping[str, Any]) -> None:
        self.session = session
        self.failed = False
        self.inner = session.start_span(start, session.change_attributes(self, attributes), **options)

    def end(self, end_time: int | None = None) -> None:
        self.session.end_span(self, end_time)

    def set_attributes(self, attributes: Attributes) -> None:
        self.inner.set_attributes(self.session.change_attributes(self, attributes))

    def set_attribute(self, key: str, value: AttributeValue) -> None:
        self.set_attributes({key: value})

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        self.session.set_span_status(self, status if isinstance(status, Status) else Status(status, description))

    def get_span_context(self) -> SpanContext:
        return self.inner.get_span_context()

    def is_recording(self) -> bool:
        return self.inner.is_recording()

    def update_name(self, name: str) -> None:
        self.inner.update_name(name)

    def add_event(self, *options: Any, **named: Any) -> None:
        self.inner.add_event(*options, **named)

    def record_exception(self, *options: Any, **named: Any) -> None:
        self.inner.record_exception(*options, **named)


class _Provider(TracerProvider):
    def __init__(self, inner: TracerProvider, session: BrokenSpans) -> None:
        self._inner, self._session = inner, session

    def get_tracer(self, *options: Any, **named: Any) -> Tracer:
        return _Tracer(self._inner.get_tracer(*options, **named), self._session)


class _Tracer(Tracer):
    def __init__(self, inner: Tracer, session: BrokenSpans) -> None:
        self._inner, self._session = inner, session

    def start_span(
        self,
        name: str,
        context: Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Attributes | None = None,
        links: Any = None,
        start_time: int | None = None,
        record_exception: bool = True,
        set_status_on_exception: bool = True,
    ) -> Span:
        options = {"name": name, "context": context, "kind": kind, "links": links, "start_time": start_time}
        on_error = {"record_exception": record_exception, "set_status_on_exception": set_status_on_exception}
        return WrappedSpan(self._session, self._inner.start_span, attributes or {}, {**options, **on_error})

    @contextmanager
    def start_as_current_span(  # type: ignore[override]  # the API's own can be a decorator as well
        self, name: str, *options: Any, end_on_exit: bool = True, **named: Any
    ) -> Iterator[Span]:
        on_error = {key: named[key] for key in ("record_exception", "set_status_on_exception") if key in named}
        with use_span(self.start_span(name, *options, **named), end_on_exit=end_on_exit, **on_error) as span:
            yield span
