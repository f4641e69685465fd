"""Who has to pass: a session on an adapter, from the command line and the settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..._base.settings import DeclaredDifference, GateSettings
from ...errors import BindingError, UsageError
from ...judge.declarations import with_settings
from ...run.bindings import resolve_binding, resolve_session, resolve_subject, runnable_adapters
from ...session.binding import REFERENCE
from ...subject import Subject
from .phases import FIRST_WITHOUT_FLAG

_REFERENCE = "reference"
_PILOT = "anthropic"


def gate_subjects(
    names: Sequence[str],
    settings: GateSettings,
    declared: Iterable[DeclaredDifference],
    adapters: Sequence[str] | None = None,
    phase: int = 1,
) -> dict[str, Subject]:
    """The subjects by the name that opens each of them in a run.

    Without names it is the configured session on the configured pilot; or, where all adapters have to pass, on each of
    the configured `adapters` (the reference session: on all that can be run). A name is that of an adapter, which gets
    the configured session, of a session, or `SESSION@ADAPTER`. A session on several adapters goes by the latter.

    The reference session is not in the middle of a migration: it comes as each phase has it. Its flag is on by default
    from `flip_phase` on, and where the flag is gone it runs with the migrated form of each adapter that has one. Raises
    BindingError for what does not exist, UsageError for two subjects that reports could not tell apart.
    """
    declarations = list(declared)
    if names:
        specs = dict.fromkeys(_full_name(name, settings) for name in names)
    elif adapters is None:
        specs = {_configured(settings): None}
    else:
        specs = dict.fromkeys(_on_all(settings, adapters, phase))
    default = phase >= settings.flip_phase
    subjects = {spec: with_settings(spec, resolve_subject(spec), declarations) for spec in specs}
    subjects = {spec: _with_default(one, default) for spec, one in subjects.items()}
    sessions = [subject.session.name for subject in subjects.values() if subject.kind == "session"]
    subjects = {
        spec: _told_apart(one) if one.kind == "session" and sessions.count(one.session.name) > 1 else one
        for spec, one in subjects.items()
    }
    every = [subject.name for subject in subjects.values()]
    if twice := sorted({name for name in every if every.count(name) > 1}):
        raise UsageError(f"two subjects are named {twice[0]!r}: run a separate gate for each, with its own --out")
    return subjects


def pilot_adapter(settings: GateSettings) -> str:
    """The name of the adapter that the first two phases are about."""
    return resolve_subject(_configured(settings)).adapter.name


def _configured(settings: GateSettings) -> str:
    if settings.pilot:
        _checked("pilot", settings.pilot)
    if settings.session == _REFERENCE:
        return settings.pilot or _PILOT
    _checked("session", settings.session)
    return f"{settings.session}@{settings.pilot}" if settings.pilot else settings.session


def _on_all(settings: GateSettings, adapters: Sequence[str], phase: int) -> list[str]:
    """The configured session on each adapter; sessions among those that are configured are certified, not run here."""
    if settings.session == _REFERENCE:
        every = [name for name in adapters or runnable_adapters() if resolve_subject(name).kind == "adapter"]
        return every if phase < FIRST_WITHOUT_FLAG else [_migrated(name) for name in every]
    _checked("session", settings.session)
    on = [name for name in adapters if resolve_subject(name).kind == "adapter"]
    return [f"{settings.session}@{name}" for name in on] if on else [_configured(settings)]


def _migrated(name: str) -> str:
    return name if resolve_binding(name).migrated is None else f"{name}.migrated"


def _with_default(subject: Subject, default: bool) -> Subject:
    """The reference session with another default of its flag, which each run receives; other subjects unchanged."""
    if subject.session is not REFERENCE:
        return subject
    return replace(subject, session=replace(REFERENCE, flag=replace(REFERENCE.flag, default=default)))


def _told_apart(subject: Subject) -> Subject:
    session = replace(subject.session, name=f"{subject.session.name}@{subject.adapter.name}", adapter=subject.adapter)
    return replace(subject, session=session)


def _full_name(name: str, settings: GateSettings) -> str:
    if "@" in name or settings.session == _REFERENCE or resolve_subject(name).kind != "adapter":
        return name
    _checked("session", settings.session)
    return f"{settings.session}@{name}"


def _checked(key: str, name: str) -> None:
    """Raise BindingError, with the setting's name, for one that does not exist or is of the other kind."""
    try:
        resolve_session(name) if key == "session" else resolve_binding(name)
    except BindingError as error:
        raise BindingError(f"gates: {key} = {name!r}: {error}") from error
