"""Every way in which this service refuses is one of turnproof's errors, alike on both paths, whole and streamed."""

from __future__ import annotations

import pytest

from turnproof.errors import OverloadedError, RateLimitError, TransportError
from turnproof_adapters.anthropic.refusals import Refused
from turnproof_adapters.zai.refusals import complaint, refusal

from ..anthropic.kit import event, text_block
from ..call_modes import CallMode, fixed_answer
from ..callback_recorder import CallbackRecorder
from .kit import MODEL, MODES, nameless, stream
from .refusals import RESET, UNPAID, coded, enveloped

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
each_stream = pytest.mark.parametrize("way", MODES.stream.values(), ids=MODES.stream)

FIRST_WORDS = stream(text_block(0, "so"))[:4]


@each_stream
@pytest.mark.parametrize("first_events", [[], FIRST_WORDS], ids=["at-once", "after-the-first-words"])
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
def test_a_stream_may_tell_of_a_failure_in_every_form(frame: bytes, first_events: list[bytes], way: CallMode) -> None:
    """The SDK passes over frames without a name: a path that heard nothing of them would call it a broken stream."""
    recorder = CallbackRecorder()
    body = b"".join([*first_events, frame])
    with pytest.raises(RateLimitError) as raised:
        way(fixed_answer(content=body, headers={"content-type": "text/event-stream"}), recorder)
    failure = raised.value
    assert (failure.status, failure.kind, failure.message, failure.retryable) == (200, "1113", UNPAID, False)
    assert recorder.text == ("so" if first_events else "")
    assert [part.text for part in failure.partial] == (["so"] if first_events else [])  # type: ignore[attr-defined]


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
