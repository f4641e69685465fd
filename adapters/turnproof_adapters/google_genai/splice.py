"""The SDK makes the call; the body that it sends and the answer that comes are ours.

The SDK's own work on a request grows with the history and is most of what a turn costs, and on a streamed piece it
takes ten times as long as reading it. So its call is made with a stub, and the HTTP client that it was given
(`HttpOptions.httpx_client`) puts the prepared body into the request that the SDK has it build, and keeps back what the
service answers: the SDK is shown an empty answer. Address, authentication, headers, retries and what a status means
stay the SDK's.

Whether the installed SDK goes about it that way is tried out, not assumed: `supported()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpx2
from google import genai
from google.genai import types

STUB = types.Content()
"""The contents of a call whose body is carried.

Such a call needs no configuration: the SDK calls no tool of which it has not heard, and goes on from no answer that it
does not see. In a list, or with a configuration, it would convert for longer than the request takes.
"""


class Carried:
    """What a call hands past the SDK: a body on the way out, if it has one, and the response on the way in.

    With `keeps_answer` the SDK does not get to see what a response of status 200 holds; any other is the SDK's to read.
    """

    __slots__ = ("body", "keeps_answer", "response")

    def __init__(self, body: bytes | None, *, keeps_answer: bool = False) -> None:
        self.body = body
        self.keeps_answer = keeps_answer
        self.response: httpx2.Response | None = None

    def deliver(self, response: httpx2.Response) -> httpx2.Response:
        """What the SDK is given for a response."""
        self.response = response
        if not self.keeps_answer or response.status_code != 200:
            return response
        return httpx2.Response(200, request=response.request)

    def close(self) -> None:
        """Hang up, whatever the SDK is doing with the response."""
        if self.response is not None:
            self.response.close()


# Each thread (and task) has its own value, so calls that run at the same time cannot mix.
_carried: ContextVar[Carried | None] = ContextVar("carried", default=None)


@contextmanager
def carrying(body: bytes | None = None, *, keeps_answer: bool = False) -> Iterator[Carried]:
    """Requests that a `SplicingClient` builds meanwhile get this body; without one they keep theirs."""
    carried = Carried(body, keeps_answer=keeps_answer)
    before = _carried.set(carried)
    try:
        yield carried
    finally:
        _carried.reset(before)


class SplicingClient(httpx2.Client):
    """An HTTP client like any other, except while something is carried."""

    def build_request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Request:
        """As ever, with the carried body, and with this client's time limits where the caller sets none."""
        carried = _carried.get()
        if carried is not None and carried.body is not None:
            options["content"] = carried.body
        if options.get("timeout") is None:
            options.pop("timeout", None)
        return super().build_request(method, url, **options)

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """As ever, with the response handed to whoever carries."""
        response = super().send(request, **options)
        carried = _carried.get()
        return response if carried is None else carried.deliver(response)


@cache
def supported() -> bool:
    """Whether the installed SDK sends what is carried, whole and streamed, and is content with an empty answer.

    Found out once in a process, without the network.
    """
    sent: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.content)
        return httpx2.Response(200, content=b"not for the SDK")

    options = types.HttpOptions(
        base_url="http://127.0.0.1:9",
        httpx_client=SplicingClient(transport=httpx2.MockTransport(answer)),
        httpx_async_client=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)),
        async_client_args={"ssl": False},
    )
    try:
        models = genai.Client(vertexai=False, api_key="none", http_options=options).models
        with carrying(b"{}", keeps_answer=True):
            models.generate_content(model="gemini", contents=STUB)
            pieces = list(models.generate_content_stream(model="gemini", contents=STUB))
    except Exception:  # whatever an SDK that works otherwise may raise: then it is not supported
        return False
    return sent == [b"{}", b"{}"] and not pieces
