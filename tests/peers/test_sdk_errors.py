"""Errors of the SDKs as errors of the contract, by what they hold: the real SDKs and httpx."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx
import ollama
import openai
import pytest
from google.genai import errors as google_errors

from turnproof import errors
from turnproof_adapters.peers.sdk_errors import passed_error, typed_error, wait_in_text, wrapped_error

REQUEST: Any = httpx.Request("POST", "http://127.0.0.1/v1")
LATER = {"retry-after": "17"}


def response(status: int, **headers: str) -> Any:
    """An answer as the SDKs keep it, which take httpx or its successor by their versions."""
    return httpx.Response(status, headers=headers, request=REQUEST)


def test_a_status_decides_and_its_headers_say_when_to_try_again() -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}
    typed = typed_error(anthropic.RateLimitError("slow", response=response(429, **LATER), body=body))
    assert isinstance(typed, errors.RateLimitError)
    assert (typed.status, typed.kind, typed.retry_after) == (429, "rate_limit_error", 17.0)


def test_an_error_inside_a_stream_is_what_the_api_calls_it() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    typed = typed_error(anthropic.APIStatusError("Overloaded", response=response(200), body=body))
    assert type(typed) is errors.OverloadedError
    assert typed.status is None


def test_an_error_event_of_the_responses_api_is_named_by_its_code() -> None:
    body = {"type": "error", "code": "invalid_request_error", "message": "There was an issue with your request."}
    typed = typed_error(openai.APIError("There was an issue", request=REQUEST, body=body))
    assert type(typed) is errors.InvalidRequestError
    assert typed.kind == "invalid_request_error"


def test_an_error_event_of_chat_completions_is_what_its_type_or_its_code_says() -> None:
    body = {"type": "tokens", "code": "rate_limit_exceeded", "message": "Rate limit reached"}
    typed = typed_error(openai.APIError("Rate limit reached", request=REQUEST, body=body))
    assert type(typed) is errors.RateLimitError
    assert typed.kind == "tokens"


def test_an_error_without_an_answer_is_one_of_the_transport() -> None:
    assert type(typed_error(openai.APIConnectionError(request=REQUEST))) is errors.TransportError
    assert type(typed_error(httpx.ReadError("cut"))) is errors.TransportError


def test_google_names_the_status_and_the_wait_in_the_body() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}]
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": details}}
    typed = typed_error(google_errors.ClientError(429, body))
    assert isinstance(typed, errors.RateLimitError)
    assert (typed.kind, typed.retry_after) == ("RESOURCE_EXHAUSTED", 17.5)


DELAY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}


@pytest.mark.parametrize("written", [json.dumps, repr, lambda body: json.dumps(json.dumps(body))])
def test_a_wait_that_google_names_is_found_in_the_text_of_an_error(written: Callable[[Any], str]) -> None:
    body = {"error": {"code": 429, "details": [DELAY]}}
    assert wait_in_text(f"429 RESOURCE_EXHAUSTED. {written(body)}") == 17.5
    assert wait_in_text(f"429 RESOURCE_EXHAUSTED. {written({'error': {'message': 'after 17.5s'}})}") is None


@pytest.mark.parametrize("error", [ValueError("no"), RuntimeError("no"), KeyError("no")])
def test_an_error_of_the_library_itself_is_none_of_an_api(error: Exception) -> None:
    assert typed_error(error) is None


def refused(sdk: Any, message: str, **body: str) -> Any:
    return sdk.BadRequestError(message, response=response(400), body={"error": {"message": message, **body}})


TOO_LONG = "The input token count (5000) exceeds the maximum number of tokens allowed (3000)."


@pytest.mark.parametrize(
    "error",
    [
        refused(anthropic, "prompt is too long: 5000 tokens > 3000 maximum", type="invalid_request_error"),
        refused(openai, "Please reduce the length of the messages.", code="context_length_exceeded"),
        google_errors.ClientError(400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": TOO_LONG}}),
    ],
)
def test_who_gets_the_error_of_an_sdk_can_tell_a_prompt_that_is_too_long(error: Any) -> None:
    assert type(typed_error(error)) is errors.InvalidRequestError
    passed = passed_error(error)
    assert type(passed) is errors.ContextLimitError
    assert passed.status == 400


def test_another_refusal_about_length_is_no_context_limit() -> None:
    error = refused(openai, "string too long. Expected a string with maximum length 40", code="string_above_max_length")
    assert type(passed_error(error)) is errors.InvalidRequestError


def test_an_error_of_a_class_below_the_sdks_is_one_of_the_api() -> None:
    class LibrarysRateLimit(anthropic.RateLimitError):
        """As a library has its own, to add a hint to the message."""

    typed = typed_error(LibrarysRateLimit("slow", response=response(429, **LATER), body=None))
    assert isinstance(typed, errors.RateLimitError)
    assert typed.retry_after == 17.0


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        (ollama.ResponseError("too many requests", 429), errors.RateLimitError, 429),
        (ollama.ResponseError("model 'qwen3' not found", 404), errors.InvalidRequestError, 404),
        (ollama.ResponseError("an error was encountered while running the model"), errors.TransportError, None),
    ],
)
def test_ollamas_error_has_its_status_and_in_a_stream_none(error: Any, kind: type, status: int | None) -> None:
    typed = typed_error(error)
    assert typed is not None
    assert (type(typed), typed.status) == (kind, status)


class LibraryError(Exception):
    """A library's own."""


def test_what_a_library_raises_from_an_error_of_the_sdk_is_that_error() -> None:
    inner, outer = LibraryError("the call failed"), LibraryError("the agent failed")
    inner.__cause__ = anthropic.RateLimitError("slow", response=response(429, **LATER), body=None)
    outer.__cause__ = inner
    assert type(wrapped_error(outer)) is errors.RateLimitError
    assert typed_error(outer) is None


def test_an_error_that_comes_from_itself_or_from_nowhere_is_none_of_an_api() -> None:
    own = LibraryError("round and round")
    own.__cause__ = own
    assert wrapped_error(own) is None
    assert wrapped_error(LibraryError("no")) is None


def test_pythons_own_timeout_is_one_of_the_transport_where_aiohttp_is_the_client() -> None:
    wrapping = LibraryError("the stream broke")
    wrapping.__cause__ = TimeoutError()
    assert type(wrapped_error(wrapping)) is errors.TransportError
    assert str(typed_error(TimeoutError())) == "nothing came in time"
