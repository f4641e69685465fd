"""The pairs of refusals once more, through the real SDK and over a real socket.

The dialect alone could be right while the server answers in another form; the SDK's own exception is what an
adapter sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import anthropic
import pytest

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import HttpRequest
from turnproof.wire.emulator import EmulatorServer

from ..anthropic_sdk import SdkClient, sdk_client
from .asks import Ask, Pair, world
from .builders import KEY
from .pairs import PAIRS

# The SDK always sends a key, a JSON body and its own paths for models: for what it cannot say, it cannot be refused.
# A hundred thousand messages prove nothing more over HTTP, and take seconds.
SENDABLE = [
    pair
    for pair in PAIRS
    if pair.illegal.raw is None
    and pair.illegal.method == "POST"
    and pair.rule not in ("missing-key", "too-many-messages")
]


@pytest.fixture(scope="module")
def service(server: EmulatorServer) -> Iterator[SdkClient]:
    with sdk_client(server, DIALECT, world(), KEY) as client:
        yield client


def http_request(ask: Ask) -> HttpRequest:
    return ask.request(lambda body: json.dumps(body).encode())


@pytest.mark.parametrize("pair", SENDABLE, ids=attrgetter("id"))
def test_the_sdk_raises_the_refusal_and_not_for_its_neighbour(pair: Pair, service: SdkClient) -> None:
    if pair.enforced:
        with pytest.raises(anthropic.APIStatusError) as raised:
            service.send(http_request(pair.illegal))
        body: Any = raised.value.body
        assert raised.value.status_code == pair.status
        assert body["error"] == {"type": pair.kind, "message": pair.message}
        assert raised.value.request_id == body["request_id"]
    else:
        assert service.send(http_request(pair.illegal)).status_code == 200
    legal = pair.legal
    if legal.method == "POST":
        assert service.send(http_request(legal)).status_code == 200
