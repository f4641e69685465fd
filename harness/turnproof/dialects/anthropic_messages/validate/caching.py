"""Breakpoints: what they look like, how many, in which order of life, and how the automatic one fits in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...base import Refusal
from .. import rules
from ..conversation import breakpoints, last_cacheable, ttl_of
from .context import Context, refuse

_MOST = 4


def check(context: Context) -> Iterator[Refusal]:
    """Rules over all breakpoints of a request."""
    explicit = list(breakpoints(context.body))
    automatic = context.body.get("cache_control")
    for path, block in explicit:
        yield from _form(f"{path}.cache_control", block["cache_control"])
    if isinstance(automatic, dict):
        yield from _form("cache_control", automatic)
    found = len(explicit)
    if isinstance(automatic, dict) and (target := last_cacheable(context.body)) is not None:
        same_block = next((block for _, block in explicit if block is target[1]), None)
        if same_block is None:
            found += 1
        elif ttl_of(same_block["cache_control"]) != ttl_of(automatic):
            message = f"cache_control.ttl: must equal the ttl of the explicit breakpoint on {target[0]}"
            yield refuse(rules.AUTOMATIC_BREAKPOINT_TTL, message, "cache_control.ttl")
    if found > _MOST:
        message = f"A maximum of {_MOST} blocks with cache_control may be provided. Found {found}."
        yield refuse(rules.TOO_MANY_BREAKPOINTS, message, "cache_control")
    short = False
    for path, block in explicit:
        if ttl_of(block["cache_control"]) == "5m":
            short = True
        elif short:
            message = (
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block"
            )
            yield refuse(rules.BREAKPOINT_TTL_ORDER, message, f"{path}.cache_control.ttl")


def _form(where: str, control: Mapping[str, Any]) -> Iterator[Refusal]:
    kind, ttl = control.get("type"), control.get("ttl")
    if kind is None:
        message = f"{where}.type: Field required"
    elif kind != "ephemeral":
        message = f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: 'ephemeral'"
    elif unknown := next((key for key in control if key not in ("type", "ttl")), None):
        message = f"{where}.ephemeral.{unknown}: Extra inputs are not permitted"
    elif ttl not in (None, "5m", "1h"):
        message = f"{where}.ephemeral.ttl: Input should be '5m' or '1h'"
    else:
        return
    yield refuse(rules.BREAKPOINT_FORM, message, where)
