"""Asking before a tool runs. What is not allowed is answered to the model with the reason, and the turn goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ..cancel import CancelToken
from ..messages import FunctionCall, ToolResult

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Approval:
    """Whether a call may be run. `reason` is what the model reads where it may not."""

    allowed: bool
    reason: str = ""


Approve: TypeAlias = Callable[[FunctionCall, CancelToken], Approval]
"""Decides on one call. It may take its time, and is told by the token when nobody waits for it any more."""


def refused(approve: Approve, call: FunctionCall, token: CancelToken) -> ToolResult | None:
    """The result of a call that may not be run; None if it may. Where the question fails the answer is no."""
    try:
        approval = approve(call, token)
        if not isinstance(approval, Approval):
            raise TypeError(f"approve() returned {type(approval).__name__} instead of an Approval")
    except BaseException as error:  # asked in a thread that ends here: also SystemExit must become an answer
        if not token.is_cancelled:
            _log.exception("asking whether %r may run failed", call.name)
        return _denial(call, f"nobody could be asked: {type(error).__name__}: {error}")
    return None if approval.allowed else _denial(call, approval.reason)


def _denial(call: FunctionCall, reason: str) -> ToolResult:
    text = f"permission denied: {reason}" if reason else "permission denied"
    return ToolResult(call.id, call.name, text, is_error=True)
