"""Phase 4: the legacy methods are gone, from the protocol and from every provider; and so is the flag."""

from __future__ import annotations

from collections.abc import Mapping

from ...judge.finding import Compared, Side
from ...judge.parity import compare_views
from ...judge.view import View
from ...provider import LEGACY_METHODS
from ..inventory import Inventory
from .class_source import Source, inventory_of
from .codes import closes, leaves_undecided
from .combined_runs import RunReasons, over_runs
from .decision import Decision, Reason, Spot, decided
from .measurement import Measured
from .path_differences import RUN_DIFFERS, comparison_reason, gating, not_compared
from .phases import Criterion, Setting
from .provider_events import nothing_seen, providers, runs_of, short
from .session_path import path_taken

_METHOD = closes(
    "legacy-gone/method",
    "A method by which a provider owns a history is still there.",
    "no {method:words}()",
    "{owner:words}.{method:words}()",
)
_LEGACY_PATH = closes(
    "legacy-gone/legacy-path",
    "The adapter's binding still opens a legacy path.",
    "no `open_legacy` in the binding of {adapter:words}",
    "one",
)
_PATH_HIDDEN = leaves_undecided(
    "flag-gone/path-not-shown",
    "Which path the session takes cannot be seen: give its binding a path, or show its provider.",
)


def legacy_gone(measured: Measured, criterion: Criterion) -> Decision:
    """From the class that is the protocol, from the providers that runs show, and from those that are named."""
    found = providers(runs_of(measured, criterion))
    adapter = measured.subject.adapter
    named = [source for source in (measured.protocol, *measured.named) if source is not None]
    left: dict[str, Reason] = {}
    if adapter.open_legacy is not None:
        name = f"the binding of {adapter.name} still opens a legacy path"
        left[name] = _LEGACY_PATH(adapter=adapter.name, name=name)
    has = [(Source(one.cls), short(one.cls), one.methods) for one in found.values()]
    has += [(source, str(source), tuple(filter(source.has, LEGACY_METHODS))) for source in named]
    for source, owner, methods in has:
        lines = _lines(source) if methods else {}
        for method in methods:
            name = f"{owner}.{method}()"
            left[name] = _METHOD(owner=owner, method=method, name=name, spot=lines.get(method))
    if left:
        return decided(left[name] for name in sorted(left))
    if not found and not named:
        return decided([nothing_seen()])
    return decided(compared=sorted({*map(short, found), *map(str, named)}))


def _lines(source: Source) -> Mapping[str, Spot]:
    """Where the legacy methods of a class stand, by name."""
    inventory = inventory_of(source)
    if not isinstance(inventory, Inventory):
        return {}
    return {use.name: Spot(use.file, use.line, f"{use.owner}.{use.name}()") for use in inventory.legacy}


def flag_gone(measured: Measured, criterion: Criterion) -> Decision:
    """With the flag off the session is where it is without, and every run is the same as without."""
    unset = {view.key: view for view in measured.runs["default"]}
    labels = (measured.flag.words("off"), measured.flag.words("default"))
    off: list[tuple[Setting, View]] = [("off", view) for view in measured.runs["off"] if view.key in unset]
    return over_runs(off, lambda view: _unchanged(view, unset[view.key], labels))


def _unchanged(off: View, unset: View, labels: tuple[str, str]) -> RunReasons:
    signs = list(path_taken(off, "stateless"))
    wrong = [sign for sign in signs if isinstance(sign, Reason)]
    if wrong:
        yield from wrong
        return
    comparison = compare_views(off, unset, labels=labels)
    differences = gating(comparison.differences)
    if not signs:
        yield _PATH_HIDDEN(off.at(Side.PROCESS))
    elif comparison.problem:
        yield not_compared(comparison)
    elif not differences:
        yield Compared("runs that are the same with the flag off")
    for found in differences if signs else ():
        yield comparison_reason(RUN_DIFFERS[found.name], found, comparison, off, unset)
