"""Whether turnproof can speak to an adapter: a round trip on each of its paths, streamed and in one piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from ...dialects import dialect as dialect_named
from ...dialects import dialect_names
from ...errors import TurnproofError
from ...provider import PATHS, Path
from ...run.driver import Runner, RunSpec
from ...run.transcript import RunKey
from ...subject import Subject
from . import emulator
from .model import Diagnostic, ok, warning, wrong
from .round_trip import Trip, leak, round_trip, summary, trouble

Mode: TypeAlias = Literal["stream", "batch"]


def binding(runner: Runner, spec: str) -> Iterator[Diagnostic]:
    """What there is to say of an adapter, or of a session with one."""
    try:
        subject = runner.subject(spec)
        wire = dialect_named(subject.dialect).name
        claims = subject.claims()
    except TurnproofError as error:
        advice = "see docs/bind-your-adapter.md, and turnproof list adapters for those that are installed"
        yield wrong(spec, "binding", str(error), advice)
        return
    except Exception as error:  # capabilities may be a function of whoever wrote the binding
        message = f"its capabilities cannot be read: {type(error).__name__}: {error}"
        yield wrong(spec, "binding", message, "let `capabilities` be a function of the model's name, or no function")
        return
    yield ok(spec, "binding", f"{subject.name}: {subject.kind} for {wire}, model {subject.model}")
    yield from _foreign_model(spec, subject)
    if subject.kind == "adapter" and not any(map(subject.adapter.opener, PATHS)):
        yield wrong(spec, "paths", "it has no path at all", "give open_stateless or open_legacy in the binding")
        return
    for path in PATHS:
        if path not in subject.paths:
            yield ok(spec, path, f"it has no {path} path; what takes one is not claimed")
            continue
        yield from _path(runner, spec, subject, path)
    if not claims.streaming:
        advice = "claim streaming in its Capabilities if it takes on_chunk"
        yield warning(spec, "streaming", "it claims none, so nothing was streamed", advice)


def _foreign_model(spec: str, subject: Subject) -> Iterator[Diagnostic]:
    """A model that other APIs list and this one does not. A gateway may well have it, so it is not wrong."""
    if subject.model in dialect_named(subject.dialect).models:
        return
    others = [name for name in dialect_names() if subject.model in dialect_named(name).models]
    if others:
        message = (
            f"{subject.model!r} is a model of {' and '.join(others)}, and the binding says dialect={subject.dialect!r}"
        )
        yield warning(
            spec, "model", message, "write a model of this API in the binding, unless a gateway serves it there"
        )


def _path(runner: Runner, spec: str, subject: Subject, path: Path) -> Iterator[Diagnostic]:
    """The round trips on one path. What is wrong alike in both modes is told once."""
    modes: tuple[Mode, ...] = ("stream", "batch") if subject.claims().streaming else ("batch",)
    trips = every = [_trip(runner, spec, subject, path, mode) for mode in modes]
    troubles = [trouble(trip) for trip in trips]
    if len(trips) == 2 and troubles[0] is not None and troubles[0] == troubles[1]:
        trips, troubles = trips[:1], troubles[:1]
        names = [f"{path}, either way"]
    else:
        names = [f"{path}, {'streamed' if trip.streamed else 'in one piece'}" for trip in trips]
    for name, trip, found in zip(names, trips, troubles, strict=True):
        if found is None:
            yield ok(spec, name, summary(trip))
        else:
            yield wrong(emulator.AREA if found.ours else spec, name, found.observation, found.do)
    if leaked := next(filter(None, map(leak, every)), None):
        yield wrong(spec, f"{path}, the key", leaked.observation, leaked.do)


def _trip(runner: Runner, spec: str, subject: Subject, path: Path, mode: Mode) -> Trip:
    # An agent is given the tools that it is to call by itself; an adapter over one calls those that it has.
    claims, delegated = subject.claims(), subject.adapter.delegated and subject.kind != "agent"
    before = len(runner.strays)
    scenario = round_trip(claims, delegated=delegated)
    transcript = runner.run(RunSpec(spec, scenario, RunKey(scenario.name, path, mode)))
    return Trip(transcript, claims.tools and not delegated, tuple(runner.strays[before:]), runner.port, subject.kind)
