"""`RetryPolicy`: which failures are tried again, how long it waits, and what a cancel does to the wait."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable

import pytest

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.session import Retry, RetryPolicy, wait_for_token
from turnproof.session.retry import OnRetry

from .fakes import Naps


def failing(*failures: BaseException) -> Callable[[], str]:
    left = list(failures)

    def attempt() -> str:
        if left:
            raise left.pop(0)
        return "answer"

    return attempt


def run(
    policy: RetryPolicy, *failures: BaseException, naps: Naps | None = None, on_retry: OnRetry | None = None
) -> tuple[str, list[float]]:
    naps = naps or Naps()
    answer = policy.call(failing(*failures), token=CancelToken(), sleep=naps, on_retry=on_retry)
    return answer, naps.durations


def test_waits_double_up_to_the_longest() -> None:
    failures = [errors.OverloadedError("busy") for _ in range(6)]
    assert run(RetryPolicy(attempts=7, base=1, longest=10, jitter=0), *failures) == ("answer", [1, 2, 4, 8, 10, 10])


def test_jitter_shortens_a_wait_by_a_share_that_the_injected_random_decides() -> None:
    policy = RetryPolicy(base=8, jitter=0.25, random=random.Random(7))
    expected = 8 * (1 - 0.25 * random.Random(7).random())
    assert run(policy, errors.TransportError("reset")) == ("answer", [expected])
    assert 6 <= expected <= 8


def test_retry_after_is_obeyed_up_to_its_own_limit() -> None:
    failures = [
        errors.RateLimitError("slow down", retry_after=17),
        errors.RateLimitError("slow down", retry_after=3600),
    ]
    assert run(RetryPolicy(longest=5, longest_retry_after=60), *failures) == ("answer", [17, 60])


def test_retry_after_zero_means_now() -> None:
    assert run(RetryPolicy(), errors.OverloadedError("busy", retry_after=0)) == ("answer", [0])


@pytest.mark.parametrize(
    "error",
    [
        errors.AuthenticationError("key"),
        errors.InvalidRequestError("bad"),
        errors.ContextLimitError("long"),
        errors.ProviderError("odd"),
        ValueError("bug"),
        KeyboardInterrupt(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_other_failures_are_raised_at_once_as_they_are(error: BaseException) -> None:
    naps = Naps()
    with pytest.raises(type(error)) as failure:
        run(RetryPolicy(), error, naps=naps)
    assert failure.value is error
    assert naps.durations == []


def test_the_last_error_is_raised_when_the_attempts_are_used_up() -> None:
    failures = [errors.OverloadedError(str(n)) for n in range(3)]
    naps = Naps()
    with pytest.raises(errors.OverloadedError) as failure:
        run(RetryPolicy(attempts=3), *failures, naps=naps)
    assert failure.value is failures[2]
    assert len(naps.durations) == 2


def test_one_attempt_means_no_retry() -> None:
    with pytest.raises(errors.OverloadedError):
        run(RetryPolicy(attempts=1), errors.OverloadedError("busy"))


def test_observers_learn_which_attempt_follows_after_how_long_and_why() -> None:
    failures = [errors.OverloadedError("busy"), errors.TransportError("reset")]
    retries: list[Retry] = []
    run(RetryPolicy(jitter=0), *failures, on_retry=retries.append)
    assert retries == [Retry(1, 1.0, failures[0]), Retry(2, 2.0, failures[1])]


def test_an_observer_that_raises_does_not_stop_the_retry(caplog: pytest.LogCaptureFixture) -> None:
    def on_retry(*_: object) -> None:
        raise RuntimeError("observer")

    with caplog.at_level(logging.ERROR):
        assert run(RetryPolicy(), errors.OverloadedError("busy"), on_retry=on_retry)[0] == "answer"
    assert "on_retry failed" in caplog.text


def test_a_cancel_during_a_wait_ends_it_and_makes_no_further_attempt() -> None:
    token = CancelToken()
    attempts = []

    def attempt() -> str:
        attempts.append(1)
        raise errors.OverloadedError("busy")

    with pytest.raises(errors.Cancelled):
        RetryPolicy().call(attempt, token=token, sleep=Naps(during=token.cancel), on_retry=None)
    assert len(attempts) == 1


def test_the_real_sleep_says_whether_it_was_woken() -> None:
    token = CancelToken()
    assert wait_for_token(0, token) is False
    token.cancel()
    assert wait_for_token(3600, token) is True


@pytest.mark.parametrize(("options", "reason"), [({"attempts": 0}, "at least once"), ({"jitter": 1.5}, "share")])
def test_a_policy_that_makes_no_sense_is_refused(options: dict[str, float], reason: str) -> None:
    with pytest.raises(errors.UsageError, match=reason):
        RetryPolicy(**options)  # type: ignore[arg-type]
