"""What Z.ai says when it refuses, in any of its forms, and what its codes mean.

Sources: https://docs.z.ai/api-reference/api-code, and answers pasted in public issues. The forms:

    {"type": "error", "error": {"type": "rate_limit_error", "code": "1113", "message": "[1113][Insufficient ...]"}}
    {"error": {"code": "1302", "message": "Rate limit reached for requests"}}
    {"code": 500, "msg": "404 NOT_FOUND", "success": false}
    {"error": "DNS resolution failure"}

The third comes under status 200. A code is a string of digits and says more than status and type, so it is the error's
`kind` where there is one. The service sends no `retry-after`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from turnproof import errors

from .._errors import by_status, wait_until
from ..anthropic.refusals import STATUS_OF_KIND, Refused
from ..anthropic.wire import Failure

_KEY = frozenset({"401", "1000", "1001", "1002", "1003", "1004"})
"""The key is missing, wrong or expired."""

_USED_UP = frozenset({"1113", "1304", "1308", "1310"})
"""No money, or what the day or the plan allows is used up: under 429, and trying again soon is of no use."""

_BUSY = "1305"
"""The service is overloaded, under 429."""

_TOO_LONG = "1261"
_FILTERED = "1301"

_STATUS_OF_CODE: Mapping[str, int] = {
    **dict.fromkeys(_KEY, 401),
    **dict.fromkeys(("1210", "1211", "1213", "1214", _TOO_LONG, _FILTERED), 400),
    "1220": 403,
    "1222": 404,
    **dict.fromkeys((*_USED_UP, "1302", "1303", _BUSY), 429),
}
"""Which status a code goes with: an error may come under status 200. All others are the service's own trouble."""

_NO_ROUTE = "404 NOT_FOUND"
"""The words for an address that is none, under code 500 and status 200."""

_WRAPPED = re.compile(r"\[(?P<code>\d+)\]\[(?P<message>.*?)\](?:\[[^\[\]]*\])?", re.DOTALL)
_RESET = re.compile(r"\bYour limit will reset at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\b")
_CHINA = timezone(timedelta(hours=8))
"""The service names no zone; its times are those of UTC+8."""


def complaint(document: object) -> Failure | None:
    """What an error body says, its words unwrapped. None for what is no error of this service's."""
    match document:
        case {"error": dict(error)}:
            found = _WRAPPED.fullmatch(_word(error.get("message")) or "")
            code = _word(error.get("code")) or (found["code"] if found else None) or _word(error.get("type"))
            return Failure(code, found["message"] if found else _word(error.get("message")))
        case {"error": str(message)}:
            return Failure(None, message)
        case {"success": False, "code": int() | str() as code, **others}:
            return Failure(str(code), _word(others.get("msg")))
    return None


def refusal(refused: Refused) -> errors.ProviderError:
    """The error for it: the code decides, where it is known, else the status."""
    status, text, kind = refused.status, refused.message, refused.kind
    if kind in _KEY:
        return errors.AuthenticationError(text, status=status, kind=kind)
    if kind == _TOO_LONG:
        return errors.ContextLimitError(text, status=status, kind=kind)
    if kind == _FILTERED:
        return errors.ContentFilterError(text, status=status, kind=kind)
    if kind == _BUSY:
        return errors.OverloadedError(text, status=status, kind=kind, retry_after=refused.wait)
    if kind in _USED_UP:
        error = errors.RateLimitError(text, status=status, kind=kind, retry_after=_until_reset(refused))
        error.retryable = False
        return error
    return by_status(_meant(refused), text, kind=kind, wait=refused.wait, shown_status=status)


def _meant(refused: Refused) -> int:
    if refused.status != 200:
        return refused.status
    if refused.message == _NO_ROUTE:
        return 404
    return _STATUS_OF_CODE.get(refused.kind or "") or STATUS_OF_KIND.get(refused.kind, 500)


def _until_reset(refused: Refused) -> float | None:
    """Seconds until the limit is reset, where the words name the time."""
    found = _RESET.search(refused.message)
    if found is None:
        return refused.wait
    try:
        moment = datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=_CHINA)
    except ValueError:
        return refused.wait
    return wait_until(moment.timestamp(), refused.date)


def _word(value: object) -> str | None:
    """A text; a number, which some codes are, as one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None
