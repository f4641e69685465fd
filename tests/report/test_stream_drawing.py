"""An answer drawn event by event, with what happened to it at its place."""

from __future__ import annotations

import msgspec

from turnproof.report import conversation
from turnproof.report.stream_drawing import Piece, draw_stream
from turnproof.run.transcript import WireResponse

from .exchanges import answer, streamed, transcript, user

DIALECT = "anthropic-messages"


def kinds(response: WireResponse, cancelled: str = "") -> list[str]:
    return [piece.kind for piece in draw_stream(response, DIALECT, cancelled)]


def test_every_event_is_a_piece_with_the_text_that_it_adds() -> None:
    pieces = draw_stream(answer(streamed("Let me", " look."), 2), DIALECT)
    assert [(piece.kind, piece.text) for piece in pieces] == [("text", "Let me"), ("text", " look.")]
    assert '"text_delta"' in pieces[0].raw


def test_a_cancel_stands_where_the_stream_was_held() -> None:
    response = answer(
        streamed("a", "b", "c"), 3, "cut-by-peer", held=True, released="peer-closed", events_after_cancel=1
    )
    assert kinds(response, "text:2") == ["text", "text", "cancel", "text", "closed"]
    assert draw_stream(response, DIALECT, "text:2")[2].words == "cancelled at text:2"


def test_a_cancel_that_ended_the_stream_says_who_closed_it() -> None:
    response = answer(streamed("a"), 1, "cut-by-peer", held=True)
    assert draw_stream(response, DIALECT)[-1].words == "cancelled, client closed"


def test_a_fault_stands_behind_the_events_that_were_written() -> None:
    cut = answer(streamed("a", "b"), 2, "cut-by-us", fault="reset")
    assert kinds(cut) == ["text", "text", "fault"]
    assert draw_stream(cut, DIALECT)[-1].words == "fault: reset"
    error = streamed("a") + 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n'
    assert kinds(answer(error, 1, "cut-by-us", fault="error-event")) == ["text", "fault", "error"]


def test_of_a_long_stream_the_middle_is_counted() -> None:
    pieces = draw_stream(answer(streamed(*map(str, range(100))), 100, "timed-out"), DIALECT)
    (gap,) = [piece for piece in pieces if piece.kind == "gap"]
    assert gap.words == "36 more events"
    assert len(pieces) == 48 + 1 + 16 + 1
    assert pieces[-1] == Piece("closed", "timed out")


def test_an_answer_in_one_body_needs_no_picture_unless_something_happened_to_it() -> None:
    whole = msgspec.structs.replace(answer("{}", 1), headers={"content-type": "application/json"})
    assert draw_stream(whole, DIALECT) == ()
    assert kinds(msgspec.structs.replace(whole, fault="truncated", ended="cut-by-us")) == ["body", "fault"]


def test_an_answer_that_no_dialect_reads_keeps_its_marks() -> None:
    assert draw_stream(answer("x", 1), "made-up") == ()
    cut = answer("x", 0, "cut-by-us", fault="reset")
    assert [piece.kind for piece in draw_stream(cut, "made-up")] == ["fault"]


def test_a_long_or_unprintable_piece_is_made_legible() -> None:
    (piece, _) = draw_stream(answer(streamed("x" * 5000 + "\x1b[31m", "b"), 2), DIALECT)
    assert len(piece.text) < 250
    assert "\x1b" not in piece.text + piece.raw


def test_a_conversation_has_the_picture_in_place_of_the_bytes() -> None:
    entries = conversation(transcript("legacy", ["hi"], [user("hi")], cancelled="text:2"))
    (answer_entry,) = [entry for entry in entries if entry.label.startswith("←")]
    assert answer_entry.text == ""
    assert [piece.kind for piece in answer_entry.stream] == ["text", "text", "cancel"]
    assert answer_entry.stream[-1].words == "cancelled at text:2, client closed"
    assert answer_entry.call == 0


def test_an_entry_reads_like_another_whichever_call_it_belongs_to() -> None:
    (one, *_) = conversation(transcript("legacy", ["hi"], [user("hi")]))
    assert one.reads_like(msgspec.structs.replace(one, call=7))
    assert not one.reads_like(msgspec.structs.replace(one, text="other"))
    assert not one.reads_like(None)
