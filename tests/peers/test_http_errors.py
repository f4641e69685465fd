"""The error of the contract for a status."""

from __future__ import annotations

import pytest

from turnproof import errors
from turnproof_adapters.peers.http_errors import class_of_status


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
