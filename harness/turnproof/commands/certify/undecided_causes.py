"""What kept a requirement from being decided, from its runs and from what was not run.

Only what stands in the way is told: a failure that the script asks for is none, nor is a callback that the check does
not need.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from ...judge.finding import BrokenRule
from ...judge.requirements import Check, Requirement
from ...judge.undecided import Obstacle, Undecided
from ...judge.view import Asked, ProviderCall, TurnView, View, broken_rule
from ...provider import Capabilities
from ...run.transcript import Chunk, Event, Failed, FunctionCallDetected, Refused, Thinking, UsageUpdate
from ...scenarios import Scenario

MOST: Final = 20
"""Exceptions and broken rules that are told of one requirement; runs are named for each."""

_EVENTS: Final[Mapping[str, type[Event]]] = {
    "on_chunk": Chunk,
    "on_thinking": Thinking,
    "on_function_call": FunctionCallDetected,
    "on_usage_update": UsageUpdate,
}


_ABOUT_ITSELF: Final = frozenset({"usage", "context", "accounting", "session_id"})
"""What a session is asked about itself, and has an answer to whatever a script says."""

_OF_ALL: Final = frozenset({"history", "tool"})
"""What every requirement rests on: that the session says what it holds, and gives tools the model's arguments."""


def runs_of(requirement: Requirement, path: str, views: Iterable[View]) -> list[View]:
    """The runs that are judged by a requirement on a path, sorted: runs end in any order."""
    own_views = (view for view in views if path in (view.key.path, "parity") and view.key.repeat == 0)
    return sorted((view for view in own_views if requirement.looks_at(view.key.scenario)), key=lambda view: view.key)


def in_runs(
    views: Sequence[View],
    check: Check,
    claims: Capabilities,
    asks: Asked,
    operations: Collection[str] = (),
) -> Iterator[Undecided]:
    """What kept these runs from showing anything. `asks` is what has to happen before a run shows something, and
    `operations` is what the requirement is about of a session, beside its history."""
    about = _OF_ALL | (_ABOUT_ITSELF & set(operations))
    yield from raised_about_itself(views, about)
    yield from _raised(views, lambda view: _unexpected(view, claims), Obstacle.CALL_RAISED)
    yield from _refused(views)
    yield from _raised(views, lambda view: _outside_calls_of(view, check.probe), Obstacle.PROBE_RAISED, check.probe)
    yield from cut_runs(views)
    finished = [view for view in views if view.finished]
    silent = (
        [name for name in check.callbacks if not any(_has_callback(view, name) for view in finished)]
        if finished
        else []
    )
    names = tuple(dict.fromkeys(view.key.scenario for view in finished if view.streamed))
    yield from (
        Undecided(kind=Obstacle.CALLBACK_NEVER_CAME, callback=name, scenarios=names) for name in silent if names
    )
    if not silent:
        troubled = {str(view.key) for view in views if _is_troubled(view, claims) or any(_refusals_of(view, about))}
        troubled |= {str(view.key) for view in views if any(_outside_calls_of(view, check.probe))}
        calm = [view for view in finished if str(view.key) not in troubled]
        never = dict.fromkeys(view.key.scenario for view in calm if not view.asked(asks))
        shown = dict.fromkeys(view.key.scenario for view in calm if view.asked(asks))
        if never:
            yield Undecided(kind=Obstacle.NEVER_ASKED, scenarios=tuple(never), counts=asks)
        if shown:
            yield Undecided(kind=Obstacle.NOTHING_SHOWN, scenarios=tuple(shown))


def raised_about_itself(views: Iterable[View], about: Collection[str] = ("history",)) -> Iterator[Undecided]:
    """What a session refused that nobody made it refuse: those of one operation and one class together."""
    found: dict[tuple[str, str], list[tuple[View, Refused]]] = {}
    for view in views:
        for event in _refusals_of(view, about):
            found.setdefault((event.operation, event.error), []).append((view, event))
    for (operation, error), cases in list(found.items())[:MOST]:
        first = cases[0][1]
        yield Undecided(
            kind=Obstacle.OPERATION_RAISED,
            runs=_keys(view for view, _ in cases),
            operation=operation,
            error=error,
            message=first.message,
            raised=first.raised,
        )


def _refusals_of(view: View, about: Collection[str]) -> Iterator[Refused]:
    return (event for event in view.transcript.of(Refused) if event.operation in about)


def cut_runs(views: Iterable[View]) -> Iterator[Undecided]:
    """The runs that came to no end, those that ended in one way together."""
    by_end: dict[str, list[View]] = {}
    for view in views:
        if not view.finished:
            by_end.setdefault(view.transcript.end.how, []).append(view)
    for how, cut in by_end.items():
        detail = cut[0].transcript.end.detail
        yield Undecided(kind=Obstacle.RUN_CUT, runs=_keys(cut), how=how, detail=detail)


def not_run(scenarios: Iterable[Scenario]) -> Iterator[Undecided]:
    """Scenarios that could have been run: those of any depth, and those of a full certification."""
    by_depth: dict[str, list[str]] = {}
    for scenario in scenarios:
        by_depth.setdefault("full" if scenario.depth == "full" else "", []).append(scenario.name)
    for depth in sorted(by_depth):
        yield Undecided(kind=Obstacle.NOT_RUN, scenarios=tuple(by_depth[depth]), depth=depth)


def claims_missing(lacking: Mapping[str, Sequence[str]]) -> Iterator[Undecided]:
    """Scenarios with what they need and is not claimed, those that need the same together, the least first.

    What the wire API does not have nobody can claim: it is told only where nothing else would have decided it.
    """
    by_need: dict[tuple[str, ...], list[str]] = {}
    claimable = {name: lacks for name, lacks in lacking.items() if not any(one.startswith("wire:") for one in lacks)}
    for name, lacks in (claimable or lacking).items():
        by_need.setdefault(tuple(sorted(lacks)), []).append(name)
    for lacks in sorted(by_need, key=lambda names: (len(names), names)):
        yield Undecided(kind=Obstacle.CLAIM_MISSING, scenarios=tuple(by_need[lacks]), lacks=lacks)


def _raised(
    views: Iterable[View], failures_of: Callable[[View], Iterable[Failed]], kind: Obstacle, probe: str = ""
) -> Iterator[Undecided]:
    """The failures of these runs: those of one class from one place together."""
    found: dict[tuple[str, str], list[tuple[View, Failed]]] = {}
    for view in views:
        for failed in failures_of(view):
            frame = failed.raised.own_frame if failed.raised is not None else None
            found.setdefault((failed.error, frame.location if frame is not None else ""), []).append((view, failed))
    for (error, _), cases in list(found.items())[:MOST]:
        first = cases[0][1]
        runs = _keys(view for view, _ in cases)
        yield Undecided(kind=kind, runs=runs, probe=probe, error=error, message=first.message, raised=first.raised)


def _outside_calls_of(view: View, probe: str) -> Iterator[Failed]:
    """What was raised ahead of the calls of a probe, so that they were not made."""
    return (one for one in view.transcript.of(Failed) if probe and one.probe == probe and one.call < 0)


def _unexpected(view: View, claims: Capabilities) -> Iterator[Failed]:
    for turn in view.turns:
        if turn.script is not None and turn.script.expect == "error":
            continue
        calls = [call.failed for call in turn.calls if _is_unexpected(call, claims)]
        yield from (failed for failed in calls if failed is not None)
        if turn.failed is not None and turn.normal and not any(call.failed for call in turn.calls):
            yield turn.failed


def _is_unexpected(call: ProviderCall, claims: Capabilities) -> bool:
    """Whether the call raised though nothing was done to it, or raised something else than the error it claims."""
    if call.failed is None or call.failed.from_callback or _refusals(call):
        return False
    untroubled = call.last is None or (call.clean and call.accepted)
    return untroubled or (claims.typed_errors and not call.failed.typed)


def _refused(views: Iterable[View]) -> Iterator[Undecided]:
    """Requests that the API refuses, those by one rule together."""
    found: dict[str, tuple[BrokenRule, list[View]]] = {}
    for view in views:
        for rule in (rule for turn in _answered_turns(view) for call in turn.calls for rule in _refusals(call)):
            found.setdefault(rule.id, (rule, []))[1].append(view)
    for rule, refused in list(found.values())[:MOST]:
        yield Undecided(kind=Obstacle.REQUEST_REFUSED, runs=_keys(refused), rule=rule)


def _answered_turns(view: View) -> Iterator[TurnView]:
    return (turn for turn in view.turns if turn.script is None or turn.script.expect != "error")


def _refusals(call: ProviderCall) -> list[BrokenRule]:
    """The rules that the call's requests offend, but for what nobody knows beforehand: a prompt that is too long, a
    cache that has ended."""
    return [
        broken_rule(refusal)
        for exchange in call.exchanges
        for refusal in exchange.refusals
        if exchange.error_meaning not in ("context-limit", "cache-expired") and exchange.request.operation != "cache"
    ]


def _is_troubled(view: View, claims: Capabilities) -> bool:
    refused = any(_refusals(call) for turn in _answered_turns(view) for call in turn.calls)
    return refused or any(True for _ in _unexpected(view, claims))


def _has_callback(view: View, callback: str) -> bool:
    return any(isinstance(event, _EVENTS[callback]) for event in view.transcript.events)


def _keys(views: Iterable[View]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(view.key) for view in views))
