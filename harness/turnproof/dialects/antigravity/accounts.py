"""Whose tokens the service knows: accounts, their access tokens, and what each may still ask.

A key of the world stands for a person with any number of accounts. The refresh token of one is `1//KEY/NAME`, and its
name says what state the account is in, as the numbers of test cards do:

- `revoked`: its refresh token is worth nothing any more
- `stale`: the first access token that is issued in a run is refused all the same
- `spent-N`: has N answers of each model, and then no more for five hours (`spent`: none at all)
- `unlicensed`, `unverified`: may ask for no answer, since a licence or a proof of the person is missing
- `new`: has no project before it is onboarded

Anything may follow after a further dash (`revoked-2`); any other name is an account in good standing. The key itself is
good as an access token, too: one of the account `main`, issued before the run, that does not expire in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..base import World

LIFETIME = 3599.0
"""Seconds that an access token lives: what `expires_in` says (Google's OAuth documentation)."""

PERIOD = 5 * 3600.0
"""Seconds after which a quota that was used up is there again."""

PROJECTS = "turnproof-"
"""How the name of every project begins that the service has made."""

_REFRESH = re.compile(r"1//(.+)/([a-z][a-z0-9-]*)")
_ACCESS = "access token "
_SERVED = "answers to "
_PROJECT = "project of "


@dataclass(frozen=True, slots=True)
class Account:
    """One account. `key` is the key of the world that it belongs to."""

    name: str
    key: str = field(default="", repr=False)

    @property
    def standing(self) -> str:
        """The word that says what state it is in; any word may."""
        return self.name.partition("-")[0]

    @property
    def project(self) -> str:
        """The project that the service has made, or will make, for it."""
        return f"{PROJECTS}{self.name}"

    @property
    def answers(self) -> int | None:
        """How many answers of each model it has in a period; None for as many as it likes."""
        if self.standing != "spent":
            return None
        number = self.name.split("-")[1:2]
        return int(number[0]) if number and number[0].isdigit() else 0


@dataclass(frozen=True, slots=True)
class _Access:
    account: Account
    expires: float


@dataclass(frozen=True, slots=True)
class _Served:
    since: float
    count: int


def account_by_refresh_token(token: str, world: World) -> Account | None:
    """Whose refresh token this is; None for one that was never issued."""
    found = _REFRESH.fullmatch(token)
    if found is None:
        return Account("main", token) if world.any_key and token else None
    return Account(found[2], found[1]) if world.any_key or found[1] in world.keys else None


def account_by_access_token(token: str, world: World) -> Account | None:
    """Whose access token this is; None for one that was never issued, or is not good any more."""
    found = world.resources.get(_ACCESS + token)
    if isinstance(found, _Access):
        return found.account if found.expires > world.clock() else None
    return Account("main", token) if world.any_key or token in world.keys else None


def issue(account: Account, world: World) -> str:
    """A fresh access token, known to the world from now on. Equal worlds give equal tokens."""
    number = sum(name.startswith(_ACCESS) for name in world.resources) + 1
    earlier = any(isinstance(each, _Access) and each.account == account for each in world.resources.values())
    token = f"ya29.{account.key}/{account.name}/{number}"
    dead = account.standing == "stale" and not earlier
    world.resources[_ACCESS + token] = _Access(account, world.clock() + (0.0 if dead else LIFETIME))
    return token


def count_answer(account: Account, model: str, world: World) -> None:
    """Count an answer."""
    now, name = world.clock(), f"{_SERVED}{account.name} by {model}"
    found = world.resources.get(name)
    since = found.since if isinstance(found, _Served) and now < found.since + PERIOD else now
    count = found.count if isinstance(found, _Served) and found.since == since else 0
    world.resources[name] = _Served(since, count + 1)


def remaining_quota(account: Account, model: str, world: World) -> tuple[float, float]:
    """Which fraction of its answers an account has left, and in how many seconds it has all of them again."""
    now, found = world.clock(), world.resources.get(f"{_SERVED}{account.name} by {model}")
    if account.answers is None:
        return 1.0, 0.0
    if not isinstance(found, _Served) or now >= found.since + PERIOD:
        return (1.0, 0.0) if account.answers else (0.0, PERIOD)
    return max(0.0, 1 - found.count / account.answers), found.since + PERIOD - now


def is_onboarded(account: Account, world: World) -> bool:
    """Whether there is a project of the account."""
    return account.standing != "new" or _PROJECT + account.name in world.resources


def onboard(account: Account, world: World) -> None:
    """Make the project of the account."""
    world.resources[_PROJECT + account.name] = account.project
