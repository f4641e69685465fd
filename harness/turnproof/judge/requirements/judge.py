"""From views to verdicts: one requirement on one path, and both paths against each other.

Parity never decides alone: both paths may share a mistake, so every requirement with an aspect has its own check
per path too. And legacy is compared with a second legacy run first, so that noise is not taken for a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec
from msgspec import UNSET

from ...dialects.base import Evidence
from ...errors import HarnessError
from ...provider import Capabilities, Difference, Path
from ...run.transcript import RunKey
from ...scenarios.sweep import is_point
from ..finding import PATHS_DIFFER, UNSTRUCTURED, Finding, plain_value
from ..parity import Comparison, compare_views
from ..verdict import Status, Verdict, combine, failed, held, inconclusive, not_claimed
from ..view import Asked, View
from ..view.diff import ABSENT, Steps, differences, equal, steady_steps
from ..view.difference_place import place_of_difference
from .aspect_marks import NOTHING, mark
from .model import Requirement, in_words
from .registry import REGISTRY, Aspect, Check, Registry, Result, run_verdict
from .root_causes import with_root


def judge(
    requirement: Requirement,
    path: Path,
    views: Iterable[View],
    *,
    claims: Capabilities | None = None,
    registry: Registry = REGISTRY,
) -> Verdict:
    """What the runs of one path say of a requirement.

    Runs of other paths, second runs and scenarios the requirement does not look at are left aside. Without a
    single run that had something to look at, the verdict is inconclusive: nothing measured is no success.
    """
    if claims is not None and (lacking := requirement.lacks(claims)):
        return not_claimed(in_words(lacking))
    if path not in requirement.paths:
        return not_claimed(f"it says nothing of the {path} path")
    check = registry[requirement.id]
    own_views = [view for view in views if view.key.path == path and view.key.repeat == 0]
    # Sorted: runs end in any order, and the same evidence must give the same verdict.
    own_views = without_failed_services([view for view in own_views if requirement.looks_at(view.key.scenario)])
    own_views.sort(key=_by_key)
    asks = requirement.asks
    verdict = combine([*_judge_single(check, asks, own_views), *_judge_modes(check, asks, own_views)])
    if verdict.asked is None:
        verdict = msgspec.structs.replace(verdict, asked=sum(view.asked(asks) for view in own_views))
    return _with_evidence(requirement, verdict)


def without_failed_services(views: Sequence[View]) -> list[View]:
    """The runs in which the real service did its part. Where it did so in none, all of them: nothing else tells why."""
    sound = [view for view in views if view.transcript.end.how != "service-fault"]
    return sound or list(views)


def _judge_single(check: Check, asks: Asked, views: Sequence[View]) -> list[Verdict]:
    if check.single is None:
        return []
    verdicts = []
    for view in views:
        verdict = _run(check, check.single, asks, view)
        if verdict is not None:
            verdicts.append(_with_runs(verdict if check.unfinished else _if_finished(verdict, view), view))
    return verdicts


def _judge_modes(check: Check, asks: Asked, views: Sequence[View]) -> list[Verdict]:
    if check.modes is None:
        return []
    batch = {view.key.scenario: view for view in views if view.key.mode == "batch"}
    verdicts = []
    for stream in views:
        other = batch.get(stream.key.scenario)
        if stream.key.mode != "stream" or other is None:
            continue
        verdict = _run(check, check.modes, asks, stream, other)
        if verdict is not None:
            verdicts.append(_with_runs(_if_finished(_if_finished(verdict, stream), other), stream, other))
    return verdicts


def _run(check: Check, function: Callable[..., Result], asks: Asked, *views: View) -> Verdict | None:
    try:
        verdict = run_verdict(function(*views), _count_asked(asks, views))
    except Exception as error:
        # A check that falls over says nothing of the adapter.
        raise HarnessError(f"the check of {check.id} failed on {views[0].key}: {error!r}") from error
    return None if verdict is None else _coded(check.id, verdict)


def _count_asked(asks: Asked, views: Sequence[View]) -> int:
    """How often the subject was asked in runs that are compared: none at all, where one of them never did."""
    if len(views) == 1:
        return views[0].asked(asks)
    counts = [view.asked(asks) for view in views]
    return sum(counts) if all(counts) else 0


def _coded(requirement: str, verdict: Verdict) -> Verdict:
    """The verdict with a code on what was told in free words. Raises HarnessError for a code of another requirement."""
    if not verdict.findings:
        return verdict
    findings = []
    for finding in verdict.findings:
        if finding.code == UNSTRUCTURED:
            finding = msgspec.structs.replace(finding, code=f"{requirement}/{UNSTRUCTURED}")
        elif finding.requirement != requirement:
            raise HarnessError(f"the check of {requirement} made a finding with the code {finding.code!r}")
        findings.append(finding)
    return msgspec.structs.replace(verdict, findings=tuple(findings))


def judge_parity(
    requirement: Requirement,
    stateless: Iterable[View],
    legacy: Iterable[View],
    again: Iterable[View],
    *,
    declared: Sequence[Difference] = (),
    claims: Capabilities | None = None,
    registry: Registry = REGISTRY,
) -> Verdict | None:
    """Whether both paths did the same, as far as the requirement's aspect goes; None when it has no aspect.

    Runs in which one of the paths was never asked show no agreement. `again` are second legacy runs: what differs
    between them is noise, and where there is nothing but noise, nothing is decided. Where both paths did the same none
    is needed: there is nothing that could be noise. A difference is held, with a note, if it is of a kind that the
    binding declared and the requirement knows, as a comparison of the whole runs names it at the same place. Points of
    a sweep are judged on each path alone: nothing is run twice there.
    """
    aspect = registry[requirement.id].aspect
    if aspect is None:
        return None
    if claims is not None and (lacking := requirement.lacks(claims)):
        return not_claimed(in_words(lacking))
    excuses = [difference for difference in declared if difference.name in requirement.differences]
    seconds = _by_run(requirement, again)
    every, firsts = _pairs(_by_run(requirement, stateless), _by_run(requirement, legacy))
    verdicts: list[Verdict] = []
    # Runs whose paths the real service answered each for itself: others decide, if there are any.
    apart: list[Verdict] = []
    for key, view in every.items():
        if key in firsts and not is_point(view.key.scenario):
            verdict = _compare(requirement, aspect, view, firsts[key], seconds.get(key), excuses)
            if verdict is not None:
                (apart if _answered_apart(firsts[key]) else verdicts).append(verdict)
    return _with_evidence(requirement, combine(verdicts or apart))


_Runs: TypeAlias = dict[tuple[str, str], View]


def _pairs(stateless: _Runs, legacy: _Runs) -> tuple[_Runs, _Runs]:
    """The runs of both paths but for those of which the real service failed one, unless it failed all."""
    sound = {
        key
        for key in stateless.keys() & legacy.keys()
        if "service-fault" not in (stateless[key].transcript.end.how, legacy[key].transcript.end.how)
    }
    if not sound:
        return stateless, legacy
    return {key: stateless[key] for key in stateless if key in sound}, {key: legacy[key] for key in sound}


def _with_evidence(requirement: Requirement, verdict: Verdict) -> Verdict:
    """The verdict with the weakest evidence of what decided it: the check's own, or what the requirement rests on."""
    marks = [mark for mark in (verdict.rests_on, requirement.rests_on) if mark is not None]
    if not marks or verdict.status not in (Status.HELD, Status.VIOLATED):
        return verdict
    return msgspec.structs.replace(verdict, rests_on=max(marks, key=list(Evidence).index))


def _compare(
    requirement: Requirement,
    aspect: Aspect,
    stateless: View,
    legacy: View,
    again: View | None,
    excuses: Sequence[Difference],
) -> Verdict | None:
    views = (stateless, legacy) if again is None else (stateless, legacy, again)
    if again is None and stateless.finished and legacy.finished:
        common = mark(aspect, stateless)
        if common == mark(aspect, legacy):
            return None if common == NOTHING else _agreed(requirement, views)
    ours, theirs = aspect(stateless), aspect(legacy)
    if ours is None and theirs is None:
        return None
    unfinished = next((view for view in views if not view.finished), None)
    if unfinished is not None:
        return _with_runs(_unfinished(unfinished), *views)
    if equal(ours, theirs) and again is None:
        return _agreed(requirement, views)
    if _answered_apart(legacy):
        return _with_runs(inconclusive("the real service was asked for both paths, and answers in new words"), *views)
    if again is None:
        return _with_runs(inconclusive("there is no second legacy run to tell noise from difference"), *views)
    repeated = aspect(again)
    found, noise = steady_steps(ours, theirs, repeated)
    excused: list[str] = []
    if found and excuses:
        found, excused = _split_excused(found, compare_views(stateless, legacy, again), excuses)
    if found:
        findings = [_parity_finding(requirement, stateless, legacy, *place) for place in found]
        return _with_runs(failed(findings), *views)
    if excused:
        count = _count_asked(requirement.asks, views[:2])
        verdict = held(*(f"declared difference {name}" for name in excused), asked=count)
        return msgspec.structs.replace(verdict, evidence=_digests(views)) if count else None
    if noise:
        lines = differences(theirs, repeated, names=("legacy", "legacy again"))
        return _with_runs(inconclusive("two legacy runs differ from each other", detail="\n".join(lines)), *views)
    return _agreed(requirement, views)


def _answered_apart(legacy: View) -> bool:
    """Whether the real service answered the legacy path, too: what it said to the other one was to other requests."""
    return any(exchange.generates and exchange.asked_service for exchange in legacy.exchanges)


def _agreed(requirement: Requirement, views: Sequence[View]) -> Verdict | None:
    """Both paths did the same; None where one of them was never asked."""
    count = _count_asked(requirement.asks, views[:2])
    return _with_runs(held("both paths", asked=count), *views) if count else None


def _parity_finding(
    requirement: Requirement, stateless: View, legacy: View, path: Steps, ours: object, theirs: object
) -> Finding:
    """One difference, by the call or the turn under whose key the aspect has it."""
    spot, *steps = path or ("",)
    return Finding(
        code=f"{requirement.id}/{PATHS_DIFFER}",
        place=place_of_difference(stateless, legacy, str(spot), ours, theirs),
        expected=UNSET if theirs is ABSENT else plain_value(theirs),
        observed=UNSET if ours is ABSENT else plain_value(ours),
        related=(place_of_difference(legacy, stateless, str(spot), theirs, ours),),
        facts={"reading": list(steps)},
    )


def _split_excused(
    found: Sequence[tuple[Steps, object, object]], comparison: Comparison, excuses: Sequence[Difference]
) -> tuple[list[tuple[Steps, object, object]], list[str]]:
    """What no declared difference explains, and the names of those that explain the rest."""
    left: list[tuple[Steps, object, object]] = []
    used: dict[str, None] = {}
    for place in found:
        spot = str(place[0][0]) if place[0] else ""
        names = comparison.at(spot) if _is_spot(spot) else comparison.names
        telling = [excuse.name for excuse in excuses if excuse.name in names]
        used.update(dict.fromkeys(telling))
        left += [] if telling else [place]
    return left, list(used)


def _is_spot(key: str) -> bool:
    """Whether a key of an aspect is that of a call or of a turn."""
    return key[:1].isdecimal() and all(part.isdecimal() for part in key.replace("#", "/").split("/"))


def _by_key(view: View) -> RunKey:
    return view.key


def _by_run(requirement: Requirement, views: Iterable[View]) -> dict[tuple[str, str], View]:
    looked_at = sorted((view for view in views if requirement.looks_at(view.key.scenario)), key=_by_key)
    return {(view.key.scenario, view.key.mode): view for view in looked_at}


def _if_finished(verdict: Verdict, view: View) -> Verdict:
    return verdict if view.finished else _unfinished(view)


def _unfinished(view: View) -> Verdict:
    end = view.transcript.end
    return inconclusive(f"the run did not come to its end ({end.how})", detail=end.detail)


def _with_runs(verdict: Verdict, *views: View) -> Verdict:
    """The verdict with the runs it rests on, and what was compared said for each of them."""
    run = " and ".join(str(view.key) for view in views[:2])
    findings = tuple(_complete(finding, views[0]) for finding in verdict.findings)
    return msgspec.structs.replace(
        verdict,
        evidence=verdict.evidence or _digests(views),
        compared=tuple(f"{run}: {item}" for item in verdict.compared),
        findings=findings,
        failing=dict(Counter(sorted(finding.place.run for finding in findings))),
    )


def _complete(finding: Finding, view: View) -> Finding:
    """A finding with its run, where the check gave none, and with what it follows from."""
    if not finding.place.scenario:
        key = view.key
        place = msgspec.structs.replace(
            finding.place, scenario=key.scenario, path=key.path, mode=key.mode, repeat=key.repeat
        )
        finding = msgspec.structs.replace(finding, place=place)
    return with_root(finding, view)


def _digests(views: Iterable[View]) -> tuple[str, ...]:
    return tuple(view.digest for view in views if view.digest)
