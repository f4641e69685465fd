"""Phase 3: the adapter has `complete()`, in the form that is agreed on, and it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...judge.finding import Side
from ...judge.view import TurnView, View
from ...run.transcript import CallBegan, Failed, ProviderTouched, Response
from .codes import closes, leaves_undecided
from .combined_runs import seen_in
from .decision import Decision, Reason, decided
from .measurement import Measured
from .phases import Criterion
from .provider_events import nothing_seen, providers_of, runs_of, short
from .session_path import on_path

_NO_STATELESS_PATH = closes(
    "complete-called/no-stateless-path",
    "The adapter has no complete().",
    "`open_stateless` in the binding of {adapter:words}",
    "`open_legacy` alone",
)
_MISSING = closes(
    "complete-called/missing",
    "A provider of the stateless path has no complete().",
    "{provider:words}.complete()",
    "no such method",
)
_REFUSES = closes(
    "complete-called/other-parameters",
    "complete() cannot be called as the contract has it.",
    "{provider:words}.complete() with the parameters of the contract",
    "{observed:words}",
)
_NEVER_ANSWERS = closes(
    "complete-called/never-answers",
    "complete() never answered.",
    "an answer",
    "{error:words}: {message:words}",
)
_NEVER_CALLED = closes(
    "complete-called/never-called", "The session never calls complete().", "a turn that calls it", "none"
)
_HANDS_BACK_CALL = closes(
    "complete-called/hands-back-a-call",
    "The adapter is delegated, and handed a tool call back instead of making it in its own run.",
    "no call in the answer",
    "the call of {observed}",
)
_NEEDS_ROUNDS = closes(
    "complete-called/needs-rounds",
    "The adapter is delegated, and needs rounds of tools instead of making the calls in its own run.",
    "one call for the turn",
    "another with the results of tools",
)
_DEFAULT_OFF = leaves_undecided(
    "complete-called/default-is-legacy",
    "No run shows it: the flag's default leads to the legacy path.",
    "the stateless path with {words:words}; next: change the flag's default in the session (3/default-is-stateless)",
    "the legacy path",
)
_NO_ANSWER = leaves_undecided("complete-called/no-turn-answered", "No turn was answered.")


def complete_called(measured: Measured, criterion: Criterion) -> Decision:
    """Opened, called and answered. A delegated adapter has to answer a turn in one call, with no tools left over."""
    adapter, views = measured.subject.adapter, runs_of(measured, criterion)
    if adapter.open_stateless is None and adapter.open_legacy is not None:
        name = f"{adapter.name} has no complete(): its binding opens no stateless path"
        return decided([_NO_STATELESS_PATH(adapter=adapter.name, name=name)])
    if lacking := sorted({one.name: one for one in _lacking(views)}.values(), key=lambda one: one.name):
        return decided(lacking)
    answered, failed = _answers(views)
    if not answered:
        if failed:
            return decided([_never_answers(*failed[0])])
        if _answered_calls(views):
            return decided(compared=["calls of complete()"])
        if criterion.flag == ("default",) and any(on_path(view, "legacy") for view in views):
            # Says nothing of the adapter: 3/default-is-stateless is what is closed by this.
            return decided([_DEFAULT_OFF(words=measured.flag.words("default"))])
        if any(providers_of(view) for view in views):
            return decided([_NEVER_CALLED(name="no turn calls complete()")])
        return decided([nothing_seen()])
    if adapter.delegated:
        return _delegated(views)
    return decided(compared=[f"calls of complete() that were answered ×{answered}"])


def _lacking(views: Sequence[View]) -> Iterator[Reason]:
    for view in views:
        for one in providers_of(view):
            provider, place = short(one.cls), view.at_event(one)
            if not one.complete and one.path != "legacy":
                yield seen_in(_MISSING(place, provider=provider, name=f"{provider} has no complete()"), view)
            if one.refuses:
                name = f"{provider}.{one.refuses}"
                yield seen_in(_REFUSES(place, observed=one.refuses, provider=provider, name=name), view)


def _answers(views: Sequence[View]) -> tuple[int, list[tuple[View, Failed]]]:
    """How many calls of the stateless path were answered, and how the others failed."""
    answered, failed = 0, []
    for view in views:
        calls = [call for call in view.calls if call.began.path == "stateless"]
        answered += sum(call.response is not None for call in calls)
        failed += [(view, call.failed) for call in calls if call.failed is not None]
    return answered, failed


def _never_answers(view: View, failed: Failed) -> Reason:
    name = f"complete() never answered: it raised {failed.error}: {failed.message}"
    reason = _NEVER_ANSWERS(view.at_event(failed), error=failed.error, message=failed.message, name=name)
    return seen_in(reason, view)


def _answered_calls(views: Sequence[View]) -> bool:
    """Whether a provider that the session opened itself was seen to be called, and the turn to be answered."""
    touched = [one for view in views for one in view.transcript.of(ProviderTouched)]
    return any(one.name == "complete" and one.how == "called" for one in touched)


def _delegated(views: Sequence[View]) -> Decision:
    answered_turns = 0
    for view in views:
        for turn in view.turns:
            if reason := _not_one_call(view, turn):
                return decided([seen_in(reason, view)])
            answered_turns += any(isinstance(event, Response) for event in turn.events)
    return (
        decided(compared=[f"turns that were one call ×{answered_turns}"]) if answered_turns else decided([_NO_ANSWER()])
    )


def _not_one_call(view: View, turn: TurnView) -> Reason | None:
    """What a delegated adapter leaves to the session."""
    left = "the adapter is delegated, and {} was handed back instead of being made in its own run"
    for event in turn.events:
        if isinstance(event, Response) and event.response.calls:
            tool = event.response.calls[0].name
            return _HANDS_BACK_CALL(view.at_event(event), observed=tool, name=left.format(f"the call of {tool!r}"))
    for event in turn.events:
        if isinstance(event, CallBegan) and event.round > 0:
            return _NEEDS_ROUNDS(turn.at(Side.PROCESS), name=left.format("a round of tools"))
    return None
