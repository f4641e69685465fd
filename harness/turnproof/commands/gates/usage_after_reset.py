"""Phase 4: after a reset nothing of the turns before is accounted for."""

from __future__ import annotations

from collections import Counter

from ..._base.counts import counted as numbered
from ...judge.view import View
from ...messages import TokenUsage
from ...run.transcript import Accounts
from .codes import closes, leaves_undecided
from .combined_runs import seen_in
from .decision import Decision, Reason, decided, with_counts
from .measurement import Measured
from .phases import Criterion
from .provider_events import runs_of

_TURNS_LEFT = closes(
    "accounts-emptied/turns-left",
    "The account of the turns is not empty after a reset.",
    "no entries after a reset",
    "{observed} entries after a reset, of {before} before it",
)
_USAGE_LEFT = closes(
    "accounts-emptied/usage-left",
    "The usage is not zero after a reset.",
    "no tokens after a reset",
    "{observed} tokens after a reset, of {before} before it",
)
_NO_RESET = leaves_undecided(
    "accounts-emptied/no-reset", "The session has no reset that could be seen: give its binding one."
)
_NO_ACCOUNT = leaves_undecided(
    "accounts-emptied/no-account", "The session shows no account: give its binding a usage, or an accounting."
)
_NOTHING_TO_EMPTY = leaves_undecided(
    "accounts-emptied/nothing-to-empty", "No run has a reset of a session that had something in its account."
)


def accounts_emptied(measured: Measured, criterion: Criterion) -> Decision:
    """What there was before a reset is gone after it. Accounts that were empty before say nothing."""
    session = measured.subject.session
    if session.reset is None:
        return decided([_NO_RESET()])
    if session.usage is None and session.accounting is None:
        return decided([_NO_ACCOUNT()])
    emptied: Counter[str] = Counter()
    for view in runs_of(measured, criterion):
        for turn in view.turns:
            accounts = [event for event in turn.events if isinstance(event, Accounts)]
            for before, after in zip(accounts[::2], accounts[1::2], strict=False):
                if left := _remainder(view, before, after):
                    return decided([left])
                emptied.update(_emptied(before))
    return decided([] if emptied else [_NOTHING_TO_EMPTY()], with_counts(emptied.items()))


def _remainder(view: View, before: Accounts, after: Accounts) -> Reason | None:
    if before.turns and after.turns:
        name = f"the turn accounting has {numbered(after.turns, 'entry')} after a reset, of {before.turns} before it"
        place = view.at_event(after, "turns")
        return seen_in(_TURNS_LEFT(place, expected=0, observed=after.turns, before=before.turns, name=name), view)
    had, has = _total(before.usage), _total(after.usage)
    if had and has:
        name = f"the usage is still {numbered(has, 'token')} after a reset"
        place = view.at_event(after, "usage")
        return seen_in(_USAGE_LEFT(place, expected=0, observed=has, before=had, name=name), view)
    return None


def _emptied(before: Accounts) -> list[str]:
    found = ["turn accountings that were emptied"] if before.turns else []
    return [*found, "usages that were emptied"] if _total(before.usage) else found


def _total(usage: TokenUsage | None) -> int:
    return usage.total_tokens if usage is not None else 0
