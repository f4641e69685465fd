"""JSON as lines, the frame around a place, colours, and bytes: bounded, printable, and marked where a pointer says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.judge.finding import ByteSpan
from turnproof.report.page.colours import colour_both, colour_json
from turnproof.report.page.json_lines import Frame, frame, json_lines
from turnproof.report.page.raw_bytes import Raw, json_span, raw_request, raw_response
from turnproof.run.transcript import WireRequest, WireResponse

BODY = {"model": "m", "messages": [{"role": "user", "content": f"text {n}"} for n in range(9)], "n/m~": [None]}


def here(found: Frame) -> list[str]:
    return [line.text.strip() for line in found.lines if line.mark == "here"]


def test_lines_of_json_know_their_pointers() -> None:
    lines = list(json_lines({"a": [1, {"b": "x"}], "c/d": [], "e": None}))
    assert [line.text for line in lines] == [
        "{",
        '  "a": [',
        "    1,",
        "    {",
        '      "b": "x"',
        "    }",
        "  ],",
        '  "c/d": [],',
        '  "e": null',
        "}",
    ]
    assert [line.pointer for line in lines[:5]] == ["", "/a", "/a/0", "/a/1", "/a/1/b"]
    assert [line.pointer for line in lines[-3:]] == ["/c~1d", "/e", ""]


def test_a_line_is_one_line_whatever_stands_in_it() -> None:
    (line,) = json_lines("a\nb\u2028c\x1b" + "x" * 9000)
    assert len(line.text.splitlines()) == 1
    assert line.text.isprintable()
    assert len(line.text) < 900


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("/messages/4/content", '"content": "text 4"'),
        ("/messages/0", "{"),
        ("/model", '"model": "m",'),
        ("/n~1m~0/0", "null"),
        ("", "{"),
    ],
)
def test_one_line_of_a_frame_is_marked_and_it_is_the_right_one(pointer: str, text: str) -> None:
    found = frame(BODY, pointer)
    assert here(found) == [text]
    assert found.lacks == ""
    assert found.lines[0].text == "{"
    assert found.lines[-1].text in ("}", "  … more …")


def test_what_is_far_from_the_place_is_counted() -> None:
    texts = [line.text.strip() for line in frame(BODY, "/messages/4/content").lines if line.gap]
    assert texts == ["… 2 more …", "… 2 more …"]


@pytest.mark.parametrize(
    ("pointer", "lacks", "text"),
    [
        ("/messages/44/content", "/44/content", '"messages": ['),
        ("/nothing", "/nothing", "{"),
        ("/model/deeper", "/deeper", '"model": "m",'),
        ("/messages/-1", "/-1", '"messages": ['),
    ],
)
def test_a_pointer_to_nothing_marks_what_stands_around_it(pointer: str, lacks: str, text: str) -> None:
    found = frame(BODY, pointer)
    assert found.lacks == lacks
    assert here(found) == [text]


def test_a_long_text_is_cut_around_the_difference() -> None:
    found = frame({"a": "x" * 5000 + "guilty" + "x" * 5000}, "/a", "x" * 20_000)
    assert "guilty" in here(found)[0]
    assert len(here(found)[0]) < 600


def test_values_without_end_are_bounded() -> None:
    huge = {"a": "y" * 50_000_000, "b": [{"c": "z" * 1000}] * 100_000}
    for pointer in ("/a", "/b", "/b/70000/c", ""):
        found = frame(huge, pointer)
        assert sum(len(line.text) for line in found.lines) < 10_000
    deep: object = 1
    for _ in range(150):
        deep = [deep]
    assert len(list(json_lines(deep))) < 500


@pytest.mark.parametrize("value", ["text that is no JSON", 7, None, True])
def test_a_document_that_is_one_value_is_one_line(value: object) -> None:
    assert len(frame(value, "").lines) == 1
    assert frame(value, "/a/0").lacks == "/a/0"


# Colours


def test_json_is_coloured_by_what_it_is_and_everything_stays_text() -> None:
    text = colour_json('{"a": "<b>\\"", "n": [-1.5e3, true, null]} <script>')
    assert '<span class="k">&#34;a&#34;</span>: <span class="s">&#34;&lt;b&gt;\\&#34;&#34;</span>' in text
    assert '<span class="n">-1.5e3</span>' in text
    assert '<span class="w">true</span>' in text
    assert "<script>" not in text


def test_what_differs_is_marked_on_both_sides() -> None:
    expected, actual = colour_both('["call_1", "call_2"]', '["call_1", "call_7"]')
    assert "<mark>2</mark>" in expected
    assert "<mark>7</mark>" in actual
    assert "<mark>" not in "".join(colour_both("one", "something else"))
    assert "<mark>" not in "".join(colour_both("", ""))


def test_text_that_is_almost_json_takes_no_time_to_colour() -> None:
    assert len(colour_json('"\\' * 40_000)) > 0
    assert len(colour_json('"' + "a" * 90_000)) > 0


# Bytes


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "pointer", ["", "/model", "/messages", "/messages/8/content", "/n~1m~0/0", "/messages/3", "/messages/0/role"]
)
def test_the_bytes_of_a_pointer_are_those_of_its_value(indent: int | None, pointer: str) -> None:
    body = {**BODY, "model": 'ü "quoted" \u2028 }],'}
    data = json.dumps(body, ensure_ascii=False, indent=indent).encode()
    span = json_span(data, pointer)
    assert span is not None
    value: object = body
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        value = value[int(token)] if isinstance(value, list) else value[token]  # type: ignore[index]
    assert json.loads(data[span.start : span.end]) == value


@pytest.mark.parametrize("data", [b"", b"{", b'{"a"', b"no json", b'{"a": [1, 2', b"\xff\xfe", b"[]", b'{"b": 1}'])
def test_a_body_without_the_place_has_no_bytes_to_mark(data: bytes) -> None:
    assert json_span(data, "/a/5") is None


def marked(raw: Raw) -> str:
    return "".join(piece.text for piece in raw.pieces if piece.marked)


def answer(body: str, **more: Any) -> WireResponse:
    return WireResponse(exchange=3, status=200, headers={}, body=body, written=1, ended="completed", **more)


def test_bytes_that_cannot_be_seen_are_written_as_escapes() -> None:
    raw = raw_response(answer("", sent="YQ0KYv9jCuKAqGQ=", sent_base64=True), [])
    assert "".join(piece.text for piece in raw.pieces) == "a\\r\\n\nb\\xffc\\n\n\\u2028d"
    assert [piece.text for piece in raw.pieces if piece.escape] == ["\\r\\n", "\\xff", "\\n", "\\u2028"]
    assert raw.size == 11


def test_the_span_of_a_finding_is_marked_in_bytes_and_not_in_characters() -> None:
    raw = raw_response(answer("üü" + "data: x\n\n"), [ByteSpan(4, 11)])
    assert marked(raw) == "data: x"


def test_a_long_body_is_shown_around_the_place() -> None:
    body = {"messages": ["ü" * 9000, "guilty", "y" * 9000]}
    request = WireRequest(
        exchange=0, method="POST", path="/x", headers={"accept": "y"}, body=body, digest="d", operation="generate"
    )
    raw = raw_request(request, ["/messages/1", "/nothing"])
    assert marked(raw) == '"guilty"'
    assert raw.before > 10_000
    assert raw.after > 1000
    assert raw.head == ("POST /x", "accept: y")
    assert not any("\\x" in piece.text for piece in raw.pieces)
