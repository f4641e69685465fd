"""Answers that a service works on in the background: it names an answer at once, and has it when it is asked later.

Such an answer outlives the connection and the process that asked for it. Whoever writes its id down can take it up:
receive the same answer, which is paid for once. A provider that can do this is a `BackgroundProvider`;
`BackgroundPolicy` says how a session uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import msgspec

from .errors import UsageError


class RunningAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An answer at the service, which may still be working on it.

    id:       the service's name for it.
    model:    the model that was asked.
    streamed: whether it was requested as a stream.
    """

    id: str
    model: str
    streamed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundPolicy:
    """How a session has its calls answered in the background.

    poll_seconds: seconds between two questions whether an answer is there.
    lost:         when the service no longer has an answer that is taken up: `resend` the request, which brings another
                  answer, or `fail` with AnswerLostError.
    """

    poll_seconds: float = 2.0
    lost: Literal["resend", "fail"] = "resend"

    def __post_init__(self) -> None:
        seconds = self.poll_seconds
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds < float("inf"):
            raise UsageError(f"poll_seconds is a number of seconds above 0, got {seconds!r}")
        if self.lost not in ("resend", "fail"):
            raise UsageError(f"lost is 'resend' or 'fail', got {self.lost!r}")


def _nothing() -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundCall:
    """One call in the background.

    on_began:     called once the service has named the answer, before the provider waits for it. Not called for an
                  answer that is taken up.
    on_ended:     called when the service works on the answer no more (it is complete, failed or cancelled), and before
                  an error about it is raised. Whoever took it up again would get the same.
    running:      the answer to take up. The call then asks for no other one: it returns this one, streaming if it is
                  called so.
    poll_seconds: seconds between two questions whether the answer is there.
    """

    on_began: Callable[[RunningAnswer], None]
    on_ended: Callable[[], None] = _nothing
    running: RunningAnswer | None = None
    poll_seconds: float = 2.0


@runtime_checkable
class BackgroundProvider(Protocol):
    """A provider, on either path, whose calls can be answered in the background.

    Such a call returns and raises what every call does, with these differences. One that is cancelled has the service
    cancel the answer. One that fails on its way (the network, a busy service) leaves the answer running. And one that
    takes up an answer raises AnswerLostError if the service no longer has it, or has cancelled it.
    """

    def in_background(self, call: BackgroundCall) -> AbstractContextManager[None]:
        """Within this context, one call that the same thread makes is answered in the background."""

    def cancel_answer(self, answer: RunningAnswer) -> None:
        """Have the service cancel an answer. One that is complete, or that it does not have, is left alone.

        Raises ProviderError.
        """
