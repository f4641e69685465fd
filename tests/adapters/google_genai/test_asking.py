"""What the SDK's own call is given for a request, and what becomes of the stream that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from google.genai import types

from turnproof_adapters.google_genai import splice
from turnproof_adapters.google_genai.asking import Request, opened
from turnproof_adapters.google_genai.splice import STUB

from .kit import MODEL

PIECES = [types.GenerateContentResponse(response_id=word) for word in "abc"]


class Models:
    """Keeps what it is called with, and what the client would put in its place."""

    def __init__(self) -> None:
        self.given: list[tuple[dict[str, Any], bytes | None]] = []
        self.response = unread()

    def generate_content(self, **given: Any) -> types.GenerateContentResponse:
        self.given.append((given, carried().body))
        return PIECES[0]

    def generate_content_stream(self, **given: Any) -> Iterator[types.GenerateContentResponse]:
        self.given.append((given, carried().body))
        carried().response = self.response
        yield from PIECES


def unread() -> httpx2.Response:
    return httpx2.Response(200, content=iter([b"data: {}"]))


def carried() -> splice.Carried:
    found = splice._carried.get()
    assert found is not None
    return found


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_beside_a_body_the_sdk_is_given_a_stub_and_told_to_do_nothing_by_itself(streamed: bool) -> None:
    models = Models()
    client: Any = SimpleNamespace(models=models)
    request = Request.spliced(client, MODEL, b"{}")
    assert (list(request.stream().events) if streamed else [request.whole()]) == PIECES[: 3 if streamed else 1]
    ((given, body),) = models.given
    assert body == b"{}"
    assert given.keys() == {"model", "contents", "config"}
    assert (given["model"], given["contents"]) == (MODEL, [STUB])
    assert given["config"].automatic_function_calling.disable
    assert given["config"].automatic_continuation is False


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_without_a_body_the_sdk_is_given_all_of_it_and_nothing_is_put_in_its_place(streamed: bool) -> None:
    models = Models()
    client: Any = SimpleNamespace(models=models)
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    request = Request.plain(client, MODEL, contents, {"generationConfig": {"maxOutputTokens": 9}})
    assert (list(request.stream().events) if streamed else [request.whole()]) == PIECES[: 3 if streamed else 1]
    ((given, body),) = models.given
    assert body is None
    assert (given["model"], given["contents"]) == (MODEL, [types.Content(role="user", parts=[types.Part(text="hi")])])
    assert given["config"].max_output_tokens == 9
    assert given["config"].automatic_function_calling.disable
    assert given["config"].automatic_continuation is False


def test_a_stream_is_open_when_it_is_handed_on_and_hangs_up_when_it_is_closed() -> None:
    models = Models()
    source = opened(models.generate_content_stream, b"{}")
    assert models.given == [({}, b"{}")]
    assert not models.response.is_closed
    source.close()
    assert models.response.is_closed
    assert list(source.events) == PIECES


def test_a_stream_without_a_piece_has_no_events() -> None:
    assert list(opened(lambda: iter(())).events) == []


def test_a_stream_whose_first_piece_cannot_be_read_is_hung_up() -> None:
    response = unread()

    def broken() -> Iterator[types.GenerateContentResponse]:
        carried().response = response
        raise ValueError("no JSON")
        yield

    with pytest.raises(ValueError, match="no JSON"):
        opened(broken)
    assert response.is_closed
