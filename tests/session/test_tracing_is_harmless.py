"""Without an SDK spans cost next to nothing, and one that raises changes no turn."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.trace import NoOpTracer

from turnproof.errors import OverloadedError
from turnproof.session import Tracing, tracing
from turnproof.session import spans as spans_module

from .fakes import PATHS, call, open_session, reply, tool
from .traced import TOOLS, Spans, open_traced, raising

both = pytest.mark.parametrize("path", PATHS)


@pytest.fixture
def spans() -> Spans:
    return Spans()


@both
def test_nothing_is_worked_out_where_nothing_records(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out: list[str] = []
    for name in ("captured_messages", "captured_system", "captured_response", "captured_json", "usage_attributes"):
        monkeypatch.setattr(spans_module, name, lambda *_, name=name: worked_out.append(name))
    monkeypatch.setattr(tracing, "captured_json", lambda *_: worked_out.append("captured_json"))
    session, _ = open_session(
        path, reply(call()), reply("Found"), tools=[tool()], tracing=Tracing(NoOpTracer(), capture_content=True)
    )
    assert session.send("Hi").text == "Found"
    assert worked_out == []


def test_a_session_uses_the_global_tracer_provider_even_if_it_comes_later(
    spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = open_session("stateless", reply("one"), reply("two"))
    session.send("Hi")
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", spans.provider)
    session.send("And?")
    assert [span.name for span in spans.finished] == ["chat", "invoke_agent"]
    scope = spans.finished[0].instrumentation_scope
    assert scope is not None
    assert scope.name == "turnproof.session"


class Broken(SpanProcessor):
    """Raises wherever it is asked."""

    def on_start(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("no disk")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("no disk")


class BrokenAtTheEnd(Broken):
    def on_start(self, *_: Any, **__: Any) -> None:
        pass


@both
@pytest.mark.parametrize("processor", [Broken, BrokenAtTheEnd])
def test_telemetry_that_raises_changes_no_turn(
    path: str, processor: type[SpanProcessor], spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    spans.provider.add_span_processor(processor())
    steps = OverloadedError("busy"), reply(call("look", "c1"), call("fail", "c2")), reply("Found")
    session = open_traced(spans, path, *steps, tools=TOOLS)
    assert session.send("Hi").text == "Found"
    assert [message.role for message in session.history.messages] == ["user", "model", "tool", "model"]
    assert "no disk" in caplog.text


def test_a_provider_that_cannot_say_its_model_is_called_all_the_same(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    session = open_traced(spans, "stateless", reply("Hello"))

    class Shy(type(session.provider)):  # type: ignore[misc]
        @property
        def model_name(self) -> str:
            raise RuntimeError("not connected")

    del session.provider.model_name  # type: ignore[union-attr]
    session.provider.__class__ = Shy
    assert session.send("Hi").text == "Hello"
    assert [span.name for span in spans.finished] == ["chat", "invoke_agent"]
    assert "not connected" in caplog.text


def test_content_that_cannot_be_told_costs_nothing_else(
    spans: Spans, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(spans_module, "captured_response", raising(ValueError("too large")))
    session = open_traced(spans, "stateless", reply("Hello"), tracing=spans.tracing(capture_content=True))
    assert session.send("Hi").text == "Hello"
    assert (spans.named("chat fake-1").attributes or {})["gen_ai.usage.input_tokens"] == 10
    assert "too large" in caplog.text
