"""Phase 3: what is measured on one path and not on the other, name by name.

A requirement says itself where it is about one path by its nature (`paths` in the catalogue); such are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...judge.verdict import Status
from ...judge.view import View
from ...provider import Path
from ...run.transcript import Chunk, FunctionCallDetected, Thinking, UsageUpdate
from ..certify.decide import Claimed
from ..certify.decide import decide as verdict_on
from .codes import closes, leaves_undecided
from .decision import Decision, Reason, decided
from .measurement import Measured
from .phases import Criterion, Setting
from .session_path import on_path

_SETTINGS: Mapping[Path, Setting] = {"stateless": "on", "legacy": "off"}
_OTHER: Mapping[Path, Path] = {"stateless": "legacy", "legacy": "stateless"}
_BOTH = set(_OTHER)

_ON_ONE_PATH = {
    kind: closes(
        f"one-path-only/{kind}",
        title,
        "{observed:words} on both paths, or on neither",
        "it on the {path:words} path only",
    )
    for kind, title in (
        ("scenario", "A scenario is measured on one path only."),
        ("callback", "A callback is made on one path only."),
        ("requirement", "A requirement is measured on one path only."),
    )
}
_NO_PATH = leaves_undecided("one-path-only/no-path", "No run is known to be on its path.")


def one_path_only(measured: Measured, criterion: Criterion) -> Decision:
    """Scenarios, callbacks and requirements. Runs that are not known to be on their path measure nothing."""
    sound = {
        path: [view for view in measured.runs[setting] if view.finished and on_path(view, path)]
        for path, setting in _SETTINGS.items()
    }
    if not any(sound.values()):
        return decided([_NO_PATH()])
    scenarios = {path: {f"{view.key.scenario} ({view.key.mode})" for view in views} for path, views in sound.items()}
    callbacks = {path: set(_callbacks(views)) for path, views in sound.items()}
    requirements = {path: set(_measured(measured, path, views)) for path, views in sound.items()}
    left = [
        *_differences("scenario", scenarios),
        *_differences("callback", callbacks),
        *_differences("requirement", requirements),
    ]
    both = [
        f"scenarios on both paths ×{len(scenarios['legacy'])}",
        f"requirements on both paths ×{len(requirements['legacy'])}",
        *(f"{name} on both paths" for name in sorted(callbacks["legacy"])),
    ]
    return decided(sorted(left, key=lambda one: one.name), both)


def _differences(kind: str, names_by_path: Mapping[Path, set[str]]) -> Iterator[Reason]:
    for path, names in names_by_path.items():
        for name_on_one_path in sorted(names - names_by_path[_OTHER[path]]):
            name = f"{kind} {name_on_one_path}: measured on the {path} path only"
            yield _ON_ONE_PATH[kind](observed=name_on_one_path, path=path, name=name)


def _callbacks(views: Iterable[View]) -> Iterator[str]:
    for view in views:
        for event in view.transcript.events:
            match event:
                case Chunk():
                    yield "on_chunk"
                case Thinking():
                    yield "on_thinking"
                case FunctionCallDetected():
                    yield "on_function_call"
                case UsageUpdate():
                    yield "on_usage_update"


def _measured(measured: Measured, path: Path, views: Sequence[View]) -> Iterator[str]:
    claimed = Claimed.of_subject(measured.subject, measured.scenarios)
    for requirement in measured.suite.catalogue:
        if not requirement.concerns(measured.subject.kind) or set(requirement.paths) != _BOTH:
            continue
        if verdict_on(requirement, path, views, claimed).status in (Status.HELD, Status.VIOLATED):
            yield requirement.id
