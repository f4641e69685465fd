"""An answer drawn piece by piece: every event that the server wrote, and on it the fault or the cancel.

The pieces are the dialect's own: what one event adds to the text, or what kind of event it is. A mark stands between
the events where something happened: the socket was cut, an error was sent, the turn was cancelled, the client went.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from .._base.counts import counted
from ..dialects import dialect as dialect_named
from ..dialects.base import WireEvent
from ..errors import TurnproofError
from ..run.transcript import WireResponse
from ._inline_text import printable, shorten

_SHOWN_FIRST, _SHOWN_LAST = 48, 16
_TEXT_LIMIT = 120
_RAW_LIMIT = 240

_ENDED = {"cut-by-peer": "client closed", "cut-by-us": "cut", "timed-out": "timed out", "left-open": "left open"}


class Piece(msgspec.Struct, frozen=True):
    """One event, or a mark between two.

    `kind` is that of the event, or `cancel`, `fault`, `closed` (the socket), or `gap` for events that are not shown.
    `text` is what the event adds to the answer, `words` what is to be read where it adds none; `raw` the event itself.
    """

    kind: str
    words: str
    text: str = ""
    raw: str = ""

    @property
    def is_mark(self) -> bool:
        """Whether it is no event, but says what happened between two."""
        return self.kind in ("cancel", "fault", "closed", "gap")


def draw_stream(response: WireResponse, dialect: str, cancelled: str = "") -> tuple[Piece, ...]:
    """The pieces of an answer, in order; none for an answer in one body that nothing happened to.

    `cancelled` says by which moment of the scenario the call was cancelled, if it was. An answer that the dialect
    cannot read has no pieces.
    """
    events = _events(response, dialect)
    marks = dict(_marks(response, len(events), cancelled))
    if not marks and len(events) < 2:
        return ()
    return tuple(_with_marks(events, marks))


def _events(response: WireResponse, dialect: str) -> Sequence[WireEvent]:
    if response.status == 0:
        return ()
    try:
        return dialect_named(dialect).split_stream(response.headers, response.data)
    except TurnproofError:
        return ()


def _marks(response: WireResponse, events: int, cancelled: str) -> Iterator[tuple[int, Piece]]:
    """Each mark with the number of events that stand in front of it."""
    if response.held:
        at = min(events, max(0, response.written - response.events_after_cancel))
        ended = _ENDED.get(response.ended, "") if response.events_after_cancel == 0 else ""
        words = ", ".join(filter(None, (f"cancelled at {cancelled}" if cancelled else "cancelled", ended)))
        yield at, Piece("cancel", words)
        if not ended and response.ended in _ENDED:
            yield events, Piece("closed", _ENDED[response.ended])
    elif response.fault is not None:
        yield min(events, response.written), Piece("fault", f"fault: {response.fault}")
    elif response.ended in _ENDED:
        yield events, Piece("closed", _ENDED[response.ended])


def _with_marks(events: Sequence[WireEvent], marks: dict[int, Piece]) -> Iterator[Piece]:
    hidden = range(_SHOWN_FIRST, len(events) - _SHOWN_LAST)
    for place, event in enumerate(events):
        if place in marks:
            yield marks[place]
        if place not in hidden:
            yield _piece(event)
        elif place == hidden.start:
            yield Piece("gap", counted(len(hidden), "more event"))
    if len(events) in marks:
        yield marks[len(events)]


def _piece(event: WireEvent) -> Piece:
    raw = event.data.decode("utf-8", "backslashreplace").strip()
    return Piece(
        kind=event.kind,
        words=event.kind.replace("_", " "),
        text=shorten(printable(event.text), _TEXT_LIMIT),
        raw=shorten(printable(raw), _RAW_LIMIT),
    )
