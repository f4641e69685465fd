"""Every failure is one of turnproof's errors, decided by status and details; no token is in any of them."""

from __future__ import annotations

import gzip
import logging
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import httpx2
import pytest

from turnproof.errors import (
    AuthenticationError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
    UsageError,
)
from turnproof_adapters._encoded_messages import encode
from turnproof_adapters.antigravity.errors import MINUTE, from_exception

from ..faults import BROKEN, everything, exceptions_of
from ..scripted_server import scripted
from .kit import CLAUDE, GEMINI, KEY, PATHS, PROJECT, STREAMED, URL, asking, envelope, legacy, stateless, stream, text

DOMAIN = "cloudcode-pa.googleapis.com"
EXHAUSTED, INVALID, DENIED = "RESOURCE_EXHAUSTED", "INVALID_ARGUMENT", "PERMISSION_DENIED"


def reason(name: str, domain: str = DOMAIN, **metadata: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": name,
        "domain": domain,
        "metadata": metadata,
    }


def retry_in(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota(name: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": name}]}


def nested(kind: str, message: str) -> str:
    """Anthropic's error, as the gateway hands it on."""
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_vrtx_011EX"}
    return encode(error).decode()


@dataclass(frozen=True)
class Case:
    id: str
    status: int
    word: str
    message: str
    expected: type[ProviderError]
    retryable: bool = False
    details: list[dict[str, Any]] = field(default_factory=list)
    kind: str | None = None
    said: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)


def limited(id: str, message: str, *details: dict[str, Any], retry: bool, wait: float | None, **more: Any) -> Case:
    return Case(id, 429, EXHAUSTED, message, RateLimitError, retry, [*details], fields={"retry_after": wait}, **more)


CAPACITY = "You have exhausted your capacity on this model. Your quota will reset after 3s."
VERIFY = "https://accounts.google.com/signin/continue"
HELP = {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"description": "Verify", "url": VERIFY}]}
TOO_LONG = "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576)."
CLAUDE_TOO_LONG = "prompt is too long: 200001 tokens > 200000 maximum"
DANGLING = "messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_vrtx_01EX."

CASES = [
    # Limits: antigravity.md §6, row by row
    limited("limit-0", "Quota exceeded, limit: 0, model: x", retry_in("2s"), retry=False, wait=2.0),
    limited("limit-05-is-another", "Quota exceeded, limit: 05", retry_in("2s"), retry=True, wait=2.0),
    limited("words-in-seconds", "Please retry in 31.5s.", retry=True, wait=31.5),
    limited("words-in-milliseconds", "Please retry in 250ms", retry=True, wait=0.25),
    limited("words-too-long", "Please retry in 301s.", retry=False, wait=301.0),
    limited("words-longest", "Please retry in 300s.", retry=True, wait=300.0),
    limited("words-capacity", CAPACITY, retry=False, wait=3.0),
    limited("words-capacity-exceeded", "Model capacity exceeded", retry=False, wait=None),
    limited("words-reason", "MODEL_CAPACITY_EXHAUSTED", retry=False, wait=None),
    limited("bare", "Resource has been exhausted (e.g. check quota).", retry=True, wait=None),
    limited("a-day", "no", quota("GenerateRequestsPerDayPerUser"), retry_in("9s"), retry=False, wait=9.0),
    limited("daily", "no", quota("DailyRequests"), retry=False, wait=None),
    limited(
        "capacity", "no", reason("MODEL_CAPACITY_EXHAUSTED"), retry_in("9s"), retry=False, wait=9.0,
        kind="MODEL_CAPACITY_EXHAUSTED",
    ),
    limited(
        "capacity-exceeded", "no", reason("MODEL_CAPACITY_EXCEEDED"), retry=False, wait=None,
        kind="MODEL_CAPACITY_EXCEEDED",
    ),
    limited(
        "credits", "no", reason("INSUFFICIENT_G1_CREDITS_BALANCE"), retry=False, wait=None,
        kind="INSUFFICIENT_G1_CREDITS_BALANCE",
    ),
    limited(
        "rate", CAPACITY, reason("RATE_LIMIT_EXCEEDED", quotaResetDelay="4s"), retry_in("3.957525076s"),
        retry=True, wait=3.957525076, kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "rate-by-metadata", "no", reason("RATE_LIMIT_EXCEEDED", quotaResetDelay="510ms"), retry=True, wait=0.51,
        kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "rate-without-delay", "no", reason("RATE_LIMIT_EXCEEDED"), retry=False, wait=None, kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "rate-too-long", "no", reason("RATE_LIMIT_EXCEEDED"), retry_in("301s"), retry=False, wait=301.0,
        kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "quota", "no", reason("QUOTA_EXHAUSTED"), retry_in("1h16m0.667923083s"), retry=False, wait=4560.667923083,
        kind="QUOTA_EXHAUSTED",
    ),
    limited("delay-alone", "no", retry_in("5s"), retry=True, wait=5.0),
    limited("delay-alone-too-long", "no", retry_in("18000s"), retry=False, wait=18000.0),
    limited("delay-that-is-none", "no", retry_in("soon"), retry=True, wait=None),
    limited("a-minute", "no", quota("RequestsPerMinutePerUser"), retry=True, wait=MINUTE),
    limited("a-minute-with-delay", "no", quota("RequestsPerMinute"), retry_in("7s"), retry=True, wait=7.0),
    Case("cancelled-there", 499, "CANCELLED", "cancelled", OverloadedError, True),
    Case("busy", 503, "UNAVAILABLE", "busy", OverloadedError, True, [retry_in("5s")], fields={"retry_after": 5.0}),
    Case(
        "no-capacity", 503, "UNAVAILABLE", "No capacity available for model x on the server", OverloadedError, False,
        [reason("MODEL_CAPACITY_EXHAUSTED")], kind="MODEL_CAPACITY_EXHAUSTED",
    ),
    Case("overloaded", 529, "UNAVAILABLE", "busy", OverloadedError, True),
    Case("internal", 500, "INTERNAL", "Internal error encountered.", OverloadedError, True),
    Case("deadline", 504, "DEADLINE_EXCEEDED", "deadline", OverloadedError, True),
    # Who asks
    Case("token", 401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", AuthenticationError),
    Case("denied", 403, DENIED, "Permission denied on resource project x.", AuthenticationError),
    Case(
        "unlicensed", 403, DENIED, "no licence", AuthenticationError, False,
        [reason("SUBSCRIPTION_REQUIRED", "cloudaicompanion.googleapis.com")], kind="SUBSCRIPTION_REQUIRED",
    ),
    Case(
        "unverified", 403, DENIED, "Verify your account to continue.", AuthenticationError, False,
        [reason("VALIDATION_REQUIRED"), HELP], kind="VALIDATION_REQUIRED",
        said=f"Verify your account to continue. ({VERIFY})",
    ),
    Case(
        "service-off", 403, DENIED, "off", AuthenticationError, False, [reason("SERVICE_DISABLED")],
        kind="SERVICE_DISABLED",
    ),
    # What is asked
    Case("unknown-model", 404, "NOT_FOUND", "Requested entity was not found.", InvalidRequestError),
    Case("field", 400, INVALID, 'Invalid JSON payload received. Unknown name "const"', InvalidRequestError),
    Case("too-large", 413, "", "too large", ContextLimitError),
    Case(
        "too-long", 400, INVALID, TOO_LONG, ContextLimitError,
        fields={"limit": 1048576, "requested": 1250074},
    ),
    Case(
        "too-long-for-claude", 400, INVALID, nested("invalid_request_error", CLAUDE_TOO_LONG),
        ContextLimitError, kind="invalid_request_error", said=CLAUDE_TOO_LONG,
        fields={"limit": 200000, "requested": 200001},
    ),
    Case(
        "claude-pairing", 400, INVALID, nested("invalid_request_error", DANGLING), InvalidRequestError,
        kind="invalid_request_error", said=DANGLING,
    ),
    Case(
        "claude-overloaded", 400, INVALID, nested("overloaded_error", "Overloaded"), OverloadedError, True,
        kind="overloaded_error", said="Overloaded",
    ),
    Case(
        "claude-rate", 400, INVALID, nested("rate_limit_error", "slow"), RateLimitError, True,
        kind="rate_limit_error", said="slow",
    ),
    Case(
        "a-quoted-sentence-is-not-a-full-context", 400, INVALID, f"Invalid value '{TOO_LONG}'", InvalidRequestError,
    ),
    Case("braces-are-no-error", 400, INVALID, "{x} is no field", InvalidRequestError),
    Case("json-without-an-error", 400, INVALID, '{"x": 1}', InvalidRequestError),
]  # fmt: skip


def fails(ask: Any) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        ask()
    return failure.value


WAYS = [(path, streamed) for path in ("stateless", "legacy") for streamed in (False, True)]
"""Both paths, whole and in pieces."""


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_refusal_is_typed_alike_however_it_was_asked_for(case: Case, httpx2_mock: Any) -> None:
    error = {"code": case.status, "message": case.message, "status": case.word, "details": case.details}
    route = httpx2_mock.post(url__startswith=f"{URL}/v1internal:").respond(case.status, json={"error": error})
    for path, streamed in WAYS:
        failure = fails(asking(path, streamed=streamed))
        assert type(failure) is case.expected
        assert (failure.status, failure.message) == (case.status, case.said or case.message)
        assert failure.kind == (case.kind or case.word or None)
        assert failure.retryable is case.retryable
        for name, value in case.fields.items():
            assert getattr(failure, name) == value
    assert route.call_count == len(WAYS), "nobody below the session retries"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html><h1>503 Service Unavailable</h1></html>", "HTTP status 503"),
        (b"", "HTTP status 503"),
        (b'["odd"]', "HTTP status 503"),
        (b"[]", "HTTP status 503"),
        (b"null", "HTTP status 503"),
        (b'{"error": 7}', "HTTP status 503"),
        (b'{"error": {"code": "odd", "message": 7, "details": {"x": 1}}}', "HTTP status 503"),
        (b'{"error": {"details": [7, {"violations": 7}, {"links": [7]}, {"metadata": 7}]}}', "HTTP status 503"),
        (b'{"error": {"status": "UNAVAILABLE"}}', "UNAVAILABLE"),
        (b'[{"error": {"code": 503, "message": "busy"}}]', "busy"),
        (b"[" * 20_000, "HTTP status 503"),
        (b"\xff\xfe", "HTTP status 503"),
    ],
    ids=range(12),
)
def test_a_proxys_page_is_typed_by_its_status(body: bytes, message: str, httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(503, content=body)
    for path, streamed in WAYS:
        failure = fails(asking(path, streamed=streamed))
        assert type(failure) is OverloadedError
        assert (failure.status, failure.message) == (503, message)


def test_a_proxy_may_say_in_a_header_how_long_to_wait(httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(429, headers={"retry-after": "17"})
    provider = stateless()
    failure = fails(asking("stateless"))
    assert failure.retry_after == provider.get_retry_after(failure) == 17
    assert provider.classify_error(failure) == {"transient": True, "rate_limit": True, "infra": False}


@pytest.mark.parametrize("packed", [gzip.compress(b"x" * 999)[:-20], b"no archive"], ids=["cut", "none"])
@pytest.mark.parametrize(("status", "expected"), [(403, AuthenticationError), (200, TransportError)])
def test_an_answer_that_cannot_be_unpacked_is_typed_by_its_status(
    packed: bytes, status: int, expected: type[ProviderError]
) -> None:
    with scripted(lambda exchange: exchange.answer(packed, status, **{"content-encoding": "gzip"})) as server:
        for path, streamed in WAYS:
            failure = fails(asking(path, server.url, streamed=streamed))
            assert type(failure) is expected
            # Of what was cut off, the stream that it would have been says no more than that it has no end.
            assert failure.status == (None if streamed and status == 200 and packed != b"no archive" else status)


@pytest.mark.parametrize("status", [204, 206, 301, 304])
def test_a_status_under_which_there_is_no_answer_is_a_transport_error(status: int, httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(status)
    for path, streamed in WAYS:
        failure = fails(asking(path, streamed=streamed))
        assert (type(failure), failure.status) == (TransportError, status)


@PATHS
@STREAMED
def test_an_answer_elsewhere_is_fetched_and_a_circle_of_them_is_an_error(
    path: str, streamed: bool, httpx2_mock: Any
) -> None:
    moved = httpx2_mock.route(url__startswith=f"{URL}/v1internal:")
    moved.respond(307, headers={"location": "http://moved.invalid/here"})
    body = b"".join(stream(text("hi"))) if streamed else encode(envelope(text("hi")))
    there = httpx2_mock.route(url="http://moved.invalid/here").respond(content=body)
    assert asking(path, streamed=streamed)().text == "hi"
    assert "authorization" not in there.calls.last.request.headers, "the token is for nobody else"
    moved.respond(307, headers={"location": f"{URL}/v1internal:generateContent"})
    assert type(fails(asking(path, streamed=streamed))) is TransportError


@pytest.mark.parametrize("fault", BROKEN, ids=lambda script: script.__name__)
def test_an_answer_that_does_not_arrive_whole_is_a_transport_error(fault: Any) -> None:
    with scripted(fault) as server:
        for path, streamed in WAYS:
            failure = fails(asking(path, server.url, streamed=streamed))
            assert type(failure) is TransportError
            assert failure.retryable


@pytest.mark.parametrize("made", exceptions_of(httpx2, httpx2.HTTPError), ids=lambda each: each.__name__)
def test_whatever_the_client_raises_is_typed_and_says_what_it_was(made: Any) -> None:
    failure = from_exception(made(f"for {KEY}"), [KEY])
    assert type(failure) is TransportError
    assert "for ***" in failure.message


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (httpx2.ReadTimeout("no byte"), "the service was silent for too long (ReadTimeout: no byte)"),
        (TimeoutError(), "the service was silent for too long (TimeoutError: no details)"),
        (httpx2.ConnectError("refused"), "no complete answer from the service (ConnectError: refused)"),
        (ValueError(), "no complete answer from the service (ValueError: no details)"),
    ],
)
def test_failures_of_the_network_say_what_went_wrong(error: Exception, message: str) -> None:
    assert from_exception(error, []).message == message


@PATHS
def test_a_refused_stream_gives_its_connection_back(path: str) -> None:
    """One that is never closed would hold it until the pool is empty."""
    refuse = [lambda exchange: exchange.answer({"error": {"code": 429, "status": EXHAUSTED}}, 429)] * 2
    with scripted(*refuse, lambda exchange: exchange.answer(envelope(text("hi")))) as server:
        ask = asking(path, server.url, streamed=True)
        for _ in refuse:
            fails(ask)
        assert ask().text == "hi"
        assert server.connections == 1


ACCOUNT = {"refresh_token": "1//secret-refresh", "access_token": "ya29.secret-access", "project": PROJECT}
SECRETS = ["1//secret-refresh", "ya29.secret-access", "secret-of-the-client"]


@PATHS
@STREAMED
def test_no_secret_is_in_an_error_a_log_or_a_repr(
    path: str, streamed: bool, httpx2_mock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    words = " ".join(SECRETS)
    httpx2_mock.post(f"{URL}/token").respond(400, json={"error": "invalid_grant", "error_description": words})
    error = {"code": 401, "message": f"{words} are not allowed", "status": f"NO_{SECRETS[0]}"}
    httpx2_mock.route(url__startswith=f"{URL}/v1internal:").respond(401, json={"error": error})
    options: dict[str, Any] = {
        "client_id": "c",
        "client_secret": SECRETS[2],
        "token_url": f"{URL}/token",
        "accounts": [ACCOUNT],
    }
    failure = fails(asking(path, streamed=streamed, **options))
    shown = everything(failure) + caplog.text + repr(vars(stateless(**options))) + repr(vars(legacy(**options)))
    assert not [secret for secret in SECRETS if secret in shown]
    assert type(failure) is AuthenticationError
    assert failure.message == "*** *** ***"


@pytest.mark.parametrize("model", [GEMINI, CLAUDE])
def test_a_call_before_opening_is_the_callers_mistake(model: str) -> None:
    provider = stateless(model=model)
    provider.shutdown()
    with pytest.raises(UsageError, match="not open"):
        provider.complete([])
