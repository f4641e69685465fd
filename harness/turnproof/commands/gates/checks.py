"""The checks that decide criteria: pure functions of what was measured, each under the name that the data use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec.structs import replace

from ...judge.finding import Side
from ...judge.parity import stale, violations
from .adapters import complete_called
from .answered_turns import turns_answered
from .codes import closes, is_not_asked, leaves_undecided
from .combined_runs import NOTHING_COMPARED, over_runs
from .decision import Decision, Reason, combined, decided, with_counts
from .existing_tests import CommandRun
from .histories import histories_agree
from .measurement import Measured
from .one_sided import one_path_only
from .path_differences import PATHS_DIFFER, comparison_reason, gating, not_compared
from .phases import CheckName, Criterion
from .provider_events import settings_and_runs
from .provider_state import history_held, plugin_with_session, what_stays
from .provider_use import provider_untouched
from .removal import flag_gone, legacy_gone
from .requirement_checks import OWNS_ITS_HISTORY, requirements_hold
from .session_path import path_taken
from .source_checks import history_in_source, session_source
from .usage_after_reset import accounts_emptied

Check: TypeAlias = Callable[[Measured, Criterion], Decision]

_OF_TURNS: tuple[CheckName, ...] = ("requirements", "turns-answered", "existing-tests")
"""What holds of turns, and of the project, whoever owns the history."""

_NO_PROVIDER_HISTORY = leaves_undecided(
    "histories-agree/no-provider-history",
    "The session does not show what its provider holds, so there is nothing to compare its own history with: give its "
    "binding a provider_history.",
)
_PATH_HIDDEN = leaves_undecided(
    "path-taken/not-shown",
    "Which path the session takes cannot be seen: give its binding a path, or let it open its provider with the "
    "setup's open_provider.",
)
_FLIPS_TOO_LATE = closes(
    "default-flipped/planned-too-late",
    "The settings let the default flip in a later phase.",
    "flip_phase = {expected} or less in [tool.turnproof.gates]",
    "flip_phase = {observed}",
)
_ASTRAY = leaves_undecided(
    "paths-agree/on-another-path",
    "A run is not on the path that it should be on.",
    "the {expected:words} path",
    "another one, or none that can be seen",
)
_NO_TOOLS = leaves_undecided(
    "paths-agree/no-tools", "No turn in which a tool was called and answered is among what was compared."
)
_NONE_DECLARED = is_not_asked("declared-differences-occur/none-declared", "No difference is declared.")
_NO_LONGER_THERE = closes(
    "declared-differences-occur/gone",
    "A declared difference does not occur any more.",
    "{difference:words} ({because:words}) in some run",
    "it in none",
)
_NOT_SEEN_HERE = leaves_undecided(
    "declared-differences-occur/not-seen",
    "A declared difference was not seen, which only sound runs of all scenarios can decide (--depth full).",
    "{difference:words} ({because:words}) in some run",
    "it in none",
)
_NO_TESTS = is_not_asked("existing-tests/not-configured", "existing_tests is not configured in [tool.turnproof.gates].")
_TESTS_FAIL = closes(
    "existing-tests/failed",
    "The project's own tests fail.",
    "exit status {expected} of `{tests:words}`",
    "exit status {observed}",
)
_TESTS_KILLED = closes(
    "existing-tests/killed",
    "The project's own tests were ended by a signal.",
    "exit status {expected} of `{tests:words}`",
    "signal {observed}",
)
_TESTS_TOO_SLOW = closes(
    "existing-tests/too-slow",
    "The project's own tests did not end in time.",
    "the end of `{tests:words}` within {expected} s",
    "none; it was stopped",
)


def decide(measured: Measured, criterion: Criterion) -> Decision:
    """What was measured says of a criterion. Nothing measured is inconclusive, never held."""
    if measured.subject.kind == "agent" and criterion.check not in _OF_TURNS:
        return decided([OWNS_ITS_HISTORY()])
    decision = CHECKS[criterion.check](measured, criterion)
    if len(criterion.flag) > 1:
        return decision
    (setting,) = criterion.flag
    return replace(decision, reasons=tuple(replace(one, setting=setting) for one in decision.reasons))


def _turns_answered(measured: Measured, criterion: Criterion) -> Decision:
    return over_runs(settings_and_runs(measured, criterion), turns_answered)


def _histories(measured: Measured, criterion: Criterion) -> Decision:
    if measured.subject.session.provider_history is None:
        return decided([_NO_PROVIDER_HISTORY()])
    return over_runs(settings_and_runs(measured, criterion), histories_agree)


def _path_taken(measured: Measured, criterion: Criterion) -> Decision:
    (setting,) = criterion.flag
    expected = measured.flag.path(setting, measured.phase)
    runs = settings_and_runs(measured, criterion)
    return over_runs(runs, lambda view: path_taken(view, expected), _PATH_HIDDEN())


def _default_flipped(measured: Measured, criterion: Criterion) -> Decision:
    flip, phase = measured.flag.flip_phase, measured.phase
    if phase < flip:
        return decided([_FLIPS_TOO_LATE(expected=phase, observed=flip)])
    return _path_taken(measured, criterion)


def _paths_agree(measured: Measured, criterion: Criterion) -> Decision:
    equal: Counter[str] = Counter()
    for one in measured.comparisons:
        if not one.problem:
            equal["conversations"] += 1
            equal.update({aspect: count for aspect, count in one.compared.items() if count})
    reasons = [*_differences(measured), *_not_comparable(measured)]
    if not reasons and equal and measured.subject.claims().tools and not _tool_rounds(measured):
        reasons = [_NO_TOOLS()]
    if not reasons and not equal:
        reasons = [NOTHING_COMPARED()]
    return decided(reasons, with_counts(equal.most_common()))


def _differences(measured: Measured) -> Iterator[Reason]:
    """Each difference that nobody declared; those in what is said before those in how it is written."""
    differ = [(one, found) for one in measured.comparisons if (found := gating(violations(one, measured.excused)))]
    views = {view.key: view for setting in ("off", "on") for view in measured.runs.get(setting, ())}
    for one, found in sorted(differ, key=lambda pair: all(each.form for each in pair[1])):
        for each in sorted(found, key=lambda each: each.form):
            left, right = views.get(one.left.key), views.get(one.right.key)
            reason = comparison_reason(PATHS_DIFFER[each.name], each, one, left, right)
            yield replace(reason, name=each.name)


def _not_comparable(measured: Measured) -> Iterator[Reason]:
    yield from (not_compared(one) for one in measured.comparisons if one.problem)
    for view in measured.astray:
        digest = (view.digest,) if view.digest else ()
        yield _ASTRAY(view.at(Side.PROCESS), expected=view.key.path, evidence=digest)


def _tool_rounds(measured: Measured) -> int:
    runs = [view for view in measured.runs["on"] if view.finished]
    return sum(call.began.round > 0 for view in runs for call in view.calls) or sum(
        len(turn.tool_runs) for view in runs for turn in view.turns
    )


def _declared(measured: Measured, criterion: Criterion) -> Decision:
    if not measured.declared:
        return decided([_NONE_DECLARED()])
    sound = measured.whole and not measured.astray and not any(one.problem for one in measured.comparisons)
    code = _NO_LONGER_THERE if sound else _NOT_SEEN_HERE
    stale_differences = stale(measured.declared, measured.comparisons)
    reasons = [code(difference=one.name, because=one.reason) for one in stale_differences]
    return decided(reasons, [one.name for one in measured.declared])


def _existing_tests(measured: Measured, criterion: Criterion) -> Decision:
    if not measured.tests:
        return decided([_NO_TESTS()])
    decisions = []
    for setting in criterion.flag:
        run = measured.tests[setting]
        if run.passed:
            decisions.append(decided(compared=[f"existing tests with {measured.flag.words(setting)}"]))
        else:
            decisions.append(decided([replace(_tests_fail(run), setting=setting)]))
    return combined(decisions)


def _tests_fail(run: CommandRun) -> Reason:
    fields: dict[str, Any] = {"command": run.command, "tests": run.command, "detail": run.output}
    if run.code is None:
        return _TESTS_TOO_SLOW(expected=run.seconds, **fields)
    if run.code < 0:
        return _TESTS_KILLED(expected=0, observed=-run.code, **fields)
    return _TESTS_FAIL(expected=0, observed=run.code, **fields)


CHECKS: Mapping[CheckName, Check] = {
    "requirements": requirements_hold,
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
