"""Settings that every adapter takes: keys from the caller or the environment alone, limits that mean something."""

from __future__ import annotations

import pytest

from turnproof.errors import AuthenticationError, UsageError
from turnproof.provider import Endpoint
from turnproof_adapters._http import DEFAULT_TIMEOUT, Connection
from turnproof_adapters._open_provider import open_provider, open_with_session, positive_setting, read_api_key


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_KEY", "SECOND_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_given_key_goes_before_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", "from-outside")
    assert read_api_key({"api_key": "given"}, "FIRST_KEY") == "given"


def test_the_first_variable_that_says_something_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", "")
    monkeypatch.setenv("SECOND_KEY", "second")
    assert read_api_key({}, "FIRST_KEY", "SECOND_KEY") == "second"


def test_a_missing_key_is_told_with_every_place_it_may_stand_in() -> None:
    with pytest.raises(AuthenticationError, match=r"pass `api_key`, or set FIRST_KEY or SECOND_KEY"):
        read_api_key({"api_key": ""}, "FIRST_KEY", "SECOND_KEY")


@pytest.mark.parametrize("value", [1, 4096, None])
def test_a_limit_is_a_positive_integer_or_left_out(value: int | None) -> None:
    assert positive_setting({"max_tokens": value}, "max_tokens") == value


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "8"])
def test_any_other_limit_is_refused_by_its_name(value: object) -> None:
    with pytest.raises(UsageError, match=r"max_tokens must be a positive integer, got"):
        positive_setting({"max_tokens": value}, "max_tokens")


def test_a_connection_takes_what_it_is_given_and_usual_values_for_the_rest() -> None:
    assert Connection.from_settings({"base_url": ""}) == Connection(None, DEFAULT_TIMEOUT, None, None)
    assert Connection.from_settings({"base_url": "http://a", "timeout": "5"}) == Connection("http://a", 5.0)


class _Noting:
    def __init__(self) -> None:
        self.steps: list[object] = []

    def initialize(self, config: object) -> None:
        self.steps.append(config)

    def connect(self, model: str) -> None:
        self.steps.append(model)

    def create_session(self, *_: object) -> None:
        self.steps.append("session")


def test_an_endpoints_options_are_settings_and_do_not_replace_its_address_and_key() -> None:
    endpoint = Endpoint("http://a", "k", "m", {"max_tokens": 9, "api_key": "another"})
    settings = {"max_tokens": 9, "base_url": "http://a", "api_key": "k"}
    assert open_provider(_Noting(), endpoint).steps == [settings, "m"]
    assert open_with_session(_Noting(), endpoint).steps == [settings, "m", "session"]
