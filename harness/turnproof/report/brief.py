"""`brief-<adapter>.html`: one adapter on one screen, in the words of its users. It needs no script.

The `effect` of each violated requirement says what does not work; the areas with the most violations come first.
Everything on the page follows from the run's log; `index.html` beside it has the details.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..judge.requirements import PROFILES
from ..judge.run_log import AdapterLine, RequirementLine, Run
from ..judge.verdict import Status
from .areas import area, claim_in_words
from .certification import AdapterReport, Certification, RequirementReport
from .html import anchor, content_policy, source, template
from .layers import Layer
from .limits import BRIEF_LINES
from .page.phrases import day
from .standing import ANSWERS, model_of, proof_of, standing, wire_of


@dataclass(frozen=True, slots=True)
class BriefLine:
    """One sentence about one requirement, with the place on `index.html` that has the details."""

    text: str
    note: str
    must: bool
    link: str


@dataclass(frozen=True, slots=True)
class Area:
    """The sentences of one profile; `more` do not fit on a screen and are folded."""

    name: str
    lines: tuple[BriefLine, ...]
    more: tuple[BriefLine, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkingArea:
    """What works in one area: `titles` of what is held, `counted` in all that were measured."""

    name: str
    titles: tuple[str, ...]
    counted: int


@dataclass(frozen=True, slots=True)
class Tile:
    """The answer to one of the two questions. `status` decides how it looks."""

    question: str
    status: Status
    answer: str
    note: str


def brief_html(run: Run, report: Certification, name: str) -> str:
    """The page of one adapter."""
    adapter, found = run.adapters[name], report.adapters[name]
    style = source("base.css") + source("brief.css")
    packages = ", ".join(f"{package} {version}" for package, version in sorted(run.header.environment.packages.items()))
    facts = {
        "speaks": wire_of(found),
        "model": model_of(found),
        "proof": proof_of(found),
        "measured": f"{day(report.started)}, depth {report.depth}",
        "with": f"turnproof {report.turnproof}, requirements of {report.profiles}",
        "packages": packages,
    }
    return template("brief.html.j2").render(
        adapter=adapter,
        report=report,
        standing=standing(found, complete=report.complete),
        tiles=tiles(found),
        facts={label: text for label, text in facts.items() if text},
        broken=_areas(run, adapter, found, Status.VIOLATED),
        known=_areas(run, adapter, found, Status.KNOWN_ISSUE),
        unknown=_areas(run, adapter, found, Status.INCONCLUSIVE),
        unmeasured=sum(profile.unmeasured for profile in found.profiles.values()),
        works=list(_works(run, found)),
        not_claimed=_not_claimed(run, adapter, found),
        style=style,
        policy=content_policy(style),
    )


def tiles(found: AdapterReport) -> list[Tile]:
    """The two answers. The first is missing where the run does not know which scenarios services show."""
    if found.layers is None:
        return []
    pairs = [("Works with today's models", found.layers.today), ("Keeps the whole contract", found.layers.contract)]
    return [_tile(question, layer) for question, layer in pairs if layer is not None]


def _tile(question: str, layer: Layer) -> Tile:
    status, answer = ANSWERS[layer.answer]
    count, counted = layer.must
    left = [
        f"{len(ids)} {words}"
        for ids, words in (
            (layer.violated, "violated"),
            (layer.undecided, "undecided"),
            (layer.known, "known issues"),
            (layer.set_aside, "set aside"),
        )
        if ids
    ]
    left += [f"{layer.unmeasured} not measured"] if layer.unmeasured else []
    return Tile(question, status, answer, ", ".join([f"{count} of {counted} MUSTs held", *left]))


def _areas(run: Run, adapter: AdapterLine, found: AdapterReport, status: Status) -> list[Area]:
    """What has this status, by area: the area with the most MUSTs first, and MUSTs first in each."""
    by_profile: dict[str, list[BriefLine]] = {}
    for id, one in found.requirements.items():
        if one.status is status:
            line = _line(run.requirements[id], adapter, found, one)
            by_profile.setdefault(one.profile, []).append(line)
    order = sorted(by_profile, key=lambda name: (-sum(line.must for line in by_profile[name]), _place(name)))
    areas, room = [], BRIEF_LINES
    for name in order:
        lines = sorted(by_profile[name], key=lambda line: not line.must)
        areas.append(Area(area(name), tuple(lines[:room]), tuple(lines[room:])))
        room = max(0, room - len(lines))
    return areas


def _place(profile: str) -> int:
    return PROFILES.index(profile) if profile in PROFILES else len(PROFILES)


def _line(
    requirement: RequirementLine, adapter: AdapterLine, found: AdapterReport, one: RequirementReport
) -> BriefLine:
    text = requirement.title if one.status is Status.INCONCLUSIVE else requirement.effect or f"{requirement.title}: no."
    return BriefLine(
        text=text,
        note=", ".join(_notes(requirement.id, adapter, found, one)),
        must=one.level == "MUST",
        link=f"index.html#{anchor(adapter.name, requirement.id)}",
    )


def _notes(id: str, adapter: AdapterLine, found: AdapterReport, one: RequirementReport) -> Iterator[str]:
    if one.level == "SHOULD":
        yield "a SHOULD"
    paths = [path for path, status in one.paths.items() if status is one.status]
    if len(adapter.paths) > 1 and len(paths) == 1:
        yield "in a comparison of both paths" if paths == ["parity"] else f"on the {paths[0]} path alone"
    if found.layers is not None and found.layers.today is not None and id in found.layers.today.set_aside:
        yield "only where the service does what none does today"


def _works(run: Run, found: AdapterReport) -> Iterator[WorkingArea]:
    for name in found.profiles:
        own_requirements = {id: one for id, one in found.requirements.items() if one.profile == name}
        titles = [run.requirements[id].title for id, one in own_requirements.items() if one.status is Status.HELD]
        if titles:
            counted = sum(one.status is not Status.NOT_CLAIMED for one in own_requirements.values())
            yield WorkingArea(area(name), tuple(titles), counted)


def _not_claimed(run: Run, adapter: AdapterLine, found: AdapterReport) -> Sequence[str]:
    """What the adapter does not claim to do, in the words of a user."""
    names = {
        claim
        for id, one in found.requirements.items()
        if one.status is Status.NOT_CLAIMED and one.applies
        for claim in (run.requirements[id].capability or "").split(", ")
        if claim and not _has(adapter, claim)
    }
    if "cache" in names:  # no cache at all: nobody asks for its kinds
        names = {claim for claim in names if not claim.startswith("cache:")}
    return sorted(set(filter(None, map(claim_in_words, names))))


def _has(adapter: AdapterLine, claim: str) -> bool:
    what, _, kind = claim.partition(":")
    value = adapter.capabilities.get(what, False)
    return value == kind if kind and what == "cache" else value not in (False, "none")
