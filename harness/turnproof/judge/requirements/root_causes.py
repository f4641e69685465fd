"""What findings follow from: an exception, a refused request, or a turn that ended before its script did.

One cause may show in many requirements. Findings that it explains name it, so that readers are shown the cause once
with all that follows from it. What is found of the cause itself (an error without its status) follows from nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from ...messages import JSON
from ...run.transcript import Failed
from ..finding import Finding, Side
from ..view import Exchange, ProviderCall, TurnView, View

_INDEX = re.compile(r"\[\d+\]")


def with_root(finding: Finding, view: View) -> Finding:
    """The finding with its root, and with the exception that it speaks of."""
    place = finding.place
    if place.run != str(view.key) or place.turn < 0 or place.probe:
        return finding
    turn = next((turn for turn in view.turns if turn.index == place.turn), None)
    if turn is None:
        return finding
    call = next((call for call in turn.calls if call.index == place.call), None)
    raised = _raised(turn, call)
    expected = turn.script is not None and turn.script.expect == "error"
    if not finding.root and not expected:
        finding = msgspec.structs.replace(finding, root=_root(finding, turn, call, raised))
    # An error that the scenario provokes says nothing of what is found beside it.
    speaks_of_it = place.side is Side.ERROR or finding.root.startswith("raised:")
    if speaks_of_it and finding.raised is None and raised is not None and raised.raised is not None:
        finding = msgspec.structs.replace(finding, raised=raised.raised)
    return finding


def _root(finding: Finding, turn: TurnView, call: ProviderCall | None, raised: Failed | None) -> str:
    refusal = _refusal(turn, call, finding)
    if refusal is not None:
        # The rule and what it is about: the same mistake in another message is no other cause.
        return f"refused:{refusal.get('rule', '')}:{_INDEX.sub('[]', str(refusal.get('path', '$')))}"
    # What a request holds was written before its call raised anything.
    written = finding.place.side is Side.REQUEST and finding.place.pointer is not None
    if raised is not None and not raised.typed and finding.place.side is not Side.ERROR and not written:
        frame = raised.raised.own_frame if raised.raised is not None else None
        where = f"@{frame.file}:{frame.line}" if frame is not None else ""
        return f"raised:{raised.error}{where}"
    if call is None and turn.normal and turn.ended is not None and turn.ended.outcome == "error":
        return f"ended-early:{turn.index}"
    return ""


def _raised(turn: TurnView, call: ProviderCall | None) -> Failed | None:
    if call is not None:
        return call.failed
    return turn.failed or next((one.failed for one in reversed(turn.calls) if one.failed is not None), None)


def _refusal(turn: TurnView, call: ProviderCall | None, finding: Finding) -> Mapping[str, JSON] | None:
    """The rule that the call's request offends; of a turn without a call named, the rule that ended it.

    What is wrong in the request itself was there before it was refused: it has the refusal as its root only where the
    rule speaks of the same place, of what stands in it or of what it stands in.
    """
    exchange: Exchange | None = call.last if call is not None else None
    if call is None and turn.ended is not None and turn.ended.outcome == "error" and turn.calls:
        exchange = turn.calls[-1].last
    if exchange is None:
        return None
    pointer = finding.place.pointer if finding.place.side is Side.REQUEST else None
    return next(
        (one for one in exchange.refusals if pointer is None or _meet(pointer, exchange.at_rule(one).pointer)), None
    )


def _meet(one: str, other: str | None) -> bool:
    """Whether one pointer leads into what the other points at."""
    return other is None or f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
