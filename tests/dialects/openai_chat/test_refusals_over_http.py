"""The pairs of refusals once more, over a real socket, and through the real SDK where it is installed.

The dialect alone could be right while the server answers in another form; the SDK's own exception is what an adapter
sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import httpx2
import pytest

from turnproof.dialects.openai_chat import SURFACES
from turnproof.dialects.openai_chat.surfaces import Surface
from turnproof.wire.emulator import EmulatorServer, ServerRun

from ..responders import FixedAnswer, send_request
from .asks import Ask, Pair, world
from .builders import KEY
from .pairs import PAIRS

# What is too long proves nothing more over HTTP, and takes its time.
SENDABLE = [pair for pair in PAIRS if len(json.dumps(pair.illegal.body)) < 10_000]


@dataclass
class Service:
    """A server for each surface that knows the world of the pairs."""

    runs: Mapping[Surface, ServerRun]
    client: httpx2.Client

    def send(self, sendable: Ask) -> httpx2.Response:
        request = sendable.request(lambda body: json.dumps(body).encode())
        return send_request(self.client, self.runs[sendable.surface], request)


UNREADABLE = ("method", "zai-route")
"""What no answer could be given to, whether or not the refusal is shown."""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with EmulatorServer() as server, httpx2.Client(timeout=60) as client:
        runs = {
            surface: server.open_run(SURFACES[surface], FixedAnswer(), keys=frozenset({KEY})) for surface in Surface
        }
        for run in runs.values():
            run.world = world()
        yield Service(runs, client)


@pytest.mark.parametrize("pair", SENDABLE, ids=attrgetter("id"))
def test_the_server_refuses_in_the_form_of_its_surface_and_not_the_neighbour(pair: Pair, service: Service) -> None:
    answer = service.send(pair.illegal)
    if pair.enforced or pair.rule in UNREADABLE:
        dialect = SURFACES[pair.illegal.surface]
        read = dialect.read_response(answer.status_code, answer.headers, answer.content)
        assert answer.status_code == pair.status
        assert (read.error_message or "").strip() == pair.message
        assert read.error_kind in (pair.kind, None)
    else:
        assert answer.status_code == 200
    assert service.send(pair.legal).status_code == 200


@pytest.fixture(scope="module")
def sdk(service: Service) -> Iterator[Any]:
    """The official client, whose requests go where they are told: it puts `/v1` in front of none."""
    openai = pytest.importorskip("openai")
    base_url = service.runs[Surface.OPENAI].base_url.removesuffix("/v1")
    with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0, http_client=httpx2.Client()) as client:
        yield client


@pytest.mark.parametrize(
    "pair",
    [each for each in SENDABLE if each.enforced and each.illegal.surface is Surface.OPENAI],
    ids=attrgetter("id"),
)
def test_the_sdk_raises_the_refusal(pair: Pair, sdk: Any) -> None:
    import openai  # type: ignore[import-not-found, unused-ignore]

    request = pair.illegal.request(lambda body: json.dumps(body).encode())
    headers: Any = {"authorization": openai.Omit()} | dict(request.headers)
    send = sdk.post if request.method == "POST" else sdk.get
    content = {"content": request.body} if request.method == "POST" else {}
    with pytest.raises(openai.APIStatusError) as raised:
        send(request.path, cast_to=httpx2.Response, options={"headers": headers}, **content)
    assert raised.value.status_code == pair.status
    assert (raised.value.code or raised.value.type) == pair.kind
    assert raised.value.param == pair.param
    assert raised.value.request_id
