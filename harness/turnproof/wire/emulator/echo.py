"""What `turnproof serve` answers without a scenario: enough of a model that a client can be developed without a key.

It says what was said to it, keeps limits and stop sequences, thinks where it is asked to, and calls a tool where it has
to. The same request gets the same answer.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from ...dialects.asked_settings import asks_for_thinking, forced_tool, output_limits, stop_sequences
from ...dialects.base import Call, Rendered, Reply, ReplyPart
from ...messages import FinishReason, FunctionCall, Text, Thought, ToolSchema, thaw
from ...tokens import text_tokens
from ..cassettes.match import digest
from .responders import account
from .server_run import Exchange, ServerRun

_SAMPLES: Final[dict[str, Any]] = {"integer": 1, "number": 1.5, "boolean": True, "null": None, "string": "text"}
_DEEPEST: Final = 5


class EchoResponder:
    """Answers with what was said last."""

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        usage, commit = account(run, call)
        exchange.prompt_tokens = usage.whole
        seed = f"{run.seed}/{digest(run.dialect, call)}"
        if call.operation != "generate":
            return run.dialect.render_extra(call, usage, run.world, seed)
        rendered = run.dialect.render(call, _reply(call), usage, run.world, seed)
        commit()
        return rendered


def _reply(call: Call) -> Reply:
    thoughts = (ReplyPart(Thought("They said something; I say it back.")),) if asks_for_thinking(call.settings) else ()
    tool = forced_tool(call.settings, call.tools)
    if tool is not None:
        tool_call = FunctionCall("", tool.name, arguments_for(tool))
        return Reply((*thoughts, ReplyPart(tool_call)), FinishReason.TOOL_USE)
    text, finish, raw = _cut(_echo(call), call)
    return Reply((*thoughts, ReplyPart(Text(text))) if text else thoughts, finish, raw)


def _echo(call: Call) -> str:
    last = next((m for m in reversed(call.messages) if m.role in ("user", "tool")), None)
    text = last.text if last is not None else ""
    results = "; ".join(f"{r.name or r.call_id}: {r.result}" for r in (last.results if last else ()))
    return f"You said: {text}" if text else f"The tools answered: {results}" if results else "Hello."


def _cut(text: str, call: Call) -> tuple[str, FinishReason, str | None]:
    """The text up to a stop sequence or to the limit, and why it ends there."""
    ends = [at for stop in stop_sequences(call.settings) if (at := text.find(stop)) >= 0]
    finish, raw = (FinishReason.STOP, "stop_sequence") if ends else (FinishReason.STOP, None)
    text = text[: min(ends)] if ends else text
    limits = [value for value in output_limits(call.settings).values() if isinstance(value, int) and value > 0]
    if limits and text_tokens(text) > min(limits):
        # The longest beginning that fits; counting is dear where the text is long.
        text = text[: bisect_right(range(len(text)), min(limits), key=lambda end: text_tokens(text[:end])) - 1]
        finish, raw = FinishReason.MAX_TOKENS, None
    return text, finish, raw


def arguments_for(tool: ToolSchema) -> dict[str, Any]:
    """Arguments that the tool's schema takes."""
    found = _sample(thaw(tool.parameters), thaw(tool.parameters), 0)
    return found if isinstance(found, dict) else {}


def _sample(schema: Any, root: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return None
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if schema.get("enum"):
        return schema["enum"][0]
    if isinstance(reference := schema.get("$ref"), str):
        return _sample(_at(reference, root), root, depth + 1)
    for several in ("anyOf", "oneOf"):
        if schema.get(several):
            return _sample(schema[several][0], root, depth + 1)
    kind = schema.get("type")
    kind = str(next((one for one in kind if one != "null"), "null") if isinstance(kind, list) else kind).lower()
    if kind == "array":
        return [_sample(schema.get("items"), root, depth + 1)] if schema.get("minItems") else []
    if kind == "object" or "properties" in schema:
        needed = schema.get("required") or ()
        return {
            name: _sample(one, root, depth + 1) for name, one in schema.get("properties", {}).items() if name in needed
        }
    if kind in ("integer", "number") and "minimum" in schema:
        return schema["minimum"]
    return _SAMPLES.get(kind)


def _at(reference: str, root: Any) -> Any:
    place = root
    for step in reference.removeprefix("#/").split("/"):
        place = place.get(step) if isinstance(place, dict) else None
    return place
