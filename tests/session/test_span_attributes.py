"""What the spans of a session say, in the names of the conventions for generative AI."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes, http_attributes
from opentelemetry.trace import SpanKind, StatusCode

from turnproof.errors import InvalidRequestError, OverloadedError, RateLimitError
from turnproof.gc import TruncateGC
from turnproof.messages import ProviderResponse, TokenUsage
from turnproof.session import Approval, RetryPolicy, tracing

from .fakes import PATHS, call, open_session, reply
from .traced import TOOLS, Spans, Talk, collected, cut, fails, open_traced, say, stream

both = pytest.mark.parametrize("path", PATHS)


@pytest.fixture
def spans() -> Spans:
    return Spans()


USAGE = TokenUsage(
    prompt_tokens=1000,
    output_tokens=70,
    total_tokens=1070,
    cache_read_tokens=800,
    cache_creation_tokens=150,
    thinking_tokens=40,
)


@both
@pytest.mark.parametrize("talk", [say, stream], ids=["batch", "streamed"])
def test_a_call_has_the_attributes_of_the_conventions(path: str, talk: Talk, spans: Spans) -> None:
    response = reply("Hello")
    answer = ProviderResponse(
        response.parts, USAGE, response.finish_reason, raw_finish="end_turn", model="fake-1-20261120"
    )
    session = open_traced(spans, path, tracing=spans.tracing(agent="gardener", conversation="beds"))
    session.provider.script.play = lambda kwargs: answer  # type: ignore[union-attr]
    talk(session)
    span = spans.named("chat fake-1")
    streamed = {"gen_ai.request.stream": True} if talk is stream else {}
    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "fake-1",
        "gen_ai.conversation.id": "beds",
        "gen_ai.response.model": "fake-1-20261120",
        "gen_ai.response.finish_reasons": ("end_turn",),
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 70,
        "gen_ai.usage.cache_read.input_tokens": 800,
        "gen_ai.usage.cache_creation.input_tokens": 150,
        "gen_ai.usage.reasoning.output_tokens": 40,
        "turnproof.outcome": "answer",
        **streamed,
    }
    turn = spans.named("invoke_agent gardener")
    assert turn.kind is SpanKind.INTERNAL
    assert dict(turn.attributes or {}) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "gardener",
        "gen_ai.conversation.id": "beds",
        "turnproof.path": path,
        "turnproof.outcome": "answer",
        "turnproof.turn.rounds": 1,
        "turnproof.turn.attempts": 1,
    }


def test_structured_output_is_asked_for_as_json(spans: Spans) -> None:
    session = open_traced(spans, "stateless", reply("{}"))
    session.send("Hi", response_schema={"type": "object"})
    assert (spans.named("chat fake-1").attributes or {})["gen_ai.output.type"] == "json"


@both
def test_a_retry_says_why_and_how_long(path: str, spans: Spans) -> None:
    errors = OverloadedError("busy", status=529), RateLimitError("slow down", retry_after=7.0)
    say(open_traced(spans, path, *errors, reply("Hello"), retry=RetryPolicy(base=2.0, jitter=0)))
    first, second = (span for span in spans.finished if span.name == "retry")
    assert dict(first.attributes or {}) == {
        "turnproof.retry.attempt": 1,
        "turnproof.retry.delay": 2.0,
        "turnproof.retry.cause": "OverloadedError",
        "http.response.status_code": 529,
    }
    assert dict(second.attributes or {}) == {
        "turnproof.retry.attempt": 2,
        "turnproof.retry.delay": 7.0,
        "turnproof.retry.cause": "RateLimitError",
    }
    assert (spans.named("invoke_agent").attributes or {})["turnproof.turn.attempts"] == 3


def test_a_failed_call_has_its_status_and_type(spans: Spans) -> None:
    fails(InvalidRequestError)(open_traced(spans, "stateless", InvalidRequestError("no", status=400)))
    for name in ("chat fake-1", "invoke_agent"):
        span = spans.named(name)
        assert span.status.status_code is StatusCode.ERROR
        assert (span.attributes or {})["error.type"] == "InvalidRequestError"
        assert (span.attributes or {})["http.response.status_code"] == 400


def test_a_cancelled_turn_is_no_error(spans: Spans) -> None:
    stream(open_traced(spans, "stateless", cut))
    for span in spans.finished:
        assert span.status.status_code is StatusCode.UNSET
        assert (span.attributes or {})["turnproof.outcome"] == "cancelled"
        assert "error.type" not in (span.attributes or {})


def test_a_collection_says_why_and_how_much(spans: Spans) -> None:
    collected(open_traced(spans, "stateless", reply("one"), reply("two"), reply("three")))
    found = dict(spans.named("collect").attributes or {})
    before, after = found.pop("turnproof.gc.tokens.before"), found.pop("turnproof.gc.tokens.after")
    assert found == {
        "turnproof.gc.reason": "manual",
        "turnproof.gc.messages.before": 4,
        "turnproof.gc.messages.after": 2,
    }
    assert 0 < after < before  # type: ignore[operator]


def test_a_failed_collection_is_an_error_of_its_own_span(spans: Spans) -> None:
    class Broken(TruncateGC):
        def collect(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("no summary")

    session = open_traced(spans, "stateless", reply("one"), reply("two"), gc=Broken())
    session.send("Hi")
    session.collect()
    session.send("And?")
    span = spans.named("collect")
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == "collection_failed"


@pytest.mark.parametrize("granted", [True, False])
def test_permission_says_what_was_decided(granted: bool, spans: Spans) -> None:
    say(
        open_traced(
            spans,
            "stateless",
            reply(call("look", "c1")),
            reply("So"),
            tools=TOOLS,
            approve=lambda call, token: Approval(granted),
        )
    )
    assert dict(spans.named("permission").attributes or {}) == {
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "c1",
        "turnproof.permission.granted": granted,
    }


def test_every_foreign_name_stands_in_the_conventions(spans: Spans) -> None:
    steps = (
        OverloadedError("busy", status=529),
        reply(call("look", "c1"), call("fail", "c2")),
        reply("Found"),
        InvalidRequestError("no", status=400),
    )
    options: dict[str, Any] = {"approve": lambda call, token: Approval(True), "tools": TOOLS, "system": "Be brief."}
    session = open_traced(spans, "stateless", *steps, tracing=spans.tracing(capture_content=True), **options)
    stream(session)
    fails(InvalidRequestError)(session)
    session.collect(keep_turns=1)
    names = {name for span in spans.finished for name in span.attributes or {} if not name.startswith("turnproof.")}
    modules = (gen_ai_attributes, error_attributes, http_attributes)
    known = {value for module in modules for value in vars(module).values() if isinstance(value, str)}
    assert len(names) > 15
    assert names <= known
    operations = {value.value for value in gen_ai_attributes.GenAiOperationNameValues}
    used = {(span.attributes or {}).get("gen_ai.operation.name", "chat") for span in spans.finished}
    assert used == {"chat", "execute_tool", "invoke_agent"} <= operations


def test_a_provider_is_named_as_conventions_know_it() -> None:
    class Named:
        telemetry_name = "gcp.gemini"
        name = "google_genai"

    class Plain:
        name = "acme"

    assert [tracing.provider_name(one) for one in (Named(), Plain(), object())] == ["gcp.gemini", "acme", "object"]


def test_a_swapped_provider_is_named_from_then_on(spans: Spans) -> None:
    session = open_traced(spans, "stateless", reply("one"))
    _, other = open_session("legacy", reply("two"))
    other.name, other.model_name = "other", "other-1"
    session.send("Hi")
    session.swap(other, path="legacy")
    session.send("And?")
    assert [span.name for span in spans.finished if span.name.startswith("chat")] == ["chat fake-1", "chat other-1"]
