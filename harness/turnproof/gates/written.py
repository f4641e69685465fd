"""What stands in source: methods of providers that touch a history, and those of the session that touch a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..inventory import Inventory, MethodUse, Touch
from ..verdict import held, not_claimed
from .decision import Decision, Spot, closed, unseen
from .measured import Measured
from .phases import Criterion
from .seen import nothing_seen, providers, runs_of
from .source import Source, inventory_of


def history_in_source(measured: Measured, criterion: Criterion) -> Decision:
    """No method of a provider that was seen, or is named in the settings, reads or writes a history."""
    seen = sorted(providers(runs_of(measured, criterion)))
    sources = list(dict.fromkeys([*map(Source, seen), *measured.named]))
    if not sources:
        return unseen(nothing_seen(measured))
    return _scanned(sources, lambda touch: touch.kind in ("reads", "writes"))


def session_source(measured: Measured, criterion: Criterion) -> Decision:
    """No method of the session's class calls a legacy method, or uses a private field of a provider."""
    if measured.session_class is None:
        return Decision(not_claimed("session_class is not configured in [tool.turnproof.gates]"))
    return _scanned([measured.session_class], lambda touch: touch.reaches_into_a_provider)


def _scanned(sources: Iterable[Source], counts: Callable[[Touch], bool]) -> Decision:
    left: list[str] = []
    spots: list[Spot] = []
    unread: list[str] = []
    read: list[str] = []
    for source in sources:
        inventory = inventory_of(source)
        if not isinstance(inventory, Inventory):
            unread.append(f"{source} cannot be read: {inventory}")
            continue
        found = [(use, touch) for use in inventory.methods for touch in use.touches if counts(touch)]
        left += [f"{use.owner}.{use.name}() {_verb(touch)} {touch.what}" for use, touch in found]
        spots += [_spot(use, touch) for use, touch in found]
        unread += [f"{source}: {problem}" for problem in inventory.problems]
        read.append(f"source of {source}")
    if left:
        return closed(left, spots=spots)
    if unread:
        return unseen(f"{unread[0]}" + (f" (and {len(unread) - 1} more)" if len(unread) > 1 else ""))
    return Decision(held(*dict.fromkeys(read)))


def _spot(use: MethodUse, touch: Touch) -> Spot:
    return Spot(use.file, touch.line, f"{use.owner}.{use.name}() {_verb(touch)} {touch.what}: {touch.source}")


def _verb(touch: Touch) -> str:
    return {"provider-call": "calls", "provider-private": "uses"}.get(touch.kind, touch.kind)
