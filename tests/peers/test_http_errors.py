"""The error of the contract for a status, and the wait that headers ask for."""

from __future__ import annotations

import pytest

from turnproof import errors
from turnproof_adapters.peers.http_errors import class_of_status, retry_after


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, errors.TransportError),
        (400, errors.InvalidRequestError),
        (401, errors.AuthenticationError),
        (403, errors.AuthenticationError),
        (404, errors.InvalidRequestError),
        (408, errors.TransportError),
        (429, errors.RateLimitError),
        (500, errors.OverloadedError),
        (529, errors.OverloadedError),
    ],
)
def test_a_status_has_its_error(status: int | None, expected: type[errors.ProviderError]) -> None:
    assert class_of_status(status) is expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, None),
        ({}, None),
        ({"retry-after": "17"}, 17.0),
        ({"retry-after": "Fri, 27 Nov 2026 07:45:30 GMT", "date": "Fri, 27 Nov 2026 07:45:21 GMT"}, 9.0),
        ({"retry-after": "Fri, 27 Nov 2026 07:45:30 GMT"}, None),
        ({"retry-after": "soon", "date": "Fri, 27 Nov 2026 07:45:21 GMT"}, None),
    ],
)
def test_a_wait_is_read_as_seconds_or_as_a_date(headers: dict[str, str] | None, expected: float | None) -> None:
    assert retry_after(headers) == expected
