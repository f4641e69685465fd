"""What stands in source: methods of providers that touch a history, and those of the session that touch a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..inventory import Inventory, MethodUse, Touch
from .class_source import Source, inventory_of
from .codes import ReasonCode, closes, is_not_asked, leaves_undecided
from .decision import Decision, Reason, Spot, decided
from .measurement import Measured
from .phases import Criterion
from .provider_events import nothing_seen, providers, runs_of

_CODES: Mapping[str, tuple[str, ReasonCode]] = {
    "reads": (
        "reads",
        closes(
            "history-in-source/reads",
            "A method of a provider reads a history.",
            "no history in {method:words}()",
            "a read of {what:words}",
        ),
    ),
    "writes": (
        "writes",
        closes(
            "history-in-source/writes",
            "A method of a provider writes a history.",
            "no history in {method:words}()",
            "a write of {what:words}",
        ),
    ),
    "provider-call": (
        "calls",
        closes(
            "session-source/calls-legacy-method",
            "The session calls a legacy method of its provider.",
            "no legacy method in {method:words}()",
            "a call of {what:words}",
        ),
    ),
    "provider-private": (
        "uses",
        closes(
            "session-source/uses-private-field",
            "The session uses a private field of its provider.",
            "no private field of a provider in {method:words}()",
            "a use of {what:words}",
        ),
    ),
}
"""The word and the code for each kind of touch."""

_UNREADABLE = leaves_undecided(
    "source/unreadable", "The source of a class cannot be read.", observed="{cls:words}: {problem:words}"
)
_UNCLEAR = leaves_undecided(
    "source/unclear",
    "A place in the source cannot be decided by reading it.",
    observed="{cls:words}: {problem:words}",
)
_NO_CLASS = is_not_asked("session-source/no-class", "session_class is not configured in [tool.turnproof.gates].")


def history_in_source(measured: Measured, criterion: Criterion) -> Decision:
    """No method of a provider that was seen, or is named in the settings, reads or writes a history."""
    provider_names = sorted(providers(runs_of(measured, criterion)))
    sources = list(dict.fromkeys([*map(Source, provider_names), *measured.named]))
    if not sources:
        return decided([nothing_seen()])
    return _scanned(sources, lambda touch: touch.kind in ("reads", "writes"))


def session_source(measured: Measured, criterion: Criterion) -> Decision:
    """No method of the session's class calls a legacy method, or uses a private field of a provider."""
    if measured.session_class is None:
        return decided([_NO_CLASS()])
    return _scanned([measured.session_class], lambda touch: touch.reaches_into_a_provider)


def _scanned(sources: Iterable[Source], counts: Callable[[Touch], bool]) -> Decision:
    left: dict[Spot, Reason] = {}
    unread: list[Reason] = []
    read: list[str] = []
    for source in sources:
        inventory = inventory_of(source)
        if not isinstance(inventory, Inventory):
            unread.append(_UNREADABLE(cls=str(source), problem=inventory))
            continue
        for use in inventory.methods:
            for touch in filter(counts, use.touches):
                reason = _touched(use, touch)
                if reason.spot is not None:
                    left.setdefault(reason.spot, reason)
        unread += [_UNCLEAR(cls=str(source), problem=problem) for problem in inventory.problems]
        read.append(f"source of {source}")
    return decided([*(left[spot] for spot in sorted(left)), *unread], read)


def _touched(use: MethodUse, touch: Touch) -> Reason:
    verb, code = _CODES[touch.kind]
    method = f"{use.owner}.{use.name}"
    name = f"{method}() {verb} {touch.what}"
    spot = Spot(use.file, touch.line, f"{name}: {touch.source}")
    return code(method=method, what=touch.what, name=name, spot=spot)
