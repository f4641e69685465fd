"""The client that carries a body past the SDK, by itself."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from turnproof_adapters.google_genai.splice import Carried, SplicingClient, carrying, supported

URL = "http://example.invalid/"


class Body(httpx2.SyncByteStream):
    """A body that knows what was read of it, and whether it was closed."""

    def __init__(self) -> None:
        self.read = 0
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        self.read += 1
        yield b"so"

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def body() -> Body:
    return Body()


@pytest.fixture
def client(body: Body) -> SplicingClient:
    return SplicingClient(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, stream=body)), timeout=3)


def test_the_body_that_is_carried_is_sent_and_any_other_as_long_as_none_is(client: SplicingClient) -> None:
    def sent() -> bytes:
        request = client.build_request("POST", URL, content=b"own")
        assert request.headers["content-length"] == str(len(request.content))
        return request.content

    assert sent() == b"own"
    with carrying(b"outer"):
        assert sent() == b"outer"
        with carrying():
            assert sent() == b"own"
        assert sent() == b"outer"
    assert sent() == b"own"


@pytest.mark.parametrize("options", [{}, {"timeout": None}])
def test_the_clients_own_time_limits_hold_where_a_request_sets_none(
    client: SplicingClient, options: dict[str, None]
) -> None:
    assert client.build_request("GET", URL, **options).extensions["timeout"]["read"] == 3
    assert client.build_request("GET", URL, timeout=7).extensions["timeout"]["read"] == 7


def test_who_carries_can_hang_up_on_a_stream(client: SplicingClient, body: Body) -> None:
    with carrying() as carried:
        response = client.send(client.build_request("GET", URL), stream=True)
        assert carried.response is response
        assert (body.read, body.closed) == (0, False)
        carried.close()
    assert body.closed


def test_there_is_nothing_to_hang_up_on_before_an_answer_has_begun() -> None:
    carried = Carried(b"")
    assert carried.response is None
    carried.close()


def test_a_request_is_answered_where_nobody_carries(client: SplicingClient) -> None:
    assert client.get(URL).text == "so"


def test_the_installed_sdk_is_found_to_send_what_is_carried() -> None:
    supported.cache_clear()
    assert supported()


@pytest.mark.parametrize("status", [200, 201, 404])
@pytest.mark.parametrize("keeps", [True, False])
def test_the_sdk_is_shown_nothing_of_an_answer_that_is_kept_and_all_of_any_other(status: int, keeps: bool) -> None:
    client = SplicingClient(transport=httpx2.MockTransport(lambda _: httpx2.Response(status, content=b"so")))
    with carrying(b"{}", keeps_answer=keeps) as carried:
        shown = client.send(client.build_request("POST", URL), stream=True)
    is_kept = keeps and status == 200
    assert shown.status_code == status
    assert shown.read() == (b"" if is_kept else b"so")
    assert carried.response is not None
    assert (carried.response is not shown) is is_kept
    assert carried.response.read() == b"so"


def test_an_sdk_that_sends_something_else_is_not_spliced_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SplicingClient, "build_request", httpx2.Client.build_request)
    supported.cache_clear()
    assert not supported()
    supported.cache_clear()


def test_an_sdk_that_wants_to_read_the_answer_is_not_spliced_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SplicingClient, "send", httpx2.Client.send)
    supported.cache_clear()
    assert not supported()
    supported.cache_clear()
