"""`certification.json`: what a run certifies, and everything the other reports show.

A claim is no larger than its proof. A profile is certified when every MUST that the adapter claims is held, at least
one was measured, and none was left out; `conditional` when known issues are all that stands against it. An adapter is
certified, for the model it was run with, when all its claimed profiles are. A run that was cut certifies nothing.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from .._base.canonical import canonical
from ..judge.finding import Finding
from ..judge.requirements import PROFILES, concerns
from ..judge.run_log import (
    AdapterLine,
    ControlResult,
    DecidedOn,
    Environment,
    Processes,
    RequirementLine,
    ResultLine,
    Run,
    TranscriptLine,
)
from ..judge.undecided import Undecided
from ..judge.undecided_words import what_to_do, why_undecided
from ..judge.verdict import Status, Verdict, worst
from ..run.evidence import EvidenceStore
from ..scenarios.sweep import is_point
from ..subject import SubjectKind
from .cache_economics import RunEconomics, economics
from .claims import unproven_claims
from .layers import Layers, layers

SCHEMA = "turnproof.certification/1"


class FindingReport(msgspec.Struct, frozen=True):
    """A finding as data, and the same in words: what is wrong, and both sides.

    `path` is that whose verdict it belongs to; `accepted` says that a known issue accepts it.
    """

    finding: Finding
    title: str
    expected: str
    got: str
    where: str
    path: str = ""
    accepted: bool = False


class UndecidedReport(msgspec.Struct, frozen=True):
    """Why a requirement could not be decided, or is not claimed, as data and in words; `path` has the verdict."""

    reason: Undecided
    why: str
    advice: str
    path: str = ""


class RequirementReport(msgspec.Struct, frozen=True):
    """One requirement: the heaviest status of its paths, with that path's message and evidence.

    `findings` are those of all paths, as far as the log has them, of `total` in all; `totals` counts them by path and
    `failing` by the key of the run. Those that are accepted are among them. `message` is the first of them in words, or
    why there are none. `undecided` says of all paths what would have decided it. `applies` is False where the wire API
    has nothing of what it is about: nobody could claim it. `asked` says for each path how often the subject did, in the
    runs that decided, what `counts` names (`requests`); empty in logs from before it was counted. `decided_on` says of
    an adapter behind a real service what decided it: the service's `answers`, or `faults` that turnproof made where one
    path has nothing else.
    """

    level: Literal["MUST", "SHOULD"]
    profile: str
    status: Status
    paths: dict[str, Status]
    message: str
    evidence: tuple[str, ...]
    reproduce: str
    rests_on: str | None
    findings: tuple[FindingReport, ...] = ()
    total: int = 0
    failing: dict[str, int] = {}
    totals: dict[str, int] = {}
    undecided: tuple[UndecidedReport, ...] = ()
    applies: bool = True
    counts: str = ""
    asked: dict[str, int] = {}
    decided_on: DecidedOn = ""


class ProfileReport(msgspec.Struct, frozen=True):
    """`must` and `should` are [held, claimed]. Of `unmeasured` MUSTs nothing is known: the run left them out.

    `all` counts the MUSTs there are for such a subject and its wire API, claimed or not; 0 in reports from before.
    """

    certified: bool
    conditional: bool
    must: tuple[int, int]
    should: tuple[int, int]
    unmeasured: int
    all: int = 0


class AdapterReport(msgspec.Struct, frozen=True):
    """An adapter with the model it was run with, or a session with the adapter it was `run_with`.

    `claim` says how far the proof goes: emulated, replayed or live. `swept` counts the points of the sweep: events at
    which an answer was cancelled or broken, each in one way. `cache` has the economics of its runs about caching.
    `programs` are the programs behind an agent, with the version that each told; more than one, where it was replaced
    in the middle of the run. `processes` counts those that an agent had in all runs; None for what is no agent.
    `unproven` are claims of an adapter's binding that no requirement of a whole run decided; empty for a run in part.
    `decided_on` counts the requirements by what decided them behind a real service: its `answers`, or `faults` that
    turnproof made itself, of which nothing is proved of the service. Empty for any other adapter. `layers` says whether
    it works with today's models and whether it keeps the whole contract; None in reports from before.
    """

    kind: SubjectKind
    run_with: str
    dialect: str
    model: str
    claim: str
    swept: int
    certified: bool
    conditional: bool
    profiles: dict[str, ProfileReport]
    requirements: dict[str, RequirementReport]
    cache: tuple[RunEconomics, ...] = ()
    programs: tuple[str, ...] = ()
    processes: Processes | None = None
    unproven: tuple[str, ...] = ()
    decided_on: dict[str, int] = {}
    layers: Layers | None = None


class Certification(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report. `complete` is False for a run that was cut; its numbers are then what was there.

    `scenarios` are the patterns that the run was limited to, none for a run of all; null in a report that does not say.
    """

    schema: str = SCHEMA
    turnproof: str
    profiles: str
    backend: str
    depth: str
    seed: int
    started: str
    duration_s: float | None
    complete: bool
    exit_code: int | None
    digest: str | None
    problems: tuple[str, ...]
    environment: Environment
    controls: tuple[ControlResult, ...]
    adapters: dict[str, AdapterReport]
    scenarios: tuple[str, ...] | None = None

    @property
    def broken(self) -> bool:
        """Whether a control failed, so that nobody else was judged."""
        return any(control.problem for control in self.controls)


def certification(run: Run, store: EvidenceStore | None = None) -> Certification:
    """What a run certifies. A pure function of the run; what caching came to is told where its evidence is at hand."""
    header, footer = run.header, run.footer
    return Certification(
        turnproof=header.turnproof,
        profiles=header.profiles,
        backend=header.backend,
        depth=header.depth,
        seed=header.seed,
        started=header.started,
        duration_s=footer.duration_s if footer else None,
        complete=run.complete,
        exit_code=footer.exit_code if footer else None,
        digest=footer.digest if footer else None,
        problems=footer.problems if footer else (),
        environment=header.environment,
        controls=header.controls,
        adapters={
            adapter.name: _adapter(run, adapter, () if store is None else economics(run, adapter.name, store))
            for adapter in run.adapters.values()
        },
        scenarios=tuple(_scenarios(run.header.reproduce)),
    )


def _scenarios(words: Sequence[str]) -> Iterator[str]:
    """The scenarios that some options ask for."""
    yield from (words[at + 1] for at, word in enumerate(words[:-1]) if word == "--scenario")


def certification_json(report: Certification) -> bytes:
    """The report as indented JSON with sorted keys; equal reports are equal bytes."""
    return msgspec.json.format(canonical(report), indent=2) + b"\n"


def claim(adapter: AdapterLine) -> str:
    """How far the proof goes, in words: a replay never claims more than what its cassettes were recorded from."""
    match adapter.backend:
        case "replay":
            return f"replayed (recorded from {adapter.recorded or 'unknown'})"
        case "emulate" if adapter.real:
            replayed = f"replayed (real, {'; '.join(adapter.real)})"
            return replayed if adapter.real_only else f"emulated, and {replayed}"
        case "emulate":
            return "emulated"
        case "live" if adapter.service:
            return f"live ({adapter.service})"
        case other:
            return other


def _adapter(run: Run, adapter: AdapterLine, cache: tuple[RunEconomics, ...]) -> AdapterReport:
    results: dict[str, list[ResultLine]] = {}
    for line in run.results:
        if line.adapter == adapter.name:
            results.setdefault(line.requirement, []).append(line)
    requirements = {
        line.id: _requirement(run, adapter, line, results[line.id])
        for line in run.requirements.values()
        if line.id in results
    }
    own_lines = [line for line in run.requirements.values() if concerns(line.subject, adapter.kind)]
    unmeasured = [line for line in own_lines if _left_out(line, requirements, adapter)]
    profiles = {
        name: _profile(
            name,
            requirements,
            unmeasured,
            complete=run.complete,
            every=sum(_counts(line, adapter) for line in own_lines if line.profile == name),
        )
        for name in sorted({line.profile for line in own_lines}, key=_profile_order)
    }
    claimed = [profile for profile in profiles.values() if profile.must[1] or profile.unmeasured]
    runs = [line for line in run.transcripts if line.adapter == adapter.name]
    return AdapterReport(
        kind=adapter.kind,
        run_with=adapter.run_with,
        dialect=adapter.dialect,
        model=adapter.model,
        claim=claim(adapter),
        swept=len({line.key.scenario for line in runs if _is_point(line)}),
        certified=bool(claimed) and all(profile.certified for profile in claimed),
        conditional=any(profile.conditional for profile in claimed)
        and all(profile.certified or profile.conditional for profile in claimed),
        profiles=profiles,
        requirements=requirements,
        cache=cache,
        programs=tuple(sorted({line.program for line in runs if line.program})),
        processes=_in_all([line.processes for line in runs if line.processes is not None]),
        unproven=_unproven(run, adapter, requirements) if not unmeasured else (),
        layers=layers(run, adapter, sum(profile.unmeasured for profile in profiles.values())),
        decided_on=dict(sorted(Counter(one.decided_on for one in requirements.values() if one.decided_on).items())),
    )


def _unproven(run: Run, adapter: AdapterLine, requirements: Mapping[str, RequirementReport]) -> tuple[str, ...]:
    open_ends = (Status.INCONCLUSIVE, Status.NOT_CLAIMED)
    decided = {name for name, found in requirements.items() if found.status not in open_ends}
    if adapter.kind != "adapter" or not run.complete or "--scenario" in run.header.reproduce:
        return ()
    return unproven_claims(adapter, run.requirements.values(), decided)


def _in_all(counts: Sequence[Processes]) -> Processes | None:
    if not counts:
        return None
    return Processes(
        started=sum(one.started for one in counts),
        killed=sum(one.killed for one in counts),
        left=sum(one.left for one in counts),
    )


def _is_point(line: TranscriptLine) -> bool:
    return line.how == "completed" and is_point(line.key.scenario)


def _requirement(
    run: Run, adapter: AdapterLine, requirement: RequirementLine, lines: Sequence[ResultLine]
) -> RequirementReport:
    paths = {line.path: line.verdict.status for line in lines}
    status = worst(paths.values())
    deciding = [line.verdict for line in lines if line.verdict.status is status]
    marks = [str(verdict.rests_on) for verdict in deciding if verdict.rests_on is not None]
    return RequirementReport(
        level=requirement.level,
        profile=requirement.profile,
        status=status,
        paths=paths,
        message=run.message(deciding[0]),
        evidence=tuple(dict.fromkeys(digest for verdict in deciding for digest in verdict.evidence)),
        reproduce=reproduce(run, adapter, requirement.id, deciding),
        rests_on=marks[0] if marks else None,
        findings=tuple(found for line in lines for found in _findings(run, line)),
        total=sum(map(_total, lines)),
        failing=_failing(lines),
        totals={line.path: _total(line) for line in lines if _total(line)},
        undecided=tuple(
            UndecidedReport(reason, why_undecided(reason), what_to_do(reason), line.path)
            for line in lines
            for reason in line.verdict.undecided
        ),
        applies=_applies(requirement, adapter),
        counts=requirement.counts,
        decided_on=_weakest([line.decided_on for line in lines if line.verdict.status is status]),
        asked={line.path: line.verdict.asked for line in lines if line.verdict.asked is not None},
    )


def _weakest(marks: Iterable[DecidedOn]) -> DecidedOn:
    found = set(marks)
    return "faults" if "faults" in found else "answers" if "answers" in found else ""


def _counts(line: RequirementLine, adapter: AdapterLine) -> bool:
    """Whether it is one of the MUSTs that a subject like this one could claim."""
    return line.level == "MUST" and _applies(line, adapter)


def _applies(line: RequirementLine, adapter: AdapterLine) -> bool:
    """Whether the wire API has what it is about; of several kinds of cache it has one."""
    needs = line.capability.split(", ") if line.capability else []
    traits, cache = adapter.capabilities.get("wire", ()), adapter.capabilities.get("cache", "none")
    for name in needs:
        what, _, kind = name.partition(":")
        if (what == "wire" and kind not in traits) or (what == "cache" and kind and cache not in ("none", kind)):
            return False
    return True


def _findings(run: Run, line: ResultLine) -> Iterator[FindingReport]:
    known = line.verdict.status is Status.KNOWN_ISSUE
    for findings, accepted in ((line.verdict.findings, known), (line.verdict.accepted, True)):
        for finding in findings:
            words = run.words(finding)
            yield FindingReport(finding, words.title, words.expected, words.got, words.where, line.path, accepted)


def _total(line: ResultLine) -> int:
    return line.verdict.total + len(line.verdict.accepted)


def _failing(lines: Sequence[ResultLine]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(line.verdict.failing)
        counts.update(finding.place.run for finding in line.verdict.accepted if finding.place.run)
    return dict(counts)


def reproduce(run: Run, adapter: AdapterLine, requirement: str, verdicts: Iterable[Verdict] = ()) -> str:
    """The command that measures this one requirement again in the same way, quoted for a shell.

    Of a failure it makes the runs of the scenario in which the first finding was made, and no others.
    """
    words = [*run.header.reproduce]
    first = next((finding for verdict in verdicts for finding in verdict.findings if finding.place.scenario), None)
    if first is not None:
        words = ["--scenario", _file_of(run, first.place.scenario), *_without_scenarios(words)]
    return shlex.join(["turnproof", "certify", adapter.spec, "--only", requirement, *words])


def show_alone(run: Run, adapter: AdapterLine, requirement: str, folder: str = "") -> str:
    """The command that writes a file which shows a violation without turnproof, quoted for a shell; empty for sessions
    and agents, of which there are no such files. `folder` is where the run is, if it is not the usual one."""
    if adapter.kind != "adapter":
        return ""
    several = ["--adapter", adapter.name] if len(run.adapters) > 1 else []
    return shlex.join(["turnproof", "reproduce", requirement, *([folder] if folder else []), *several])


def _without_scenarios(words: Sequence[str]) -> Iterator[str]:
    """Options without those that choose scenarios."""
    rest = iter(words)
    for word in rest:
        if word == "--scenario":
            next(rest, None)
        else:
            yield word


def _file_of(run: Run, scenario: str) -> str:
    """How a scenario is asked for: by its name, or by its file where it is somebody's own."""
    stem = scenario.rpartition("/")[2].partition("#")[0]
    return next((file for file in run.header.files if file.rpartition("/")[2] == f"{stem}.yaml"), scenario)


def _left_out(line: RequirementLine, measured: dict[str, RequirementReport], adapter: AdapterLine) -> bool:
    found = measured.get(line.id)
    if found is None:
        return True
    return found.status is not Status.NOT_CLAIMED and not set(adapter.paths) <= set(found.paths)


def _profile(
    name: str,
    requirements: dict[str, RequirementReport],
    left_out: Sequence[RequirementLine],
    *,
    complete: bool,
    every: int,
) -> ProfileReport:
    here = [report for report in requirements.values() if report.profile == name]
    must, should = (
        [report.status for report in here if report.level == level and report.status is not Status.NOT_CLAIMED]
        for level in ("MUST", "SHOULD")
    )
    unmeasured = sum(line.profile == name and line.level == "MUST" for line in left_out)
    all_measured = complete and bool(must) and not unmeasured
    certified = all_measured and all(status is Status.HELD for status in must)
    return ProfileReport(
        certified=certified,
        conditional=all_measured and not certified and set(must) <= {Status.HELD, Status.KNOWN_ISSUE},
        must=(must.count(Status.HELD), len(must)),
        should=(should.count(Status.HELD), len(should)),
        unmeasured=unmeasured,
        all=max(every, len(must)),
    )


def _profile_order(name: str) -> tuple[int, str]:
    return (PROFILES.index(name) if name in PROFILES else len(PROFILES)), name
