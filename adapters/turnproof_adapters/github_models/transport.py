"""azure-core's pipeline on the HTTP client of every other adapter, so that timeouts, proxies and cancelling work alike.

azure-core sends through `requests` unless it is given a transport. This one sends through an httpx2 client whose calls
can be cut. What that client raises passes through unchanged: no policy of our pipeline would act on azure's own
exceptions in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from types import TracebackType
from typing import Any, Self

import httpx2
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.transport import HttpTransport
from azure.core.rest import HttpRequest, HttpResponse
from azure.core.utils import case_insensitive_dict


class Httpx2Transport(HttpTransport[HttpRequest, HttpResponse]):
    """Sends each request once. `silence` says how long it waits for what."""

    def __init__(self, client: httpx2.Client, silence: httpx2.Timeout) -> None:
        self._client = client
        self._silence = silence

    def send(self, request: HttpRequest, *, stream: bool = False, **kwargs: Any) -> HttpResponse:
        """The answer, with its body read unless it is to be streamed."""
        sent = self._client.build_request(
            request.method,
            request.url,
            headers=dict(request.headers),
            content=request.content,
            timeout=self._silence,
        )
        return Httpx2Response(request, self._client.send(sent, stream=stream))

    def open(self) -> None:
        """The client opens its connections by itself."""

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.close()


class Httpx2Response(HttpResponse):
    """An answer of httpx2's as azure-core wants it."""

    def __init__(self, request: HttpRequest, inner: httpx2.Response) -> None:
        self._request = request
        self._inner = inner
        self._headers = case_insensitive_dict(inner.headers)
        self._body: Iterator[bytes] | None = None

    @property
    def request(self) -> HttpRequest:
        """The request that this is the answer to."""
        return self._request

    @property
    def status_code(self) -> int:
        """The numeric status."""
        return self._inner.status_code

    @property
    def headers(self) -> MutableMapping[str, str]:
        """The headers, whatever the case of their names."""
        return self._headers

    @property
    def reason(self) -> str:
        """The words beside the status."""
        return self._inner.reason_phrase

    @property
    def content_type(self) -> str | None:
        """The header of that name."""
        return self._headers.get("content-type")

    @property
    def is_closed(self) -> bool:
        """Whether the connection has been given back."""
        return self._inner.is_closed

    @property
    def is_stream_consumed(self) -> bool:
        """Whether the body has been read."""
        return self._inner.is_stream_consumed

    @property
    def encoding(self) -> str | None:
        """The encoding of a text."""
        return self._inner.encoding

    @encoding.setter
    def encoding(self, value: str | None) -> None:
        self._inner.encoding = value or "utf-8"

    @property
    def url(self) -> str:
        """Where the answer came from, after redirects."""
        return str(self._inner.url)

    @property
    def content(self) -> bytes:
        """The body, which has been read."""
        return self._inner.content

    def text(self, encoding: str | None = None) -> str:
        """The body as text."""
        return self.content.decode(encoding or self.encoding or "utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON. Raises ValueError for what is none."""
        return self._inner.json()

    def raise_for_status(self) -> None:
        """Raises HttpResponseError for a status that stands for a failure."""
        if self.status_code >= 400:
            raise HttpResponseError(response=self)

    def read(self) -> bytes:
        """The body, read now if it has not been."""
        return self._inner.read()

    def iter_raw(self, **kwargs: Any) -> Iterator[bytes]:
        """The body as it arrives, compressed or not."""
        return self._inner.iter_raw()

    def iter_bytes(self, **kwargs: Any) -> Iterator[bytes]:
        """The body as it arrives, decompressed, or what was put in its place."""
        return self._inner.iter_bytes() if self._body is None else self._body

    def replace_body(self, pieces: Iterator[bytes]) -> None:
        """Give these pieces in place of the body's own to who reads it as it arrives."""
        self._body = pieces

    def close(self) -> None:
        """Give the connection back, or up."""
        self._inner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()
