"""Copilot's session tokens: a GitHub token is exchanged for one that lives half an hour (`openai-chat.md` §6).

`Tokens` holds the one in use and has it exchanged in time. One exchange runs at a time, whatever threads ask; whoever
waits for another's can be cancelled. When to refresh is counted from the moment of the exchange by the answer's
`refresh_in`, never by its `expires_at`: that is a time of the service's clock, and ours may be wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled

from ..._decoding import decoded

LIFE = 1500.0
"""Seconds after which a token is exchanged whose answer does not say (`refresh_in` as the service gives it)."""


class Endpoints(msgspec.Struct, frozen=True):
    """Where the holder of a token is served."""

    api: str | None = None


class Issued(msgspec.Struct, frozen=True):
    """The answer to an exchange."""

    token: str
    refresh_in: float | None = None
    endpoints: Endpoints | None = None


_issued = msgspec.json.Decoder(Issued)


def decode(body: bytes) -> Issued:
    """The answer to an exchange. Raises ValueError for what is none."""
    found = decoded(_issued, body)
    if not found.token:
        raise ValueError("an empty token")
    return found


@dataclass(frozen=True, slots=True)
class Session:
    """A session token, the address that it is good for (None: the usual one), and when it is to be exchanged."""

    token: str = field(repr=False)
    api: str | None
    due: float


class Tokens:
    """The session token in use. `exchange` asks for another; `clock` gives seconds that never go back."""

    def __init__(self, exchange: Callable[[], Issued], clock: Callable[[], float]) -> None:
        self._exchange = exchange
        self._clock = clock
        self._free = threading.Condition()
        self._busy = False
        self._session: Session | None = None

    @property
    def known(self) -> Session | None:
        """The token in use, due or not; None before the first exchange."""
        return self._session

    def current(self, token: CancelToken | None = None) -> Session:
        """A session token with time left, after an exchange if that is needed. Raises Cancelled while it waits for
        another thread's."""
        return self._session_unless(lambda session: self._clock() < session.due, token)

    def renewed(self, refused: Session, token: CancelToken | None = None) -> Session:
        """Another token than the one that the service refused. Several threads refused at once share one exchange."""
        return self._session_unless(lambda session: session is not refused, token)

    def _session_unless(self, is_good: Callable[[Session], bool], token: CancelToken | None) -> Session:
        session = self._session
        if session is not None and is_good(session):
            return session
        with self._alone(token):
            session = self._session
            if session is None or not is_good(session):
                session = self._session = self._fetched()
            return session

    def _fetched(self) -> Session:
        asked = self._clock()
        issued = self._exchange()
        life = issued.refresh_in if issued.refresh_in is not None and issued.refresh_in > 0 else LIFE
        return Session(issued.token, issued.endpoints.api if issued.endpoints is not None else None, asked + life)

    @contextmanager
    def _alone(self, token: CancelToken | None) -> Iterator[None]:
        """No other thread exchanges meanwhile. Not a lock: nobody could stop waiting for one."""
        forget = token.on_cancel(self._wake) if token is not None else None
        try:
            with self._free:
                self._free.wait_for(lambda: not self._busy or (token is not None and token.is_cancelled))
                if token is not None and token.is_cancelled:
                    raise Cancelled("the turn was cancelled before its request was written")
                self._busy = True
        finally:
            if forget is not None:
                forget()
        try:
            yield
        finally:
            with self._free:
                self._busy = False
                self._free.notify_all()

    def _wake(self) -> None:
        with self._free:
            self._free.notify_all()
