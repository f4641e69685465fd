"""Times and durations as the Gemini API writes them."""

from __future__ import annotations

from datetime import datetime

import pytest

from turnproof.dialects.gemini.times import format_duration, format_timestamp, parse_duration, parse_timestamp


@pytest.mark.parametrize(("text", "seconds"), [("300s", 300.0), ("1.5s", 1.5), ("-1s", -1.0), ("0.000000001s", 1e-9)])
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["300", "5m", "s", "1.s", "", None, 300])
def test_what_is_no_duration_is_none(text: object) -> None:
    assert parse_duration(text) is None


def test_times_are_read_in_every_form_that_was_recorded() -> None:
    assert parse_timestamp("2023-11-14T22:13:20Z") == 1_700_000_000
    assert parse_timestamp("2023-11-14T22:13:20.5Z") == 1_700_000_000.5
    assert parse_timestamp("2023-11-14T22:13:20.123456789Z") == pytest.approx(1_700_000_000.123456)
    assert parse_timestamp("2023-11-14T23:13:20+01:00") == 1_700_000_000
    assert format_timestamp(1_700_000_000.5) == "2023-11-14T22:13:20.500000Z"


@pytest.mark.parametrize("text", ["2023-11-14", "2023-11-14T22:13:20", "soon", None, 1])
def test_what_is_no_time_is_none(text: object) -> None:
    assert parse_timestamp(text) is None


def test_a_duration_is_written_as_short_as_can_be() -> None:
    assert [format_duration(each) for each in (48, 0.5, 48.939935699, 100.0)] == [
        "48s",
        "0.5s",
        "48.939935699s",
        "100s",
    ]
    assert datetime.fromisoformat(format_timestamp(0)).year == 1970
