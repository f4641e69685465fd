"""What the status of an HTTP answer says about a failure, for libraries whose errors hold it."""

from __future__ import annotations

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
