"""The pieces in which a file's server sends an answer, and where it holds it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from suites.build import RunBuilder, scripted

from turnproof.commands.reproduce.recorded_answers import RecordedAnswer, answers_of, held_answer
from turnproof.run.transcript import WireRequest, WireResponse


def streamed(**fields: Any) -> tuple[RecordedAnswer, WireResponse]:
    """A streamed answer as a file sends it, and the response that it is from."""
    view = RunBuilder(scripted(["Dry."], user="Bed 3?"), mode="stream").turn("Bed 3?").call("Dry.").end().view()
    (response,) = view.transcript.of(WireResponse)
    response = replace(response, **fields)
    events = [response if isinstance(one, WireResponse) else one for one in view.transcript.events]
    transcript = replace(view.transcript, events=events)
    (answer,) = answers_of(transcript, list(transcript.of(WireRequest)))
    return answer, response


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_stream_is_sent_event_by_event_however_its_lines_end(line_end: str) -> None:
    body = f"data: 1{line_end * 2}data: 2{line_end * 2}data: 3"
    assert len(streamed(body=body, sent=None)[0].pieces) == 3


def test_an_answer_is_held_where_the_run_was_cancelled() -> None:
    answer, response = streamed(written=2)
    assert held_answer(answer, response).pieces == (*answer.pieces[:2], None, *answer.pieces[2:])


def test_what_came_in_one_write_is_sent_in_one_write() -> None:
    answer, response = streamed(written=2, fault="merged")
    first = b"".join(piece or b"" for piece in answer.pieces[:2])
    assert held_answer(answer, response).pieces == (first, None, *answer.pieces[2:])
