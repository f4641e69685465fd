"""Copilot's session tokens: a GitHub token is exchanged for one that lives half an hour (`openai-chat.md` §6).

`Tokens` holds the one in use and has it exchanged in time. One exchange runs at a time, whatever threads ask; whoever
waits for another's can be cancelled. When to refresh is counted from the moment of the exchange by the answer's
`refresh_in`, never by its `expires_at`: that is a time of the service's clock, and ours may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from turnproof.cancel import CancelToken

from ..._decoding import decode_json
from ..._lazy_value import LazyValue

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
    found = decode_json(_issued, body)
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
        self._session: LazyValue[Session] = LazyValue()

    @property
    def known(self) -> Session | None:
        """The token in use, due or not; None before the first exchange."""
        return self._session.value

    def current(self, token: CancelToken | None = None) -> Session:
        """A session token with time left, after an exchange if that is needed. Raises Cancelled while it waits for
        another thread's."""
        return self._session.get(lambda session: self._clock() < session.due, self._fetched, token)

    def renewed(self, refused: Session, token: CancelToken | None = None) -> Session:
        """Another token than the one that the service refused. Several threads refused at once share one exchange."""
        return self._session.get(lambda session: session is not refused, self._fetched, token)

    def _fetched(self) -> Session:
        sent_at = self._clock()
        issued = self._exchange()
        life = issued.refresh_in if issued.refresh_in is not None and issued.refresh_in > 0 else LIFE
        return Session(issued.token, issued.endpoints.api if issued.endpoints is not None else None, sent_at + life)
