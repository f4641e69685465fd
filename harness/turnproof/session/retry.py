"""When a failed provider call is made again, and how long to wait before it.

Retrying is the session's alone: adapters switch their SDK's own retries off, or the two would multiply.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import msgspec
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from ..cancel import CancelToken
from ..errors import Cancelled, ProviderError, UsageError, is_wait

Sleep: TypeAlias = Callable[[float, CancelToken], bool]
"""Wait for so many seconds or until the token is set; True if it was set."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Retry(msgspec.Struct, frozen=True):
    """A failed call is made again after `delay` seconds, as `attempt` (the first was 0), because of `error`."""

    attempt: int
    delay: float
    error: ProviderError


OnRetry: TypeAlias = Callable[[Retry], None]
"""Told before each wait."""


def wait_for_token(seconds: float, token: CancelToken) -> bool:
    """The real sleep: wakes up on cancellation."""
    return token.wait(seconds)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retryable ProviderErrors only, `attempts` calls in all.

    The wait doubles from `base` seconds up to `longest`, times a random factor in [1 - jitter, 1] so that many
    clients do not come back at once. A provider's own `retry_after` is obeyed instead, up to `longest_retry_after`
    seconds: a server must not be able to hang a client for an hour.
    """

    attempts: int = 4
    base: float = 1.0
    longest: float = 30.0
    jitter: float = 0.5
    longest_retry_after: float = 60.0
    random: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise UsageError(f"a call is attempted at least once, got attempts={self.attempts!r}")
        if not 0 <= self.jitter <= 1:
            raise UsageError(f"jitter is a share between 0 and 1, got {self.jitter!r}")

    def allows(self, error: BaseException) -> bool:
        """Whether a call that failed like this may be made again."""
        return isinstance(error, ProviderError) and error.retryable

    def delay(self, failures: int, error: ProviderError) -> float:
        """Seconds to wait after so many failures, the last of which was `error`."""
        if error.retry_after is not None and is_wait(error.retry_after):
            return min(error.retry_after, self.longest_retry_after)
        whole: float = min(self.longest, self.base * 2.0 ** (failures - 1))
        return whole * (1 - self.jitter * self.random.random())

    def call(self, attempt: Callable[[], T], *, token: CancelToken, sleep: Sleep, on_retry: OnRetry | None) -> T:
        """Run `attempt` until it succeeds or fails for good; its last error is raised as it is.

        Raises Cancelled when the token is set during a wait.
        """

        def error_of(state: RetryCallState) -> ProviderError:
            assert state.outcome is not None
            error = state.outcome.exception()
            assert isinstance(error, ProviderError)
            return error

        def report_retry(state: RetryCallState) -> None:
            if on_retry is None or state.next_action is None:
                return
            try:
                on_retry(Retry(state.attempt_number, state.next_action.sleep, error_of(state)))
            except Exception:  # an observer: it must not turn a retry into a failure
                _log.exception("on_retry failed")

        def wait(seconds: float) -> None:
            if sleep(seconds, token):
                raise Cancelled("the turn was cancelled while it waited to try again")

        retrying = Retrying(
            stop=stop_after_attempt(self.attempts),
            wait=lambda state: self.delay(state.attempt_number, error_of(state)),
            retry=retry_if_exception(self.allows),
            before_sleep=report_retry,
            sleep=wait,
            reraise=True,
        )
        return retrying(attempt)
