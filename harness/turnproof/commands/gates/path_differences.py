"""Differences between two runs as reasons: one for each, with both sides, and the places in both runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...judge.finding import Place, Side
from ...judge.parity import KINDS, Comparison, Found
from ...judge.parity import Place as ParityPlace
from ...judge.view import View
from ...run.transcript import RunKey
from .codes import ReasonCode, closes, leaves_undecided
from .decision import Reason

_SIDES: Mapping[str, Side] = {
    "wire": Side.REQUEST,
    "answers": Side.RESPONSE,
    "callbacks": Side.CALLBACK,
    "history": Side.HISTORY,
    "usage": Side.RESPONSE,
    "errors": Side.ERROR,
    "requests": Side.PROCESS,
    "outcome": Side.PROCESS,
}
"""Where around the adapter an aspect of a comparison is seen."""

PATHS_DIFFER: Mapping[str, ReasonCode] = {
    kind.name: closes(
        f"paths-agree/{kind.name}",
        f"{kind.title} ({kind.name}).",
        "{expected} at {aspect:words} {path:words}, as on the legacy path",
        "{observed} on the stateless path",
    )
    for kind in KINDS
}
RUN_DIFFERS: Mapping[str, ReasonCode] = {
    kind.name: closes(
        f"flag-gone/{kind.name}",
        f"The flag still changes something: {kind.title[0].lower()}{kind.title[1:]} ({kind.name}).",
        "{expected} at {aspect:words} {path:words}, as with the flag not set",
        "{observed}",
    )
    for kind in KINDS
}
_NOT_COMPARED = leaves_undecided("runs/not-compared", "Two runs could not be compared.", observed="{problem:words}")


_SAME_TO_THE_MODEL = frozenset({"tool-order"})


def gating(differences: Iterable[Found]) -> list[Found]:
    """The differences that can close a gate. Every API takes tools in any order, so a path may list them in its own;
    whether that order stays the same from request to request is asked by `cache/tool-order-is-stable`."""
    return [one for one in differences if one.name not in _SAME_TO_THE_MODEL]


def comparison_reason(
    code: ReasonCode, difference: Found, comparison: Comparison, left: View | None, right: View | None
) -> Reason:
    """One difference: what the right side has is expected."""
    side = _SIDES[difference.aspect]
    return code(
        _place(side, difference.place, comparison.left.key, left),
        expected=difference.right,
        observed=difference.left,
        related=[_place(side, difference.place, comparison.right.key, right)],
        evidence=_digests(comparison),
        aspect=difference.aspect,
        path=difference.path,
        also=len(difference.also),
    )


def not_compared(comparison: Comparison) -> Reason:
    """Undecided, because the two runs could not be compared."""
    place = Place.of_run(Side.PROCESS, comparison.left.key)
    return _NOT_COMPARED(place, problem=comparison.problem, evidence=_digests(comparison))


def _digests(comparison: Comparison) -> tuple[str, ...]:
    return tuple(digest for digest in (comparison.left.digest, comparison.right.digest) if digest)


def _place(side: Side, place: ParityPlace, key: RunKey, view: View | None) -> Place:
    """The place in one of the runs, by the call that it was made in where the run has it."""
    spot = f"{place.turn}/{place.round}#{place.attempt}"
    call = next((one for one in view.calls if one.place == spot), None) if view is not None else None
    if call is None:
        return Place.of_run(side, key, turn=place.turn)
    return Place.of_run(side, key, turn=place.turn, round=call.began.round, call=call.index, attempt=call.attempt)
