"""What is this machine, by name or number."""

from __future__ import annotations

import pytest

from turnproof._base.loopback import is_loopback


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost:8080",
        "127.0.0.1",
        "127.9.9.9:1",
        "::1",
        "[::1]",
        "[::1]:8080",
        "a.localhost",
    ],
)
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "api.openai.com", "10.0.0.1:80", "localhost.example.com", "[2001:db8::1]:80"])
def test_another_machine(host: str) -> None:
    assert not is_loopback(host)
