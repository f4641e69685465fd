"""Nothing secret of recorded traffic gets into a scenario."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

import pytest

from turnproof.commands.imports.scrub import Scrubber

from .kit import CONVERSATION, KEY

GITHUB = "ghp_" + "a1B2" * 9
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV"


def test_the_key_of_the_recorded_requests_is_masked_in_any_form() -> None:
    scrubber = Scrubber(CONVERSATION)
    encoded = b64encode(f"user:{KEY}".encode()).decode()

    clean = scrubber.clean({"a": [f"my key is {KEY}"], KEY: encoded})

    assert KEY not in str(clean)
    assert encoded not in str(clean)
    assert scrubber.found["a key of the recorded requests"] == 3


def test_a_secret_of_this_environment_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "hunter2hunter2")

    assert Scrubber(()).clean("I use hunter2hunter2.") == "I use [key]."


def test_a_text_that_the_user_names_is_masked() -> None:
    assert Scrubber((), ("Jane Roe of Ghent",)).clean("Dear Jane Roe of Ghent,") == "Dear [key],"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-api03-" + "x" * 40,
        "AIza" + "b" * 35,
        "ya29." + "c" * 40,
        GITHUB,
        "AKIA" + "D" * 16,
        "xoxb-1234567890-a",
        JWT,
    ],
)
def test_what_looks_like_a_key_is_masked(secret: str) -> None:
    scrubber = Scrubber(())

    assert scrubber.clean(f"({secret})") == "([key])"
    assert scrubber.found.total() == 1


@pytest.mark.parametrize(
    "text", ["task-based learning", "ask-me-anything-about-gardening-today", "eyJ is no token", "risk-"]
)
def test_plain_words_are_left_alone(text: str) -> None:
    assert Scrubber(()).clean(text) == text


def test_what_a_recorder_wrote_in_the_place_of_a_key_is_no_secret() -> None:
    redacted = replace(CONVERSATION[0], request_headers={"authorization": "Bearer REDACTED"})

    assert Scrubber([redacted]).clean("The word REDACTED stays.") == "The word REDACTED stays."
