"""What is read of an error answer whoever sent it: how long to wait, and the words that may be shown."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from turnproof_adapters._errors import LONGEST, hide_secret, retry_after

TEN = "Sat, 21 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "17"}, 17.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "17"}, 1.5),
        ({"retry-after-ms": "odd", "retry-after": "17"}, 17.0),
        ({"retry-after-ms": "-1", "retry-after": "17"}, 17.0),
        ({"retry-after": "Sat, 21 Nov 2026 10:00:40 GMT", "date": TEN}, 40.0),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:40 +0200", "date": TEN}, 40.0),
        ({"retry-after": "Sat, 21 Nov 2026 09:58:30 GMT", "date": TEN}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": f"Sat, 21 Nov 2026 10:00:40 +{'9' * 20}", "date": TEN}, None),
        ({"date": TEN}, None),
        ({}, None),
    ],
)
def test_the_hint_to_wait_is_read_in_all_its_forms(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after(headers) == wait


@pytest.mark.parametrize("headers", [{}, {"date": "odd"}, {"date": f"Sat, 21 Nov {'9' * 20} 10:00:00 GMT"}])
def test_a_date_is_measured_by_our_clock_where_the_service_does_not_tell_its_own(
    headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnproof_adapters._errors.time", SimpleNamespace(time=lambda: 1_795_255_200.0))
    assert retry_after({"retry-after": "Sat, 21 Nov 2026 10:01:00 GMT", **headers}) == 60


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_a_date_without_a_zone_is_greenwich_time_wherever_we_are() -> None:
    """`-0000` is how a mail says that it does not know its zone; HTTP knows one only (RFC 9110, section 5.6.7)."""
    assert retry_after({"retry-after": "Sat, 21 Nov 2026 10:00:40 -0000", "date": TEN}) == 40


@pytest.mark.parametrize(
    ("text", "secret", "shown"),
    [
        ("key sk-1 of sk-1", "sk-1", "key *** of ***"),
        ("no key was given", "", "no key was given"),
        ("\ud83d\ude00 whole, \ud83d cut", "sk-1", "\U0001f600 whole, \ufffd cut"),
        ("x" * LONGEST, "sk-1", "x" * LONGEST),
        ("x" * LONGEST + "y", "sk-1", f"{'x' * LONGEST}... ({LONGEST + 1} characters)"),
        ("x" * (LONGEST - 2) + "sk-1", "sk-1", f"{'x' * (LONGEST - 2)}**... ({LONGEST + 1} characters)"),
    ],
    ids=["secret", "no-secret", "halves", "longest", "too-long", "secret-at-the-cut"],
)
def test_an_error_shows_neither_the_secret_nor_half_a_character_nor_megabytes(
    text: str, secret: str, shown: str
) -> None:
    assert hide_secret(text, secret) == shown
