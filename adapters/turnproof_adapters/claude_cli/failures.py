"""What the program says of a failure, as one of turnproof's typed errors.

It words a failed request in its own way, but tells the API's status and error type beside it (seen in 2.1.330).
"""

from __future__ import annotations

import re

from turnproof.errors import ContextLimitError, ProviderError, TransportError

from .._errors import hide_secret
from ..anthropic.refusals import Refused, refusal
from .lines import Assistant, Result

_TOO_LONG = re.compile(r"prompt is too long(?:.*?~?(?P<requested>\d+) tokens \(limit (?P<limit>\d+)\))?", re.I | re.S)


def typed_error(result: Result, message: Assistant | None, secret: str) -> ProviderError:
    """The typed error for a failed result. `message` is what the program sent in place of an answer. `secret` is
    masked."""
    text = hide_secret(
        "; ".join(result.errors or ()) or result.result or result.terminal_reason or result.subtype, secret
    )
    status = result.api_error_status if message is None else message.api_error_status or result.api_error_status
    kind = None if message is None else message.api_error_type
    full = _TOO_LONG.match(text)
    if result.terminal_reason == "prompt_too_long" or (status == 400 and full):
        figures = {name: int(digits) for name, digits in (full.groupdict() if full else {}).items() if digits}
        return ContextLimitError(text, **figures, status=status, kind=kind)
    if status is None:
        return TransportError(f"claude ended the turn: {text}")
    return refusal(Refused(status, kind, text))
