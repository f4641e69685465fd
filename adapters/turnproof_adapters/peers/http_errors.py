"""What an HTTP answer says about a failure, for libraries whose errors hold its status and headers."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from turnproof import errors


def class_of_status(status: int | None) -> type[errors.ProviderError]:
    """The error of the contract for a status. Without one there was no answer."""
    match status:
        case None | 408:
            return errors.TransportError
        case 401 | 403:
            return errors.AuthenticationError
        case 429:
            return errors.RateLimitError
        case int() if status >= 500:
            return errors.OverloadedError
    return errors.InvalidRequestError


def retry_after(headers: Mapping[str, str] | None) -> float | None:
    """The seconds that `retry-after` asks to wait, whether it has seconds or a date."""
    wait = (headers or {}).get("retry-after", "")
    try:
        return float(wait)
    except ValueError:
        pass
    try:
        return (parsedate_to_datetime(wait) - parsedate_to_datetime((headers or {})["date"])).total_seconds()
    except (KeyError, ValueError):
        return None
