"""The pairs of refusals once more, over a real socket: the dialect alone could be right while the server answers in
another form."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

import pytest

from turnproof.dialects.gemini_interactions import DIALECT

from ..responders import HttpService, http_service
from .asks import Ask, Pair, ask, world
from .pairs import PAIRS

UNREADABLE = ("malformed-json", "method-not-allowed", "missing-model", "not-found", "wrong-type")
"""Rules that are only inferred, and yet there is nothing that could be answered."""


@pytest.fixture
def service() -> Iterator[HttpService]:
    with http_service(world(), DIALECT) as service:
        yield service


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.rule != "too-many-tokens"], ids=attrgetter("id"))
def test_the_server_refuses_the_illegal_request_and_not_its_neighbour(pair: Pair, service: HttpService) -> None:
    if pair.legal.body.get("agent") is None:
        assert service.send(pair.legal).status_code == 200
    refused = service.send(pair.illegal)
    if not pair.enforced and pair.rule not in UNREADABLE:
        assert refused.status_code == 200
    else:
        assert refused.status_code == pair.status
        assert refused.json() == {"error": {"message": pair.message, "code": pair.kind}}


def test_a_stream_is_refused_before_it_begins(service: HttpService) -> None:
    refused = service.send(ask(model="gemini-9", stream=True))
    assert refused.headers["content-type"] == "application/json"
    assert refused.json()["error"]["code"] == "not_found"


def test_what_was_cached_is_counted_on_the_second_request(service: HttpService) -> None:
    steps = [{"type": "user_input", "content": [{"type": "text", "text": f"{n} moist soil " * 200}]} for n in range(12)]
    first, second = (
        service.send(ask(*steps, store=False)).json()["usage"]["total_cached_tokens"] for _ in range(2)
    )  # fmt: skip
    assert first == 0
    assert second >= 1024


def test_the_model_list_is_that_of_the_gemini_api_and_so_are_its_refusals(service: HttpService) -> None:
    listed = service.send(Ask(path="/v1beta/models", method="GET")).json()["models"]
    assert "models/gemini-3.5-flash" in [each["name"] for each in listed]
    refused = service.send(Ask(path="/v1beta/models", method="GET", headers={"x-goog-api-key": "wrong"}))
    assert refused.json()["error"]["status"] == "INVALID_ARGUMENT"
