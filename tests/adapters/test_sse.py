"""Events out of bytes: every line end, every border of a chunk, and nothing later than it has to be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from turnproof_adapters._sse import payloads

MARK = b"\xef\xbb\xbf"
STREAM = b"event: a\ndata: 1\n\n: comment\ndata:2\nid: 7\ndata:  3 \n\n\nretry: 10\n\ndata\n\ndata: lost"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 10_000])
@pytest.mark.parametrize("mark", [MARK, b""], ids=["marked", "plain"])
def test_any_line_end_at_any_border_separates_events(end: bytes, size: int, mark: bytes) -> None:
    data = mark + STREAM.replace(b"\n", end)
    chunks = [data[n : n + size] for n in range(0, len(data), size)]
    assert list(payloads(chunks)) == [b"1", b"2\n 3 "]


@pytest.mark.parametrize(
    ("chunks", "events"),
    [
        ([b"data: 1\r\r"], [b"1"]),
        ([b"data: 1\r"], []),
        ([b"data: 1\r\r", b"data: 2"], [b"1"]),
        ([b"data: 1\n", b"\ndata: 2\n", b"\n"], [b"1", b"2"]),
        ([MARK[:1], MARK[1:] + b"data: 1\n", b"\n"], [b"1"]),
        ([MARK, b"data: 1\n\n"], [b"1"]),
        ([b"", MARK + b"data: 1\n\n"], [b"1"]),
        ([MARK + MARK + b"data: 1\n\ndata: 2\n\n"], [b"2"]),
        ([b"data: 1\n\n" + MARK + b"data: 2\n\n"], [b"1"]),
        ([b"data: 1\n\ndata: 2" + MARK + b"\n\n" + MARK], [b"1", b"2" + MARK]),
        ([b"data: \xe5\x8c", b"\x97\n\n"], ["北".encode()]),
        ([b"data: 1\x0b2\x0c3\x1c4\n\n"], [b"1\x0b2\x0c3\x1c4"]),
        ([b"data: X\n\ndata: Y\r", b"\n\r"], [b"X", b"Y"]),
        ([MARK[:2]], []),
        ([], []),
    ],
)
def test_bytes_become_events(chunks: list[bytes], events: list[bytes]) -> None:
    assert list(payloads(chunks)) == events


@pytest.mark.parametrize(
    ("chunks", "read"),
    [
        ([b"data: 1\n\n", b"data: 2\n\n"], 1),
        ([b"data: 1\r\n\r\n", b"data: 2"], 1),
        ([b"data: 1\r\r", b"data: 2", b"\r"], 2),
        ([MARK[:2], MARK[2:], b"data: 1\n\n", b"data: 2"], 3),
        ([b"d", b"ata: 1\n\n", b"data: 2"], 2),
    ],
    ids=["lf", "crlf", "cr-which-might-be-half-of-crlf", "mark-in-pieces", "no-mark"],
)
def test_an_event_is_given_as_soon_as_its_end_is_certain(chunks: list[bytes], read: int) -> None:
    consumed: list[bytes] = []

    def source() -> Iterator[bytes]:
        for chunk in chunks:
            consumed.append(chunk)
            yield chunk

    assert next(payloads(source())) == b"1"
    assert len(consumed) == read
