"""A live certification in this process: chosen scenarios and requirements against a service on loopback."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from foreign_service import ForeignService
from msgspec.structs import replace

from turnproof.commands.certify.campaign import Campaign
from turnproof.commands.certify.plan import plan, select
from turnproof.commands.certify.record import RecordOptions, record
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.finding import Finding
from turnproof.judge.requirements import load_suite
from turnproof.judge.verdict import Status, Verdict
from turnproof.judge.view import View
from turnproof.run.backends import Backends, Choice
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner
from turnproof.run.evidence import EvidenceStore
from turnproof.scenarios import Scenario

ADAPTER = "openai"
KEY = "sk-foreign-0123456789abcdef"


@dataclass(frozen=True)
class Measured:
    """Verdicts by requirement and path, and the runs that they rest on."""

    verdicts: Mapping[tuple[str, str], Verdict]
    views: tuple[View, ...]
    backends: Backends

    def status(self, requirement: str, path: str = "stateless") -> Status:
        return self.verdicts[requirement, path].status

    def accused(self) -> dict[tuple[str, str], list[str]]:
        """What is violated, with the findings in words."""
        violated = {place: one for place, one in self.verdicts.items() if one.status is Status.VIOLATED}
        return {place: [_in_words(finding) for finding in one.findings] for place, one in violated.items()}


def _in_words(finding: Finding) -> str:
    return f"{finding.code} {finding.place.run}: expected {finding.expected!r}, got {finding.observed!r}"


def certify_live(
    service: ForeignService,
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    *,
    scenarios: Sequence[str],
    only: Sequence[str] = (),
    path: str | None = None,
    time_limit: float = 20.0,
    adapter: str = ADAPTER,
    timeout: float | None = None,
) -> Measured:
    """Certify the adapter against the service. With `timeout`, it waits so many seconds in each scenario."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    return _certify(adapter, Choice("live"), folder, scenarios, only, path, time_limit, timeout)


def certify_recorded(
    service: ForeignService,
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    *,
    scenarios: Sequence[str],
    timeout: float | None = None,
) -> Measured:
    """Record the adapter against the service, and certify it from what was recorded."""
    monkeypatch.setattr(
        "turnproof.commands.certify.record.suite_scenarios",
        lambda suite: _with_timeout(suite_scenarios(suite), timeout),
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    cassettes = folder / "cassettes"
    record(RecordOptions(ADAPTER, only=tuple(scenarios), out=cassettes, live=True, jobs=1), lambda line: None)
    return _certify(ADAPTER, Choice("replay", cassettes), folder, scenarios, timeout=timeout)


def _with_timeout(scenarios: Sequence[Scenario], timeout: float | None) -> list[Scenario]:
    """The same scenarios, in which the adapter is given this timeout."""
    own = {} if timeout is None else {"timeout": timeout}
    return [replace(one, options=one.options | own) for one in scenarios]


def _certify(
    adapter: str,
    choice: Choice,
    folder: Path,
    scenarios: Sequence[str],
    only: Sequence[str] = (),
    path: str | None = None,
    time_limit: float = 20.0,
    timeout: float | None = None,
) -> Measured:
    suite = load_suite()
    subject = resolve_subject(adapter)
    backends = Backends({adapter: choice})
    every = _with_timeout(suite_scenarios(suite), timeout)
    chosen = [one for one in every if one.name in scenarios]
    assert len(chosen) == len(scenarios)
    requirements = select(suite, tuple(only), (), ())
    the_plan = plan({adapter: subject}, suite, chosen, requirements, path=path, depth="full", showing=False)
    with Runner(in_process=True, responders=backends, time_limit=time_limit) as runner:
        backends.prepare(adapter, subject, {one.name for one in chosen})
        store = EvidenceStore(folder / "evidence")
        campaign = Campaign(
            the_plan, {adapter: subject}, runner, store, every, live=[adapter] if choice.backend == "live" else []
        )
        campaign.measure()
        verdicts: dict[tuple[str, str], Verdict] = {}
        for item in the_plan.items:
            verdicts[item.requirement.id, item.path] = campaign.verdict(item)
        assert "hung" not in {view.transcript.end.how for view in campaign.views(adapter)}
        return Measured(verdicts, campaign.views(adapter), backends)


def wait_until(holds: Callable[[], bool], limit: float = 30.0) -> None:
    """Wait for it, and fail where it does not come."""
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
