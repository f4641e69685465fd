"""Spans that are broken on purpose: a wrapper that changes nothing by itself, and what each mutant makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanKind, StatusCode, Tracer, get_current_span

from turnproof.cancel import CancelToken
from turnproof.messages import ToolSchema
from turnproof.run.driver.mutation import mutant_named
from turnproof.subject import SessionBinding, SessionReply, SessionSetup, SessionTurn, Tool
from turnproof_suites.mutants import BrokenSpans
from turnproof_suites.mutants._session import broken_binding

Make = Callable[[Tracer], None]


class Exported:
    """What a session exports in one turn, in which it does nothing but `make` spans."""

    def __init__(self, make: Make, breaking: Callable[[SessionBinding], SessionBinding] = lambda inner: inner) -> None:
        exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        binding = breaking(_binding(make))
        session = binding.open(setup(provider))
        token = CancelToken()
        token.cancel()
        binding.send(session, "Water bed 3.", SessionTurn(token))
        self.spans = exporter.get_finished_spans()

    def __getitem__(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.spans if span.name == name)
        return found


def _binding(make: Make) -> SessionBinding:
    def opened(setup: SessionSetup) -> Tracer:
        assert setup.tracer_provider is not None
        return setup.tracer_provider.get_tracer("made", "1.0")

    def send(tracer: Tracer, text: str, turn: SessionTurn) -> SessionReply:
        make(tracer)
        return SessionReply("Done.")

    return SessionBinding("made", opened, send, history=lambda tracer: [], spans=True)


def setup(provider: TracerProvider | None) -> SessionSetup:
    """A setup of which nothing but the provider is looked at."""
    opened_with: Any = SessionSetup
    return opened_with(*[None] * 9, tracer_provider=provider)  # type: ignore[no-any-return]


def everything(tracer: Tracer) -> None:
    """Every way of making a span and of telling it something."""
    with tracer.start_as_current_span("invoke_agent", attributes={"a": 1}) as turn:
        assert get_current_span() is turn
        assert turn.is_recording()
        call = tracer.start_span("chat", None, SpanKind.CLIENT, {"gen_ai.operation.name": "chat"}, None, 5)
        call.set_attribute("b", 2)
        call.set_attributes({"c": 3})
        call.add_event("noted", {"d": 4})
        call.update_name("chat m")
        call.set_status(StatusCode.ERROR, "it broke")
        call.end(9)
        with pytest.raises(ValueError), tracer.start_as_current_span("loud"):
            raise ValueError("told")
        with pytest.raises(ValueError), tracer.start_as_current_span("quiet", record_exception=False):
            raise ValueError("not told")
        tracer.start_span("linked", links=[Link(turn.get_span_context())]).end()
        turn.record_exception(KeyError("x"))


def seen(span: ReadableSpan) -> tuple[Any, ...]:
    events = [(event.name, event.attributes and event.attributes.get("exception.type")) for event in span.events]
    parent = span.parent is not None
    return (span.name, span.kind, dict(span.attributes or {}), span.status.status_code, events, parent, len(span.links))


def test_what_is_not_broken_is_exported_as_it_is() -> None:
    plain = Exported(everything)
    wrapped = Exported(everything, lambda inner: broken_binding(BrokenSpans, inner))
    assert [seen(span) for span in wrapped.spans] == [seen(span) for span in plain.spans]
    assert (wrapped["chat m"].start_time, wrapped["chat m"].end_time) == (5, 9)
    assert len(plain.spans) == 5


def test_a_session_without_a_provider_is_left_alone() -> None:
    session = broken_binding(BrokenSpans, replace(_binding(lambda tracer: None), open=lambda setup: setup))
    assert session.open(setup(None)).handle.tracer_provider is None


def turn(tracer: Tracer) -> None:
    """A turn with a call that was cached, a tool that failed, and a wait."""
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        call_attributes = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic"}
        figures = {"input_tokens": 100, "cache_read.input_tokens": 70, "cache_creation.input_tokens": 20}
        with tracer.start_as_current_span("chat", attributes=call_attributes) as call:
            tracer.start_span("retry").end()
            call.set_attributes({f"gen_ai.usage.{name}": value for name, value in figures.items()})
        tool_attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": "c1",
            "error.type": "TimeoutError",
        }
        tool = tracer.start_span("execute_tool", attributes=tool_attributes)
        tool.set_status(StatusCode.ERROR)
        tool.end()


def of(name: str) -> Exported:
    binding = mutant_named(name).session
    assert binding is not None
    return Exported(turn, binding)


def status(name: str, span: str) -> StatusCode:
    return of(name)[span].status.status_code


def attributes(name: str, span: str) -> dict[str, Any]:
    return dict(of(name)[span].attributes or {})


def test_a_tool_that_has_lost_the_context_runs_under_no_span() -> None:
    binding = mutant_named("context-lost-in-tools").session
    assert binding is not None
    seen: list[bool] = []
    look = Tool(
        ToolSchema("look", "Look"), lambda args, token: seen.append(get_current_span().get_span_context().is_valid)
    )

    def opened(session_setup: SessionSetup) -> tuple[Tool, ...]:
        return session_setup.tools

    session = binding(replace(_binding(lambda tracer: None), open=opened)).open(replace(setup(None), tools=(look,)))
    with TracerProvider(shutdown_on_exit=False).get_tracer("test").start_as_current_span("execute_tool"):
        for tool in (look, *session.handle):
            tool.run({}, CancelToken())
        assert get_current_span().get_span_context().is_valid
    assert seen == [True, False]


def test_each_mutant_breaks_what_it_says() -> None:
    assert of("tool-spans-on-their-own")["execute_tool"].parent is None
    assert [span.name for span in of("failed-spans-left-open").spans] == ["retry", "chat", "invoke_agent"]
    assert "gen_ai.provider.name" not in attributes("provider-not-named", "chat")
    assert attributes("cached-tokens-left-out", "chat")["gen_ai.usage.input_tokens"] == 10
    assert status("failures-not-marked", "execute_tool") is StatusCode.UNSET
    assert status("handled-failures-marked", "invoke_agent") is StatusCode.ERROR
    assert attributes("prompts-recorded", "invoke_agent")["input.value"] == "Water bed 3."
    assert attributes("errors-alike-on-the-legacy-path", "execute_tool")["error.type"] == "provider_error"
    assert status("cancel-marked-as-error", "chat") is StatusCode.ERROR
    assert [span.name for span in of("only-calls-have-spans").spans] == ["chat", "execute_tool", "invoke_agent"]
    assert "gen_ai.tool.call.id" not in attributes("ids-of-calls-not-told", "execute_tool")
