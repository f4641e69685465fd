"""Who has to pass: a session on an adapter, from the command line and the settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..bindings import resolve_binding, resolve_session, resolve_subject
from ..config import DeclaredDifference, GateSettings
from ..declarations import with_settings
from ..errors import BindingError, UsageError
from ..subject import Subject

_REFERENCE = "reference"
_PILOT = "anthropic"


def gate_subjects(
    names: Sequence[str], settings: GateSettings, declared: Iterable[DeclaredDifference]
) -> dict[str, Subject]:
    """The subjects by the name that opens each of them in a run.

    Without names it is the configured session on the configured pilot. A name is that of an adapter, which gets the
    configured session, of a session, or `SESSION@ADAPTER`. Raises BindingError for what does not exist, UsageError for
    two subjects that reports could not tell apart.
    """
    declarations = list(declared)
    specs = dict.fromkeys(_named(name, settings) for name in names) if names else {_configured(settings): None}
    subjects = {spec: with_settings(spec, resolve_subject(spec), declarations) for spec in specs}
    every = [subject.name for subject in subjects.values()]
    if twice := sorted({name for name in every if every.count(name) > 1}):
        raise UsageError(f"two subjects are named {twice[0]!r}: give each a gate of its own, with an --out of its own")
    return subjects


def _configured(settings: GateSettings) -> str:
    if settings.pilot:
        _checked("pilot", settings.pilot)
    if settings.session == _REFERENCE:
        return settings.pilot or _PILOT
    _checked("session", settings.session)
    return f"{settings.session}@{settings.pilot}" if settings.pilot else settings.session


def _named(name: str, settings: GateSettings) -> str:
    if "@" in name or settings.session == _REFERENCE or resolve_subject(name).kind == "session":
        return name
    _checked("session", settings.session)
    return f"{settings.session}@{name}"


def _checked(key: str, name: str) -> None:
    """Raise BindingError, with the setting's name, for one that does not exist or is of the other kind."""
    try:
        resolve_session(name) if key == "session" else resolve_binding(name)
    except BindingError as error:
        raise BindingError(f"gates: {key} = {name!r}: {error}") from error
