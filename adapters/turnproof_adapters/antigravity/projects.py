"""The project that an account asks in, found where the settings name none: `loadCodeAssist`, and before the first use
`onboardUser` (`antigravity.md` §7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from turnproof.cancel import CancelToken
from turnproof.errors import AuthenticationError

from .accounts import Account
from .gateway import Gateway

METADATA = {"ideType": "ANTIGRAVITY", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}
"""Who asks, as Antigravity says it."""

PAUSE = 5.0
"""Seconds between two looks at an operation that is not done."""

LOOKS = 12
"""How often an operation is looked at before it counts as failed."""

Sleep = Callable[[float], object]


class _Tier(msgspec.Struct, frozen=True, rename="camel"):
    id: str | None = None
    is_default: bool | None = None


class _Loaded(msgspec.Struct, frozen=True):
    # Spelled so by the service; a name in one answer, an object with it in the other.
    cloudaicompanionProject: Any = None  # noqa: N815
    allowedTiers: list[_Tier] | None = None  # noqa: N815


class _Operation(msgspec.Struct, frozen=True):
    name: str | None = None
    done: bool | None = None
    response: _Loaded | None = None


def project_of(gateway: Gateway, account: Account, token: CancelToken | None, sleep: Sleep) -> str:
    """The project of an account: asked for once, then known.

    Raises AuthenticationError for an account that has none and gets none, Cancelled once the token is set, and what
    the requests fail with.
    """
    return account.project.get(bool, lambda: _find_project(gateway, account, token, sleep), token)


def _find_project(gateway: Gateway, account: Account, token: CancelToken | None, sleep: Sleep) -> str:
    payload = {"cloudaicompanionProject": None, "metadata": METADATA}
    loaded = gateway.ask(account, _Loaded, ":loadCodeAssist", payload, token)
    if name := _name(loaded):
        return name
    operation = gateway.ask(account, _Operation, ":onboardUser", {"tierId": _tier(loaded), **payload}, token)
    for look in range(LOOKS):
        if operation.done or not operation.name:
            break
        if look:
            (sleep if token is None else token.wait)(PAUSE)
        operation = gateway.ask(account, _Operation, f"/{operation.name}", None, token)
    if operation.done and operation.response is not None and (name := _name(operation.response)):
        return name
    raise AuthenticationError("the account has no project to ask in, and onboarding gave it none")


def _tier(loaded: _Loaded) -> str:
    """The tier to begin in: the account's usual one."""
    tiers = [tier for tier in loaded.allowedTiers or () if tier.id]
    usual = next((tier for tier in tiers if tier.is_default), None)
    return (usual.id if usual is not None else None) or "free-tier"


def _name(loaded: _Loaded) -> str | None:
    project = loaded.cloudaicompanionProject
    name = project.get("id") if isinstance(project, dict) else project
    return name if isinstance(name, str) and name else None
