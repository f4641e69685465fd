"""Every way in which this service refuses is one of turnproof's errors, alike on both paths, whole and streamed."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest

from turnproof.errors import (
    AuthenticationError,
    ContentFilterError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
)
from turnproof_adapters.anthropic.refusals import Refused
from turnproof_adapters.zai.refusals import complaint, refusal

from ..anthropic.kit import event, text_block
from ..call_modes import CallMode, fixed_answer
from ..callback_recorder import CallbackRecorder
from .kit import MODEL, MODES, nameless, stream

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
each_stream = pytest.mark.parametrize("way", MODES.stream.values(), ids=MODES.stream)

UNPAID = "Insufficient balance or no resource package. Please recharge."
RESET = "Usage limit reached for 5 hour. Your limit will reset at 2026-09-10 04:24:36"
NO_ROUTE = {"code": 500, "msg": "404 NOT_FOUND", "success": False}


def enveloped(code: str, message: str, kind: str = "rate_limit_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "code": code, "message": message}, "request_id": "2026"}


def coded(code: str | int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}, "request_id": "2026"}


@dataclass(frozen=True)
class Case:
    id: str
    status: int
    body: Any
    expected: type[ProviderError]
    kind: str | None
    message: str
    retryable: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    wait: float | None = None


CASES = [
    Case("key-of-no-one", 401, coded("401", "token expired or incorrect"), AuthenticationError, "401",
         "token expired or incorrect"),
    Case("no-key", 401, coded("1001", "no key"), AuthenticationError, "1001", "no key"),
    Case("key-by-code-alone", 400, coded(1000, "Authentication Failed"), AuthenticationError, "1000",
         "Authentication Failed"),
    Case("key-under-200", 200, {"code": 401, "msg": "token expired or incorrect", "success": False},
         AuthenticationError, "401", "token expired or incorrect"),
    Case("forbidden", 403, enveloped("1220", "no permission", "permission_error"), AuthenticationError, "1220",
         "no permission"),
    Case("unpaid", 429, enveloped("1113", UNPAID), RateLimitError, "1113", UNPAID),
    Case("unpaid-wrapped", 429, enveloped("1113", f"[1113][{UNPAID}]"), RateLimitError, "1113", UNPAID),
    Case("unpaid-wrapped-thrice", 429, enveloped("1113", f"[1113][{UNPAID}][2026a0]"), RateLimitError, "1113", UNPAID),
    Case("code-in-the-words-alone", 429, {"error": {"type": "rate_limit_error", "message": f"[1113][{UNPAID}]"}},
         RateLimitError, "1113", UNPAID),
    Case("rate", 429, coded("1302", "Rate limit reached for requests"), RateLimitError, "1302",
         "Rate limit reached for requests", True),
    Case("rate-under-200", 200, coded("1302", "slow down"), RateLimitError, "1302", "slow down", True),
    Case("a-wait-that-a-gateway-names", 429, coded("1302", "slow down"), RateLimitError, "1302", "slow down", True,
         {"retry-after": "17"}, 17),
    Case("frequency", 429, coded("1303", "too frequent"), RateLimitError, "1303", "too frequent", True),
    Case("calls-of-the-day", 429, coded("1304", "daily limit"), RateLimitError, "1304", "daily limit"),
    Case("overloaded", 429, coded("1305", "try again later"), OverloadedError, "1305", "try again later", True),
    Case("plan-used-up", 429, coded("1308", RESET), RateLimitError, "1308", RESET, False,
         {"date": "Wed, 09 Sep 2026 20:00:00 GMT"}, 1476),
    Case("plan-of-the-week-used-up", 429, coded("1310", "Weekly limit reached."), RateLimitError, "1310",
         "Weekly limit reached."),
    Case("plan-used-up-until-no-time", 429, coded("1308", RESET.replace("-09-", "-19-")), RateLimitError, "1308",
         RESET.replace("-09-", "-19-")),
    Case("parameter", 400, enveloped("1210", "Invalid API parameter", "invalid_request_error"), InvalidRequestError,
         "1210", "Invalid API parameter"),
    Case("unknown-model", 400, coded("1211", "Unknown Model, please check the model code."), InvalidRequestError,
         "1211", "Unknown Model, please check the model code."),
    Case("unknown-model-under-200", 200, coded("1211", "Unknown Model"), InvalidRequestError, "1211", "Unknown Model"),
    Case("too-long", 400, coded("1261", "Prompt exceeds max length"), ContextLimitError, "1261",
         "Prompt exceeds max length"),
    Case("words-of-a-full-prompt-alone", 400, coded("1214", "Prompt exceeds max length"), InvalidRequestError, "1214",
         "Prompt exceeds max length"),
    Case("unsafe", 400, coded("1301", "unsafe content"), ContentFilterError, "1301", "unsafe content"),
    Case("inner", 500, coded("1234", "Network error"), OverloadedError, "1234", "Network error", True),
    Case("inner-under-200", 200, {"code": 500, "msg": "trouble", "success": False}, OverloadedError, "500", "trouble",
         True),
    Case("wrong-address", 200, NO_ROUTE, InvalidRequestError, "500", "404 NOT_FOUND"),
    Case("error-in-a-word", 503, {"error": "DNS resolution failure"}, OverloadedError, None, "DNS resolution failure",
         True),
    Case("error-in-a-word-under-200", 200, {"error": "DNS resolution failure"}, OverloadedError, None,
         "DNS resolution failure", True),
    Case("code-of-tomorrow", 400, coded("1999", "new"), InvalidRequestError, "1999", "new"),
    Case("no-permission-under-200", 200, enveloped("1220", "no permission", "permission_error"), AuthenticationError,
         "1220", "no permission"),
    Case("no-such-api-under-200", 200, coded("1222", "This API does not exist."), InvalidRequestError, "1222",
         "This API does not exist."),
    Case("type-alone", 529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, OverloadedError,
         "overloaded_error", "Overloaded", True),
    Case("type-alone-under-200", 200, {"error": {"type": "permission_error", "message": "no"}}, AuthenticationError,
         "permission_error", "no"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_refusal_is_typed_by_its_code_in_whatever_form_it_comes(case: Case) -> None:
    for name, way in MODES.all.items():
        with pytest.raises(ProviderError) as raised:
            way(fixed_answer(case.status, case.headers, json=case.body))
        failure = raised.value
        assert type(failure) is case.expected, name
        assert (failure.status, failure.kind, failure.message) == (case.status, case.kind, case.message)
        assert failure.retryable is case.retryable
        assert failure.retry_after == case.wait


FIRST_WORDS = stream(text_block(0, "so"))[:4]


@each_stream
@pytest.mark.parametrize("begun", [[], FIRST_WORDS], ids=["at-once", "after-the-first-words"])
@pytest.mark.parametrize(
    "frame",
    [
        event("error", error={"type": "rate_limit_error", "code": "1113", "message": f"[1113][{UNPAID}]"}),
        event("error", error={"code": "1113", "message": UNPAID}),
        nameless(enveloped("1113", UNPAID)),
        nameless(coded("1113", UNPAID)),
        nameless({"code": 1113, "msg": UNPAID, "success": False}),
    ],
    ids=["event", "event-without-type", "nameless-envelope", "nameless-code", "nameless-flat"],
)
def test_a_stream_may_tell_of_a_failure_in_every_form(frame: bytes, begun: list[bytes], way: CallMode) -> None:
    """The SDK passes over frames without a name: a path that heard nothing of them would call it a broken stream."""
    recorder = CallbackRecorder()
    body = b"".join([*begun, frame])
    with pytest.raises(RateLimitError) as raised:
        way(fixed_answer(content=body, headers={"content-type": "text/event-stream"}), recorder)
    failure = raised.value
    assert (failure.status, failure.kind, failure.message, failure.retryable) == (200, "1113", UNPAID, False)
    assert recorder.text == ("so" if begun else "")
    assert [part.text for part in failure.partial] == (["so"] if begun else [])  # type: ignore[attr-defined]


@each_stream
def test_a_word_of_an_error_in_a_stream_is_the_services_own_trouble(way: CallMode) -> None:
    frame = nameless({"error": "DNS resolution failure"})
    with pytest.raises(OverloadedError, match="DNS resolution failure"):
        way(fixed_answer(content=frame, headers={"content-type": "text/event-stream"}))


@pytest.mark.parametrize(
    "document",
    [
        None,
        7,
        "words",
        [],
        {},
        {"error": None},
        {"error": 7},
        {"success": True, "code": 200},
        {"success": False},
        {"type": "message", "model": MODEL},
    ],
    ids=repr,
)
def test_what_tells_of_no_failure_is_no_complaint(document: object) -> None:
    assert complaint(document) is None


def test_a_complaint_without_words_has_none() -> None:
    found = complaint({"error": {"code": True, "message": 7, "type": ""}})
    assert found is not None
    assert (found.type, found.message) == (None, "7")


def test_a_limit_that_has_been_reset_meanwhile_is_not_waited_for() -> None:
    late = Refused(429, "1308", RESET, date="Thu, 10 Sep 2026 00:00:00 GMT")
    assert refusal(late).retry_after == 0
    without_words = Refused(429, "1308", "Usage limit reached.", wait=3.0)
    assert refusal(without_words).retry_after == 3


def test_a_reset_is_waited_for_by_our_own_clock_where_the_service_tells_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2026-09-10 04:24:36 in UTC+8.
    monkeypatch.setattr("turnproof_adapters._errors.time.time", lambda: 1_788_985_476 - 90.5)
    assert refusal(Refused(200, "1308", RESET)).retry_after == 90.5


@each_stream
def test_a_frame_without_a_name_that_is_no_json_is_a_transport_error(way: CallMode) -> None:
    """The legacy path reads frames with the SDK's decoder instead of its events, so that it gets those as well."""
    frames = stream(text_block(0, "so"))
    transport = fixed_answer(content=b"".join([*frames[:4], b"data: <html>\n\n", *frames[4:]]))
    with pytest.raises(TransportError):
        way(transport)
