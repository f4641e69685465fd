"""How thinking is asked for: in Anthropic's form, with a budget, or as a switch that the service has on by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnproof.errors import UsageError

MINIMUM_BUDGET = 1024
"""The smallest thinking budget that Anthropic's API accepts."""


def budgeted(config: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A thinking configuration in the API's form; None switches thinking off.

    Takes `{"budget_tokens": n}`, `{"type": "adaptive"}`, `{"type": "disabled"}` and the API's own forms.
    """
    if config is None or config.get("type") == "disabled":
        return None
    kind = _kind(config)
    if kind == "enabled":
        budget = config.get("budget_tokens")
        if not isinstance(budget, int) or budget < MINIMUM_BUDGET:
            raise UsageError(f"thinking: budget_tokens must be an integer of at least {MINIMUM_BUDGET}, got {budget!r}")
    return {**config, "type": kind}


def switched(config: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The same for a service whose models think unless told not to: off is said, and `adaptive` is to say nothing.

    A budget is passed on, and need not be given.
    """
    if config is None or config.get("type") == "disabled":
        return {"type": "disabled"}
    kind = _kind(config)
    if kind == "adaptive":
        return None
    budget = config.get("budget_tokens", 1)
    if not isinstance(budget, int) or budget < 1:
        raise UsageError(f"thinking: budget_tokens must be a positive integer, got {budget!r}")
    return {**config, "type": kind}


def _kind(config: Mapping[str, Any]) -> str:
    kind = config.get("type", "enabled")
    if kind not in ("enabled", "adaptive"):
        raise UsageError(f"thinking: type must be 'enabled', 'adaptive' or 'disabled', got {kind!r}")
    return str(kind)
