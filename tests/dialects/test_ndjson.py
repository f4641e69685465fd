"""Lines of JSON, split and read: nothing is lost, and what is cut off is known to be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.dialects.ndjson import is_ndjson, lines


@given(st.binary())
def test_the_lines_joined_are_the_body(body: bytes) -> None:
    found = lines(body)
    assert b"".join(line.raw for line in found) == body
    assert all(line.closed for line in found[:-1])


@pytest.mark.parametrize(
    ("raw", "data", "closed", "blank"),
    [
        (b'{"a":1}\n', {"a": 1}, True, False),
        (b'{"a":1}\r\n', {"a": 1}, True, False),
        (b'{"a":1}', {"a": 1}, False, False),
        (b'{"a":\n', None, True, False),
        (b" \r\n", None, True, True),
        (b"\xff\n", None, True, False),
    ],
)
def test_a_line_is_read_and_what_is_wrong_with_it_is_known(raw: bytes, data: object, closed: bool, blank: bool) -> None:
    (line,) = lines(raw)
    assert (line.raw, line.data, line.closed, line.blank) == (raw, data, closed, blank)


def test_a_stream_of_lines_is_told_by_its_content_type() -> None:
    assert is_ndjson("application/x-ndjson")
    assert is_ndjson("Application/X-NDJSON; charset=utf-8")
    assert not is_ndjson("application/json")
    assert not is_ndjson("")
