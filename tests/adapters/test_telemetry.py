"""What reference adapters tell of their answers reaches the spans: over HTTP, on both paths, whole and streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiProviderNameValues
from session.traced import Spans

from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import Response, RunKey
from turnproof.scenarios.loader import from_data

ADAPTERS = {"anthropic": "anthropic", "google_genai": "gcp.gemini"}
# Tests outlive models.
pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")

each_way = pytest.mark.parametrize(
    ("path", "mode"), [("stateless", "stream"), ("stateless", "batch"), ("legacy", "stream"), ("legacy", "batch")]
)


CACHED = from_data(
    {
        "title": "Two turns with a prefix that is long enough to be cached",
        "cache": True,
        "modes": ["stream", "batch"],
        "system": {"repeat": "Each of the twelve beds is watered when its sensor falls below a fifth. ", "times": 300},
        "turns": [{"user": "Bed {n}?", "model": "Bed {n} is dry.", "times": 3}],
    },
    "cached",
)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(in_process=True) as runner:
        yield runner


@each_way
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_usage_with_its_cache_figures_reaches_the_spans(
    adapter: str, path: Any, mode: Any, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = Spans()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", spans.provider)
    transcript = runner.run(RunSpec(adapter, CACHED, RunKey("cached", path, mode)))
    answers = [event.response for event in transcript.events if isinstance(event, Response)]
    calls = [dict[str, Any](span.attributes or {}) for span in spans.finished if span.name.startswith("chat ")]
    assert len(calls) == len(answers) == 3
    assert [_figures(call) for call in calls] == [
        (
            answer.usage.prompt_tokens,
            answer.usage.output_tokens,
            answer.usage.cache_read_tokens,
            answer.usage.cache_creation_tokens,
        )
        for answer in answers
    ]
    assert sum(answer.usage.cache_read_tokens for answer in answers) > 0
    assert {call["gen_ai.response.model"] for call in calls} == {answers[0].model} != {None}
    assert [call["gen_ai.response.finish_reasons"] for call in calls] == [(answer.raw_finish,) for answer in answers]
    assert {call["gen_ai.provider.name"] for call in calls} == {ADAPTERS[adapter]}


def _figures(call: dict[str, Any]) -> tuple[int, ...]:
    names = ("input_tokens", "output_tokens", "cache_read.input_tokens", "cache_creation.input_tokens")
    return tuple(call.get(f"gen_ai.usage.{name}", 0) for name in names)


def test_reference_adapters_have_names_of_the_conventions() -> None:
    assert set(ADAPTERS.values()) <= {value.value for value in GenAiProviderNameValues}
