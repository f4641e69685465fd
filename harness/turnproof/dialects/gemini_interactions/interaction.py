"""The object that an interaction is, whole and as the events of a stream have it.

Members and their order are those of the recordings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .addresses import InteractionsCall, Step
from .finishes import FAILED
from .writing import timestamp

_FAILURE = {"code": "internal_error", "message": "An internal error has occurred."}


def who(call: InteractionsCall, model: str) -> dict[str, Any]:
    """Who answers: the model, or the agent."""
    return {"object": "interaction", **({"agent": call.agent} if call.agent else {"model": model})}


def opened(call: InteractionsCall, name: str, model: str, status: str) -> dict[str, Any]:
    """An interaction as the events tell it that come before its end."""
    return {"id": name, "status": status, **who(call, model)}


def ended(
    call: InteractionsCall,
    name: str,
    model: str,
    *,
    status: str,
    now: float,
    usage: Mapping[str, Any] | None = None,
    steps: Sequence[Step] | None = None,
) -> dict[str, Any]:
    """An interaction with all that is known at its end; the last event of a stream has it without steps."""
    moment = timestamp(now)
    document: dict[str, Any] = {"id": name, "status": status}
    if usage is not None:
        document["usage"] = dict(usage)
    document |= {"created": moment, "updated": moment}
    if usage is not None:
        document["service_tier"] = "standard"
    if status == FAILED:
        document["errors"] = [_FAILURE]
    if steps is not None:
        document["steps"] = list(steps)
    if call.resource is not None:
        document["previous_interaction_id"] = call.resource
    return document | who(call, model)
