"""An answer as the events of a stream, before they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...messages import FunctionCall, Opaque, Text, Thought
from ..base import EventKind, ReplyPart
from ..stream_cuts import arguments_json, cut_arguments, cut_text

Block = dict[str, Any]


class StreamEvent(NamedTuple):
    """One event before it is written: its name, its data without the type, what it is, and its visible text."""

    name: str
    data: Block
    kind: EventKind
    text: str = ""


def block_events(
    index: int, block: Block, reply_part: ReplyPart, arguments: Sequence[str], draw: int
) -> Iterator[StreamEvent]:
    """The events of one block; `arguments` are the pieces of its argument JSON, where it is a call."""

    def delta(kind: str, event_kind: EventKind, field: str, value: object, text: str = "") -> StreamEvent:
        data: Block = {"index": index, "delta": {"type": kind, field: value}}
        return StreamEvent("content_block_delta", data, event_kind, text)

    part = reply_part.part
    start = dict(block)
    body: list[StreamEvent] = []
    match part:
        case Text():
            start["text"] = ""
            pieces = reply_part.pieces or cut_text(part.text, draw)
            body = [delta("text_delta", "text", "text", piece, piece) for piece in pieces]
            if "citations" in block:
                start["citations"] = []
                body += [delta("citations_delta", "text", "citation", each) for each in block["citations"]]
        case Thought() if block["type"] == "thinking":
            start["thinking"] = ""
            pieces = reply_part.pieces or cut_text(part.text, draw)
            body = [delta("thinking_delta", "thinking", "thinking", piece) for piece in pieces]
            if "signature" in block:
                start["signature"] = ""
                body.append(delta("signature_delta", "signature", "signature", block["signature"]))
        case FunctionCall():
            start["input"] = {}
            body = [delta("input_json_delta", "args", "partial_json", piece) for piece in arguments]
        case Opaque() if block.get("input"):
            start["input"] = {}
            pieces = cut_arguments(arguments_json(block["input"], escaped=False), draw)
            body = [delta("input_json_delta", "args", "partial_json", piece) for piece in ("", *pieces)]
    yield StreamEvent("content_block_start", {"index": index, "content_block": start}, "block_start")
    yield from body
    if not reply_part.broken:
        # Recorded: a call clipped by the output limit is never closed.
        yield StreamEvent("content_block_stop", {"index": index}, "block_end")
