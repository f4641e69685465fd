"""How long the clients of an SDK wait for a silent service, by the adapter's setting `timeout`."""

from __future__ import annotations

from collections.abc import Iterable

import httpx2
import pytest

OPTIONS_AND_SILENCE = pytest.mark.parametrize(
    ("options", "silence"), [({"timeout": 3}, 3.0), ({"timeout": 5}, 5.0), ({}, 600.0)], ids=str
)
"""Of 5 seconds the SDKs of Anthropic and OpenAI believe that nobody asked for them."""


def assert_silence(requests: Iterable[httpx2.Request], silence: float, *, connect: float) -> None:
    """Two requests were sent, each with this limit, and a shorter one for an address that is not there."""
    limits = [request.extensions["timeout"] for request in requests]
    assert [(each["read"], each["write"], each["pool"]) for each in limits] == [(silence, silence, silence)] * 2
    assert all(each["connect"] <= connect for each in limits), "an address that is not there is found out soon"
