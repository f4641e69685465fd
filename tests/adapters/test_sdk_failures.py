"""What the exceptions of two SDKs become: an error in the words of their cause, without the key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anthropic
import httpx2
import openai
import pytest

from turnproof.errors import ProviderError, TransportError
from turnproof_adapters.anthropic.errors import from_exception as from_anthropic
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.openai.calling import from_exception as from_openai

from .anthropic.kit import KEY as ANTHROPIC_KEY
from .openai.kit import KEY as OPENAI_KEY

REQUEST = httpx2.Request("POST", "http://example.invalid")
SILENT, BROKEN_OFF = "the service was silent for too long", "no complete answer from the service"
by_anthropic: Callable[[Exception], ProviderError] = partial(from_anthropic, service=ANTHROPIC, secret=ANTHROPIC_KEY)
by_openai: Callable[[Exception], ProviderError] = partial(from_openai, secret=OPENAI_KEY)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def odd(sdk: type[Exception], key: str) -> Exception:
    return sdk(f"odd {key}")


REFUSED, LATE = httpx2.ConnectError("[Errno 111] refused"), httpx2.ReadTimeout("timed out")
INVALID = anthropic.APIResponseValidationError(httpx2.Response(200, request=REQUEST), None, message="odd")
UNCAUSED = anthropic.APITimeoutError(REQUEST)
CASES = [
    *(
        case
        for read, sdk in ((by_anthropic, anthropic), (by_openai, openai))
        for case in (
            (read, caused(sdk.APIConnectionError(request=REQUEST), REFUSED), BROKEN_OFF, f"ConnectError: {REFUSED}"),
            (read, caused(sdk.APITimeoutError(request=REQUEST), LATE), SILENT, "ReadTimeout: timed out"),
            (read, TimeoutError(), SILENT, "TimeoutError: no details"),
        )
    ),
    (by_anthropic, anthropic.APIConnectionError(message="odd", request=REQUEST), BROKEN_OFF, "APIConnectionError: odd"),
    (by_anthropic, UNCAUSED, SILENT, f"APITimeoutError: {UNCAUSED}"),
    (by_anthropic, INVALID, BROKEN_OFF, "APIResponseValidationError: odd"),
    (by_anthropic, caused(httpx2.ReadError(""), OSError("below")), BROKEN_OFF, "ReadError: no details"),
    (by_anthropic, odd(anthropic.AnthropicError, ANTHROPIC_KEY), BROKEN_OFF, "AnthropicError: odd ***"),
    (by_openai, odd(openai.OpenAIError, OPENAI_KEY), BROKEN_OFF, "OpenAIError: odd ***"),
    (by_openai, openai.APIError("odd", REQUEST, body=None), BROKEN_OFF, "APIError: odd"),
]


@pytest.mark.parametrize(("read", "error", "words", "details"), CASES, ids=range(len(CASES)))
def test_what_broke_off_is_told_in_the_words_of_its_cause(
    read: Callable[[Exception], ProviderError], error: Exception, words: str, details: str
) -> None:
    failure = read(error)
    assert type(failure) is TransportError
    assert (failure.message, failure.status) == (f"{words} ({details})", None)
