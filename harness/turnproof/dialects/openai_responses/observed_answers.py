"""What a recorded or real answer tells the world: its items, what it encrypted, and whether it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..base import Call, World
from ..lenient_reading import json_of
from ..sse import frames, is_event_stream
from .store import remember
from .surfaces import ResponsesCall

_OPEN = (None, "in_progress", "queued")


def observe(call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
    """Remember what an answer to `call` issued. An answer that names its model is believed."""
    own_call = ResponsesCall.from_call(call)
    for response in _response_object(headers, body):
        model = response.get("model")
        issuer = model if isinstance(model, str) and model else call.model or ""
        remember(response, own_call.items, world, stored=own_call.stored, model=issuer)


def _response_object(headers: Mapping[str, str], body: bytes) -> Iterator[dict[str, Any]]:
    """The response as a batch answer gives it; as a stream gives it, at its end and item by item.

    Recorded: encrypted content is drawn anew for every event that shows an item, so the two differ and both are good.
    """
    if not is_event_stream(headers.get("content-type", ""), body):
        if isinstance(found := json_of(body), dict) and "output" in found:
            yield found
        return
    last: dict[str, Any] = {}
    done: list[Any] = []
    for frame in frames(body):
        match json_of(frame.data) if frame.data is not None else None:
            case {"type": "response.output_item.done", "item": dict(item)}:
                done.append(item)
            case {"type": str(), "response": dict(response)}:
                last = response
    if last.get("status") not in _OPEN:
        yield last
    if done:
        yield last | {"output": done}
