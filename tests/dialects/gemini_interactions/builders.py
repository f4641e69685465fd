"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from typing import Any

from ..requests import Json

KEY = "key-of-the-pairs"
MODEL, OTHER = "gemini-3.5-flash", "gemini-2.5-flash"
SIGNED, SIGNED_BY_OTHER, SIGNED_ELSEWHERE = "c2lnbmVk", "b3RoZXI=", "ZWxzZXdoZXJl"
"""Signatures: issued here to this model, issued here to another model, issued nowhere."""

STORED, CALLED, RUNNING, FAILED, FLEETING = "v1_stored", "v1_called", "v1_running", "v1_failed", "v1_fleeting"


def text(words: str) -> Json:
    """A text as content."""
    return {"type": "text", "text": words}


def user(*content: str | Json) -> Json:
    """What the user says."""
    return {"type": "user_input", "content": [text(each) if isinstance(each, str) else each for each in content]}


def model(*content: str | Json) -> Json:
    """What the model says."""
    return {"type": "model_output", "content": [text(each) if isinstance(each, str) else each for each in content]}


def thought(signature: str | None = SIGNED, *summary: str) -> Json:
    """What the model thought."""
    signed = {} if signature is None else {"signature": signature}
    return {"type": "thought", **signed, **({"summary": [text(each) for each in summary]} if summary else {})}


def call(call_id: str = "call_1", name: str = "read_sensor", **arguments: Any) -> Json:
    """A call of a function."""
    return {"type": "function_call", "id": call_id, "name": name, "arguments": arguments or {"bed": "3"}}


def result(call_id: str = "call_1", value: Any = "41 %", **more: Any) -> Json:
    """What the function gave."""
    return {"type": "function_result", "call_id": call_id, "name": "read_sensor", "result": value, **more}


OPENING = user("How moist is bed 3?")
SIGNED_CALL = call("call_signed")


SCHEMA: Json = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}


def function(name: str = "read_sensor", parameters: Json | None = None, **more: Any) -> Json:
    """A tool of the caller."""
    return {"type": "function", "name": name, "parameters": parameters or SCHEMA, **more}
