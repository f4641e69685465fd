"""The checks that decide criteria: pure functions of what was measured, each under the name that the data use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from ..parity import Comparison, Found, kind, stale, violations
from ..requirements import Findings, judge
from ..verdict import Verdict, combine, held, inconclusive, not_claimed, violated
from ..view import View
from ..view.diff import show
from .accepting import accepted
from .accounts import accounts_emptied
from .adapters import complete_called
from .answered import turns_answered
from .decision import Decision
from .histories import histories_agree
from .kept import history_held, plugin_with_session, what_stays
from .measured import Measured
from .one_sided import one_path_only
from .phases import CheckName, Criterion
from .removed import flag_gone, legacy_gone
from .taken import path_taken
from .untouched import provider_untouched
from .written import history_in_source, session_source

Check: TypeAlias = Callable[[Measured, Criterion], Verdict | Decision]

_SHOWN = 6


_OF_TURNS: tuple[CheckName, ...] = ("requirements", "turns-answered", "existing-tests")
"""What holds of turns, and of the project, whoever owns the history."""

_OWNED = "the agent owns its history for good: there is none that could move"


def decide(measured: Measured, criterion: Criterion) -> Decision:
    """What was measured says of a criterion. Nothing measured is inconclusive, never held."""
    if measured.subject.kind == "agent" and criterion.check not in _OF_TURNS:
        return Decision(not_claimed(_OWNED))
    said = CHECKS[criterion.check](measured, criterion)
    return said if isinstance(said, Decision) else Decision(said)


def _requirements(measured: Measured, criterion: Criterion) -> Verdict:
    claims = measured.subject.claims()
    verdicts = []
    names = [name for name in criterion.requirements if _shows(measured, name)]
    if not names:
        return not_claimed(_OWNED)
    for setting in criterion.flag:
        path = measured.flag.path(setting, measured.phase)
        for name in names:
            verdict = judge(measured.suite.catalogue[name], path, measured.runs[setting], claims=claims)
            verdict = accepted(measured, name, path, verdict)
            if verdict.message:
                said = f"{verdict.where}: {verdict.message}" if verdict.where else verdict.message
                verdicts.append(replace(verdict, message=f"{name}: {said}"))
            else:
                verdicts.append(held(f"{name} ×{len(verdict.evidence)}"))
    return combine(verdicts)


def _shows(measured: Measured, name: str) -> bool:
    """Whether a requirement can be seen of the subject: of an agent neither its calls are, nor a history of its own."""
    requirement = measured.suite.catalogue[name]
    if measured.subject.kind != "agent":
        return True
    return requirement.agents if requirement.subject == "session" else measured.suite.registry[name].without_calls


def _turns_answered(measured: Measured, criterion: Criterion) -> Verdict:
    return over_runs(_runs(measured, criterion), turns_answered)


def _runs(measured: Measured, criterion: Criterion) -> list[View]:
    return [view for setting in criterion.flag for view in measured.runs[setting]]


def _histories(measured: Measured, criterion: Criterion) -> Verdict:
    session = measured.subject.session
    if session.provider_history is None:
        return inconclusive(
            f"session {session.name!r} does not show what its provider holds, so there is nothing to hold its own "
            "history against: give its binding a provider_history"
        )
    return over_runs(_runs(measured, criterion), histories_agree)


def _path_taken(measured: Measured, criterion: Criterion) -> Verdict:
    (setting,) = criterion.flag
    expected = measured.flag.path(setting, measured.phase)
    verdict = over_runs(measured.runs[setting], lambda view: path_taken(view, expected))
    if verdict.compared_nothing:
        return inconclusive(
            f"which path session {measured.subject.session.name!r} takes cannot be seen: give its binding a path, or "
            "let it open its provider with the setup's open_provider"
        )
    return (
        verdict
        if not verdict.message
        else replace(verdict, message=f"{_setting(measured, criterion)}: {verdict.message}")
    )


def _setting(measured: Measured, criterion: Criterion) -> str:
    words = measured.flag.words(criterion.flag[0])
    if criterion.flag[0] != "default":
        return f"with {words}"
    side = "from" if measured.phase >= measured.flag.flip_phase else "before"
    return f"with {words}, in phase {measured.phase}, {side} the flip in phase {measured.flag.flip_phase}"


def _default_flipped(measured: Measured, criterion: Criterion) -> Verdict:
    flag = measured.flag
    if measured.phase < flag.flip_phase:
        return violated(
            f"flip_phase = {flag.flip_phase} in [tool.turnproof.gates]: the default is to flip in phase "
            f"{measured.phase} at the latest"
        )
    return _path_taken(measured, criterion)


def _paths_agree(measured: Measured, criterion: Criterion) -> Verdict | Decision:
    differ = [(one, found) for one in measured.comparisons if (found := violations(one, measured.excused))]
    if differ:
        return _differing(differ)
    verdicts = [_about(one, inconclusive(one.problem)) for one in measured.comparisons if one.problem]
    equal: Counter[str] = Counter()
    for one in measured.comparisons:
        if not one.problem:
            equal["conversations"] += 1
            equal.update({aspect: count for aspect, count in one.compared.items() if count})
    if astray := measured.astray:
        verdicts.append(
            inconclusive(f"{len(astray)} runs, {astray[0].key} the first, are not on the path that they should be on")
        )
    elif equal and measured.subject.claims().tools and not _tool_rounds(measured):
        verdicts.append(inconclusive("no turn in which a tool was called and answered is among what was compared"))
    return combine([*verdicts, held(*_counted(equal))] if equal else verdicts)


def _differing(differ: list[tuple[Comparison, tuple[Found, ...]]]) -> Decision:
    """The worst comparison in words, and how often there is which difference in all of them."""
    # A difference in what is said comes before one in how it is written.
    differ = sorted(differ, key=lambda pair: all(found.form for found in pair[1]))
    verdicts = []
    for one, found in differ:
        lines = [difference_line(each, one) for each in sorted(found, key=lambda each: each.form)]
        verdicts.append(_about(one, replace(violated(lines[0]), detail="\n".join(_shortened(lines)))))
    counts = Counter(each.name for _, found in differ for each in found)
    whole = combine(verdicts)
    told = replace(whole, detail=f"{whole.detail}\nin all: {', '.join(_counted(counts))}")
    return Decision(told, left=tuple(sorted(counts)))


def _shortened(lines: list[str]) -> list[str]:
    more = [f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [*lines[:_SHOWN], *more]


def _declared(measured: Measured, criterion: Criterion) -> Verdict:
    if not measured.declared:
        return not_claimed("no difference is declared")
    gone = stale(measured.declared, measured.comparisons)
    if not gone:
        return held(*(difference.name for difference in measured.declared))
    names = ", ".join(f"{difference.name} ({difference.reason})" for difference in gone)
    if not measured.whole or any(comparison.problem for comparison in measured.comparisons) or measured.astray:
        return inconclusive(f"not seen here, which only sound runs of everything can tell (--depth full): {names}")
    return violated(f"declared, and no longer there: {names}")


def _existing_tests(measured: Measured, criterion: Criterion) -> Verdict:
    if not measured.tests:
        return not_claimed("existing_tests is not configured in [tool.turnproof.gates]")
    verdicts = []
    for setting in criterion.flag:
        run = measured.tests[setting]
        if run.passed:
            verdicts.append(held(f"existing tests with {measured.flag.words(setting)}"))
        else:
            verdicts.append(replace(violated(f"`{run.command}` {run.ending}", detail=run.output), where=run.command))
    return combine(verdicts)


CHECKS: Mapping[CheckName, Check] = {
    "requirements": _requirements,
    "turns-answered": _turns_answered,
    "histories-agree": _histories,
    "path-taken": _path_taken,
    "paths-agree": _paths_agree,
    "declared-differences-occur": _declared,
    "existing-tests": _existing_tests,
    "default-flipped": _default_flipped,
    "complete-called": complete_called,
    "one-path-only": one_path_only,
    "legacy-gone": legacy_gone,
    "history-held": history_held,
    "history-in-source": history_in_source,
    "what-stays": what_stays,
    "accounts-emptied": accounts_emptied,
    "flag-gone": flag_gone,
    "provider-untouched": provider_untouched,
    "plugin-with-session": plugin_with_session,
    "session-source": session_source,
}


def over_runs(views: Iterable[View], check: Callable[[View], Findings]) -> Verdict:
    """One verdict of what a check found in several runs, with how often it compared what."""
    verdicts: list[Verdict] = []
    equal: Counter[str] = Counter()
    for view in sorted(views, key=lambda view: view.key):
        found = check(view) if view.finished else [_unfinished(view)]
        for finding in found:
            if isinstance(finding, Verdict):
                said = f"{view.key}: {finding.message}"
                verdicts.append(replace(finding, message=said, where=str(view.key), evidence=(view.digest,)))
            else:
                equal[finding] += 1
    return combine([*verdicts, held(*_counted(equal))] if equal else verdicts)


def difference_line(found: Found, comparison: Comparison) -> str:
    """One difference: what it is, where, and both sides."""
    return (
        f"{found.place}: {kind(found.name).title} ({found.name}): {found.aspect} {found.path}: "
        f"{comparison.left.label} {_value(found.left)}, {comparison.right.label} {_value(found.right)}"
    )


def _value(value: object) -> str:
    return "(absent)" if value is UNSET else show(value)


def _about(comparison: Comparison, verdict: Verdict) -> Verdict:
    where = f"{comparison.scenario}, {comparison.mode}"
    digests = tuple(digest for digest in (comparison.left.digest, comparison.right.digest) if digest)
    return replace(verdict, message=f"{where}: {verdict.message}", where=str(comparison.left.key), evidence=digests)


def _unfinished(view: View) -> Verdict:
    end = view.transcript.end
    return inconclusive(f"the run did not come to its end ({end.how}): {end.detail}")


def _tool_rounds(measured: Measured) -> int:
    runs = [view for view in measured.runs["on"] if view.finished]
    return sum(call.began.round > 0 for view in runs for call in view.calls) or sum(
        len(turn.tool_runs) for view in runs for turn in view.turns
    )


def _counted(equal: Counter[str]) -> list[str]:
    return [f"{what} ×{times}" if times > 1 else what for what, times in equal.most_common()]
