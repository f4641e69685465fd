"""Whether a path works at all: a turn in which the service answered everything ends with an answer.

How a session gets over faults, limits and cancels is its own; whether both paths do it alike is another criterion's.
"""

from __future__ import annotations

from ..requirements import Findings
from ..verdict import violated
from ..view import View


def turns_answered(view: View) -> Findings:
    """Each turn in which nothing was made to go wrong, and every request got its whole answer."""
    for turn in view.turns:
        if not turn.spoken or not turn.normal or turn.ended is None:
            continue
        sent = [
            one for one in view.exchanges if one.generates and not one.request.probe and one.request.turn == turn.index
        ]
        if not sent:
            yield violated(f"{turn.where}: the user spoke, and no request was sent")
        elif turn.ended.outcome == "answer":
            yield "turns with an answer"
        elif all(one.clean for one in sent):
            why = f" ({turn.failed.error}: {turn.failed.message})" if turn.failed is not None else ""
            yield violated(
                f"{turn.where}: the service answered every request, and the turn ended with {turn.ended.outcome!r}{why}"
            )
