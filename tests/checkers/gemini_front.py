"""A front that makes the mock's Gemini the one that the SDK asks for; all else passes as it is.

The mock has the addresses of `v1beta` alone, and the SDK asks for `v1`. It streams an answer of the Interactions API
unless the request says `"stream": false`; the API does so only where it says `true`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import ClientSession, TCPConnector, web
from loop_thread import serving_app

_PASSED = ("content-type", "retry-after")


@contextmanager
def in_front_of(mock: str) -> Iterator[str]:
    """The front on a free port of loopback until the block ends: its address."""

    async def pass_on(request: web.Request) -> web.StreamResponse:
        path = request.rel_url.raw_path_qs.replace("/v1/", "/v1beta/", 1)
        body = _with_stream_said(request.path, await request.read())
        headers = {"content-type": request.headers.get("content-type", "application/json")}
        async with (
            ClientSession(connector=TCPConnector(force_close=True)) as session,
            session.request(request.method, mock + path, data=body, headers=headers) as answer,
        ):
            passed = {name: answer.headers[name] for name in _PASSED if name in answer.headers}
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    app = web.Application(client_max_size=2**28)
    app.router.add_route("*", "/{path:.*}", pass_on)
    with serving_app(app) as address:
        yield address


def _with_stream_said(path: str, body: bytes) -> bytes:
    if not path.endswith("/interactions") or not body:
        return body
    return json.dumps({"stream": False, **json.loads(body)}).encode()
