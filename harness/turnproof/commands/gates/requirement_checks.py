"""Criteria that hold where requirements of the suite hold: the requirements' own findings decide them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ...judge.requirements import judge
from ...judge.view import View
from ..certify.decide import with_needed_calls
from .codes import is_not_asked
from .decision import Decision, combined, decided
from .exemptions import accepted
from .measurement import Measured
from .phases import Criterion, Setting

OWNS_ITS_HISTORY = is_not_asked(
    "agents/owns-its-history", "The agent keeps its history itself, so no history can move to the session."
)


def requirements_hold(measured: Measured, criterion: Criterion) -> Decision:
    """Each of the requirements, in the runs with each setting of the flag."""
    names = [name for name in criterion.requirements if _shows(measured, name)]
    if not names:
        return decided([OWNS_ITS_HISTORY()])
    alone = measured.alone if criterion.of_adapter else ()
    return combined(
        _judge(measured, name, setting, alone or measured.runs[setting]) for setting in criterion.flag for name in names
    )


def _judge(measured: Measured, requirement: str, setting: Setting, runs: Sequence[View]) -> Decision:
    path = measured.flag.path(setting, measured.phase)
    claims = measured.subject.claims()
    entry = measured.suite.catalogue[requirement]
    subject = measured.subject
    views = with_needed_calls(entry, runs, subject.kind, claims, subject.operations, measured.suite.registry)
    verdict = judge(entry, path, views, claims=claims)
    decision = accepted(measured, requirement, path, verdict)
    return replace(decision, reasons=tuple(replace(reason, setting=setting) for reason in decision.reasons))


def _shows(measured: Measured, name: str) -> bool:
    """Whether a requirement can be seen of the subject: of an agent neither its calls are, nor a history of its own."""
    requirement = measured.suite.catalogue[name]
    if measured.subject.kind != "agent":
        return True
    return requirement.agents if requirement.subject == "session" else measured.suite.registry[name].needs == "wire"
