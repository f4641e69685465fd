"""A finding points to what is wrong: for mutants that rewrite requests, to the very place that they have changed.

Only such mutants can show it: they alone know the body as the adapter wrote it and as the server got it. So both are
recorded, and what differs between them is held against the pointers of what the mutant is caught by.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pytest

from turnproof.commands.certify.mutants import plan
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.dialects import dialect
from turnproof.dialects.base import HttpRequest
from turnproof.judge.finding import Finding, Side, parent, pointer
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.judge.view.diff import ABSENT, walk_steps
from turnproof.messages import JSON
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.mutation import Mutant, all_mutants
from turnproof.run.transcript import Transcript
from turnproof_suites.mutants import MUTANTS, Rewriting

from .cases import suite

pytestmark = pytest.mark.usefixtures("forked_workers")

ADAPTERS = ("anthropic", "openai", "google_genai")
"""One of each family of wire APIs."""

EXACT = 0.95
"""The share of mutants and adapters of which a finding points to what was changed."""


def _rewrites_bodies(mutant: Mutant) -> bool:
    """Of those that break what a service stores, `test_chain_checks` has the pointers: none of the adapters here has
    such a service."""
    filter_type = mutant.filter
    return (
        isinstance(filter_type, type)
        and issubclass(filter_type, Rewriting)
        and filter_type.change_request is not Rewriting.change_request
        and "wire:held-history" not in mutant.capability
    )


EVERY = tuple(mutant for mutant in MUTANTS if _rewrites_bodies(mutant))
TRIED = EVERY if os.environ.get("TURNPROOF_EVERY_MUTANT") else EVERY[1::3]
"""`nox -s mutants` tries them all; otherwise every third does."""

ASKED_DIRECTLY = {"tools/broken-pairs-are-not-sent"}
"""What only the probes of an adapter show, which are in batch runs."""


@dataclass
class Rewritten:
    """Bodies as the adapter wrote them, by what the server got instead."""

    bodies: dict[str, JSON] = field(default_factory=dict)

    def filter(self, mutant: Mutant) -> Any:
        """The mutant's own proxy, watched."""
        assert isinstance(mutant.filter, type)
        proxy: Any = mutant.filter
        watched = self

        class Watched(proxy):  # type: ignore[misc]
            def request(self, request: HttpRequest) -> HttpRequest:
                shown: HttpRequest = super().request(request)
                if shown.body != request.body:
                    watched.bodies[_key(json.loads(shown.body))] = json.loads(request.body)
                return shown

        return Watched

    def changed(self, body: JSON) -> set[str] | None:
        """The places that were changed in a body; None for one that went out as it was."""
        before = self.bodies.get(_key(body))
        return None if before is None else set(_changed(before, body))


def _key(body: JSON) -> str:
    return json.dumps(body, sort_keys=True)


def _changed(before: JSON, body: JSON) -> Iterator[str]:
    """The places in `body` that differ; of what was taken out the list or the object that had it; of what was put in
    all of it."""
    for steps, now, _ in walk_steps(body, before):
        if now is ABSENT:
            yield pointer(*steps[:-1])
        else:
            yield from _all_below(now, pointer(*steps))


def _all_below(value: Any, place: str) -> Iterator[str]:
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _all_below(item, place + pointer(key))


@dataclass
class Shown:
    """What one mutant shows with one adapter."""

    mutant: Mutant
    adapter: str
    rewritten: Rewritten
    views: list[View] = field(default_factory=list)

    @property
    def broke_something(self) -> bool:
        return bool(self.rewritten.bodies)

    @cached_property
    def findings(self) -> list[Finding]:
        requirement = suite().catalogue[self.mutant.caught_by]
        verdict = judge(requirement, "stateless", self.views)
        return list(verdict.findings) if verdict.status is Status.VIOLATED else []

    @cached_property
    def exact(self) -> list[Finding]:
        """The findings that point to what was changed, or to what holds it."""
        bodies = {(str(view.key), one.number): one.body for view in self.views for one in view.exchanges}
        found = []
        for one in self.findings:
            place = one.place
            if place.side is not Side.REQUEST or place.pointer is None:
                continue
            changed = self.rewritten.changed(bodies[place.run, place.exchange]) or set()
            if place.pointer in changed | set(map(parent, changed)):
                found.append(one)
        return found

    def __str__(self) -> str:
        pointers = [(one.code, one.place.side.value, one.place.pointer) for one in self.findings]
        return f"{self.mutant.name} with {self.adapter}: {pointers}"


@pytest.fixture(scope="module")
def shown() -> list[Shown]:
    scenarios = suite_scenarios(suite())
    found: list[Shown] = []
    with pytest.MonkeyPatch.context() as patch, Runner(jobs=2) as runner:
        for adapter in ADAPTERS:
            subject = resolve_subject(adapter)
            specs: list[RunSpec] = []
            by_mutant: dict[str, Shown] = {}
            for mutant in TRIED:
                one = Shown(mutant, adapter, Rewritten())
                patch.setitem(all_mutants(), mutant.name, replace(mutant, filter=one.rewritten.filter(mutant)))
                for trial in plan(adapter, subject, suite(), scenarios, {mutant.name: mutant}):
                    alone = [run for run in trial.runs if run.key.path == "stateless"]
                    streamed = [run for run in alone if run.key.mode == "stream"]
                    in_batch = mutant.caught_by in ASKED_DIRECTLY or not streamed
                    runs = [run for run in alone if run.key.mode == "batch"] if in_batch else streamed
                    specs += runs
                    if runs:
                        by_mutant[mutant.name] = one

            def keep(spec: RunSpec, transcript: Transcript, by_mutant: dict[str, Shown] = by_mutant) -> None:
                assert spec.mutant is not None
                view = View(transcript, dialect(transcript.dialect), spec.scenario)
                by_mutant[spec.mutant].views.append(view)

            runner.run_all(specs, keep)
            found += by_mutant.values()
    return [one for one in found if one.broke_something]


def test_a_finding_points_to_what_the_mutant_changed(shown: list[Shown]) -> None:
    """Not in all of them: that a text stands in front of a result, Anthropic says of the call that it answers."""
    missed = [str(one) for one in shown if not one.exact]
    assert len(shown) - len(missed) >= EXACT * len(shown) > 0, "\n".join(missed)


def test_a_mutant_is_caught_at_the_first_place_of_its_findings(shown: list[Shown]) -> None:
    """Readers see the first finding first: where any points to what was changed, that one does."""
    wrong = [str(one) for one in shown if one.exact and one.findings[0] not in one.exact]
    assert not wrong, "\n".join(wrong)


def test_mutants_of_every_family_of_wire_apis_were_tried(shown: list[Shown]) -> None:
    assert {one.adapter for one in shown} == set(ADAPTERS)
    assert {one.mutant.name for one in shown} == {mutant.name for mutant in TRIED}
