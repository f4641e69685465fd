"""What the tests share in which a program stands between a session and the API."""

from __future__ import annotations

from typing import Any

from turnproof.dialects.base import Call, HttpRequest, PromptUsage, WireAnswer, World
from turnproof.dialects.contract import Dialect
from turnproof.messages import ToolSchema

SYSTEM = "You keep a greenhouse log."
BED: dict[str, Any] = {"type": "object", "properties": {"bed": {"type": "string"}}}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS = (ToolSchema("read_sensor", "Read one sensor", BED), ToolSchema("open-valve", "Open a valve", NOTHING))


def world_of(dialect: Dialect) -> World:
    """The service, with one key."""
    return World(keys=frozenset({"k"}), models=dialect.models, clock=lambda: 0.0)


def answer_to_aside(dialect: Dialect, request: HttpRequest, call: Call, world: World) -> WireAnswer:
    """The answer to what a program asks beside the conversation: it is judged, and answered, like anything else."""
    assert call.operation == "other"
    assert dialect.validate(request, call, world) == []
    rendered = dialect.render_extra(call, PromptUsage(1), world, "seed")
    answer = dialect.read_response(rendered.status, rendered.headers, b"".join(e.data for e in rendered.events))
    assert answer.complete
    assert answer.parts != ()
    return answer
