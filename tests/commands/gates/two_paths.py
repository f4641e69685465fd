"""Adapters with both paths, each wrong on purpose in what the third phase asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from turnproof.provider import Endpoint
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC

from .migrated import Around as Plain
from .migrated import Delegated as Runs
from .migrated import HandsBack as Leaves
from .migrated import OnePath, around, of


class NoComplete:
    """A provider that answers by another name."""

    def __init__(self, endpoint: Endpoint) -> None: ...


class FewParameters(Plain):
    """complete() is there, and knows no token."""

    def complete(self, messages: Any, system: Any = None, tools: Any = None) -> Any:
        return self.inner.complete(messages, system, tools)


class NeverAnswers(Plain):
    """complete() is there, and not done."""

    def complete(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError("complete() comes next week")


NO_COMPLETE = replace(ANTHROPIC, name="no-complete", open_stateless=NoComplete)
ONLY_LEGACY = replace(ANTHROPIC, name="only-legacy", open_stateless=None)
FEW_PARAMETERS = replace(ANTHROPIC, name="few-parameters", open_stateless=around(FewParameters))
NEVER_ANSWERS = replace(ANTHROPIC, name="never-answers", open_stateless=around(NeverAnswers))
SHORT = replace(ANTHROPIC, name="short", open_stateless=around(FewParameters), signature="short")
DELEGATED = replace(ANTHROPIC, name="delegated", open_stateless=of(Runs), delegated=True)
HANDS_BACK = replace(ANTHROPIC, name="hands-back", open_stateless=of(Leaves), delegated=True)
RIGHT = replace(ANTHROPIC, name="right", open_stateless=of(OnePath))


class Silent:
    """A legacy provider that tells of no figures while it streams."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        return _without_figures(found) if name.endswith("_streaming") else found


def _without_figures(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        return method(*arguments, **{key: value for key, value in options.items() if key != "on_usage_update"})

    return call


def _open_silent(endpoint: Endpoint) -> Any:
    assert ANTHROPIC.open_legacy is not None
    return Silent(ANTHROPIC.open_legacy(endpoint))


SILENT = replace(ANTHROPIC, name="silent", open_legacy=_open_silent)
