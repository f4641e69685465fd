"""Who may ask: accounts with their tokens and projects, in the order in which they should be tried.

An account that was refused rests: for one model, where its quota of that model is used up, or altogether, where
something stands against the account itself. Nothing of a conversation is kept here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turnproof.errors import UsageError

from .._lazy_value import LazyValue

REST = 60.0
"""Seconds for which an account is left alone whose refusal names no time."""

_SETTINGS = frozenset({"refresh_token", "access_token", "expires_at", "project"})

Clock = Callable[[], float]
"""Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Access:
    """An access token, and when it ceases to be good."""

    token: str = field(repr=False)
    expires_at: float = math.inf


class Account:
    """One account. Without a refresh token its access token is all it has."""

    def __init__(
        self, *, refresh_token: str | None = None, access: Access | None = None, project: str | None = None
    ) -> None:
        self.refresh_token = refresh_token
        self.access: LazyValue[Access] = LazyValue(access)
        self.project: LazyValue[str] = LazyValue(project)
        self._rests_until: dict[str | None, float] = {}

    def rest(self, until: float, model: str | None = None) -> None:
        """Leave it alone until then, for one model or for all. `math.inf` is for good."""
        self._rests_until[model] = until

    def rests_until(self, model: str) -> float:
        """When it can be asked for a model again."""
        return max(self._rests_until.get(model, 0.0), self._rests_until.get(None, 0.0))

    @property
    def secrets(self) -> Iterator[str]:
        """What must show nowhere."""
        if self.refresh_token:
            yield self.refresh_token
        if (access := self.access.value) is not None:
            yield access.token


class Accounts:
    """All accounts of a provider. They are tried in the order in which they were given."""

    def __init__(self, accounts: Sequence[Account], clock: Clock) -> None:
        self._accounts = tuple(accounts)
        self._clock = clock

    def in_turn(self, model: str) -> list[Account]:
        """Each account once: first those that need no rest, then the others, the one that is ready soonest in front.

        One that rests for good is tried only where there is no other.
        """
        now = self._clock()
        ready = {account: account.rests_until(model) for account in self._accounts}
        ordered = sorted(self._accounts, key=lambda account: max(now, ready[account]))
        return [account for account in ordered if ready[account] < math.inf] or ordered

    @property
    def secrets(self) -> Iterator[str]:
        """What must show nowhere."""
        for account in self._accounts:
            yield from account.secrets


def accounts_of(setting: object) -> list[Account]:
    """The accounts of the setting `accounts`. Raises UsageError, with the place and without the value, for what is no
    account: it may be a token."""
    if not isinstance(setting, Sequence) or isinstance(setting, str | bytes) or not setting:
        raise UsageError("accounts must be a list of at least one account")
    return [_account(each, place) for place, each in enumerate(setting)]


def _account(setting: object, place: int) -> Account:
    where = f"accounts[{place}]"
    if not isinstance(setting, Mapping):
        raise UsageError(f"{where} must be an object, got {type(setting).__name__}")
    if unknown := sorted(map(str, setting.keys() - _SETTINGS)):
        raise UsageError(f"{where}: there is no setting {unknown[0]!r:.80}; known are {', '.join(sorted(_SETTINGS))}")
    refresh_token, token, project = (
        _text(setting, name, where) for name in ("refresh_token", "access_token", "project")
    )
    if refresh_token is None and token is None:
        raise UsageError(f"{where} needs a refresh_token or an access_token")
    return Account(
        refresh_token=refresh_token,
        access=Access(token, _moment(setting, where)) if token is not None else None,
        project=project,
    )


def _text(setting: Mapping[str, Any], name: str, where: str) -> str | None:
    value = setting.get(name)
    if value is None or (isinstance(value, str) and value):
        return value
    raise UsageError(f"{where}.{name} must be a text, got {type(value).__name__}")


def _moment(setting: Mapping[str, Any], where: str) -> float:
    value = setting.get("expires_at", math.inf)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise UsageError(f"{where}.expires_at must be seconds since 1970, got {type(value).__name__}")
