"""Errors of the SDKs of Anthropic, OpenAI, Google and Ollama, which many libraries let through, as the contract's own.

By what they hold, since no SDK is imported here: a status, headers, and the error object of the API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from turnproof import errors

from .._errors import retry_after
from .http_errors import class_of_status

PACKAGES = ("anthropic", "openai", "google.genai", "ollama", "httpx", "httpx2", "httpcore", "httpcore2", "aiohttp")
"""Where the errors come from: the SDKs and the HTTP clients beneath them."""

STREAMED = {
    "overloaded_error": 529,
    "api_error": 500,
    "server_error": 500,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "authentication_error": 401,
    "permission_error": 403,
    "invalid_request_error": 400,
}
"""The status that an API gives to an error that it sends inside a stream, which has the status 200."""


TOO_LONG = re.compile(
    r"prompt is too long|input length and `?max_tokens`? exceed context limit|"
    r"input token count.{0,40} exceeds the maximum number of tokens allowed"
)
"""What Anthropic and Google write where a prompt is too long: the error's type is that of any other refusal."""


RETRY_DELAY = re.compile(r"""retryDelay\\?["']:\s*\\?["']([\d.]+)s""")
"""The wait of `RetryInfo` in a text that has the body of an error, as JSON or as the `repr` of its members."""


def wait_in_text(text: str) -> float | None:
    """The wait that Google names in the body of an error, of a library that hands the body on in its text alone."""
    found = RETRY_DELAY.search(text)
    return float(found[1]) if found else None


def passed_error(error: BaseException) -> errors.ProviderError | None:
    """The same as `typed_error`, for a library that lets the SDK's error through and has no class for a prompt that is
    too long: the caller sees everything that the API sent, and can tell it by the code or the sentence."""
    typed = typed_error(error)
    if type(typed) is errors.InvalidRequestError and (
        typed.kind == "context_length_exceeded"
        or getattr(error, "code", None) == "context_length_exceeded"
        or TOO_LONG.search(str(error))
    ):
        return errors.ContextLimitError(str(error), status=typed.status, kind=typed.kind)
    return typed


def wrapped_error(error: BaseException) -> errors.ProviderError | None:
    """The same as `passed_error`, for a library that raises errors of its own from the SDK's: of the error itself, or
    else of the nearest one that it came from."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:  # some libraries raise an error from itself
        if found := passed_error(cause):
            return found
        seen.add(id(cause))
        cause = cause.__cause__
    return None


@contextmanager
def raised_as(find: Callable[[Exception], errors.ProviderError | None]) -> Iterator[None]:
    """Raises what `find` makes of an exception in its place; where that is None, the exception itself."""
    try:
        yield
    except Exception as error:
        if found := find(error):
            raise found from error
        raise


def typed_error(error: BaseException) -> errors.ProviderError | None:
    """The error of the contract; None for one that comes from nowhere near an API.

    A connection on which nothing came for too long ends with Python's own `TimeoutError` where aiohttp is the client.
    """
    if isinstance(error, TimeoutError):
        return errors.TransportError(str(error) or "nothing came in time")
    if not any(map(_of_an_sdk, type(error).__mro__)):  # or below one: a library may have a class of its own
        return None
    status, kind = _status(error), _kind(error)
    if status in (None, 200):
        streamed = next((STREAMED[one] for one in _kinds(error) if one in STREAMED), None)
        return class_of_status(streamed)(str(error), kind=kind)
    typed = class_of_status(status)(str(error), status=status, kind=kind)
    typed.retry_after = retry_after(getattr(getattr(error, "response", None), "headers", None) or {})
    if typed.retry_after is None:
        typed.retry_after = _retry_info(getattr(error, "details", None))
    return typed


def _of_an_sdk(kind: type) -> bool:
    return kind.__module__ in PACKAGES or kind.__module__.startswith(tuple(f"{package}." for package in PACKAGES))


def _retry_info(body: Any) -> float | None:
    """The wait that Google names in the body of an error: `"retryDelay": "17s"`."""
    inner = body.get("error", body) if isinstance(body, Mapping) else {}
    for detail in inner.get("details") or () if isinstance(inner, Mapping) else ():
        if isinstance(detail, Mapping) and (delay := re.fullmatch(r"([\d.]+)s", str(detail.get("retryDelay")))):
            return float(delay[1])
    return None


def _status(error: Any) -> int | None:
    for name in ("status_code", "code"):  # Google's has it as `code`
        if isinstance(status := getattr(error, name, None), int):
            return status if status > 0 else None  # Ollama's is -1 in a stream
    return None


def _kind(error: Any) -> str | None:
    return next(_kinds(error), None)


def _kinds(error: Any) -> Iterator[str]:
    """What the API calls the error, the type first. OpenAI has what a limit is about (`tokens`) as the type of an
    error, and that there is a limit as its code."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    if isinstance(inner, Mapping):
        kinds = (inner.get(name) for name in ("type", "code"))
        # An event of the Responses API has `error` as its own type, and what went wrong as the code.
        yield from (kind for kind in kinds if isinstance(kind, str) and kind != "error")
    else:
        yield from (kind for name in ("code", "status") if isinstance(kind := getattr(error, name, None), str))
