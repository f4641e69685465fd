"""What bindings often do, and what is then taken for the library's doing: the certification would accuse it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...dialects import dialect as dialect_named
from ...judge.requirements import Suite, judge
from ...judge.verdict import Status
from ...judge.verdict_words import message_of
from ...judge.view import View
from ...run.driver import Runner, RunSpec
from ...run.transcript import RunKey
from ...scenarios import Scenario
from ...subject import Subject
from ..certify.decide import lacking_for
from .model import Diagnostic, warning


@dataclass(frozen=True, slots=True)
class Habit:
    """The scenario and the requirement of the suite that show it, and what to write in the binding instead."""

    what: str
    scenario: str
    requirement: str
    advice: str


HABITS = (
    Habit(
        "pieces after a cancel",
        "cancel/in_one_write",
        "cancellation/no-piece-after-the-cancel",
        "what came together is read without a wait: behind each `on_chunk` write `await asyncio.sleep(0)`, where "
        "a cancel takes effect; in a plain function look at `cancel_token.is_cancelled`",
    ),
    Habit(
        "thinking of a cancelled answer",
        "cancel/after_thinking",
        "cancellation/thinking-is-kept",
        "if the library has it still, return the thoughts whose signature had arrived, beside the texts",
    ),
    Habit(
        "names of tools",
        "tools/exact_values",
        "tools/names-come-back",
        "a library may write names in its own way and find a tool by that name: give a call the name that its tool was "
        "declared by",
    ),
    Habit(
        "ids drawn for each call",
        "faults/server_error_in_tool_loop",
        "recovery/a-retried-request-is-the-same",
        "if your translation draws an id for each object that it makes, make it from the id of the call or the message",
    ),
    Habit(
        "answers that the service stores",
        "stored/plain_text",
        "stored/a-session-owned-history-leaves-nothing-behind",
        "the session has the history: if the library has an option such as `store=False`, set it in the binding",
    ),
    Habit(
        "errors of streams",
        "faults/plain_streams",
        "errors/failures-are-typed",
        "an answer that cannot be read, or has no end, is a TransportError: map `json.JSONDecodeError`, too",
    ),
    Habit(
        "errors of the library's own",
        "handoff/from_elsewhere",
        "errors/failures-are-typed",
        "a conversation that the library refuses itself is an InvalidRequestError: map its own errors, too",
    ),
)


def habits(
    runner: Runner, spec: str, subject: Subject, suite: Suite, scenarios: Mapping[str, Scenario]
) -> Iterator[Diagnostic]:
    """Those that an adapter's binding has, as far as its claims let them be seen."""
    claims = subject.claims()
    catalogue = {requirement.id: requirement for requirement in suite.requirements}
    for habit in HABITS:
        scenario, requirement = scenarios.get(habit.scenario), catalogue.get(habit.requirement)
        if scenario is None or requirement is None or requirement.lacks(claims):
            continue
        if lacking_for(scenario, claims, subject.operations):
            continue
        path = next((path for path in subject.paths if path in requirement.paths), None)
        if path is None:
            continue
        key = RunKey(scenario.name, path, scenario.modes_with(claims.streaming)[0])
        transcript = runner.run(RunSpec(spec, scenario, key))
        view = View(transcript, dialect_named(transcript.dialect), scenario, "")
        verdict = judge(requirement, key.path, [view], claims=claims, registry=suite.registry)
        if verdict.status is Status.VIOLATED:
            yield warning(spec, habit.what, message_of(verdict, suite.registry.templates), habit.advice)
