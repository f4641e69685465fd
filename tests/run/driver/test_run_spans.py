"""The spans of runs: taken from the SDK, the same whenever the run is the same, and only where they are judged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, StatusCode, TraceFlags, Tracer, set_span_in_context
from suites.cases import suite

from turnproof.commands.certify.decide import Claimed, decide
from turnproof.dialects import dialect
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.spans import _process_wide
from turnproof.run.evidence import EvidenceStore, digest
from turnproof.run.transcript import RunKey, SpanMade, Transcript
from turnproof.scenarios import Scenario, load
from turnproof.subject import SessionBinding, SessionReply, SessionSetup, SessionTurn

from .test_session_runs import SCENARIOS, build_turn, on_toy, run, talk, toys
from .traced_session import TRACED

__all__ = ["toys"]

Making = Callable[[Tracer], object]
"""What a turn does with a tracer."""


def making(make: Making, *, open_too: Making = lambda tracer: None) -> SessionBinding:
    """A session whose turns do nothing but make spans."""

    def opened(setup: SessionSetup) -> Tracer:
        assert setup.tracer_provider is not None
        tracer = setup.tracer_provider.get_tracer("made")
        open_too(tracer)
        return tracer

    def send(tracer: Tracer, text: str, turn: SessionTurn) -> SessionReply:
        make(tracer)
        return SessionReply("Yes.")

    return SessionBinding("made", opened, send, history=lambda tracer: [], adapter="toys:PLAIN", spans=True)


def spans(transcript: Transcript) -> list[SpanMade]:
    assert transcript.end.how == "completed", transcript.end
    return transcript.of(SpanMade)


def of(make: Making, **how: Any) -> list[SpanMade]:
    """The spans of one turn."""
    return spans(run(making(make, **how), talk(build_turn("one"))))


def tree(events: list[SpanMade]) -> list[tuple[str, int]]:
    return [(span.name, span.parent) for span in events]


# -- what is recorded ------------------------------------------------------------------------------------------------


def test_a_turn_is_a_tree_with_parents_first_and_calls_for_times() -> None:
    events = spans(run(on_toy(), talk(build_turn("one"), build_turn("two", before=("gc",)))))
    turn = [("invoke_agent", -1), ("chat", 0), ("turnproof.work", 1)]
    assert tree(events) == [*turn, ("collect", -1), *((name, at + 4 if at >= 0 else at) for name, at in turn)]
    assert [(span.turn, span.during, span.calls) for span in events] == [
        (0, "turn", (0, 1)),
        (0, "turn", (0, 1)),
        (0, "turn", (1, 1)),
        (1, "gc", (1, 1)),
        (1, "turn", (1, 2)),
        (1, "turn", (1, 2)),
        (1, "turn", (2, 2)),
    ]
    assert [span.span for span in events] == list(range(7))
    assert all(span.ended and span.status == "unset" for span in events)


def test_everything_that_a_span_says_is_kept() -> None:
    def make(tracer: Tracer) -> None:
        with tracer.start_as_current_span("one", attributes={"b": True, "a": ("x", "y")}) as span:
            span.add_event("noted", {"n": 1})
            span.set_status(StatusCode.ERROR, "it broke")

    (span,) = of(make)
    assert (span.kind, span.status, span.description) == ("internal", "error", "it broke")
    assert list(span.attributes.items()) == [("a", ["x", "y"]), ("b", True)]
    assert span.notes == ({"name": "noted", "attributes": {"n": 1}},)


def test_a_span_that_never_ends_is_recorded_as_such() -> None:
    events = of(lambda tracer: tracer.start_span("left").set_attribute("late", 1))
    assert [(span.name, span.ended, span.attributes) for span in events] == [("left", False, {"late": 1})]


def test_a_parent_that_is_nobodys_here_is_none() -> None:
    far = NonRecordingSpan(SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(1)))
    assert tree(of(lambda tracer: tracer.start_span("here", set_span_in_context(far)).end())) == [("here", -1)]


def test_a_span_made_outside_any_turn_belongs_to_none() -> None:
    (span,) = of(lambda tracer: None, open_too=lambda tracer: tracer.start_span("warm").end())
    assert (span.name, span.turn, span.during) == ("warm", -1, "")


def test_a_span_that_ends_after_its_run_is_no_part_of_the_next() -> None:
    left: list[Span] = []

    def make(tracer: Tracer) -> None:
        for span in left:
            span.end()
        left.append(tracer.start_span(f"n{len(left)}"))

    binding = making(make)
    names = [[(span.name, span.ended) for span in spans(run(binding, talk(build_turn("one"))))] for _ in range(2)]
    assert names == [[("n0", False)], [("n1", False)]]


def test_tool_calls_that_begin_at_once_stand_in_one_order() -> None:
    def make(order: tuple[str, ...]) -> Making:
        def begin(tracer: Tracer) -> None:
            for name in order:
                attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": name}
                thread = threading.Thread(target=lambda: tracer.start_span("execute_tool", attributes=attributes).end())  # noqa: B023
                thread.start()
                thread.join()
            tracer.start_span("chat").end()
            tracer.start_span("aside").end()

        return begin

    first, second = (of(make(order)) for order in (("b", "a", "c"), ("c", "b", "a")))
    assert first == second
    assert [span.name for span in first] == ["execute_tool"] * 3 + ["chat", "aside"]


def test_the_same_run_has_the_same_evidence_and_it_can_be_stored(tmp_path: Path) -> None:
    first, second = (run(on_toy(), talk(build_turn("one"), build_turn("two"))) for _ in range(2))
    assert first.of(SpanMade) == second.of(SpanMade) != []
    assert digest(first) == digest(second)
    store = EvidenceStore(tmp_path)
    evidence_id = store.put(first)
    assert store.get(evidence_id).of(SpanMade) == first.of(SpanMade)
    assert store.verify(evidence_id) is None


def test_times_and_places_in_spans_are_no_evidence() -> None:
    def at(seconds: float, port: int) -> Transcript:
        attributes: dict[str, Any] = {
            "gen_ai.response.time_to_first_chunk": seconds,
            "server.port": port,
            "gen_ai.request.model": "m",
        }
        return run(
            making(lambda tracer: tracer.start_span("chat", attributes=attributes).end()), talk(build_turn("one"))
        )

    first, second = at(0.25, 4001), at(0.5, 4002)
    assert first.of(SpanMade) != second.of(SpanMade)
    assert digest(first) == digest(second)


# -- the provider ----------------------------------------------------------------------------------------------------


def providers(binding: SessionBinding, **how: Any) -> list[Any]:
    """What the setup of each of two runs brings."""
    found: list[Any] = []

    def opened(setup: SessionSetup) -> Any:
        found.append(setup.tracer_provider)
        return binding.open(setup)

    for _ in range(2):
        run(replace(binding, open=opened), talk(build_turn("one")), **how)
    return found


def test_all_runs_of_a_process_have_one_provider() -> None:
    first, second = providers(making(lambda tracer: None))
    assert first is second is not None


def test_a_session_without_spans_and_an_adapter_get_none() -> None:
    assert providers(on_toy(spans=False)) == [None, None]
    with Runner(in_process=True) as runner:
        transcript = runner.run(RunSpec("toys:PLAIN", talk(build_turn("one")), RunKey("toy/talk", "stateless")))
    assert spans(transcript) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "1"),
        ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "1"),
    ],
)
def test_settings_of_this_machine_change_nothing(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    _process_wide.cache_clear()
    events = of(lambda tracer: tracer.start_span("one", attributes={"a": "long", "b": "long"}).end())
    assert [span.attributes for span in events] == [{"a": "long", "b": "long"}]


# -- without the SDK -------------------------------------------------------------------------------------------------


def test_without_the_sdk_spans_are_not_claimed_and_the_verdict_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turnproof.subject.find_spec", lambda name: None)
    transcript = run(on_toy(), talk(build_turn("one")))
    assert spans(transcript) == []
    with Runner(in_process=True, bindings={"subject": on_toy()}) as runner:
        claimed = Claimed.of_subject(runner.subject("subject"), [])
    requirement = suite().catalogue["telemetry/turn-has-a-span-tree"]
    verdict = decide(requirement, "stateless", [_view(transcript, talk(build_turn("one")))], claimed)
    assert verdict.status is Status.NOT_CLAIMED
    assert verdict.message == "the session lacks spans (or opentelemetry-sdk is not installed)"


# -- somebody else's spans -------------------------------------------------------------------------------------------


def _view(transcript: Transcript, scenario: Scenario) -> View:
    return View(transcript, dialect(transcript.dialect), scenario)


def shipped(name: str) -> Scenario:
    return structs.replace(load(SCENARIOS / f"{name}.yaml"), name=name)


NAMES = (
    "basics/plain",
    "tools/failing_and_unknown",
    "tools/parallel",
    "faults/overloaded",
    "faults/refusals",
    "faults/respelled",  # spelled so that this framework cannot read it: its calls fail, whatever the wire says
    "cancel/in_text",
    "cancel/during_tool",
)


@pytest.fixture(scope="module")
def framework() -> list[View]:
    """The framework in its own manner, in conversations of every kind."""
    with Runner(in_process=True, bindings={"subject": TRACED}) as runner:
        return [
            _view(runner.run(RunSpec("subject", shipped(name), RunKey(name, "stateless"))), shipped(name))
            for name in NAMES
        ]


def test_where_a_tool_runs_a_span_shows_which_one_is_current(framework: list[View]) -> None:
    events = framework[NAMES.index("tools/parallel")].transcript.of(SpanMade)
    work = [span for span in events if span.name == "turnproof.work"]
    assert [span.attributes["turnproof.work.tool"] for span in work] == ["forecast", "read_sensor", "read_sensor"]
    assert [events[span.parent].name for span in work] == [
        f"execute_tool {span.attributes['turnproof.work.tool']}" for span in work
    ]


MUSTS = [one.id for one in suite().requirements if one.profile == "telemetry" and one.level == "MUST"]


@pytest.mark.parametrize("name", MUSTS)
def test_a_framework_with_spans_in_its_own_manner_keeps_every_must(name: str, framework: list[View]) -> None:
    verdict = judge(suite().catalogue[name], "stateless", framework)
    assert verdict.status is Status.HELD, verdict
