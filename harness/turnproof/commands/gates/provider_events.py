"""What watched runs show of providers: the events that several criteria read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...judge.view import View
from ...run.transcript import ProviderSeen
from .codes import leaves_undecided
from .decision import Reason
from .measurement import Measured
from .phases import Criterion, Setting

HOW_TO_SHOW = (
    "let it open its provider with the setup's open_provider, or hand its own provider to the setup's watch, "
    "and use what that gives"
)

_NO_PROVIDER = leaves_undecided("runs/no-provider", f"No provider of the session can be seen: {HOW_TO_SHOW}.")


def runs_of(measured: Measured, criterion: Criterion) -> list[View]:
    """The runs that a criterion reads, in the order of their keys."""
    return sorted((view for setting in criterion.flag for view in measured.runs[setting]), key=lambda view: view.key)


def settings_and_runs(measured: Measured, criterion: Criterion) -> list[tuple[Setting, View]]:
    """The runs that a criterion reads, each with the setting of the flag in it."""
    return [(setting, view) for setting in criterion.flag for view in measured.runs[setting]]


def providers(views: Iterable[View]) -> dict[str, ProviderSeen]:
    """Each class of provider that was seen, once: as it was seen with the most methods."""
    found: dict[str, ProviderSeen] = {}
    for view in views:
        for provider in view.transcript.of(ProviderSeen):
            if provider.cls not in found or len(found[provider.cls].methods) < len(provider.methods):
                found[provider.cls] = provider
    return found


def providers_of(view: View) -> Sequence[ProviderSeen]:
    """The providers that the session of a run was given, or showed."""
    return [provider for provider in view.transcript.of(ProviderSeen) if provider.how == "given"]


def nothing_seen() -> Reason:
    """Why nothing can be said of a session that shows no provider."""
    return _NO_PROVIDER()


def short(cls: str) -> str:
    """A class as people write it: `my_pkg.providers:Mine` is `my_pkg.providers.Mine`."""
    return cls.replace(":", ".", 1)
