"""Times and durations as JSON writes those of Google's APIs (`google.protobuf.Timestamp` and `Duration`)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ...messages import JSON

_DURATION = re.compile(r"(-?\d+(?:\.\d{1,9})?)s")


def parse_duration(text: JSON) -> float | None:
    """Seconds of a duration (`300s`, `1.5s`); None for what is none."""
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    return float(found[1]) if found else None


def parse_timestamp(text: JSON) -> float | None:
    """Seconds since 1970 of a time with its zone (`2026-08-10T23:36:17.320074221Z`); None for what is none."""
    if not isinstance(text, str):
        return None
    try:
        # Nanoseconds are recorded; Python reads six digits behind the point.
        found = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo else None


def format_timestamp(seconds: float) -> str:
    """Seconds since 1970 as the service writes a time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def format_duration(seconds: float) -> str:
    """Seconds as a duration: up to nine digits behind the point, none that are not needed."""
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
