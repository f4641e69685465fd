"""The pairs of refusals once more, over a real socket: as they are, and through the official client where it is there.

The dialect alone could be right while the server answers in another form; the client's own exception is what an adapter
sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import httpx2
import pytest

from turnproof.dialects.openai_responses import DIALECT

from ..responders import HttpService, http_service
from .asks import Pair, ask, world
from .builders import KEY
from .pairs import PAIRS

ENFORCED = [pair for pair in PAIRS if pair.enforced]
SENDABLE = [pair for pair in ENFORCED if pair.illegal.raw is None and pair.illegal.path.startswith("/v1/")]
"""What the official client can be made to say at OpenAI's own door."""


@pytest.fixture(scope="module")
def service() -> Iterator[HttpService]:
    with http_service(world(), DIALECT) as service:
        yield service


@pytest.mark.parametrize("pair", PAIRS, ids=attrgetter("id"))
def test_the_server_refuses_the_illegal_request_and_not_its_neighbour(pair: Pair, service: HttpService) -> None:
    refused = service.send(pair.illegal)
    if not pair.enforced and pair.rule not in ("malformed-json", "method-not-allowed"):
        assert refused.status_code == 200
    else:
        assert refused.status_code == pair.status
        assert pair.message in (refused.text, refused.json()["error"]["message"] if refused.text[0] == "{" else "")
        assert refused.headers["x-request-id"]
    assert service.send(pair.legal).status_code == 200


@pytest.mark.parametrize("pair", SENDABLE, ids=attrgetter("id"))
def test_the_official_client_raises_the_refusal(pair: Pair, service: HttpService) -> None:
    openai: Any = pytest.importorskip("openai")
    request = pair.illegal.request()
    client = openai.OpenAI(
        base_url=service.run.base_url.removesuffix("/v1"), api_key=KEY, max_retries=0, http_client=service.http
    )
    headers: Any = {"authorization": openai.Omit()} | dict(request.headers)
    send = client.get if request.method == "GET" else client.post
    body = {} if request.method == "GET" else {"content": request.body}
    with pytest.raises(openai.APIStatusError) as raised:
        send(request.path, cast_to=httpx2.Response, options={"headers": headers}, **body)
    error = raised.value
    assert error.status_code == pair.status
    coded = pair.kind != "invalid_request_error"
    assert (error.code, error.param) == (pair.kind if coded else None, pair.param)
    assert error.body["message"] == pair.message
    assert error.request_id


def test_a_stream_is_refused_before_it_begins(service: HttpService) -> None:
    refused = service.send(ask(model="gpt-9", stream=True))
    assert refused.headers["content-type"] == "application/json"
    assert refused.json()["error"]["code"] == "model_not_found"


def test_what_was_cached_is_counted_on_the_second_request(service: HttpService) -> None:
    long = ask(*([{"role": "user", "content": f"{n} moist soil " * 200} for n in range(12)]), store=False)
    first, second = (service.send(long).json()["usage"]["input_tokens_details"]["cached_tokens"] for _ in range(2))
    assert first == 0
    assert second >= 1024
    assert second % 128 == 0
