"""Streams of this API over a real socket: how they end, and the forms of an error."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import OverloadedError, ProviderError, RateLimitError, TransportError
from turnproof.messages import Text

from ..contract.adapter_kit import Subject, each_path_of
from ..scripted_server import Exchange, scripted
from .kit import DONE, KIT, event, opening, pieces, stream, texts

WHOLE = stream(texts("it’s 北🌍\n", "done"), pieces(0, "a", "read", "{}"), finish="tool_calls")


@each_path_of(KIT)
def test_an_end_marker_without_a_finish_ends_no_answer(subject: Subject) -> None:
    events = [*WHOLE[:3], DONE]
    with scripted(lambda exchange: exchange.stream(*events)) as server, pytest.raises(TransportError) as failure:
        subject.open(server.url).stream()
    assert failure.value.retryable
    assert failure.value.partial == (Text("it’s 北🌍\ndone"),)


@each_path_of(KIT)
def test_a_connection_that_breaks_behind_the_finish_loses_the_figures_and_the_answer(
    subject: Subject,
) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(WHOLE[:-2]))
        exchange.reset()

    with scripted(broken) as server, pytest.raises(TransportError):
        subject.open(server.url).stream()


@each_path_of(KIT)
@pytest.mark.parametrize(
    ("error", "expected", "kind"),
    [
        ({"message": "Sorry", "type": "tokens", "code": "rate_limit_exceeded"}, RateLimitError, "rate_limit_exceeded"),
        ("Sorry", OverloadedError, None),
    ],
    ids=["a code goes before the type", "a-string"],
)
def test_an_error_in_a_stream_may_have_another_form(
    subject: Subject, error: Any, expected: type[ProviderError], kind: str | None
) -> None:
    events = [opening(), *texts("so far"), event({"error": error})]
    with scripted(lambda exchange: exchange.stream(*events)) as server, pytest.raises(expected) as failure:
        subject.open(server.url).stream()
    assert (failure.value.kind, failure.value.message, failure.value.status) == (kind, "Sorry", 200)
