"""Request bodies byte for byte: what semantic comparison leaves aside on purpose, shown on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import msgspec

from ..view import Exchange, View
from .model import Place


class BodyPair(msgspec.Struct, frozen=True, kw_only=True):
    """The two bodies of one request as they arrived; None on a side that did not send it.

    `differs_at` is the offset of the first byte that differs, None for equal bodies. Lengths count bytes; the texts are
    the bodies read as UTF-8.
    """

    place: Place
    left: str | None
    right: str | None
    left_bytes: int
    right_bytes: int
    differs_at: int | None


def body_pairs(left: View, right: View) -> tuple[BodyPair, ...]:
    """The bodies of all requests for an answer, in the order of the left side, those of the right alone at the end."""
    one, other = dict(_bodies(left)), dict(_bodies(right))
    return tuple(_pair(place, one.get(place), other.get(place)) for place in dict.fromkeys([*one, *other]))


def _bodies(view: View) -> Iterator[tuple[Place, bytes]]:
    for call in view.calls:
        sent: Sequence[Exchange] = call.generated
        for number, exchange in enumerate(sent):
            place = Place(turn=call.began.turn, round=call.began.round, attempt=call.attempt, request=number)
            yield place, exchange.request.data


def _pair(place: Place, left: bytes | None, right: bytes | None) -> BodyPair:
    return BodyPair(
        place=place,
        left=_text(left),
        right=_text(right),
        left_bytes=len(left or b""),
        right_bytes=len(right or b""),
        differs_at=_first_difference(left or b"", right or b""),
    )


def _text(body: bytes | None) -> str | None:
    return None if body is None else body.decode("utf-8", "backslashreplace")


def _first_difference(left: bytes, right: bytes) -> int | None:
    return next((n for n, (a, b) in enumerate(zip_longest(left, right)) if a != b), None)
