"""Every way in which the server refuses is one of turnproof's errors, alike on both paths, whole and streamed."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest

from turnproof.errors import (
    AuthenticationError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
)

from ..anthropic.kit import event, text_block
from ..call_modes import HI, CallMode, fixed_answer
from ..callback_recorder import CallbackRecorder
from .kit import MODES, stateless, stream

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
each_way = pytest.mark.parametrize("way", MODES.all.values(), ids=MODES.all)
each_stream = pytest.mark.parametrize("way", MODES.stream.values(), ids=MODES.stream)

INVALID = "invalid_request_error"
BUSY = "server busy, please try again.  maximum pending requests exceeded"
CLOUD = "prompt too long; exceeded max context length by 1119046 tokens (ref: 5cdbf6d6-8a8a-4a5e-9a0e-1b1b1b1b1b1b)"
RUNNER = "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"
OLDER_RUNNER = "the request exceeds the available context size. try increasing the context size or enable context shift"


def enveloped(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_3f2a"}


@dataclass(frozen=True)
class Case:
    id: str
    status: int
    body: Any
    expected: type[ProviderError]
    kind: str | None
    message: str
    retryable: bool = False
    fields: dict[str, Any] = field(default_factory=dict)


CASES = [
    Case("no-messages", 400, enveloped(INVALID, "messages is required"), InvalidRequestError, INVALID,
         "messages is required"),
    Case("no-tools", 400, enveloped(INVALID, '"gemma3" does not support tools'), InvalidRequestError, INVALID,
         '"gemma3" does not support tools'),
    Case("unknown-model", 404, enveloped("not_found_error", "model 'qwen' not found"), InvalidRequestError,
         "not_found_error", "model 'qwen' not found"),
    Case("unknown-model-in-a-word", 404, {"error": "model 'qwen' not found"}, InvalidRequestError, None,
         "model 'qwen' not found"),
    Case("key-at-the-cloud", 401, {"error": "Unauthorized"}, AuthenticationError, None, "Unauthorized"),
    Case("key-at-a-gateway", 403, enveloped("permission_error", "no"), AuthenticationError, "permission_error", "no"),
    Case("quota", 429, enveloped("rate_limit_error", "weekly limit"), RateLimitError, "rate_limit_error",
         "weekly limit", True),
    Case("inner", 500, enveloped("api_error", "llama runner terminated"), OverloadedError, "api_error",
         "llama runner terminated", True),
    Case("busy", 503, enveloped("overloaded_error", BUSY), OverloadedError, "overloaded_error", BUSY, True),
    Case("busy-in-a-word", 503, {"error": BUSY}, OverloadedError, None, BUSY, True),
    Case("overloaded", 529, enveloped("overloaded_error", BUSY), OverloadedError, "overloaded_error", BUSY, True),
    Case("too-long-for-the-cloud", 400, enveloped(INVALID, CLOUD), ContextLimitError, INVALID, CLOUD),
    Case("too-long-for-the-runner", 400, enveloped(INVALID, RUNNER), ContextLimitError, INVALID, RUNNER,
         fields={"requested": 5000, "limit": 4096}),
    Case("too-long-for-an-older-runner", 400, {"error": OLDER_RUNNER}, ContextLimitError, None, OLDER_RUNNER,
         fields={"requested": None, "limit": None}),
    Case("a-quoted-sentence", 400, enveloped(INVALID, f'invalid tool description "{RUNNER}"'), InvalidRequestError,
         INVALID, f'invalid tool description "{RUNNER}"'),
    Case("enveloped-under-200", 200, enveloped("overloaded_error", BUSY), OverloadedError, "overloaded_error", BUSY,
         True),
    Case("too-long-under-200", 200, enveloped(INVALID, RUNNER), ContextLimitError, INVALID, RUNNER),
    Case("in-a-word-under-200", 200, {"error": "unexpected EOF"}, OverloadedError, None, "unexpected EOF", True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_refusal_is_typed_in_whatever_form_it_comes(case: Case) -> None:
    for name, way in MODES.all.items():
        with pytest.raises(ProviderError) as raised:
            way(fixed_answer(case.status, json=case.body))
        failure = raised.value
        assert type(failure) is case.expected, name
        assert (failure.status, failure.kind, failure.message) == (case.status, case.kind, case.message)
        assert (failure.retryable, failure.retry_after) == (case.retryable, None)
        for field_name, value in case.fields.items():
            assert getattr(failure, field_name) == value


@each_way
def test_an_address_that_is_none_is_the_requests_fault(way: CallMode) -> None:
    """The server's web framework answers in plain text."""
    with pytest.raises(InvalidRequestError) as raised:
        way(fixed_answer(404, {"content-type": "text/plain"}, content=b"404 page not found"))
    assert (raised.value.status, raised.value.message) == (404, "HTTP status 404")


@each_stream
@pytest.mark.parametrize(
    ("told", "kind"),
    [({"type": "overloaded_error", "message": BUSY}, "overloaded_error"), (BUSY, None)],
    ids=["envelope", "word"],
)
def test_a_stream_may_end_in_a_failure(told: Any, kind: str | None, way: CallMode) -> None:
    recorder = CallbackRecorder()
    body = b"".join([*stream(text_block(0, "At six."))[:3], event("error", error=told)])
    with pytest.raises(OverloadedError) as raised:
        way(fixed_answer(content=body, headers={"content-type": "text/event-stream"}), recorder)
    assert (raised.value.status, raised.value.kind, raised.value.message) == (200, kind, BUSY)
    assert recorder.text == "At six."


@each_stream
@pytest.mark.parametrize("kept", range(1, 6))
def test_a_stream_that_breaks_off_is_a_transport_error(kept: int, way: CallMode) -> None:
    """So ends, with some versions, an answer whose model failed."""
    events = stream(text_block(0, "At six."))
    assert len(events) == 6
    body = b"".join(events[:kept])
    with pytest.raises(TransportError, match="before its end"):
        way(fixed_answer(content=body, headers={"content-type": "text/event-stream"}))


def test_a_server_that_is_not_there_is_a_transport_error() -> None:
    with pytest.raises(TransportError) as raised:
        stateless("http://127.0.0.1:1").complete(HI)
    assert raised.value.status is None
