"""Sweeps as they are run: on real sockets, by the adapters that are shipped and by one that is broken at two events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import turnproof_suites
from turnproof.commands.certify.campaign import Campaign
from turnproof.commands.certify.plan import plan
from turnproof.commands.certify.sweep import Sweep, base_patterns, events_written
from turnproof.commands.certify.verify import verify_run
from turnproof.judge.requirements import Suite, load_suite
from turnproof.judge.run_log import AdapterLine, Environment, Header, RequirementLine, Run, RunWriter, read_run
from turnproof.judge.verdict import Status
from turnproof.messages import FinishReason, ProviderResponse
from turnproof.provider import Binding, Capabilities
from turnproof.report import certification
from turnproof.run.bindings import subject_of
from turnproof.run.driver import Runner
from turnproof.run.evidence import EvidenceStore
from turnproof.scenarios import load
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE

FOLDER = Path(next(iter(turnproof_suites.__path__))) / "scenarios"
CALLS = load(FOLDER / "sweep/calls.yaml")


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite()


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class ShyOfNothing:
    """Falls over when it is cancelled before any text has arrived."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        response: ProviderResponse = self._inner.complete(*args, **kw)
        if response.finish_reason is FinishReason.CANCELLED and not response.parts:
            raise IndexError("list index out of range")
        return response

    def shutdown(self) -> None:
        self._inner.shutdown()


def broken() -> Binding:
    opener = ANTHROPIC.open_stateless
    assert opener is not None
    return replace(ANTHROPIC, name="shy", open_stateless=lambda at: ShyOfNothing(opener(at)), open_legacy=None)


Measured = tuple[Campaign, Run, EvidenceStore]
Measure = Callable[..., Measured]


@pytest.fixture
def measured(suite: Suite, tmp_path: Path) -> Iterator[Measure]:
    """Certifies a binding by some requirements, in this process, with a sweep of `sweep/calls`."""
    runners: list[Runner] = []

    def run(binding: Binding, *patterns: str, only: str = "", swept: bool = True) -> Measured:
        subject = subject_of(binding)
        expected = [one for one in suite.requirements if not only or one.id == only]
        runners.append(Runner(in_process=True, bindings={binding.name: binding}).__enter__())
        store = EvidenceStore(tmp_path / "evidence")
        sweep = Sweep([binding.name] if swept else [], patterns)
        the_plan = plan({binding.name: subject}, suite, [CALLS], expected, depth="full")
        with RunWriter(tmp_path / "run.ndjson") as writer:
            writer.write(header(suite, patterns))
            for requirement in suite.requirements:
                writer.write(RequirementLine.of(requirement, {}))
            writer.write(adapter_line(binding, subject.claims()))
            campaign = Campaign(the_plan, {binding.name: subject}, runners[-1], store, [CALLS], writer, sweep=sweep)
            campaign.measure()
            for item in the_plan.items:
                campaign.verdict(item)
            for line in campaign.results:
                writer.write(line)
            writer.finish(0, 0.0)
        return campaign, read_run(tmp_path / "run.ndjson"), store

    yield run
    for runner in runners:
        runner.__exit__(None, None, None)


def header(suite: Suite, patterns: Sequence[str]) -> Header:
    return Header(
        turnproof="0",
        profiles=suite.profiles.name,
        backend="emulate",
        depth="full",
        seed=0,
        started="",
        environment=Environment("3.11", "here", {}),
        reproduce=tuple(word for pattern in patterns for word in ("--scenario", pattern)),
    )


def adapter_line(binding: Binding, claims: Capabilities) -> AdapterLine:
    return AdapterLine(
        name=binding.name,
        spec=binding.name,
        dialect=binding.dialect,
        model=binding.model,
        backend="emulate",
        paths=("stateless",) if binding.open_legacy is None else ("stateless", "legacy"),
        declared=tuple(one.name for one in binding.declared),
        capabilities={name: getattr(claims, name) for name in type(claims).__slots__},
    )


def violated(campaign: Campaign) -> list[str]:
    return [
        f"{line.requirement} {line.verdict.message}"
        for line in campaign.results
        if line.verdict.status is Status.VIOLATED
    ]


@pytest.mark.parametrize(("binding", "at"), [(ANTHROPIC, 9), (GOOGLE, 2)], ids=["anthropic", "google_genai"])
def test_whatever_happens_at_an_event_nothing_is_violated_on_either_path(
    measured: Measure, binding: Binding, at: int
) -> None:
    """But for silence, which takes its time: the whole sweep is made by `turnproof certify --depth full`."""
    campaign, run, _ = measured(binding, *(f"sweep/calls#{what}@{at}" for what in ("[!s]*",)))
    assert violated(campaign) == []
    assert all(line.how == "completed" for line in run.transcripts)
    report = certification(run).adapters[binding.name]
    assert report.swept == 6
    assert sum("#" in line.key.scenario for line in run.transcripts) == 2 * 6
    assert Sweep([binding.name]).talk({binding.name: campaign.views(binding.name)}) == []


def test_the_server_says_how_many_points_there_are(measured: Measure) -> None:
    campaign, _, _ = measured(ANTHROPIC, "none", only="cancellation/connection-is-closed")
    counts = {view.key.path: events_written(view) for view in campaign.views("anthropic")}
    assert counts == {"stateless": 15, "legacy": 15}


def test_what_breaks_at_two_events_only_is_found_at_those_two(measured: Measure) -> None:
    campaign, run, store = measured(broken(), "sweep/calls#cancel@*", only="cancellation/returns-a-cancelled-response")
    verdict = campaign.results[0].verdict
    assert verdict.status is Status.VIOLATED
    assert verdict.where == "sweep/calls#cancel@0/stateless/stream"
    assert verdict.total == 2
    assert list(verdict.failing) == [f"sweep/calls#cancel@{at}/stateless/stream" for at in (0, 1)]
    assert certification(run).adapters["shy"].swept == 15
    # Of the suite's other scenarios, which this run has left out, it is told that they are missing.
    problems = [problem for problem in verify_run(run, store).problems if "sweep/" in problem]
    assert problems == []


def test_points_whose_names_are_not_asked_for_are_not_run(measured: Measure) -> None:
    _, run, _ = measured(ANTHROPIC, "sweep/calls", only="cancellation/connection-is-closed")
    assert {line.key.scenario for line in run.transcripts} == {"sweep/calls"}
    assert certification(run).adapters["anthropic"].swept == 0


def test_what_an_adapter_does_not_claim_does_not_happen_to_it(measured: Measure) -> None:
    claims = replace(ANTHROPIC.claims(), cancel=False)
    meek = replace(ANTHROPIC, name="meek", capabilities=claims, open_legacy=None)
    _, run, _ = measured(meek, "sweep/calls#*@0", "sweep/calls#cancel@*", only="errors/failures-are-typed")
    swept = {line.key.scenario for line in run.transcripts}
    assert "sweep/calls#reset@0" in swept
    assert not any("cancel" in name for name in swept)


def test_what_was_asked_for_and_not_swept_is_said(measured: Measure) -> None:
    campaign, _, _ = measured(ANTHROPIC, "sweep/calls#cancl@1", only="cancellation/connection-is-closed", swept=False)
    talk = Sweep([], ["sweep/calls#cancl@1"]).talk({"anthropic": campaign.views("anthropic")})
    assert talk == [
        "anthropic: not swept, since it was not emulated",
        "no point of the sweep matches 'sweep/calls#cancl@1'",
    ]


def test_a_point_that_is_asked_for_needs_the_run_that_counts_the_points() -> None:
    assert base_patterns(["sweep/calls#cancel@1", "sweep/calls#*", "tools/*"]) == ["sweep/calls", "tools/*"]
