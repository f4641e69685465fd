"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from typing import Any

from ..requests import Json

KEY = "key-of-the-pairs"
MODEL = "gpt-4o"
REASONER = "gpt-5"
SESSION = "tid=0;exp=1800;of=the-pairs"
UNREACHABLE = "https://garden.example/gone.png"
DEPLOYMENT = "/openai/deployments/gpt-4o/chat/completions"


# -- words to build bodies with


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def system(text: str, role: str = "system") -> Json:
    return {"role": role, "content": text}


def assistant(content: Any = None, *calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}


def call(call_id: str = "call_1", name: str = "read_sensor", arguments: str = '{"bed": "3"}') -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str = "call_1", content: Any = "41 %") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def tool(name: str = "read_sensor", parameters: Json | None = None, **more: Any) -> Json:
    schema = parameters if parameters is not None else {"type": "object", "properties": {"bed": {"type": "string"}}}
    function = {"name": name, "description": "Read one sensor", "parameters": schema, **more}
    return {"type": "function", "function": function}


def image(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


OPENING = user("How moist is bed 3?")
TOOL = tool()
PNG = "data:image/png;base64,iVBORw0KGgo="
