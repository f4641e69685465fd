"""The one tree of errors, lowest in the house so that every layer can raise into it.

TurnproofError
├── UsageError            what the user typed, wrote or configured cannot be used (exit code 2)
│   ├── PayloadError      a value that is not JSON was put into a message
│   ├── ScenarioError     a scenario file is wrong: file, path to the spot, reason
│   ├── BindingError      a binding cannot be found, imported or opened
│   ├── NoCompactionError the provider's service does not make conversations shorter
│   ├── ContractError     an adapter returned, or passed to a callback, what the contract does not have
│   ├── CatalogueError    requirements, profiles or checks do not fit together
│   └── CassetteError     a cassette is missing, damaged, of another format, or does not match
├── HarnessError          turnproof itself or its environment failed (exit code 2): never the adapter's fault
│   └── ServiceError      the real service behind the live backend failed, or cannot be reached
├── Cancelled             the turn was cancelled before its request was written
└── ProviderError         the provider, or the way to it, refused or failed; carries the numeric status
    ├── AuthenticationError
    ├── RateLimitError        .retry_after in seconds, or None
    ├── OverloadedError       .retry_after likewise (5xx, 529)
    ├── ContextLimitError     .limit and .requested in tokens, or None
    ├── InvalidRequestError
    │   ├── CacheExpiredError the service no longer has the cache that a request names
    │   ├── ChainLostError    the service no longer has the answer that a request continues
    │   ├── AnswerLostError   the service no longer has an answer in the background
    │   └── ResumeError       the provider does not have the session that was to be resumed
    ├── ContentFilterError
    └── TransportError        no complete answer: refused, reset, cut, timed out
"""

from __future__ import annotations


class TurnproofError(Exception):
    """Everything turnproof raises on purpose."""


class UsageError(TurnproofError):
    """The input cannot be used; the message says what, where, and what to do next."""


class PayloadError(UsageError):
    """A value in a message is not plain JSON. `path` points at it (`$.args.when`)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class ScenarioError(UsageError):
    """A scenario is wrong. `file`, `path` (JSON path) and `reason` say where and why."""

    def __init__(self, file: str, path: str, reason: str) -> None:
        super().__init__(f"{file}: {path}: {reason}")
        self.file = file
        self.path = path
        self.reason = reason


class BindingError(UsageError):
    """No usable binding under that name, or it failed while opening its adapter."""


class NoCompactionError(UsageError):
    """The provider's service does not make conversations shorter, and a collector was to ask it for that."""


class ContractError(UsageError, TypeError):
    """An adapter returned, or passed to a callback, a value of another type than the contract has.

    turnproof raises it where the value arrives. The message says what came, what belongs there, and how to make it.
    """


class CatalogueError(UsageError):
    """The requirement catalogue, a profile and the registered checks contradict each other."""


class CassetteError(UsageError):
    """A cassette cannot be read or does not fit what was asked of it."""


class HarnessError(TurnproofError):
    """turnproof itself, or the machine it runs on, failed. Never counted against an adapter."""


class ServiceError(HarnessError):
    """The real service failed: it cannot be reached, broke its answer off, or gave none that can be read."""


class Cancelled(TurnproofError):
    """The turn was cancelled before its request was written; nothing was sent."""


class ProviderError(TurnproofError):
    """A provider call failed. `status` is the HTTP status where there was one.

    `kind` is the provider's own error type (`overloaded_error`); `partial` holds the parts that had
    arrived before a stream failed, so that a caller can show them without mistaking them for an answer. A status or a
    `retry_after` that is no number, or none that anybody could wait, counts as not given.
    """

    retryable = False
    # Also of a subclass that does not call ours.
    message: str = ""
    status: int | None = None
    kind: str | None = None
    retry_after: float | None = None
    partial: tuple[object, ...] = ()

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        kind: str | None = None,
        retry_after: float | None = None,
        partial: tuple[object, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status if isinstance(status, int) else None
        self.kind = kind
        self.retry_after = retry_after if is_wait(retry_after) else None
        self.partial = partial


def is_wait(seconds: object) -> bool:
    """Whether it is a number of seconds that can be waited for."""
    return isinstance(seconds, int | float) and 0 <= seconds < float("inf")


class AuthenticationError(ProviderError):
    """The key is missing, wrong, or not allowed to do this (401, 403)."""


class RateLimitError(ProviderError):
    """Too many requests or tokens (429). `retry_after` is in seconds when the provider gave a hint."""

    retryable = True


class OverloadedError(ProviderError):
    """The provider is overloaded or broken for now (5xx, 529)."""

    retryable = True


class ContextLimitError(ProviderError):
    """The prompt does not fit. `limit` and `requested` are tokens where the provider named them."""

    def __init__(
        self,
        message: str,
        *,
        limit: int | None = None,
        requested: int | None = None,
        status: int | None = None,
        kind: str | None = None,
    ) -> None:
        super().__init__(message, status=status, kind=kind)
        self.limit = limit
        self.requested = requested


class InvalidRequestError(ProviderError):
    """The provider refused the request as malformed or not allowed (4xx other than the above)."""


class CacheExpiredError(InvalidRequestError):
    """The managed cache that the request names is gone: expired, deleted, or another caller's. `name` is its name.

    The same request without it can succeed; a session drops the name and has the prefix stored anew.
    """

    def __init__(self, message: str, *, name: str, status: int | None = None, kind: str | None = None) -> None:
        super().__init__(message, status=status, kind=kind)
        self.name = name


class ChainLostError(InvalidRequestError):
    """The service no longer has the stored answer that the request continues. `answer` is its id.

    Trying again cannot succeed until the chain is begun again (`Session.begin_new_chain`): the next request then has
    the whole conversation, which the session holds.
    """

    def __init__(self, message: str, *, answer: str, status: int | None = None, kind: str | None = None) -> None:
        super().__init__(message, status=status, kind=kind)
        self.answer = answer


class AnswerLostError(InvalidRequestError):
    """A call resumes an answer in the background, and the service no longer has it, or has cancelled it.

    `answer` is its id. Trying to take it up again cannot succeed: the request has to be sent again.
    """

    def __init__(self, message: str, *, answer: str, status: int | None = None, kind: str | None = None) -> None:
        super().__init__(message, status=status, kind=kind)
        self.answer = answer


class ResumeError(InvalidRequestError):
    """The provider does not have the session that was to be resumed. `session_id` is the id that it was asked for.

    Trying again with that id cannot succeed, and no id that came with this error is one to go on with.
    """

    def __init__(self, message: str, *, session_id: str, status: int | None = None, kind: str | None = None) -> None:
        super().__init__(message, status=status, kind=kind)
        self.session_id = session_id


class ContentFilterError(ProviderError):
    """The provider refused the content itself instead of answering."""


class TransportError(ProviderError):
    """No complete answer arrived: connection refused, reset, cut in mid-stream, or timed out."""

    retryable = True
