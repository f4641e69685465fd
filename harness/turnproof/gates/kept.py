"""What providers hold, and what they still do, by running: phases 4 and 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..driver.stays import METHODS
from ..provider import RETAINED
from ..transcript import ProviderAsked, ProviderHolds, ProviderSeen, ProviderTouched, UsageReport
from ..verdict import held, inconclusive
from ..view import View
from .decision import Decision, Spot, closed, unseen
from .measured import Measured
from .phases import Criterion
from .seen import nothing_seen, runs_of, short
from .source import Source, line_of

_DEMANDED = {
    "lifecycle": ("initialize", "connect", "verify_auth", "context limit", "error classification", "shutdown"),
    "count_tokens": ("count_tokens",),
    "thinking": ("thinking",),
}
"""What an adapter that claims a capability has to have."""


def history_held(measured: Measured, criterion: Criterion) -> Decision:
    """Nothing of what was said can be reached from a provider by strong references."""
    views = runs_of(measured, criterion)
    left, looks = Counter[str](), Counter[str]()
    endless: list[str] = []
    first: View | None = None
    for view in views:
        for holds in view.transcript.of(ProviderHolds):
            looks[f"looks at providers after a {holds.after}"] += 1
            for place in holds.messages:
                left[f"{short(holds.cls)}{place} holds what was said"] += 1
                first = first or view
            if not holds.whole:
                endless.append(f"{short(holds.cls)} holds more objects than can be looked through ({holds.looked_at})")
    if first is not None:
        return closed(left, where=str(first.key), evidence=[first.digest])
    if endless:
        return unseen(endless[0])
    if not looks:
        return unseen(nothing_seen(measured))
    if refused := next(_refused(views), None):
        return Decision(inconclusive(refused))
    return Decision(held(*(f"{what} ×{times}" for what, times in looks.items())))


def _refused(views: Sequence[View]) -> Iterator[str]:
    """Why what is left after a single call could not be looked at."""
    for view in views:
        for asked in view.transcript.of(ProviderAsked):
            if asked.what == "complete":
                yield asked.said


def what_stays(measured: Measured, criterion: Criterion) -> Decision:
    """Each thing that a provider does beside answering, by having been called."""
    views = runs_of(measured, criterion)
    asked = {one.what: one for view in views for one in view.transcript.of(ProviderAsked) if one.what in RETAINED}
    if not asked:
        return unseen("the adapter's binding opens no provider that could be asked: give it open_stateless")
    left, works, unknown = [], [], []
    demanded = _demanded(measured)
    for what, one in asked.items():
        shown = _usage_shown(views) if what == "usage" and one.outcome == "none" else None
        if one.outcome == "works" or shown:
            works.append(what)
        elif one.outcome == "fails" or shown is False:
            left.append(f"{what}: {one.said if shown is None else 'the session gives no figures after any turn'}")
        elif one.outcome == "unknown":
            unknown.append(f"{what}: {one.said}")
        elif what in demanded:
            left.append(f"{what}: {one.said}")
    if left:
        return closed(left)
    return Decision(inconclusive(unknown[0])) if unknown else Decision(held(*works))


def _demanded(measured: Measured) -> set[str]:
    claims = measured.subject.adapter.claims()
    demanded = {what for name, things in _DEMANDED.items() if claims.claims(name) for what in things}
    protocol = measured.protocol
    if protocol is not None:
        demanded |= {what for what, methods in METHODS.items() if any(map(protocol.has, methods))}
    return demanded


def _usage_shown(views: Sequence[View]) -> bool | None:
    """Whether the session gives figures after its turns; None where it does not tell of them."""
    reports = [report for view in views for report in view.transcript.of(UsageReport)]
    return any(report.usage.total_tokens for report in reports) if reports else None


def plugin_with_session(measured: Measured, criterion: Criterion) -> Decision:
    """No provider can be given a cache plugin, none was, and none holds the session's."""
    views = runs_of(measured, criterion)
    seen = {one.cls: one for view in views for one in view.transcript.of(ProviderSeen)}
    if not seen:
        return unseen(nothing_seen(measured))
    takers = [cls for cls, one in seen.items() if one.takes_plugin]
    left = [f"{short(cls)}.set_cache_plugin()" for cls in takers]
    for view in views:
        for holds in view.transcript.of(ProviderHolds):
            left += [f"{short(holds.cls)}{place} is the session's cache plugin" for place in holds.plugins]
        for touched in view.transcript.of(ProviderTouched):
            if touched.name == "set_cache_plugin" and touched.how == "called":
                left.append(f"the session gives the provider its cache plugin during {touched.during}")
    if left:
        return closed(left, spots=_takers(takers))
    looked_at = sum(len(view.transcript.of(ProviderHolds)) for view in views if view.scenario.cache)
    return Decision(held(*map(short, sorted(seen)), *([f"looks at providers ×{looked_at}"] if looked_at else [])))


def _takers(classes: Sequence[str]) -> Iterator[Spot]:
    for cls in classes:
        if (spot := line_of(Source(cls), "set_cache_plugin")) is not None:
            yield spot
