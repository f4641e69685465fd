"""What stands between an adapter and its service: proxies, portals, expired keys, empty answers.

Each is the right typed error with its status, whether an answer was asked for in one piece or as a stream, on either
path; or, where nothing of the answer is lost, the answer.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from turnproof import errors
from turnproof.messages import Message, ProviderResponse
from turnproof.provider import PATHS, Endpoint, Path
from turnproof.wire.emulator.server_run import CANARY_KEY

from .service import Service

PAGE = "<html><head><title>Gateway</title></head><body>Sign in to the network</body></html>"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def ask(service: Service, path: Path, *, stream: bool) -> ProviderResponse:
    provider = service.open(path)
    callbacks: dict[str, Any] = {"on_chunk": lambda text: None} if stream else {}
    response: ProviderResponse
    if path == "stateless":
        response = provider.complete([Message.user("go")], **callbacks)
        return response
    provider.create_session()
    send = provider.send_message_streaming if stream else provider.send_message
    response = send("go", **callbacks)
    return response


each_way = pytest.mark.parametrize(
    ("path", "stream"), [(path, stream) for path in PATHS for stream in (False, True)], ids=str
)


def html(status: int) -> Callable[..., httpx2.Response]:
    return lambda *_: httpx2.Response(status, html=PAGE)


def no_target(*_: object) -> httpx2.Response:
    return httpx2.Response(302)


def in_circles(request: httpx2.Request, _: object) -> httpx2.Response:
    return httpx2.Response(307, headers={"location": str(request.url)})


def cut_in_the_middle(_: object, response: httpx2.Response) -> httpx2.Response:
    packed = gzip.compress(response.content)
    headers = {"content-type": response.headers["content-type"], "content-encoding": "gzip"}
    return httpx2.Response(200, headers=headers, content=packed[: len(packed) // 2])


def nothing(_: object, response: httpx2.Response) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": response.headers["content-type"]})


BROKEN: dict[str, tuple[Callable[..., httpx2.Response], type[errors.ProviderError], int | None]] = {
    "a proxy's page under 403": (html(403), errors.AuthenticationError, 403),
    "a proxy's page under 404": (html(404), errors.InvalidRequestError, 404),
    "a proxy's page under 502": (html(502), errors.OverloadedError, 502),
    "a portal's page under 200": (html(200), errors.TransportError, None),
    "a redirect without a target": (no_target, errors.TransportError, 302),
    "redirects in circles": (in_circles, errors.TransportError, None),
    "half of a compressed answer": (cut_in_the_middle, errors.TransportError, None),
    "an empty answer": (nothing, errors.TransportError, None),
}


@each_way
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_answer_is_told_as_what_it_is(service: Service, name: str, path: Path, stream: bool) -> None:
    spoiled, kind, status = BROKEN[name]
    service.spoiled = spoiled
    with pytest.raises(kind) as failure:
        ask(service, path, stream=stream)
    assert failure.value.status in (status, 200 if status is None else status)
    assert status is None or "<body>" not in str(failure.value)


REFUSED: dict[int, type[errors.ProviderError]] = {
    401: errors.AuthenticationError,
    403: errors.AuthenticationError,
    404: errors.InvalidRequestError,
    429: errors.RateLimitError,
    500: errors.OverloadedError,
    503: errors.OverloadedError,
}


@each_way
@pytest.mark.parametrize("status", REFUSED)
def test_a_refusal_of_the_service_has_its_type_and_its_status(
    service: Service, status: int, path: Path, stream: bool
) -> None:
    service.spoiled = lambda *_: service.refusal(status)
    with pytest.raises(REFUSED[status]) as failure:
        ask(service, path, stream=stream)
    assert failure.value.status == status


@each_way
def test_a_refusal_under_status_200_is_no_answer(service: Service, path: Path, stream: bool) -> None:
    def under_200(*_: object) -> httpx2.Response:
        refusal = service.refusal(500)
        kind = "text/event-stream" if stream else refusal.headers["content-type"]
        body = b"data: %s\n\n" % refusal.content if stream else refusal.content
        return httpx2.Response(200, headers={"content-type": kind}, content=body)

    service.spoiled = under_200
    with pytest.raises(errors.ProviderError):
        ask(service, path, stream=stream)


_FIGURE = re.compile(rb'("\w*(?:[tT]oken|[cC]ount)\w*":)\s*\d+')


@each_way
def test_figures_that_are_null_count_for_nothing_and_cost_no_answer(service: Service, path: Path, stream: bool) -> None:
    def without(_: object, response: httpx2.Response) -> httpx2.Response:
        body, found = _FIGURE.subn(rb"\1null", response.content)
        assert found
        return httpx2.Response(200, headers={"content-type": response.headers["content-type"]}, content=body)

    service.spoiled = without
    response = ask(service, path, stream=stream)
    assert response.text
    assert response.usage.total_tokens == 0


@each_way
def test_a_wrong_content_type_costs_no_more_than_the_answer(service: Service, path: Path, stream: bool) -> None:
    def plain(_: object, response: httpx2.Response) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/plain"}, content=response.content)

    service.spoiled = plain
    with suppress(errors.TransportError):
        assert ask(service, path, stream=stream).text


@each_way
def test_an_answer_without_a_candidate_is_none(service: Service, path: Path, stream: bool) -> None:
    empty = {"choices": [], "candidates": [], "response": {"candidates": []}, "content": [], "output": []}
    body = json.dumps(empty).encode()

    def hollow(*_: object) -> httpx2.Response:
        if stream:
            return httpx2.Response(
                200, headers={"content-type": "text/event-stream"}, content=b"data: %s\n\ndata: [DONE]\n\n" % body
            )
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=body)

    service.spoiled = hollow
    with pytest.raises(errors.TransportError):
        ask(service, path, stream=stream)


@pytest.mark.parametrize("path", PATHS)
def test_a_slash_behind_the_address_changes_nothing(service: Service, path: Path) -> None:
    addresses: list[str] = []

    def note(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        addresses.append(str(request.url))
        return response

    for address in (service.address, f"{service.address}/"):
        opener = service.binding.opener(path)
        assert opener is not None
        service.spoiled = note
        provider = opener(Endpoint(address, CANARY_KEY, service.binding.model, {"transport": service.transport}))
        if path == "stateless":
            provider.complete([Message.user("go")])
        else:
            provider.send_message("go")
        provider.shutdown()
    assert len(set(addresses)) == len(addresses) // 2
