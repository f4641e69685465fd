"""The waits of an SDK that repeats failed calls by itself, taken by a session's `setup.sleep`.

The SDKs of Anthropic and OpenAI wait as long as a response's `retry-after-ms` says, tell in each request how often it
was repeated (`x-stainless-retry-count`), and take an HTTP client with hooks. Nothing private of theirs is touched. A
wait after a connection that broke has no response: it is the SDK's own, half a second at first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from turnproof.cancel import CancelToken

from .._errors import retry_after

_FIRST, _LONGEST = 0.5, 8.0
"""Seconds of the SDKs' own back-off: of the first wait, which is doubled each time, and of the longest."""


class SdkWaits:
    """Hooks for an HTTP client: `event_hooks={"response": [waits]}`, and `[waits.asynchronous]` for an `AsyncClient`.

    `sleep` is the setup's. `token` gives the token of the turn; a call that is cancelled in a wait is not repeated.
    `attempts` is the SDK's `max_retries + 1`. After a wait longer than `longest` that the service names, the SDK does
    not repeat the call (120 seconds, of OpenAI's).
    """

    def __init__(
        self,
        sleep: Callable[[float, CancelToken | None], bool],
        token: Callable[[], CancelToken | None],
        attempts: int,
        longest: float = math.inf,
    ) -> None:
        self._sleep = sleep
        self._token = token
        self._attempts = attempts
        self._longest = longest

    def __call__(self, response: Any) -> None:
        """Wait, if the SDK is going to repeat the call."""
        repeated = int(response.request.headers.get("x-stainless-retry-count", 0))
        if repeated + 1 >= self._attempts or not _will_be_repeated(response):
            return
        named = retry_after(response.headers)
        if named is not None and named > self._longest:
            return
        if self._sleep(named or min(_FIRST * 2**repeated, _LONGEST), self._token()):
            response.headers["x-should-retry"] = "false"
        else:
            response.headers["retry-after-ms"] = "1"

    async def asynchronous(self, response: Any) -> None:
        """The same for an asynchronous client. `sleep` is called on the thread of its loop."""
        self(response)


def _will_be_repeated(response: Any) -> bool:
    advice = response.headers.get("x-should-retry")
    passes = response.status_code in (408, 409, 429) or response.status_code >= 500
    return advice == "true" or (advice != "false" and passes)
