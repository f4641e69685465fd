"""A transcript as people read it: every kind of event is told, and what is long is shortened."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from turnproof.messages import FunctionCall, Message, Opaque, ProviderResponse, Text, Thought, TokenUsage, ToolResult
from turnproof.report import conversation
from turnproof.run import transcript as t

from .test_documents import a_transcript

HI = Message.user("hi")
USAGE = TokenUsage(prompt_tokens=7, output_tokens=2, total_tokens=9)


def read_entries(*events: t.Event, end: t.RunEnded | None = None) -> list[tuple[str, str, str]]:
    """Side, label and text of what is told of these events."""
    transcript = t.Transcript(
        adapter="a",
        dialect="d",
        model="m",
        backend="emulate",
        key=t.RunKey("core/x", "stateless"),
        seed=0,
        events=(*events, end or t.RunEnded(how="completed")),
    )
    return [(entry.side, entry.label, entry.text) for entry in conversation(transcript)]


def test_a_conversation_tells_the_run_in_order() -> None:
    labels = [entry.label for entry in conversation(a_transcript())]
    assert labels == [
        "turn 0",
        "call 0 streamed: 1 message, 0 tools",
        "→ POST /v1/messages",
        "refused: anthropic-messages/orphan at $.messages[3]",
        "← 400, 1 event, completed",
        "text callback, 2 times",
        "returned, finish reason unknown",
        "tool read: ok",
        "the call raised InvalidRequestError (status 400)",
        "history of the session after turn: 1 message",
        "turn 0 ended: error",
        "the run ended: completed",
        "printed",
    ]


def test_callbacks_of_one_kind_are_told_together() -> None:
    lines = read_entries(
        t.Thinking(text="Hm"),
        t.Thinking(text=", well"),
        t.Chunk(text="a"),
        t.Chunk(text="b"),
        t.UsageUpdate(usage=TokenUsage(1, 1, 2)),
        t.UsageUpdate(usage=USAGE),
        t.FunctionCallDetected(function_call=FunctionCall("c1", "read", {"bed": 3})),
        t.LateCallback(kind="on_chunk"),
    )
    assert lines[:-1] == [
        ("adapter", "thinking callback, 2 times", "Hm · , well"),
        ("adapter", "text callback, 2 times", "a · b"),
        ("adapter", "usage callback, 2 times", "tokens: prompt 7, output 2, total 9"),
        ("adapter", "function call callback", 'call c1 read({"bed": 3})'),
        ("trouble", "on_chunk was called after the call had returned", ""),
    ]


def test_what_happens_to_a_session_is_told() -> None:
    lines = read_entries(
        t.Cancelled(at="text:2"),
        t.Retried(attempt=2, delay=0.5, error="OverloadedError"),
        t.Collected(before=("a", "b"), after=("b",)),
        t.Saved(data="{}"),
        t.Loaded(messages=(HI,)),
        t.Swapped(name="anthropic"),
    )
    assert [label for _, label, _ in lines[:-1]] == [
        "cancelled at text:2",
        "retry 2 after 0.5 s",
        "history collected: 2 messages before, 1 after",
        "session saved, 2 characters",
        "session loaded, 1 message",
        "provider replaced by a fresh anthropic",
    ]


def test_what_is_done_with_a_session_is_told() -> None:
    lines = read_entries(
        t.SessionOpened(path="legacy"),
        t.Cancelled(at="text:2", stopped=True),
        t.Reset(),
        t.Reverted(to=1),
        t.Loaded(messages=(HI,), damaged=True),
        t.Refused(operation="revert", error="IndexError", message="no such turn"),
        t.UsageReport(usage=USAGE),
        t.ContextReport(tokens=9),
        t.SpanMade(span=0, name="invoke_agent", kind="internal", status="unset", calls=(0, 1)),
        t.SpanMade(
            span=1,
            parent=0,
            name="chat",
            kind="client",
            status="error",
            calls=(0, 1),
            attributes={"a": 1},
            ended=False,
        ),
    )
    assert [(label, text) for _, label, text in lines[:-1]] == [
        ("session opened on the legacy path", ""),
        ("stopped at text:2", ""),
        ("conversation reset", ""),
        ("went back to the end of turn 1 of the history", ""),
        ("damaged session loaded, 1 message", ""),
        ("revert was refused: IndexError", "no such turn"),
        ("usage that the session gives", "tokens: prompt 7, output 2, total 9"),
        ("context taken by the session's account: 9 tokens", ""),
        ("span 0: invoke_agent", "{}"),
        ("span 1 below 0: chat, error, never ended", '{"a": 1}'),
    ]


def test_every_kind_of_part_has_a_form() -> None:
    parts = (Text("x"), Thought("hm"), FunctionCall("c1", "read"), Opaque("d", "block", {"k": 1}))
    (_, label, text), (side, changed, _), _ = read_entries(
        t.Response(response=ProviderResponse(parts=parts, usage=USAGE), mutated=("$[0].parts",))
    )
    assert label == "returned, finish reason unknown"
    assert text.splitlines()[:3] == ['"x"', 'thought "hm"', "call c1 read({})"]
    assert text.splitlines()[3].startswith("Opaque {")
    assert (side, changed) == ("trouble", "the call changed its arguments")


def test_of_a_long_history_the_end_is_told() -> None:
    results = Message.tool(ToolResult("c1", "read", "41 %", is_error=True))
    (_, label, text), _ = read_entries(t.HistorySnapshot(owner="provider", messages=(*[HI] * 9, results)))
    assert label == "history of the provider after turn: 10 messages"
    assert text.splitlines()[0] == "… 6 earlier …"
    assert text.splitlines()[-1] == 'tool: error result for c1: "41 %"'


def test_probes_attempts_and_unscripted_requests_are_marked() -> None:
    began = t.CallBegan(
        messages=(HI,), system=None, tools=(), round=0, streamed=False, attempt=1, call=2, probe="fresh"
    )
    extra = t.WireRequest(
        exchange=0, method="POST", path="/x", headers={}, body="no json", digest="d", operation="other", extra=True
    )
    answer = t.WireResponse(
        exchange=0,
        status=200,
        headers={},
        body="/w==",
        base64=True,
        written=3,
        ended="cut-by-us",
        fault="reset",
        held=True,
        released="peer-closed",
    )
    lines = read_entries(began, extra, answer)
    assert lines[0][1] == "fresh probe: call 2 in one piece: 1 message, 0 tools, attempt 2"
    assert lines[1][1:] == ("→ POST /x (not scripted)", "no json")
    assert lines[2][1:] == ("← 200, 3 events, cut-by-us, fault reset, held until peer-closed", r"\xff")


@pytest.mark.parametrize(
    ("sent", "more", "label", "text"),
    [
        ("d:1\r\n\r\nd\n", {"fault": "respelled", "spelling": "lf"}, "spelling lf", "d:1\\r\\n\n\\r\\n\nd\\n"),
        (": hm\n\ndata: {}\r", {"fault": "comment"}, "fault comment", ": hm\\n\n\\n\ndata: {}\\r"),
        ("data: []", {}, "rewritten by a proxy", "data: []"),
        ("", {}, "no body", ""),
    ],
)  # fmt: skip
def test_bytes_that_are_not_the_answer_as_it_stands_are_shown_under_their_reason(
    sent: str, more: dict[str, Any], label: str, text: str
) -> None:
    answer = t.WireResponse(
        exchange=0, status=200, headers={}, body="data: {}", written=1, ended="completed", sent=sent, **more
    )
    lines = read_entries(answer)
    assert lines[1] == ("wire", f"← bytes as sent, {label}", text)
    assert not any("as sent" in line[1] for line in read_entries(msgspec.structs.replace(answer, sent=None)))


def test_a_run_that_did_not_complete_is_trouble_and_a_leak_too() -> None:
    lines = read_entries(end=t.RunEnded(how="hung", detail="no sign of life", leaks=("the key stands in stdout",)))
    assert lines == [
        ("trouble", "the run ended: hung", "no sign of life"),
        ("trouble", "the key leaked", "the key stands in stdout"),
    ]


def test_a_long_text_is_shortened_in_the_middle() -> None:
    entries = conversation(a_transcript("x" * 50_000))
    assert all(len(entry.text) < 7_000 for entry in entries)
    wire = next(entry for entry in entries if entry.label.startswith("→"))
    assert "characters left out" in wire.text
