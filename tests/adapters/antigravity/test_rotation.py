"""Accounts and hosts, as the emulated gateway has them: who is asked when, and what is said where nobody answers."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.antigravity.accounts import LIFETIME, PERIOD
from turnproof.errors import AuthenticationError, InvalidRequestError, OverloadedError, ProviderError, RateLimitError
from turnproof.messages import Message, ProviderResponse, Text
from turnproof.scenarios.model import Fault, Turn
from turnproof_adapters.antigravity.accounts import REST
from turnproof_adapters.antigravity.oauth import MARGIN

from ..callback_recorder import CallbackRecorder
from .emulated_gateway import Gateway, refresh_token
from .kit import CLAUDE, GEMINI, PATHS, STREAMED


def ask(provider: Any, *, streamed: bool = False) -> ProviderResponse:
    """One question in a conversation of its own."""
    if hasattr(provider, "complete"):
        response = provider.complete([Message.user("hi")], **(CallbackRecorder().callbacks if streamed else {}))
    else:
        provider.create_session()
        response = provider.send_message_streaming("hi", print) if streamed else provider.send_message("hi")
    assert isinstance(response, ProviderResponse)
    return response


def fails(provider: Any, *, streamed: bool = False) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        ask(provider, streamed=streamed)
    return failure.value


@PATHS
@STREAMED
def test_an_account_is_known_by_its_refresh_token_alone(gateway: Gateway, path: str, streamed: bool) -> None:
    provider = gateway.opened(path, "main")
    for _ in range(2):
        ask(provider, streamed=streamed)
    assert gateway.answer_requests == [("", "main", 200)] * 2
    assert gateway.paths == ["/token", "/v1internal:loadCodeAssist"], "both are asked for once"


@pytest.mark.parametrize("name", ["revoked", "spent", "unlicensed", "unverified"])
@PATHS
@STREAMED
def test_an_account_that_cannot_ask_is_left_for_the_next(
    gateway: Gateway, path: str, streamed: bool, name: str
) -> None:
    provider = gateway.opened(path, name, "second")
    for _ in range(2):
        ask(provider, streamed=streamed)
    assert [account for _, account, status in gateway.answer_requests if status == 200] == ["second"] * 2
    refused = [account for _, account, status in gateway.answer_requests if status != 200]
    assert refused == ([] if name == "revoked" else [name]), "it rests, and is not asked again at once"


def test_a_token_is_kept_until_shortly_before_it_expires(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "main")
    ask(provider)
    gateway.run.clock_offset += LIFETIME - MARGIN - 2
    ask(provider)
    assert gateway.count("authenticate") == 1
    gateway.run.clock_offset += 3
    ask(provider)
    assert gateway.count("authenticate") == 2
    assert {status for _, _, status in gateway.answer_requests} == {200}


@PATHS
def test_a_token_that_is_refused_before_its_time_is_exchanged_once_more(gateway: Gateway, path: str) -> None:
    provider = gateway.opened(path, "stale", project=None)
    assert ask(provider).finish_reason
    assert gateway.count("authenticate") == 2
    assert gateway.answer_requests == [("", "stale", 200)]


def test_a_token_that_is_refused_in_the_midst_is_exchanged_and_the_request_made_again(gateway: Gateway) -> None:
    account = {"refresh_token": refresh_token("main"), "access_token": "ya29.of-yesterday", "project": "turnproof-main"}
    provider = gateway.opened("stateless", accounts=[account])
    ask(provider)
    assert gateway.answer_requests == [("", "", 401), ("", "main", 200)]


def test_an_access_token_that_is_known_to_be_over_is_not_even_tried(gateway: Gateway) -> None:
    account = {
        "refresh_token": refresh_token("main"),
        "access_token": "ya29.of-yesterday",
        "expires_at": gateway.clock() - 1,
    }
    ask(gateway.opened("stateless", accounts=[account]))
    assert gateway.answer_requests == [("", "main", 200)]


def test_where_no_account_is_left_what_passes_soonest_is_told(gateway: Gateway) -> None:
    failure = fails(gateway.opened("stateless", "revoked", "spent", "unverified"))
    assert type(failure) is RateLimitError
    assert (failure.status, failure.kind, failure.retryable) == (429, "QUOTA_EXHAUSTED", False)
    assert failure.retry_after == pytest.approx(PERIOD, abs=60)
    assert [account for _, account, _ in gateway.answer_requests] == ["spent", "unverified"]


@pytest.mark.parametrize(("name", "status"), [("revoked", 400), ("unlicensed", 403), ("unverified", 403)])
@PATHS
@STREAMED
def test_an_account_alone_says_what_stands_against_it(
    gateway: Gateway, path: str, streamed: bool, name: str, status: int
) -> None:
    failure = fails(gateway.opened(path, name), streamed=streamed)
    assert type(failure) is AuthenticationError
    assert failure.status == status


def test_an_account_that_rests_is_asked_again_when_its_quota_is_back(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "spent-1", "second")
    answered = []
    for wait in (0.0, 0.0, 0.0, PERIOD + 1):
        gateway.run.clock_offset += wait
        ask(provider)
        answered.append(gateway.answer_requests[-1][1])
    assert answered == ["spent-1", "second", "second", "spent-1"]
    assert [account for _, account, status in gateway.answer_requests if status == 429] == ["spent-1"]


def test_a_quota_is_one_models_and_a_licence_all_models(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "spent-1", "second")
    ask(provider)
    ask(provider)
    provider.connect(CLAUDE)
    ask(provider)
    assert [account for _, account, status in gateway.answer_requests if status == 200] == [
        "spent-1",
        "second",
        "spent-1",
    ]
    licensed = gateway.opened("stateless", "unlicensed", "third")
    for model in (GEMINI, CLAUDE):
        licensed.connect(model)
        ask(licensed)
    assert [account for _, account, status in gateway.answer_requests if status == 403] == ["unlicensed"]


def test_an_account_that_may_not_ask_is_tried_again_after_a_rest(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "unverified", "second")
    ask(provider)
    gateway.run.clock_offset += REST - 1
    ask(provider)
    gateway.run.clock_offset += 2
    ask(provider)
    assert [account for _, account, status in gateway.answer_requests if status == 403] == ["unverified"] * 2


def test_where_all_rest_all_are_asked_the_one_that_is_ready_soonest_in_front(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "spent", "unverified")
    for _ in range(2):
        fails(provider)
    assert [account for _, account, _ in gateway.answer_requests] == ["spent", "unverified", "unverified", "spent"]


@PATHS
@STREAMED
def test_a_scripted_429_is_met_by_whichever_account_asks(gateway: Gateway, path: str, streamed: bool) -> None:
    gateway.run.arm(0, Turn(user=(Text("hi"),), rounds=(), faults=(Fault(kind="status", status=429),)))
    ask(gateway.opened(path, "first", "second"), streamed=streamed)
    assert gateway.answer_requests == [("", "first", 429), ("", "second", 200)]


# -- hosts


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503, 529])
@PATHS
@STREAMED
def test_a_host_that_fails_is_left_for_the_next(gateway: Gateway, path: str, streamed: bool, status: int) -> None:
    down = f"down-{status}"
    ask(gateway.opened(path, "main", host=down, hosts=("down-503", "prod")), streamed=streamed)
    assert gateway.answer_requests == [(down, "main", status), ("down-503", "main", 503), ("prod", "main", 200)]


@pytest.mark.parametrize("status", [400, 408, 409])
def test_what_every_host_would_say_is_not_asked_twice(gateway: Gateway, status: int) -> None:
    provider = gateway.opened(
        "stateless",
        accounts=[{"refresh_token": refresh_token(name), "project": f"turnproof-{name}"} for name in ("a", "b")],
        host=f"down-{status}",
        hosts=("prod",),
    )
    assert fails(provider).status == status
    assert gateway.answer_requests == [(f"down-{status}", "a", status)]


@PATHS
@STREAMED
def test_where_every_host_fails_the_last_failure_is_told(gateway: Gateway, path: str, streamed: bool) -> None:
    accounts = [{"refresh_token": refresh_token(name), "project": f"turnproof-{name}"} for name in ("a", "b")]
    provider = gateway.opened(path, accounts=accounts, host="down-503", hosts=("down-529",))
    failure = fails(provider, streamed=streamed)
    assert (type(failure), failure.status) == (OverloadedError, 529)
    assert gateway.answer_requests == [("down-503", "a", 503), ("down-529", "a", 529)], (
        "another account would fare no better"
    )


def test_an_account_without_quota_is_not_taken_round_the_hosts(gateway: Gateway) -> None:
    ask(gateway.opened("stateless", "spent", "second", host="daily", hosts=("prod",)))
    assert gateway.answer_requests == [("daily", "spent", 429), ("daily", "second", 200)]


def test_an_unknown_model_is_unknown_at_every_host_and_to_every_account(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "a", "b", host="daily", hosts=("prod",), model="gemini-of-tomorrow")
    failure = fails(provider)
    assert (type(failure), failure.status, failure.kind) == (InvalidRequestError, 404, "NOT_FOUND")
    assert gateway.answer_requests == [("daily", "a", 404), ("prod", "a", 404)]


@PATHS
@STREAMED
def test_a_host_that_nobody_listens_at_is_left_for_the_next(gateway: Gateway, path: str, streamed: bool) -> None:
    provider = gateway.opened(path, "main", url="http://127.0.0.1:9", fallback_urls=[gateway.run.base_url])
    ask(provider, streamed=streamed)
    assert gateway.answer_requests == [("", "main", 200)]


def test_a_request_that_is_made_again_keeps_its_id(gateway: Gateway) -> None:
    ask(gateway.opened("stateless", "spent", "second", host="down-503", hosts=("prod",)))
    bodies = [exchange.request.body for exchange in gateway.run.exchanges if exchange.operation == "generate"]
    assert len(bodies) == 4
    assert len({body.partition(b'"requestId":')[2] for body in bodies}) == 1
