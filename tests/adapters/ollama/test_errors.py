"""Every way in which the server refuses is one of turnproof's errors, alike on both paths, whole and streamed."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import InvalidRequestError, OverloadedError, TransportError

from ..anthropic.kit import event, text_block
from ..call_modes import CallMode, fixed_answer
from ..callback_recorder import CallbackRecorder
from .kit import MODES, stream
from .refusals import BUSY

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
each_way = pytest.mark.parametrize("way", MODES.all.values(), ids=MODES.all)
each_stream = pytest.mark.parametrize("way", MODES.stream.values(), ids=MODES.stream)


@each_way
def test_an_address_that_is_none_is_the_requests_fault(way: CallMode) -> None:
    """The server's web framework answers in plain text."""
    with pytest.raises(InvalidRequestError) as raised:
        way(fixed_answer(404, {"content-type": "text/plain"}, content=b"404 page not found"))
    assert (raised.value.status, raised.value.message) == (404, "HTTP status 404")


@each_stream
@pytest.mark.parametrize(
    ("error", "kind"),
    [({"type": "overloaded_error", "message": BUSY}, "overloaded_error"), (BUSY, None)],
    ids=["envelope", "word"],
)
def test_a_stream_may_end_in_a_failure(error: Any, kind: str | None, way: CallMode) -> None:
    recorder = CallbackRecorder()
    body = b"".join([*stream(text_block(0, "At six."))[:3], event("error", error=error)])
    with pytest.raises(OverloadedError) as raised:
        way(fixed_answer(content=body, headers={"content-type": "text/event-stream"}), recorder)
    assert (raised.value.status, raised.value.kind, raised.value.message) == (200, kind, BUSY)
    assert recorder.text == "At six."


@each_stream
@pytest.mark.parametrize("count", range(1, 6))
def test_a_stream_that_breaks_off_is_a_transport_error(count: int, way: CallMode) -> None:
    """So ends, with some versions, an answer whose model failed."""
    events = stream(text_block(0, "At six."))
    assert len(events) == 6
    body = b"".join(events[:count])
    with pytest.raises(TransportError, match="before its end"):
        way(fixed_answer(content=body, headers={"content-type": "text/event-stream"}))
