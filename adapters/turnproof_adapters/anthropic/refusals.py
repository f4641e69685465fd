"""What Anthropic's service means by an error: which of turnproof's it is.

The status and the API's own error type decide. Words decide only where one type stands for several things (a prompt
that is too long is an `invalid_request_error` like any other), and then only whole sentences known from recordings and
the public reference: a refusal that merely mentions tokens or a maximum is not a full context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from turnproof.errors import ContentFilterError, ContextLimitError, InvalidRequestError, ProviderError

from .._decoding import convert_to
from .._errors import by_status, too_long
from .wire import ErrorBody, Failure


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that the service refused, in words that may be shown. `wait` is the time that the answer's headers ask
    for, `date` the service's own clock, where they tell it."""

    status: int
    kind: str | None
    message: str
    wait: float | None = None
    date: str | None = None


_TOO_LONG = re.compile(
    r"prompt is too long(?:: (?P<requested>\d{1,15}) tokens > (?P<limit>\d{1,15}) maximum)?\.?", re.IGNORECASE
)
_NO_ROOM = re.compile(
    r"input length and `?max_tokens`? exceed context limit: "
    r"(?P<prompt>\d{1,15}) \+ (?P<room>\d{1,15}) > (?P<limit>\d{1,15})"
)
_FILTERED = re.compile(r"output blocked by content filtering policy\.?", re.IGNORECASE)

STATUS_OF_KIND: Mapping[str | None, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
}
"""Which status an error type goes with: an error inside a stream comes under status 200. All other types are the
service's own trouble, like everything under a 5xx."""


def complaint(document: object) -> Failure | None:
    """What an error body says: `{"type": "error", "error": {"type": ..., "message": ...}}`. A proxy's page of HTML is
    no message: the status has to do."""
    try:
        return convert_to(document, ErrorBody).error
    except ValueError:
        return None


def refusal(refused: Refused) -> ProviderError:
    """The error for it. One that came under status 200 is typed by its kind."""
    status, text, kind = refused.status, refused.message, refused.kind
    meant = STATUS_OF_KIND.get(kind, 500) if status == 200 else status
    if meant != 400:
        return by_status(meant, text, kind=kind, wait=refused.wait, shown_status=status)
    if full := too_long(text, [_TOO_LONG], status=status, kind=kind):
        return full
    if found := _NO_ROOM.match(text):
        requested = int(found["prompt"]) + int(found["room"])
        return ContextLimitError(text, limit=int(found["limit"]), requested=requested, status=status, kind=kind)
    if _FILTERED.fullmatch(text.strip()):
        return ContentFilterError(text, status=status, kind=kind)
    return InvalidRequestError(text, status=status, kind=kind)
