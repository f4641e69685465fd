"""What is made of answers once they are in neutral form."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.messages import FinishReason, ProviderResponse, Text, TokenUsage
from turnproof_adapters._answers import highest_usage, token_count, with_structured_output

SCHEMA = {"type": "object"}


@pytest.mark.parametrize(("figure", "tokens"), [(None, 0), (-1, 0), (0, 0), (1, 1), (10**9, 10**9), (10**18, 0)])
def test_a_figure_that_nobody_can_have_counts_as_nothing(figure: int | None, tokens: int) -> None:
    assert token_count(figure) == tokens


LOW = TokenUsage(1, 2, 3, 4, 5, 6)
HIGH = TokenUsage(11, 12, 13, 14, 15, 16)


@pytest.mark.parametrize(("shown", "now"), [(LOW, HIGH), (HIGH, LOW)], ids=["rising", "falling"])
def test_no_figure_that_was_told_ever_falls(shown: TokenUsage, now: TokenUsage) -> None:
    assert highest_usage(shown, now) == HIGH


@pytest.mark.parametrize(
    ("text", "schema", "finish", "structured"),
    [
        ('{"a": [1, "\u2019"]}', SCHEMA, FinishReason.STOP, {"a": [1, "\u2019"]}),
        ('{"a": 1}', {}, FinishReason.STOP, {"a": 1}),
        ('{"a": 1}', None, FinishReason.STOP, None),
        ('{"a": 1}', SCHEMA, FinishReason.MAX_TOKENS, None),
        ('{"a": 1}', SCHEMA, FinishReason.TOOL_USE, None),
        ("no JSON", SCHEMA, FinishReason.STOP, None),
        ("", SCHEMA, FinishReason.STOP, None),
        ("[" * 100_000, SCHEMA, FinishReason.STOP, None),
    ],
    ids=["asked", "any-schema", "not-asked", "cut", "calls", "no-json", "nothing", "too-deep"],
)
def test_an_answer_is_read_as_json_where_it_was_asked_for_and_is_whole(
    text: str, schema: Any, finish: FinishReason, structured: object
) -> None:
    response = ProviderResponse(parts=(Text(text),), finish_reason=finish)
    read = with_structured_output(response, schema)
    assert read.structured_output == structured
    assert (read.parts, read.finish_reason) == (response.parts, finish)
