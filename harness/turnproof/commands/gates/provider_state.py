"""What providers hold, and what they still do, by running: phases 4 and 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ...judge.view import View
from ...provider import RETAINED
from ...run.driver.retention import METHODS
from ...run.transcript import ProviderAsked, ProviderHolds, ProviderSeen, ProviderTouched, UsageReport
from .class_source import Source, line_of
from .codes import closes, is_not_asked, leaves_undecided
from .combined_runs import seen_in
from .decision import Decision, Reason, decided, with_counts
from .measurement import Measured
from .phases import Criterion
from .provider_events import nothing_seen, runs_of, short

_HOLDS = closes(
    "history-held/message",
    "A provider holds messages of a conversation.",
    "no message that can be reached from it after a {after:words}",
    "one at {observed:words}",
)
_TOO_MANY = leaves_undecided(
    "history-held/too-many-objects",
    "A provider holds more objects than can be looked through.",
    "fewer objects than {observed} in {provider:words}",
    "more",
)
_NO_SINGLE_CALL = leaves_undecided(
    "history-held/no-single-call",
    "What a provider holds after a single call cannot be looked at.",
    observed="{observed:words}",
)
_BROKEN = closes(
    "what-stays/broken",
    "Another function of a provider, such as counting tokens, does not work.",
    "",
    "{what:words}: {said:words}",
)
_MISSING = closes(
    "what-stays/missing",
    "Another function of a provider, such as counting tokens, is gone.",
    "",
    "{what:words}: {said:words}",
)
_NO_FIGURES = closes(
    "what-stays/no-usage", "The session shows no usage.", "figures after some turn", "none after any turn"
)
_UNKNOWN = leaves_undecided(
    "what-stays/unknown-call", "It is not known how a method is called.", observed="{what:words}: {said:words}"
)
_CANNOT_ASK = leaves_undecided(
    "what-stays/no-provider",
    "The adapter's binding opens no provider that could be asked: give it open_stateless.",
)
_NONE_THERE = is_not_asked(
    "what-stays/nothing-there", "The adapter's provider does nothing beside answering, and need not: it claims nothing."
)
_TAKES_PLUGIN = closes(
    "plugin-with-session/takes-plugin",
    "A provider can be given a cache plugin.",
    "no set_cache_plugin()",
    "{provider:words}.set_cache_plugin()",
)
_HOLDS_PLUGIN = closes(
    "plugin-with-session/holds-plugin",
    "A provider holds the session's cache plugin.",
    "no way from the provider to the plugin",
    "the plugin at {observed:words}",
)
_GIVES_PLUGIN = closes(
    "plugin-with-session/gives-plugin",
    "The session gives its provider the cache plugin.",
    "no call of set_cache_plugin()",
    "one during {during:words}",
)

_DEMANDED = {
    "lifecycle": ("initialize", "connect", "verify_auth", "context limit", "error classification", "shutdown"),
    "count_tokens": ("count_tokens",),
    "thinking": ("thinking",),
}
"""What an adapter that claims a capability has to have."""


def history_held(measured: Measured, criterion: Criterion) -> Decision:
    """Nothing of what was said can be reached from a provider by strong references."""
    views = runs_of(measured, criterion)
    looks = Counter[str]()
    left: dict[str, Reason] = {}
    undecided: list[Reason] = []
    for view in views:
        for holds in view.transcript.of(ProviderHolds):
            looks[f"looks at providers after a {holds.after}"] += 1
            provider = short(holds.cls)
            for place in holds.messages:
                name, location = f"{provider}{place} holds what was said", f"{provider}{place}"
                if name not in left:
                    reason = _HOLDS(view.at_event(holds), observed=location, after=holds.after, name=name)
                    left[name] = seen_in(reason, view)
            if not holds.whole:
                endless = _TOO_MANY(view.at_event(holds), observed=holds.looked_at, provider=provider)
                undecided.append(seen_in(endless, view))
        undecided += _refused(view)
    if not looks:
        return decided([nothing_seen()])
    return decided([*(left[name] for name in sorted(left)), *undecided], with_counts(looks.items()))


def _refused(view: View) -> Iterator[Reason]:
    """Why what is left after a single call could not be looked at."""
    for event in view.transcript.of(ProviderAsked):
        if event.what == "complete":
            yield seen_in(_NO_SINGLE_CALL(view.at_event(event), observed=event.said), view)


def what_stays(measured: Measured, criterion: Criterion) -> Decision:
    """Each thing that a provider does beside answering, by having been called."""
    views = runs_of(measured, criterion)
    events = {
        one.what: (view, one) for view in views for one in view.transcript.of(ProviderAsked) if one.what in RETAINED
    }
    if not events:
        return decided([_CANNOT_ASK()])
    reasons: list[Reason] = []
    works: list[str] = []
    demanded = _demanded(measured)
    for what, (view, one) in events.items():
        place = view.at_event(one)
        name = f"{what}: {one.said}"
        facts: dict[str, Any] = {"what": what, "said": one.said}
        usage = _usage_shown(views) if what == "usage" and one.outcome == "none" else None
        if (one.outcome == "works" and not _lacks(measured, one)) or usage:
            works.append(what)
        elif usage is False:
            name = f"{what}: the session gives no figures after any turn"
            reasons.append(seen_in(_NO_FIGURES(place, name=name), view))
        elif one.outcome == "fails":
            reasons.append(seen_in(_BROKEN(place, name=name, **facts), view))
        elif one.outcome == "unknown":
            reasons.append(seen_in(_UNKNOWN(place, **facts), view))
        elif one.outcome == "works" or what in demanded:
            reasons.append(seen_in(_MISSING(place, name=name, **facts), view))
    if not reasons and not works:
        reasons.append(_NONE_THERE())
    return decided(sorted(reasons, key=lambda one: one.name), works)


def _demanded(measured: Measured) -> set[str]:
    claims = measured.subject.adapter.claims()
    demanded = {what for name, things in _DEMANDED.items() if claims.claims(name) for what in things}
    protocol = measured.protocol
    if protocol is not None:
        demanded |= {what for what, methods in METHODS.items() if any(map(protocol.has, methods))}
    return demanded


def _lacks(measured: Measured, one: ProviderAsked) -> bool:
    """Whether a provider lacks one of several methods, and the protocol has it."""
    protocol = measured.protocol
    return protocol is not None and any(protocol.has(name) and f"{name}()" in one.said for name in METHODS[one.what])


def _usage_shown(views: Sequence[View]) -> bool | None:
    """Whether the session gives figures after its turns; None where it does not tell of them."""
    reports = [report for view in views for report in view.transcript.of(UsageReport)]
    return any(report.usage.total_tokens for report in reports) if reports else None


def plugin_with_session(measured: Measured, criterion: Criterion) -> Decision:
    """No provider can be given a cache plugin, none was, and none holds the session's."""
    views = runs_of(measured, criterion)
    provider_by_class = {one.cls: one for view in views for one in view.transcript.of(ProviderSeen)}
    if not provider_by_class:
        return decided([nothing_seen()])
    found = [_takes_plugin(cls) for cls, one in provider_by_class.items() if one.takes_plugin]
    for view in views:
        found += _handed_over(view)
    # Each once, as it was first seen.
    left: dict[str, Reason] = {}
    for reason in found:
        left.setdefault(reason.name, reason)
    looked_at = sum(len(view.transcript.of(ProviderHolds)) for view in views if view.scenario.cache)
    looks = [f"looks at providers ×{looked_at}"] if looked_at else []
    return decided((left[name] for name in sorted(left)), [*map(short, sorted(provider_by_class)), *looks])


def _takes_plugin(cls: str) -> Reason:
    spot = line_of(Source(cls), "set_cache_plugin")
    return _TAKES_PLUGIN(provider=short(cls), name=f"{short(cls)}.set_cache_plugin()", spot=spot)


def _handed_over(view: View) -> Iterator[Reason]:
    for holds in view.transcript.of(ProviderHolds):
        for place in holds.plugins:
            location = f"{short(holds.cls)}{place}"
            name = f"{location} is the session's cache plugin"
            yield seen_in(_HOLDS_PLUGIN(view.at_event(holds), observed=location, name=name), view)
    for touched in view.transcript.of(ProviderTouched):
        if touched.name == "set_cache_plugin" and touched.how == "called":
            name = f"the session gives the provider its cache plugin during {touched.during}"
            yield seen_in(_GIVES_PLUGIN(view.at_event(touched), during=touched.during, name=name), view)
