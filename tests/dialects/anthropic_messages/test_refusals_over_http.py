"""The pairs of refusals once more, through the real SDK and over a real socket.

The dialect alone could be right while the server answers in another form; the SDK's own exception is what an
adapter sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import anthropic
import httpx2
import pytest

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.wire.emulator import EmulatorServer, ServerRun

from ..responders import open_run_in
from .builders import KEY, Ask, Pair, world
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


@dataclass
class Service:
    """A client whose server knows the world of the pairs."""

    client: anthropic.Anthropic
    run: ServerRun

    def send(self, asked: Ask) -> Any:
        request = asked.request(lambda body: json.dumps(body).encode())
        headers: Any = {"authorization": anthropic.Omit(), "anthropic-version": anthropic.Omit()}
        return self.client.post(
            request.path, cast_to=httpx2.Response, content=request.body, options={"headers": headers | request.headers}
        )


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with EmulatorServer() as server:
        run = open_run_in(world(), server, DIALECT)
        client = anthropic.Anthropic(base_url=run.base_url, api_key=KEY, max_retries=0, http_client=httpx2.Client())
        with client:
            yield Service(client, run)


@pytest.mark.parametrize("pair", SENDABLE, ids=attrgetter("id"))
def test_the_sdk_raises_the_refusal_and_not_for_its_neighbour(pair: Pair, service: Service) -> None:
    if pair.enforced:
        with pytest.raises(anthropic.APIStatusError) as raised:
            service.send(pair.illegal)
        body: Any = raised.value.body
        assert raised.value.status_code == pair.status
        assert body["error"] == {"type": pair.kind, "message": pair.message}
        assert raised.value.request_id == body["request_id"]
    else:
        assert service.send(pair.illegal).status_code == 200
    legal = pair.legal
    if legal.method == "POST":
        assert service.send(legal).status_code == 200
