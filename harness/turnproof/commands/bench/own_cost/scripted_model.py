"""A model that behaves: where it has tools it calls one, with arguments that its schema allows, and then it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....dialects.base import Call, PromptUsage, Rendered, Reply, ReplyPart
from ....messages import FinishReason, FunctionCall, Text, thaw
from ....wire.emulator import ServerRun
from ....wire.emulator.server_run import Exchange

_PIECES = ("It is a long answer, ", "told in ", "some pieces.")

# Some who ask for a word want to see one that is not in ASCII.
_VALUES: Mapping[str, Any] = {
    "string": "你好, こんにちは, 3",
    "integer": 3,
    "number": 3,
    "boolean": True,
    "array": [],
    "null": None,
}


class ScriptedModel:
    """A responder for any scenario, or none."""

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        """One reply."""
        usage = PromptUsage(run.dialect.count(call))
        exchange.prompt_tokens = usage.whole
        if call.operation != "generate":
            return run.dialect.render_extra(call, usage, run.world, run.seed)
        return run.dialect.render(call, reply_to(call), usage, run.world, run.seed)


def reply_to(call: Call) -> Reply:
    """A call of the tool that was asked for, or of the first one; a text where there is none, or its result is here."""
    body = call.body if isinstance(call.body, dict) else {}
    choice: Any = body.get("tool_choice") or {}
    if not call.tools or call.messages[-1].role == "tool" or choice.get("type") == "none":
        return Reply((ReplyPart(Text("".join(_PIECES)), _PIECES),), FinishReason.STOP)
    tool = next((each for each in call.tools if each.name == choice.get("name")), call.tools[0])
    args = example(thaw(tool.parameters))
    return Reply((ReplyPart(FunctionCall("toolu_01", tool.name, args)),), FinishReason.TOOL_USE)


def example(schema: Any) -> Any:
    """A value that a JSON schema of a tool allows."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return example(schema[key][0])
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: example(each) for name, each in schema.get("properties", {}).items()}
    return _VALUES[kind]
