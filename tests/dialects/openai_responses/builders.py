"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from typing import Any

from ..requests import Json

KEY, SESSION = "key-of-the-pairs", "tid=session-of-the-pairs"
MODEL, OLD, OTHER, NEWEST = "gpt-5", "gpt-4.1", "o3", "gpt-5.6-sol"
MARKED: Json = {"type": "input_text", "text": "Log", "prompt_cache_breakpoint": {"mode": "explicit"}}
"""A block with a breakpoint of the prompt cache."""
SEALED, SEALED_ELSEWHERE, SEALED_BY_OTHER = "gAAAAABsealed==", "gAAAAABfar==", "gAAAAABother=="
SEALED_FOR_OTHERS = "gAAAAABtheirs=="
"""Encrypted content: issued here to this model, issued nowhere, issued here to another model, and to another owner."""


def user(*content: str | Json) -> Json:
    """What the user says: a text alone as a string, anything else as a list."""
    blocks = [{"type": "input_text", "text": each} if isinstance(each, str) else each for each in content]
    return {"role": "user", "content": content[0] if len(content) == 1 and isinstance(content[0], str) else blocks}


def assistant(text: str, **more: Any) -> Json:
    """What the model says."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **more}


def call(call_id: str = "call_1", name: str = "read_sensor", arguments: str = '{"bed":"3"}', **more: Any) -> Json:
    """A call of a function."""
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def output(call_id: str = "call_1", value: Any = "41 %", **more: Any) -> Json:
    """What the function gave."""
    return {"type": "function_call_output", "call_id": call_id, "output": value, **more}


def reasoning(item_id: str | None = "rs_free", sealed: str | None = SEALED, **more: Any) -> Json:
    """What the model thought, in encrypted form."""
    named = {"id": item_id} if item_id is not None else {}
    return {"type": "reasoning", "summary": [], **named, **({"encrypted_content": sealed} if sealed else {}), **more}


STORED_REASONING, STORED_CALL, STORED_ANSWER = "rs_stored", "fc_stored", "msg_stored"
FLEETING_REASONING, FLEETING_CALL = "rs_fleeting", "fc_fleeting"
RESPONSE, BACKGROUND, FAILED, CONVERSATION = "resp_stored", "resp_background", "resp_failed", "conv_kept"

OPENING = user("How moist is bed 3?")
STORED = (
    reasoning(STORED_REASONING), call("call_s", id=STORED_CALL, status="completed"),
)  # fmt: skip
FLEETING = (reasoning(FLEETING_REASONING), call("call_f", id=FLEETING_CALL))


def function(name: str = "read_sensor", parameters: Json | None = None, **more: Any) -> Json:
    """A tool of the caller."""
    return {"type": "function", "name": name, "parameters": parameters or CLOSED, **more}


CLOSED: Json = {
    "type": "object",
    "properties": {"bed": {"type": "string"}},
    "required": ["bed"],
    "additionalProperties": False,
}
