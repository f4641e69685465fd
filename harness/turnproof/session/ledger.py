"""`TokenLedger`: what every answer cost, kept row by row."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import astuple

from ..messages import FinishReason, Message, ProviderResponse, TokenUsage
from .observer import SessionObserver


class LedgerRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of the model: the session, its turn and the call within it (both counted from 0), and the figures.

    `model` is the model that answered, where the provider says so.
    """

    session: str
    turn: int
    call: int
    usage: TokenUsage
    finish: FinishReason
    model: str | None = None


class TokenLedger(SessionObserver):
    """Records the usage of each response of a session; give one to a session as an observer.

    Also of a turn that failed later, or was cancelled: what was answered has been paid for. Attempts that failed are
    not in it, since providers do not say what those cost. `child` makes an observer for another session, a subagent's,
    that writes into the same rows; several sessions may do so at once.
    """

    def __init__(self, session: str = "main") -> None:
        self._session = session
        self._rows: list[LedgerRow] = []
        self._turn = -1
        self._call = 0

    def child(self, session: str) -> TokenLedger:
        """An observer for one more session, with turns of its own and the same rows."""
        ledger = TokenLedger(session)
        ledger._rows = self._rows
        return ledger

    @property
    def rows(self) -> tuple[LedgerRow, ...]:
        """All rows of all sessions, in the order in which the answers came."""
        return tuple(self._rows)

    @property
    def total(self) -> TokenUsage:
        """The sum of all rows: what was paid for. A conversation's prompts count again in every call."""
        return summed(row.usage for row in self.rows)

    def of_turn(self, turn: int) -> TokenUsage:
        """The sum of one turn of this ledger's own session."""
        return summed(row.usage for row in self.rows if row.session == self._session and row.turn == turn)

    def on_turn_began(self, user: Message) -> None:
        """The next rows belong to the next turn."""
        self._turn += 1
        self._call = 0

    def on_response(self, response: ProviderResponse) -> None:
        """Write a row."""
        self._rows.append(
            LedgerRow(self._session, self._turn, self._call, response.usage, response.finish_reason, response.model)
        )
        self._call += 1


def summed(usages: Iterable[TokenUsage]) -> TokenUsage:
    """The sum of some figures, field by field."""
    columns = zip(*(astuple(usage) for usage in usages), strict=True)
    return TokenUsage(*(sum(column) for column in columns))
