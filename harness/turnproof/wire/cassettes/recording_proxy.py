"""Passes requests on to the real API and its answers back, chunk by chunk: the responder of a live recording.

The adapter under test never sees the real key: whichever header it authenticates with is given the real key here.
Everything else crosses by allow-list. The key is in no repr, log or error.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies

import aiohttp

from ..._base.loopback import is_loopback
from ..._base.secrets import secret_in
from ...dialects.base import HttpRequest
from ...dialects.contract import Dialect
from ...errors import HarnessError, ServiceError, UsageError
from .scrub import REQUEST_HEADERS, RESPONSE_HEADERS, select_headers

AUTHENTICATION = {
    "authorization": "Bearer {key}",
    "x-api-key": "{key}",
    "x-goog-api-key": "{key}",
    "api-key": "{key}",
}
"""Headers by which the providers know a caller, and how the key stands in them."""

PASSED_BACK = RESPONSE_HEADERS | {"request-id", "retry-after-ms"}

PRESENCE = 2.0
"""Seconds in which a service has to take a connection before anything is asked of it."""

SILENCE = 600.0
"""Seconds without a byte after which the API is given up, as its own SDK does."""


@dataclass(frozen=True, slots=True)
class ProxyAnswer:
    """An answer whose head has arrived. `chunks` yields the body as it comes, once; closing it frees the connection.

    It raises ServiceError if the body breaks off: such an exchange is not complete and not to be recorded.
    """

    status: int
    headers: Mapping[str, str]
    chunks: AsyncGenerator[bytes, None]


class ProxyTarget:
    """A real API under its base URL. An async context manager; each request has its own connection.

    Whoever answers says how long a connection is kept, and a request on one that has just been closed is lost. Nothing
    may be made again for that reason, since the API may have billed it.

    `base_url` has the form that the dialect's official SDK takes, and request paths are appended to it. Raises
    UsageError for an address that is not http or https, or an empty key.
    """

    def __init__(self, base_url: str, api_key: str, dialect: Dialect) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{base_url!r} is not the base URL of an API: expected https://HOST")
        if not api_key:
            raise UsageError(f"no key for {base_url}: set the provider's key in the environment")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise UsageError(f"{base_url!r} would carry the key unencrypted: use https")
        self._base_url = base_url.rstrip("/")
        self._key = api_key
        self._dialect = dialect
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"ProxyTarget({self._base_url!r}, dialect={self._dialect.name!r})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key, for those who take it out of what they keep."""
        return (self._key,)

    @property
    def address(self) -> str:
        """The service's base URL: request paths are appended to it."""
        return self._base_url

    @property
    def host(self) -> str:
        """The service's host, with its port where the address names one."""
        parts = urlsplit(self._base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def check_presence(self) -> None:
        """Raise UsageError, within `PRESENCE` seconds, where nobody listens. A proxy that leads there is not asked."""
        parts = urlsplit(self._base_url)
        host = parts.hostname or ""
        if not is_loopback(host) and getproxies().get(parts.scheme):
            return
        try:
            port = parts.port or {"http": 80, "https": 443}[parts.scheme]
            socket.create_connection((host, port), PRESENCE).close()
        except OSError as error:
            variable = self._dialect.service.base_url_variable
            raise UsageError(
                f"nobody answers at {self._base_url} ({type(error).__name__}: {error}): start the service, or set "
                f"{variable} to its address"
            ) from error

    async def __aenter__(self) -> ProxyTarget:
        host = urlsplit(self._base_url).hostname or ""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(force_close=True),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30.0, sock_read=SILENCE),
            # Proxies of the environment lead out; to ourselves there is no way through them.
            trust_env=not is_loopback(host),
            # What is recorded must be the plain body, and what is passed on must be what was recorded.
            auto_decompress=False,
            headers={"accept-encoding": "identity"},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session:
            await self._session.close()
            self._session = None

    def is_opened_by(self, request: HttpRequest, keys: Iterable[str]) -> bool:
        """Whether the real key may stand in for what the request has: one of these keys, or none at all."""
        known = tuple(keys)
        own = [value for name, value in request.headers.items() if name.lower() in AUTHENTICATION]
        return not own or any(secret_in(value, known) for value in own)

    async def forward(self, request: HttpRequest) -> ProxyAnswer:
        """Send the request to the real API and return as soon as the head of its answer is there.

        Raises ServiceError if the API cannot be reached: that is never the adapter's fault.
        """
        if self._session is None:
            raise HarnessError("ProxyTarget is used outside of its `async with`")
        service = self._dialect.service
        query = urlencode(select_headers(request.query, service.query_parameters))
        url = self._base_url + request.path + (f"?{query}" if query else "")
        allowed = select_headers(request.headers, REQUEST_HEADERS | service.request_headers)
        headers = {**allowed, **self._authentication(request.headers)}
        try:
            # A redirect could take the key to another host.
            response = await self._session.request(
                request.method, url, data=request.body or None, headers=headers, allow_redirects=False
            )
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ServiceError(f"{self._base_url} cannot be reached: {type(error).__name__}: {error}") from error
        return ProxyAnswer(
            response.status,
            select_headers(response.headers, PASSED_BACK | service.response_headers),
            self._body(response),
        )

    def _authentication(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The real key where the client had put its own; a request without any goes without."""
        names = {name.lower() for name in headers}
        return {name: form.format(key=self._key) for name, form in AUTHENTICATION.items() if name in names}

    async def _body(self, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ServiceError(f"{self._base_url} broke off its answer: {type(error).__name__}: {error}") from error
        finally:
            # At once, also in the middle of an answer: who generates it stops when nobody listens.
            response.close()
