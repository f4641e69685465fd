"""Phase 3: the adapter has `complete()`, in the form that is agreed on, and it answers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..transcript import CallBegan, Failed, ProviderTouched, Response
from ..verdict import held
from ..view import View
from .decision import Decision, closed, unseen
from .measured import Measured
from .phases import Criterion
from .seen import given, nothing_seen, runs_of, short


def complete_called(measured: Measured, criterion: Criterion) -> Decision:
    """Opened, called and answered. A delegated adapter has to answer a turn in one call, with no tools left over."""
    adapter, views = measured.subject.adapter, runs_of(measured, criterion)
    if adapter.open_stateless is None and adapter.open_legacy is not None:
        return closed([f"{adapter.name} has no complete(): its binding opens no stateless path"])
    if lacking := _lacking(views):
        return closed(lacking)
    answered, failed = _answers(views)
    if not answered:
        if failed:
            first = failed[0]
            return closed([f"complete() never answered: it raised {first.error}: {first.message}"])
        if _called(views):
            return Decision(held("calls of complete()"))
        if any(given(view) for view in views):
            return closed(["no turn calls complete()"])
        return unseen(nothing_seen(measured))
    if adapter.delegated:
        return _delegated(views)
    return Decision(held(f"calls of complete() that were answered ×{answered}"))


def _lacking(views: Sequence[View]) -> list[str]:
    seen = [one for view in views for one in given(view)]
    lacking = [f"{short(one.cls)} has no complete()" for one in seen if not one.complete and one.path != "legacy"]
    return lacking + [f"{short(one.cls)}.{one.refuses}" for one in seen if one.refuses]


def _answers(views: Sequence[View]) -> tuple[int, list[Failed]]:
    """How many calls of the stateless path were answered, and how the others failed."""
    answered, failed = 0, []
    for view in views:
        calls = [call for call in view.calls if call.began.path == "stateless"]
        answered += sum(call.response is not None for call in calls)
        failed += [call.failed for call in calls if call.failed is not None]
    return answered, failed


def _called(views: Sequence[View]) -> bool:
    """Whether a provider that the session opened itself was seen to be called, and the turn to be answered."""
    touched = [one for view in views for one in view.transcript.of(ProviderTouched)]
    return any(one.name == "complete" and one.how == "called" for one in touched)


def _delegated(views: Sequence[View]) -> Decision:
    whole = 0
    for view in views:
        for turn in view.turns:
            answers = [event for event in turn.events if isinstance(event, Response)]
            rounds = [event for event in turn.events if isinstance(event, CallBegan) and event.round > 0]
            handed_back = [call.name for answer in answers for call in answer.response.calls]
            if handed_back or rounds:
                what = f"the call of {handed_back[0]!r}" if handed_back else "a round of tools"
                said = f"the adapter is delegated, and {what} was handed back instead of being made in its own run"
                decision = closed([said], where=str(view.key), evidence=[view.digest])
                message = f"{view.key}: {turn.where}: {decision.verdict.message}"
                return decision._replace(verdict=replace(decision.verdict, message=message))
            whole += bool(answers)
    return Decision(held(f"turns that were one call ×{whole}")) if whole else unseen("no turn was answered")
