"""Accounts as the settings give them, and the order in which they are tried."""

from __future__ import annotations

import math
from typing import Any

import httpx2
import pytest

from turnproof.errors import AuthenticationError, UsageError
from turnproof_adapters._http import shared_tls
from turnproof_adapters.antigravity.accounts import Access, Account, Accounts, accounts_of
from turnproof_adapters.antigravity.oauth import LIFETIME, MARGIN, Client, bearer, exchange_token

from .kit import KEY, URL

NOW = 1_700_000_000.0


def named(accounts: Accounts, model: str = "m") -> list[str | None]:
    return [account.refresh_token for account in accounts.in_turn(model)]


def three() -> tuple[list[Account], Accounts]:
    accounts = [Account(refresh_token=name) for name in "abc"]
    return accounts, Accounts(accounts, lambda: NOW)


def test_accounts_are_tried_as_they_were_given() -> None:
    _, accounts = three()
    assert named(accounts) == ["a", "b", "c"]


def test_one_that_rests_comes_last_and_the_one_that_is_ready_soonest_before_it() -> None:
    (a, b, _), accounts = three()
    a.rest(NOW + 9, "m")
    b.rest(NOW + 5, "m")
    assert named(accounts) == ["c", "b", "a"]
    assert named(accounts, "another") == ["a", "b", "c"]


def test_a_rest_that_is_over_is_none() -> None:
    (a, b, _), accounts = three()
    a.rest(NOW - 1, "m")
    b.rest(NOW - 5)
    assert named(accounts) == ["a", "b", "c"]


def test_one_that_rests_altogether_rests_for_every_model() -> None:
    (a, _, _), accounts = three()
    a.rest(NOW + 9)
    a.rest(NOW + 1, "m")
    assert named(accounts) == named(accounts, "another") == ["b", "c", "a"]


def test_one_that_rests_for_good_is_tried_only_where_there_is_no_other() -> None:
    (a, b, c), accounts = three()
    a.rest(math.inf)
    assert named(accounts) == ["b", "c"]
    b.rest(math.inf)
    c.rest(math.inf)
    assert named(accounts) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "a list of at least one"),
        ("1//secret", "a list of at least one"),
        ({}, "a list of at least one"),
        (["1//secret"], r"accounts\[0\] must be an object, got str"),
        ([{"refresh_token": "r"}, {}], r"accounts\[1\] needs a refresh_token or an access_token"),
        ([{"refresh_token": 7}], r"accounts\[0\].refresh_token must be a text, got int"),
        ([{"refresh_token": ""}], r"accounts\[0\].refresh_token must be a text"),
        ([{"access_token": "1//secret", "expires_at": "soon"}], r"accounts\[0\].expires_at must be seconds"),
        ([{"access_token": "1//secret", "expires_at": True}], r"accounts\[0\].expires_at must be seconds"),
        ([{"refresh_token": "1//secret", "projekt": "p"}], r"accounts\[0\]: there is no setting 'projekt'"),
    ],
)
def test_what_is_no_account_is_refused_with_its_place_and_without_its_value(value: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as failure:
        accounts_of(value)
    assert "secret" not in str(failure.value)


def test_an_account_has_what_it_is_given() -> None:
    (account,) = accounts_of(({"refresh_token": "r", "access_token": "t", "expires_at": 5, "project": "p"},))
    assert (account.refresh_token, account.access.value, account.project.value) == ("r", Access("t", 5.0), "p")
    assert set(account.secrets) == {"r", "t"}
    assert repr(Access("ya29.x", 5.0)) == "Access(expires_at=5.0)"


# -- tokens


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def test_a_token_is_exchanged_shortly_before_it_expires_and_not_sooner() -> None:
    clock, account = Clock(), Account(refresh_token="r")
    tokens = iter("abc")

    def exchange(refresh_token: str) -> Access:
        assert refresh_token == "r"
        return Access(next(tokens), clock.now + 3599)

    def get(refused: str | None = None) -> str:
        return bearer(account, exchange, clock, None, refused=refused)

    assert get() == "a"
    clock.now += 3599 - MARGIN - 1
    assert get() == "a"
    clock.now += 1
    assert get() == "b"
    assert get(refused="a") == "b", "another thread has exchanged it meanwhile"
    assert get(refused="b") == "c"


def test_a_token_without_a_way_to_another_is_used_until_it_is_refused() -> None:
    clock, account = Clock(), Account(access=Access(KEY, NOW - 5))

    def exchange(refresh_token: str) -> Access:
        raise AssertionError("there is nothing to exchange")

    assert bearer(account, exchange, clock, None) == KEY
    with pytest.raises(AuthenticationError, match="no refresh token") as failure:
        bearer(account, exchange, clock, None, refused=KEY)
    assert failure.value.status == 401


@pytest.mark.parametrize(
    ("more", "lifetime"),
    [
        ({"expires_in": 3599}, 3599.0),
        ({"expires_in": 0.5}, 0.5),
        ({}, LIFETIME),
        ({"expires_in": None}, LIFETIME),
    ],
)
def test_an_exchange_sends_a_form_and_gives_a_token(more: dict[str, Any], lifetime: float, httpx2_mock: Any) -> None:
    route = httpx2_mock.post(f"{URL}/token").respond(json={"access_token": KEY, "token_type": "Bearer", **more})
    with httpx2.Client(verify=shared_tls()) as http:
        access = exchange_token(http, Client(f"{URL}/token", "the-id", "the-secret"), "1//r", Clock())
    assert (access.token, access.expires_at) == (KEY, NOW + lifetime)
    sent = route.calls.last.request
    assert sent.headers["content-type"] == "application/x-www-form-urlencoded"
    form = dict(pair.split("=") for pair in sent.content.decode().split("&"))
    assert form == {
        "grant_type": "refresh_token",
        "refresh_token": "1%2F%2Fr",
        "client_id": "the-id",
        "client_secret": "the-secret",
    }
    assert "the-secret" not in repr(Client(id="the-id", secret="the-secret"))
