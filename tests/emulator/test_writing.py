"""Where an answer may be cut, and how it is taken apart on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.dialects.base import EventKind, WireEvent
from turnproof.emulator.writing import awkward_pieces, locate


def events(*kinds: EventKind) -> list[WireEvent]:
    return [WireEvent(kind.encode(), kind) for kind in kinds]


STREAM = events("start", "block_start", "ping", "text", "text", "block_end", "usage", "end")


@pytest.mark.parametrize(
    ("index", "after", "position"),
    [
        pytest.param(0, None, 0, id="the first"),
        pytest.param(2, None, 3, id="pings do not count"),
        pytest.param(6, None, 7, id="the last"),
        pytest.param(7, None, -1, id="past the end"),
        pytest.param(0, "text:2", 4, id="the second of a kind"),
        pytest.param(0, "text", 3, id="a kind alone is its first"),
        pytest.param(0, "args:1", -1, id="a kind that does not occur"),
    ],
)
def test_events_are_found_by_index_without_pings_or_by_kind(index: int, after: str | None, position: int) -> None:
    assert locate(STREAM, index, after) == position


@given(st.text())
def test_awkward_pieces_join_to_what_they_were_cut_from(text: str) -> None:
    assert b"".join(awkward_pieces(text.encode())) == text.encode()


def test_every_multi_byte_character_and_line_end_is_cut_through() -> None:
    pieces = [b"a\xc3", b"\x9f", b"\r", b"\n", b"\xf0", b"\x9f", b"\x8c", b"\xb1"]
    assert list(awkward_pieces("aß\r\n🌱".encode())) == pieces
