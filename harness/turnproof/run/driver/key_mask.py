"""Keys are taken out of what a run has recorded, before anything of it is kept.

These keys are the run's own one, which an adapter may send in its header and nowhere else, those of the environment,
and that of a live service. They are found in every form (`_base.secrets`), and when several chunks of an answer have a
piece each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..._base.canonical import canonical
from ..._base.secrets import MASK, mask, secret_in, secret_spans
from ...wire.emulator.server_run import CANARY_KEY
from ..transcript import Chunk, Event, RunEnded, Thinking, WireResponse

AUTH_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
"""The headers that are made for a key."""

_event_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)

_Piece = Chunk | Thinking


class KeyMask:
    """The keys of one run, and the events without them. `leaks` has the places where the run's own key was found."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets = tuple(dict.fromkeys((CANARY_KEY, *secrets)))
        self.leaks: set[str] = set()

    def events(self, events: Sequence[Event]) -> list[Event]:
        """The events without any key."""
        return [self._event(event) for event in self._across(events)]

    def end(self, end: RunEnded) -> RunEnded:
        """The end of a run without any key, with all places where the run's own key was found."""
        leaks = end.leaks
        found = _event_decoder.decode(self._text(canonical(msgspec.structs.replace(end, leaks=()))))
        assert isinstance(found, RunEnded)
        return msgspec.structs.replace(found, leaks=tuple(sorted({*leaks, *self.leaks})))

    def look_at_headers(self, headers: Mapping[str, str], turn: int) -> None:
        """Note the headers that have the run's own key and are not made for it, whichever of them are kept."""
        others = {name: value for name, value in headers.items() if name.lower() not in AUTH_HEADERS}
        if not secret_in("\n".join(others.values()), (CANARY_KEY,)):  # so one look is enough for nearly every request
            return
        for name, value in others.items():
            if secret_in(value, (CANARY_KEY,)):
                self.leaks.add(f"the header {self._text(name.lower().encode()).decode()} in turn {turn}")

    def binary(self, data: bytes, place: str) -> bytes:
        """Bytes that are no text without the keys in them."""
        if CANARY_KEY.encode() in data:
            self.leaks.add(place)
        for secret in self.secrets:
            plain = secret.encode(errors="surrogateescape")
            data = data.replace(plain, MASK.encode()) if plain else data
        return data

    def _event(self, event: Event) -> Event:
        text = canonical(event)
        if not secret_in(text, self.secrets):
            return event
        if secret_in(text, (CANARY_KEY,)):
            self.leaks.add(f"{type(event).__name__} in turn {event.turn}")
        return _event_decoder.decode(self._text(text))

    def _text(self, text: bytes) -> bytes:
        if not secret_in(text, self.secrets):
            return text
        return mask(text.decode(errors="surrogateescape"), self.secrets).encode(errors="surrogateescape")

    # -- a key in several pieces --------------------------------------------------------------------------------

    def _across(self, events: Sequence[Event]) -> list[Event]:
        """The events, in whose callbacks no key is spread over several pieces of a text."""
        out = list(events)
        for kind in (Chunk, Thinking):
            calls: dict[tuple[int, int, str], list[int]] = {}
            for at, event in enumerate(out):
                if isinstance(event, kind):
                    calls.setdefault((event.turn, event.call, event.probe), []).append(at)
            for call, places in calls.items():
                self._join(out, call, places)
        return out

    def _join(self, events: list[Event], call: tuple[int, int, str], places: list[int]) -> None:
        pieces = [events[at] for at in places]
        texts = [piece.text for piece in pieces if isinstance(piece, _Piece)]
        joined = "".join(texts)
        if not secret_in(joined, self.secrets):
            return
        spans = secret_spans(joined, self.secrets)
        own = secret_in(joined, (CANARY_KEY,))
        begin = 0
        for at, piece, text in zip(places, pieces, texts, strict=True):
            events[at] = msgspec.structs.replace(piece, text=_without(text, begin, spans))
            begin += len(text)
            if own and events[at] != piece:
                self.leaks.add(f"{type(piece).__name__} in turn {piece.turn}")
        split = [joined[first:last] for first, last in spans]
        for at, event in enumerate(events):
            if isinstance(event, WireResponse) and (event.turn, event.call, event.probe) == call:
                body, sent = _without_pieces(event.body, split), event.sent and _without_pieces(event.sent, split)
                events[at] = msgspec.structs.replace(event, body=body, sent=sent)


def _without(text: str, begin: int, spans: Iterable[tuple[int, int]]) -> str:
    """A piece of a text, which begins there, without what belongs to a key; the mask is where the key began."""
    out, at = list[str](), 0
    for first, last in spans:
        low, high = max(first - begin, 0), min(last - begin, len(text))
        if low < high:
            out += [text[at:low], MASK if first >= begin else ""]
            at = high
    return "".join([*out, text[at:]])


def _without_pieces(body: str, secrets: Iterable[str]) -> str:
    """The text of an answer in whose JSON strings, one after the other, no key of these is spread."""
    for secret in secrets:
        at = 0
        while (spans := _spread(body, secret, at)) is not None:
            at = spans[0][1]
            for number, (first, last) in reversed([*enumerate(spans)]):
                body = body[:first] + ("" if number else MASK) + body[last:]
    return body


def _spread(body: str, secret: str, begin: int) -> list[tuple[int, int]] | None:
    """Where the pieces of a key are that ends one string and goes on in the next ones, until it is complete."""
    for length in range(len(secret) - 1, 0, -1):
        at = body.find(secret[:length] + '"', begin)
        while at >= 0:
            spans, rest = [(at, at + length)], secret[length:]
            while rest and (piece := _next_piece(body, rest, spans[-1][1])) is not None:
                spans.append(piece)
                rest = rest[piece[1] - piece[0] :]
            if not rest:
                return spans
            at = body.find(secret[:length] + '"', at + 1)
    return None


def _next_piece(body: str, rest: str, begin: int) -> tuple[int, int] | None:
    """The next string that begins with all that is left of the key, or is a piece of it and nothing else."""
    found: list[tuple[int, int]] = []
    for length in range(len(rest), 0, -1):
        needle = '"' + rest[:length] + ("" if length == len(rest) else '"')
        if (at := body.find(needle, begin + 1)) >= 0:
            found.append((at + 1, at + 1 + length))
    return min(found, default=None)
