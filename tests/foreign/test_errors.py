"""Errors that a foreign provider raises or returns, and what is no outcome at all."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from turnproof import foreign
from turnproof.errors import AuthenticationError, Cancelled, OverloadedError, ProviderError, TransportError
from turnproof.messages import Text
from turnproof.provider import Outcome
from turnproof.session import RetryPolicy, Session

from .providers import ANSWERS, HI, Ended, TurnOutcome, answering


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
@pytest.mark.parametrize(
    "error",
    [OverloadedError("busy", status=529), AttributeError("bug"), Cancelled("in time"), SystemExit(3)],
    ids=lambda error: type(error).__name__,
)
def test_a_raised_error_comes_through_as_the_same_object(error: BaseException, coroutine: bool) -> None:
    provider = foreign.normalise(answering(error, coroutine=coroutine))
    with pytest.raises(type(error)) as failure:
        provider.complete(HI)
    assert failure.value is error
    provider.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
@pytest.mark.parametrize("make", [Outcome, lambda **kw: TurnOutcome("ERROR", **kw)], ids=["outcome", "turn-outcome"])
def test_a_returned_error_is_raised_as_the_same_object(make: Callable[..., Any], coroutine: bool) -> None:
    error = AuthenticationError("bad key", status=401)
    provider = foreign.normalise(answering(make(error=error), coroutine=coroutine), errors="returned")
    with pytest.raises(AuthenticationError) as failure:
        provider.complete(HI)
    assert failure.value is error
    provider.close()  # type: ignore[attr-defined]


def test_what_had_arrived_beside_a_returned_error_is_kept_with_it() -> None:
    error = TransportError("cut")
    provider = foreign.normalise(answering(Outcome(ANSWERS, error)), errors="returned")
    with pytest.raises(TransportError):
        provider.complete(HI)
    assert error.partial == ANSWERS.parts


def test_what_an_error_itself_says_had_arrived_is_not_overwritten() -> None:
    error = TransportError("cut", partial=(Text("Se"),))
    with pytest.raises(TransportError):
        foreign.normalise(answering(Outcome(ANSWERS, error)), errors="returned").complete(HI)
    assert error.partial == (Text("Se"),)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (TurnOutcome("ERROR"), "a failure without saying which"),
        (TurnOutcome(Ended.ERROR, ANSWERS), "a failure without saying which"),
        (TurnOutcome("error", error="quota used up"), "quota used up"),
    ],
    ids=["word", "enum", "text-for-an-error"],
)
def test_an_outcome_that_names_a_failure_is_a_provider_error(returned: Any, reason: str) -> None:
    with pytest.raises(ProviderError, match=reason):
        foreign.normalise(answering(returned), errors="returned").complete(HI)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (Outcome(), "neither a response nor an error"),
        (None, "None with neither a response nor an error"),
        (TurnOutcome("done", "text"), r"has str as its response .* return ProviderResponse\(\(Text"),  # type: ignore[arg-type]
    ],
    ids=["empty", "none", "odd-response"],
)
def test_what_is_no_outcome_at_all_is_a_type_error(returned: Any, reason: str) -> None:
    """Not a ProviderError: nothing is wrong with the provider, and an adapter must not pass for having typed errors."""
    with pytest.raises(TypeError, match=reason):
        foreign.normalise(answering(returned), errors="returned").complete(HI)


def test_an_outcome_that_was_not_announced_is_refused_with_advice() -> None:
    with pytest.raises(TypeError, match=r'complete\(\) returned Outcome .* errors="returned"'):
        foreign.normalise(answering(Outcome(ANSWERS))).complete(HI)


def test_a_returned_transient_error_is_retried_by_the_session() -> None:
    left: list[Any] = [Outcome(error=OverloadedError("busy")), Outcome(ANSWERS)]
    provider = foreign.normalise(SimpleNamespace(complete=lambda *a, **k: left.pop(0)), errors="returned")
    session = Session(provider, retry=RetryPolicy(), sleep=lambda seconds, token: False)
    assert session.send("Hi").attempts == 2
