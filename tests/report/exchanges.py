"""A conversation of one call on the wire of the Anthropic Messages API, made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from turnproof.messages import Message, ProviderResponse, Text, TokenUsage
from turnproof.provider import Path
from turnproof.run.transcript import (
    CallBegan,
    Cancelled,
    Response,
    RunEnded,
    RunKey,
    Transcript,
    TurnBegan,
    WireRequest,
    WireResponse,
)

SSE = {"content-type": "text/event-stream"}
STREAMED = "tools/two/{}/stream"


def streamed(*texts: str) -> str:
    """The body of a stream with one event for each text."""
    events = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}} for t in texts]
    return "".join(f"event: content_block_delta\ndata: {json.dumps(event)}\n\n" for event in events)


def answer(
    body: str,
    written: int,
    ended: Literal["completed", "cut-by-us", "cut-by-peer", "timed-out", "left-open"] = "completed",
    **more: Any,
) -> WireResponse:
    """What the server wrote in call 0 of turn 0."""
    return WireResponse(
        turn=0, call=0, exchange=0, status=200, headers=SSE, body=body, written=written, ended=ended, **more
    )


def user(text: str) -> dict[str, Any]:
    """A message of the user, as the API has it."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def transcript(
    path: Path,
    texts: Sequence[str],
    sent: Sequence[dict[str, Any]],
    findings: tuple[dict[str, Any], ...] = (),
    cancelled: str = "",
) -> Transcript:
    """A run in which the session holds these texts of the user and sends these messages."""
    messages = tuple(Message.user(text) for text in texts)
    body = {"model": "m", "max_tokens": 9, "messages": list(sent)}
    more = (Cancelled(turn=0, call=0, at=cancelled),) if cancelled else ()
    return Transcript(
        adapter="anthropic",
        dialect="anthropic-messages",
        model="m",
        backend="emulate",
        key=RunKey("tools/two", path),
        seed=0,
        events=(
            TurnBegan(turn=0, text="hi"),
            CallBegan(turn=0, call=0, messages=messages, system=None, tools=(), round=0, streamed=True),
            WireRequest(
                turn=0,
                call=0,
                exchange=0,
                method="POST",
                path="/v1/messages",
                headers={},
                body=body,
                digest="d",
                operation="generate",
                findings=findings,
            ),
            answer(streamed("a", "b"), 2, "cut-by-peer", held=True, released="peer-closed")
            if cancelled
            else answer(streamed("a", "b"), 2),
            *more,
            Response(turn=0, call=0, response=ProviderResponse((Text("ab"),), usage=TokenUsage())),
            RunEnded(how="completed"),
        ),
    )
