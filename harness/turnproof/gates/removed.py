"""Phase 4: the legacy methods are gone, from the protocol and from every provider; and so is the flag."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..inventory import Inventory
from ..parity import compare_views
from ..provider import LEGACY_METHODS
from ..verdict import Verdict, combine, held, inconclusive, violated
from ..view import View
from .decision import Decision, Spot, closed, unseen
from .measured import Measured
from .phases import Criterion
from .seen import nothing_seen, providers, runs_of, short
from .source import Source, inventory_of
from .taken import path_taken


def legacy_gone(measured: Measured, criterion: Criterion) -> Decision:
    """From the class that is the protocol, from the providers that runs show, and from those that are named."""
    found = providers(runs_of(measured, criterion))
    adapter = measured.subject.adapter
    left = {f"{short(one.cls)}.{method}()" for one in found.values() for method in one.methods}
    named = [source for source in (measured.protocol, *measured.named) if source is not None]
    left |= {f"{source}.{method}()" for source in named for method in LEGACY_METHODS if source.has(method)}
    if adapter.open_legacy is not None:
        left.add(f"the binding of {adapter.name} still opens a legacy path")
    if left:
        classes = [*named, *(Source(one.cls) for one in found.values() if one.methods)]
        return closed(left, spots=(spot for source in classes for spot in _lines(source)))
    if not found and not named:
        return unseen(nothing_seen(measured))
    return Decision(held(*sorted({*map(short, found), *map(str, named)})))


def _lines(source: Source) -> Iterator[Spot]:
    inventory = inventory_of(source)
    if isinstance(inventory, Inventory):
        for use in inventory.legacy:
            yield Spot(use.file, use.line, f"{use.owner}.{use.name}()")


def flag_gone(measured: Measured, criterion: Criterion) -> Decision:
    """With the flag off the session is where it is without, and every run is the same as without."""
    off = {view.key: view for view in measured.runs["off"]}
    unset = {view.key: view for view in measured.runs["default"]}
    verdicts = [_unchanged(off[key], unset[key], measured.flag.words("off")) for key in sorted(off) if key in unset]
    return Decision(combine(verdicts))


def _unchanged(off: View, unset: View, words: str) -> Verdict:
    if not off.finished:
        return inconclusive(f"{off.key} did not come to its end with {words}")
    signs = list(path_taken(off, "stateless"))
    if not signs:
        return inconclusive(
            "which path the session takes cannot be seen: give its binding a path, or show its provider"
        )
    wrong = [sign for sign in signs if isinstance(sign, Verdict)]
    if wrong:
        return replace(_at(off, wrong[0]), message=f"with {words}: {off.key}: {wrong[0].message}")
    compared = compare_views(off, unset, labels=(words, "not set"))
    if compared.problem:
        return inconclusive(compared.problem)
    if compared.differences:
        first = compared.differences[0]
        return _at(off, violated(f"{off.key}: with {words} {first.aspect} {first.path} is another ({first.name})"))
    return _at(off, held("runs that are the same with the flag off"))


def _at(view: View, verdict: Verdict) -> Verdict:
    return replace(verdict, where=str(view.key), evidence=(view.digest,) if view.digest else ())
