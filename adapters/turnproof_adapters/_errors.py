"""What the error answers of every provider have in common."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TypeAlias

from turnproof import errors

from ._characters import whole_characters


def by_status(
    status: int, text: str, *, kind: str | None, wait: float | None = None, shown_status: int | None = None
) -> errors.ProviderError:
    """The typed error that a status stands for where nothing more is known. `wait` is the time that the service asked
    for, `shown_status` the status that the answer came under, where that is another."""
    shown = status if shown_status is None else shown_status
    match status:
        case _ if status < 400:
            return errors.TransportError(f"no answer under this status: {text}", status=shown, kind=kind)
        case 401 | 403:
            return errors.AuthenticationError(text, status=shown, kind=kind)
        case 408:
            return errors.TransportError(text, status=shown, kind=kind, retry_after=wait)
        case 413:
            return errors.ContextLimitError(text, status=shown, kind=kind)
        case 429:
            return errors.RateLimitError(text, status=shown, kind=kind, retry_after=wait)
        case _ if status == 409 or status >= 500:
            return errors.OverloadedError(text, status=shown, kind=kind, retry_after=wait)
        case _:
            return errors.InvalidRequestError(text, status=shown, kind=kind)


def too_long(
    text: str, patterns: Iterable[re.Pattern[str]], *, status: int | None, kind: str | None
) -> errors.ContextLimitError | None:
    """The error for a refusal whose whole text is one of these patterns, else None.

    A pattern's groups `limit` and `requested` are the figures it gives, if any. A refusal that merely mentions tokens
    or a maximum is not a full context.
    """
    for pattern in patterns:
        if found := pattern.fullmatch(text.strip()):
            figures = {name: int(digits) for name, digits in found.groupdict().items() if digits}
            return errors.ContextLimitError(text, **figures, status=status, kind=kind)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the response's headers, which give milliseconds, seconds or a date; None without a hint."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * factor
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return _until(headers.get("retry-after"), headers.get("date"))


LONGEST = 2000
"""Characters of a service's words that an error shows. A proxy may answer with megabytes."""


Secret: TypeAlias = str | tuple[str, ...]
"""What no error may show: a key, or a key and the tokens that were got for it."""


def hide_secret(text: str, secret: Secret) -> str:
    """The text as an error may show it: without the secret, in whole characters, and not longer than `LONGEST`."""
    # Before it is cut: half a secret would not be found.
    for each in (secret,) if isinstance(secret, str) else secret:
        text = text.replace(each, "***") if each else text
    shown = whole_characters(text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}... ({len(shown)} characters)"


def _until(moment: str | None, now: str | None) -> float | None:
    retry_at = _timestamp(moment)
    return None if retry_at is None else wait_until(retry_at, now)


def wait_until(moment: float, date: str | None) -> float:
    """Seconds to wait until a moment (of the epoch). `date` is the service's own clock, by its header of that name."""
    # Where it tells it: ours may be wrong.
    began = _timestamp(date)
    return max(0.0, moment - (time.time() if began is None else began))


def _timestamp(date: str | None) -> float | None:
    if date is None:
        return None
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
