"""One verdict from views: the same for a certification while it happens and for one that is verified afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from ...judge.requirements import REGISTRY, Registry, Requirement, Shown, judge, judge_parity
from ...judge.run_log import DecidedOn
from ...judge.undecided_words import why_not_claimed
from ...judge.verdict import Status, Verdict, inconclusive, not_claimed
from ...judge.view import View, as_claimed, derived
from ...provider import ASSUMED, Capabilities, Difference
from ...run.transcript import TurnEnded
from ...scenarios import Scenario
from ...subject import FACTS, OPERATIONS, Subject, SubjectKind
from ...windows import Window
from .undecided_causes import claims_missing, cut_runs, in_runs, not_run, raised_about_itself, runs_of


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a subject has said of itself, all scenarios of the suite, and which of them show what in its dialect."""

    claims: Capabilities
    declared: Sequence[Difference]
    scenarios: Sequence[Scenario]
    kind: SubjectKind = "adapter"
    operations: Collection[str] = OPERATIONS
    dialect: str = ""
    shown: Shown | None = None

    @classmethod
    def of_subject(cls, subject: Subject, scenarios: Sequence[Scenario], shown: Shown | None = None) -> Claimed:
        """What a subject says when it is asked."""
        return cls(
            subject.claims(),
            subject.declared,
            scenarios,
            subject.kind,
            subject.operations,
            subject.dialect,
            shown,
        )

    def showing(self, requirement: Requirement, path: str) -> dict[str, tuple[Scenario, list[str]]]:
        """The scenarios that show a requirement, each with what it needs and is not claimed. Empty where there is no
        index, or it has none for this dialect."""
        if self.shown is None:
            return {}
        modes = self.shown.scenarios(requirement.id, self.dialect, "parity" if path == "parity" else "alone")
        found = {}
        for scenario in self.scenarios:
            if scenario.name in modes and scenario.subject in ("adapter", self.kind):
                lacking = lacking_for(scenario, self.claims, self.operations)
                if modes[scenario.name] == "stream" and not self.claims.streaming and "streaming" not in lacking:
                    lacking.append("streaming")
                found[scenario.name] = (scenario, lacking)
        return found

    def missing(self, requirement: Requirement, scenarios_run: Collection[str]) -> tuple[str, ...]:
        """What the scenarios that could have shown the requirement need, and is not claimed: features and operations.

        Nothing, where one that `scenarios_run` has all the features which the requirement speaks of: what was not
        seen there was not left out for want of anything.
        """
        needed = {feature for feature in requirement.capability if not feature.startswith("wire:")} - set(ASSUMED)
        found: set[str] = set()
        for scenario in self.scenarios:
            if not requirement.looks_at(scenario.name) or scenario.subject not in ("adapter", self.kind):
                continue
            lacking = lacking_for(scenario, self.claims, self.operations)
            if scenario.name in scenarios_run and needed and needed <= set(scenario.features):
                return ()
            found.update(lacking)
        return tuple(sorted(found))


def lacking_for(scenario: Scenario, claims: Capabilities, operations: Collection[str]) -> list[str]:
    """What a scenario needs and a subject lacks: capabilities, and operations of its session (`revert()`)."""
    lacking = [feature for feature in scenario.features if not claims.claims(feature)]
    return lacking + [spelled(operation) for operation in scenario.operations if operation not in operations]


def spelled(operation: str) -> str:
    """An operation of a session as reports spell it, a function as one; spans with what has to be there to see them."""
    if operation == "spans":
        # By itself, not by what is installed here: a run is verified elsewhere, and has to say the same there.
        return "spans (or opentelemetry-sdk is not installed)"
    return operation if operation in FACTS else f"{operation}()"


def decide(
    requirement: Requirement,
    path: str,
    views: Iterable[View],
    subject: Claimed,
    registry: Registry = REGISTRY,
) -> Verdict:
    """The verdict on one requirement for `stateless`, `legacy` or `parity`.

    Where no run had anything that the requirement looks at, and no scenario that shows it can be run with what the
    subject claims, the requirement is not claimed either; the verdict names what is missing. Nor is what a session
    cannot do, or does not show. Whatever else could not be decided says what would have decided it.
    """
    every = with_needed_calls(requirement, list(views), subject.kind, subject.claims, subject.operations, registry)
    live = any(view.live for view in every)
    if live and not requirement.live:
        return not_claimed("the emulator alone can decide it: what is asked of a real service shows nothing about it")
    if unfit := _out_of_sight(requirement, every, subject, registry):
        return not_claimed(unfit)
    if path == "parity":
        verdict = _parity(requirement, every, subject, registry)
    else:
        verdict = judge(requirement, path, every, claims=subject.claims, registry=registry)  # type: ignore[arg-type]
    if verdict.status is Status.HELD and live and not any(one.served for view in every for one in view.exchanges):
        verdict = inconclusive("the real service answered no request: there was nothing to keep the requirement with")
    is_derived = not all(view.shows_calls for view in every)
    if verdict.findings and (is_derived or (subject.kind == "session" and _hides_calls(every))):
        verdict = _of_a_session(verdict)
    if verdict.status is not Status.INCONCLUSIVE:
        return verdict
    if verdict.compared_nothing and is_derived and not any(raised_about_itself(every)):
        return not_claimed(f"the {subject.kind} does not show its provider calls")
    return _explained(verdict, requirement, path, every, subject, registry)


def decided_on(verdict: Verdict, views: Iterable[View]) -> DecidedOn:
    """What decided a verdict on an adapter behind a real service; empty for any other. Runs in which turnproof made
    faults count as such, whatever else the service answered there."""
    if verdict.status in (Status.INCONCLUSIVE, Status.NOT_CLAIMED):
        return ""
    own_views = [view for view in views if view.live and view.digest in verdict.evidence]
    if not own_views:
        return ""
    on_answers = any(any(one.served for one in view.exchanges) and not _made_faults(view) for view in own_views)
    return "answers" if on_answers else "faults"


def _made_faults(view: View) -> bool:
    return any(turn.script is not None and turn.script.faults for turn in view.turns)


def _explained(
    verdict: Verdict, requirement: Requirement, path: str, views: Sequence[View], subject: Claimed, registry: Registry
) -> Verdict:
    """An undecided verdict with what would have decided it; not claimed, where no scenario within the claims could."""
    runs = runs_of(requirement, path, views)
    if not verdict.compared_nothing:
        return msgspec.structs.replace(verdict, undecided=tuple(cut_runs(runs)))
    scenarios_run = {view.key.scenario for view in views}
    showing = subject.showing(requirement, path)
    if not showing:
        if missing := subject.missing(requirement, scenarios_run):
            return not_claimed(f"no run shows it without what the {subject.kind} does not claim: {', '.join(missing)}")
        found = in_runs(runs, registry[requirement.id], subject.claims, requirement.asks, requirement.operations)
        return msgspec.structs.replace(verdict, undecided=tuple(found))
    lacking = {name: lacks for name, (_, lacks) in showing.items() if lacks}
    if len(lacking) == len(showing):
        reasons = tuple(claims_missing(lacking))
        return not_claimed(why_not_claimed(reasons, subject.kind), reasons)
    within = [scenario for name, (scenario, lacks) in showing.items() if not lacks]
    names = {scenario.name for scenario in within}
    reasons = (
        *in_runs(
            [view for view in runs if view.key.scenario in names],
            registry[requirement.id],
            subject.claims,
            requirement.asks,
            requirement.operations,
        ),
        *not_run(scenario for scenario in within if scenario.name not in scenarios_run),
        *claims_missing(lacking),
    )
    return msgspec.structs.replace(verdict, undecided=reasons)


def _out_of_sight(requirement: Requirement, views: Sequence[View], subject: Claimed, registry: Registry) -> str:
    """Why a session, or an agent, cannot be judged by this requirement; empty where it can."""
    if subject.kind == "agent" and requirement.subject == "session" and not requirement.agents:
        return "the agent owns the history, and the requirement is about another owner"
    if not requirement.windows and subject.claims.window != "none":
        return "a window leaves out the beginning of the conversation, which the requirement is about"
    if lacking := [operation for operation in requirement.operations if operation not in subject.operations]:
        return f"the {subject.kind} lacks {', '.join(map(spelled, lacking))}"
    check = registry[requirement.id]
    on_calls = requirement.subject == "adapter" and check.needs != "wire"
    is_derived = not all(view.shows_calls for view in views)
    if subject.kind != "adapter" and on_calls and not is_derived and _hides_calls(views):
        return f"the {subject.kind} does not show its provider calls"
    if is_derived:
        if lacking := [spelled(one) for one in check.shows if one not in subject.operations]:
            return f"the session does not show its provider calls, and does not claim {', '.join(lacking)}"
        if check.needs == "answer" and not _gives_answers(views):
            return "the session does not show its provider calls, and its replies have no response"
    return ""


def _gives_answers(views: Sequence[View]) -> bool:
    return any(event.answer is not None for view in views for event in view.transcript.of(TurnEnded))


def _of_a_session(verdict: Verdict) -> Verdict:
    """A verdict on derived calls, whose findings say that they are of the session as a whole."""
    findings = tuple(
        msgspec.structs.replace(finding, facts={**finding.facts, "subject": "session"}) for finding in verdict.findings
    )
    return msgspec.structs.replace(verdict, findings=findings)


def with_needed_calls(
    requirement: Requirement,
    views: Sequence[View],
    kind: SubjectKind,
    claims: Capabilities,
    operations: Collection[str],
    registry: Registry,
) -> Sequence[View]:
    """The runs; of a session that does not show its provider calls with derived ones, where these will do.

    Of a session or an agent that adds texts of its own, they are without these. One that sends a window of its
    conversation is judged as if it sent all of it; not so the adapter below it, of which it asks no more.
    """
    if kind != "adapter":
        of_adapters = requirement.subject == "adapter"
        window = None if of_adapters and not _hides_calls(views) else Window.of_claim(claims.window)
        own = not claims.given_texts
        views = [as_claimed(view, given_texts_alone=own, window=window, dialect_form=of_adapters) for view in views]
    needs = registry[requirement.id].needs
    if kind != "session" or requirement.subject != "adapter" or needs == "wire" or needs == "calls":
        return views
    if not _hides_calls(views):
        return views
    reports_retries = "reports_retries" in operations
    return [derived(view, needs, reports_retries=reports_retries) for view in views]


def _hides_calls(views: Sequence[View]) -> bool:
    turns = [turn for view in views for turn in view.turns if turn.has_user_message]
    return bool(turns) and not any(turn.calls for turn in turns)


def _parity(requirement: Requirement, views: Sequence[View], subject: Claimed, registry: Registry) -> Verdict:
    found = judge_parity(
        requirement,
        [view for view in views if view.key.path == "stateless"],
        [view for view in views if view.key.path == "legacy" and view.key.repeat == 0],
        [view for view in views if view.key.path == "legacy" and view.key.repeat == 1],
        declared=subject.declared,
        claims=subject.claims,
        registry=registry,
    )
    return found if found is not None else inconclusive("the requirement has no aspect to compare")
