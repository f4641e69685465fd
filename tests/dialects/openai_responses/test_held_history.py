"""A conversation that the service holds, read back from the traces of a run: what was not sent again is not lost.

The requests alone do not say what was said; only with the answers before them can they be read.
"""

from __future__ import annotations

from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.openai_responses import DIALECT
from turnproof.judge.view.exchange import read_call, world_of
from turnproof.messages import FinishReason, Message, ToolResult, same_history
from turnproof.run.transcript import WireRequest, WireResponse

from ..answers import LOOK, reply
from .asks import world
from .builders import MODEL, OPENING, output
from .rendering import PROMPT, REPLIES, final


def exchange(
    number: int, body: dict[str, Any], script: Any, at: World
) -> tuple[WireRequest, WireResponse, dict[str, Any]]:
    """What a run keeps of one exchange, and the response in it."""
    request = WireRequest(
        exchange=number, method="POST", path="/v1/responses", headers={}, body=body, digest="", operation="generate"
    )
    call = read_call(DIALECT, request, at)
    assert call is not None
    rendered = DIALECT.render(call, script, PROMPT, at, f"s{number}")
    text = b"".join(event.data for event in rendered.events).decode()
    response = WireResponse(
        exchange=number, status=200, headers=dict(rendered.headers), body=text, written=1, ended="completed"
    )
    return request, response, final(rendered)


def test_a_request_that_goes_on_from_an_answer_is_read_with_all_that_led_to_it() -> None:
    at = world()
    at.any_key = True
    first, answered, response = exchange(
        0, {"model": MODEL, "input": [OPENING]}, reply(LOOK[2], finish=FinishReason.TOOL_USE), at
    )
    call_id = response["output"][0]["call_id"]
    body = {"model": MODEL, "input": [output(call_id)], "previous_response_id": response["id"], "stream": True}
    second, more, last = exchange(1, body, REPLIES["text"], at)
    third, _, _ = exchange(
        2, {"model": MODEL, "input": "Thanks", "previous_response_id": last["id"]}, REPLIES["text"], at
    )
    seen = world_of(DIALECT, [(first, answered), (second, more), (third, None)])
    found = read_call(DIALECT, third, seen)
    assert found is not None
    assert same_history(
        found.messages,
        [
            Message.user(OPENING["content"]),
            Message.model(type(LOOK[2])(call_id, "read_sensor", LOOK[2].args)),
            Message.tool(ToolResult(call_id, "read_sensor", "41 %")),
            Message.model("41 % 🌱"),
            Message.user("Thanks"),
        ],
        ids=False,
    )
    alone = read_call(DIALECT, third, world_of(DIALECT, [(third, None)]))
    assert alone is not None
    assert len(alone.messages) == 1
