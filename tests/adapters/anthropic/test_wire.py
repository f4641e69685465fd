"""What the API's JSON is taken for, and what its figures come to."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from turnproof.messages import TokenUsage
from turnproof_adapters._decoding import convert_to
from turnproof_adapters.anthropic.usage import tokens, updated
from turnproof_adapters.anthropic.wire import Answer, ErrorBody, Event, Usage, decode_answer, decode_event

HALF = "half a pair: \ud83d"


@pytest.mark.parametrize("words", ["so", "北🌍", HALF, "\udc4d", "\\ud83d", "\ud83d and \ude00"])
def test_text_is_read_whatever_is_in_it(words: str) -> None:
    data = {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": words}}
    event = decode_event(json.dumps(data).encode())
    assert (event.type, event.index, event.delta and event.delta.text) == ("content_block_delta", 1, words)
    answer = decode_answer(json.dumps({"model": "m", "content": [{"type": "text", "text": words}]}).encode())
    assert answer.content == [{"type": "text", "text": words}]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b'"words"',
        b'{"type": "text}',
        b'{"index": "0"}',
        b'{"delta": []}',
        b'{"type": "\xff"}',
        b'{"content_block": {"beam": NaN}}',
        b'{"content_block": {"beam": NaN, "type": "\\ud83d"}}',
        b'{"content_block": {"beam": -Infinity, "type": "\\ud83d"}}',
        b'{"type": "\\ud83d", "index": 0.5}',
        b'{"type": "\\ud83d"',
        b'{"error": "\\ud83d"}',
        b'"\\ud83d"',
    ],
)
def test_what_is_no_event_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w") as failure:
        decode_event(data)
    assert "surrogate" not in str(failure.value)


def test_an_answer_has_to_name_its_model() -> None:
    with pytest.raises(msgspec.ValidationError, match="model"):
        decode_answer(b'{"content": []}')


def test_an_answer_may_have_no_content() -> None:
    assert decode_answer(b'{"model": "m", "content": null}') == Answer("m", None)


def test_what_is_too_deep_to_be_read_is_a_recursion_error() -> None:
    for data in (b'{"x":' + b"[" * 100_000, b'{"type": "\\ud83d", "x":' + b"[" * 100_000):
        with pytest.raises(RecursionError):
            decode_event(data)


def test_plain_data_that_is_none_of_ours_is_told_without_its_text() -> None:
    with pytest.raises(ValueError, match=r"^not a errorbody: text that is not valid Unicode$"):
        convert_to({"error": HALF}, ErrorBody)
    assert convert_to({"error": {"message": HALF}}, ErrorBody).error is not None


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({}, TokenUsage()),
        ({"input_tokens": 3}, TokenUsage(3, 0, 3)),
        ({"output_tokens": 3}, TokenUsage(0, 3, 3)),
        ({"cache_read_input_tokens": 3}, TokenUsage(3, 0, 3, cache_read_tokens=3)),
        ({"cache_creation_input_tokens": 3}, TokenUsage(3, 0, 3, cache_creation_tokens=3)),
        ({"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}, TokenUsage(0, 9, 9, thinking_tokens=4)),
        ({"output_tokens": 9, "output_tokens_details": {}}, TokenUsage(0, 9, 9)),
        ({"output_tokens": 9, "output_tokens_details": None}, TokenUsage(0, 9, 9)),
        (
            {
                "input_tokens": 31,
                "cache_creation_input_tokens": 5,
                "cache_read_input_tokens": 1520,
                "output_tokens": 14,
                "service_tier": "standard",
            },
            TokenUsage(1556, 14, 1570, cache_read_tokens=1520, cache_creation_tokens=5),
        ),
        ({"input_tokens": -1, "output_tokens": 2}, TokenUsage(0, 2, 2)),
        (dict.fromkeys(("input_tokens", "output_tokens", "cache_read_input_tokens")), TokenUsage()),
    ],
)
def test_the_prompt_counts_what_the_cache_read_and_wrote(figures: dict[str, Any], expected: TokenUsage) -> None:
    assert tokens(decode_event(json.dumps({"usage": figures}).encode()).usage or Usage()) == expected


FIGURES = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]


@pytest.mark.parametrize("name", [*FIGURES, "output_tokens_details"])
def test_a_figure_that_comes_again_replaces_the_earlier_one_and_one_that_does_not_stays(name: str) -> None:
    def usage(figure: int) -> Usage:
        return convert_to({name: {"thinking_tokens": figure} if name.endswith("details") else figure}, Usage)

    assert updated(usage(7), usage(3)) == usage(3)
    assert updated(usage(7), usage(0)) == usage(0)
    assert updated(usage(7), Usage()) == usage(7)
    assert updated(Usage(), usage(7)) == usage(7)


def test_fields_that_nobody_here_uses_are_ignored() -> None:
    assert decode_event(b'{"type": "ping", "later": {"x": 1}}') == Event("ping")
    assert decode_answer(b'{"id": "msg_01", "model": "m", "container": null}') == Answer("m")


def test_a_change_without_its_content_has_none() -> None:
    delta = decode_event(b'{"delta": {"type": "citations_delta"}}').delta
    assert delta is not None
    assert (delta.citation, delta.content) == (None, None)
