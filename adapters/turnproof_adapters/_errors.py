"""What the error answers of every provider have in common."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from ._characters import whole_characters


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


def scrubbed(text: str, secret: str) -> str:
    """The text as an error may show it: without the secret, in whole characters, and not longer than `LONGEST`."""
    # Before it is cut: half a secret would not be found.
    shown = whole_characters(text.replace(secret, "***") if secret else text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}... ({len(shown)} characters)"


def _until(moment: str | None, now: str | None) -> float | None:
    wanted = _timestamp(moment)
    if wanted is None:
        return None
    # The service's own clock, where it tells it: ours may be wrong.
    began = _timestamp(now)
    return max(0.0, wanted - (time.time() if began is None else began))


def _timestamp(date: str | None) -> float | None:
    if date is None:
        return None
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
