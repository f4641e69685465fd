"""Phase 4: after a reset nothing of the turns before is accounted for."""

from __future__ import annotations

from collections import Counter

from ..messages import TokenUsage
from ..transcript import Accounts
from ..verdict import held, inconclusive
from .decision import Decision, closed, unseen
from .measured import Measured
from .phases import Criterion
from .seen import runs_of


def accounts_emptied(measured: Measured, criterion: Criterion) -> Decision:
    """What there was before a reset is gone after it. Accounts that were empty before say nothing."""
    session = measured.subject.session
    if session.reset is None:
        return unseen(f"session {session.name!r} has no reset that could be seen: give its binding one")
    if session.usage is None and session.accounting is None:
        return unseen(f"session {session.name!r} shows no account: give its binding a usage, or an accounting")
    emptied: Counter[str] = Counter()
    for view in runs_of(measured, criterion):
        for turn in view.turns:
            accounts = [event for event in turn.events if isinstance(event, Accounts)]
            for before, after in zip(accounts[::2], accounts[1::2], strict=False):
                if left := _left(before, after):
                    return closed([left], where=str(view.key), evidence=[view.digest])
                emptied.update(_counted(before))
    if not emptied:
        return Decision(inconclusive("no run has a reset of a session that had something in its account"))
    return Decision(held(*(f"{what} ×{times}" for what, times in emptied.items())))


def _left(before: Accounts, after: Accounts) -> str:
    if before.turns and after.turns:
        return f"the turn accounting has {after.turns} entries after a reset, of {before.turns} before it"
    if _total(before.usage) and _total(after.usage):
        return f"the usage is still {_total(after.usage)} tokens after a reset"
    return ""


def _counted(before: Accounts) -> list[str]:
    found = ["turn accountings that were emptied"] if before.turns else []
    return [*found, "usages that were emptied"] if _total(before.usage) else found


def _total(usage: TokenUsage | None) -> int:
    return usage.total_tokens if usage is not None else 0
