"""Events of the server: the requests that it got and what it wrote."""

from __future__ import annotations

from base64 import b64decode
from typing import Any, Literal

import msgspec

from ..._base.canonical import canonical
from ._event import BaseEvent


class WireRequest(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="wire_request"):
    """A request as the server saw it.

    `headers` are kept by allow-list; `body` is the parsed JSON (or the text that was not JSON), `digest` of the raw
    bytes, and `raw` their text wherever canonical JSON of `body` is something else. `extra` marks unscripted
    operations; `findings` are the rules it offends, enforced or only logged, each `{"rule", "evidence", "status",
    "kind", "message", "path", "enforced"}`, and `"outdated": true` where time alone made it so. `at_ms` is when it
    arrived, in milliseconds since the run began, as the call's. `connection` is the number of the connection by which
    it came, counted from 0 within the run; None where nobody counted. A message on a WebSocket has the method
    `WEBSOCKET`, and path and headers of the handshake. `child` is the number of the child of the session that asks
    while others are under way, and None for everybody else.
    """

    exchange: int
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    digest: str
    operation: str
    raw: str = ""
    extra: bool = False
    findings: tuple[dict[str, Any], ...] = ()
    at_ms: float | None = None
    connection: int | None = None
    child: int | None = None

    @property
    def data(self) -> bytes:
        """The body's bytes as they arrived."""
        if self.raw or self.body is None:
            return self.raw.encode()
        return self.body.encode() if isinstance(self.body, str) else canonical(self.body)


class WireResponse(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="wire_response"):
    """What the server wrote and how the exchange ended.

    `body` is the answer in the dialect's own spelling, as far as its events were written. Where other bytes than these
    went out, `sent` is what went out, without its transfer coding, and `spelling` names the fault's spelling, if that
    is why; a client has received all of it, or after a reset or a close of its own a beginning.

    `ended`: `completed`, `cut-by-us` (a fault), `cut-by-peer` (the client closed), `timed-out`, `left-open`.
    `written` counts events. `held` says that the stream was held for a cancel; `released` how the hold ended
    (`peer-closed`, `call-returned`, `limit`); `limit` without `held`: the answer to a child waited for others that did
    not go on meanwhile. `events_after_cancel` counts events written after the cancel.

    How much is written until a client closes depends on the moment. Where that was the case, `settled` says of each
    field how much of it does not: so many characters of a text, this much of a count. A digest covers no more.

    `asked` are members that only the request to a real service had, so that its model does what the scenario is about.

    `kept` are the ids of all answers and conversations that the service keeps after the exchange.

    `ms` is how long it took from the request to the end of the answer. `origin` says whose answer it is: empty for the
    emulator, a cassette or a fault of the scenario; the real `service`; or what the service had answered to the same
    request before, `kept`.
    """

    exchange: int
    status: int
    headers: dict[str, str]
    body: str
    written: int
    base64: bool = False
    ended: Literal["completed", "cut-by-us", "cut-by-peer", "timed-out", "left-open"]
    fault: str | None = None
    held: bool = False
    released: str | None = None
    events_after_cancel: int = 0
    prompt_tokens: int = 0
    sent: str | None = None
    sent_base64: bool = False
    spelling: str = ""
    settled: dict[str, int] = msgspec.field(default_factory=dict)
    origin: Literal["", "service", "kept", "recorded"] = ""
    kept: tuple[str, ...] = ()
    asked: dict[str, Any] = msgspec.field(default_factory=dict)
    ms: float | None = None

    @property
    def data(self) -> bytes:
        """The body's bytes as far as they were written, in the dialect's own spelling: what readers of answers take."""
        return b64decode(self.body) if self.base64 else self.body.encode()

    @property
    def bytes_sent(self) -> bytes:
        """The bytes that really went out, in order, without their transfer coding."""
        if self.sent is None:
            return self.data
        return b64decode(self.sent) if self.sent_base64 else self.sent.encode()
