"""Parity: both paths do the same, and each of them does what the scenario says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from turnproof.messages import JSON, Message
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import TurnView, View
from turnproof.view.diff import differences, show

from .reading import in_two_roles, plain


@check("parity/same-outcome-of-each-turn", aspect=lambda view: _outcomes(view))
def same_outcome_of_each_turn(view: View) -> Findings:
    """An answer where an answer was scripted, an error where nothing else could come, a cancelled turn where it was.

    Whether a turn survives a passing fault is the business of recovery.
    """
    for turn in view.turns:
        if turn.script is None or turn.ended is None or (turn.script.faults and turn.script.expect == "answer"):
            continue
        if turn.ended.outcome == turn.script.expect:
            yield "outcomes of turns"
        else:
            why = f" ({turn.failed.error}: {turn.failed.message})" if turn.failed is not None else ""
            yield violated(
                f"{turn.where}: it should end with {turn.script.expect!r} and ended with {turn.ended.outcome!r}{why}"
            )


def _outcomes(view: View) -> JSON:
    found = {str(turn.index): turn.ended.outcome for turn in _comparable(view) if turn.ended is not None}
    return found or None


@check("parity/same-number-of-requests", aspect=lambda view: _rounds(view))
def same_number_of_requests(view: View) -> Findings:
    """One request for each answer: an undisturbed turn asks for every round once."""
    for turn in view.turns:
        if not turn.normal or turn.ended is None or turn.ended.outcome != "answer" or _is_special(turn):
            continue
        rounds = [call.began.round for call in turn.calls if not call.lost_cache]
        sent = sum(len(call.generated) for call in turn.calls if not call.lost_cache)
        if rounds == list(range(len(rounds))) and sent == len(rounds):
            yield "requests of turns"
        else:
            yield violated(f"{turn.where}: for rounds {rounds} it made {sent} requests")


def _is_special(turn: TurnView) -> bool:
    """A paused answer is continued where the path can, and a prompt that was too long is sent again, shorter."""
    return any(call.paused or (call.failed is not None and not call.lost_cache) for call in turn.calls)


def _comparable(view: View) -> Iterator[TurnView]:
    """The turns before the first paused answer, which only some paths can take up again."""
    return takewhile(lambda turn: not any(call.paused for call in turn.calls), view.turns)


def _rounds(view: View) -> JSON:
    turns = [turn for turn in _comparable(view) if not _is_special(turn)]
    return {str(turn.index): [call.began.round for call in turn.calls if not call.lost_cache] for turn in turns} or None


@check("parity/same-history-after-each-turn", aspect=lambda view: _histories(view))
def same_history_after_each_turn(view: View) -> Findings:
    """What was said stands in the history, in both copies where there are two."""
    for turn in view.turns:
        if turn.history is None:
            continue
        if turn.provider_history is not None:
            both = [plain(in_two_roles(messages)) for messages in (turn.history, turn.provider_history)]
            found = differences(*both, names=("session", "provider"))
            if found:
                yield violated(
                    f"{turn.where}: the provider's history is another one: {found[0]}", detail="\n".join(found)
                )
                continue
        answer = _last_text(turn)
        if (
            turn.normal
            and answer
            and answer not in [message.text for message in turn.history if message.role == "model"]
        ):
            yield violated(f"{turn.where}: the answer {show(answer)} is not in the history")
        else:
            yield "histories after turns"


def _last_text(turn: TurnView) -> str:
    last = turn.calls[-1].response if turn.calls else None
    return last.text if last is not None else ""


def _histories(view: View) -> JSON:
    histories: dict[str, tuple[Message, ...] | None] = {
        str(turn.index): turn.provider_history if turn.provider_history is not None else turn.history
        for turn in _comparable(view)
    }
    return {
        at: view.aliases.within(plain(in_two_roles(messages)))
        for at, messages in histories.items()
        if messages is not None
    } or None
