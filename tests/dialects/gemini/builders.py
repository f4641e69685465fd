"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from typing import Any

from ..requests import Json

KEY = "key-of-the-pairs"
MODEL = "gemini-3-flash-preview"
OLD = "gemini-2.5-flash"
PROJECT = "projects/garden/locations/global"

# Their bytes are written with + and / in one alphabet, with - and _ in the other.
SIGNATURE, SIGNATURE_URL_SAFE = "+/+/c2lnbmVk", "-_-_c2lnbmVk"
OTHER_CALLS_SIGNATURE = "c2lnbmVkLWZvci1iZWQtNA=="
OTHER_MODELS_SIGNATURE = "c2lnbmVkLWJ5LWFub3RoZXI="
UNKNOWN_SIGNATURE = "bmV2ZXItaXNzdWVk"
UNREACHABLE = "https://garden.example/files/gone"

CACHE, EXPIRED, DELETED, OF_OLD = (f"cachedContents/{name}" for name in ("alive", "expired", "deleted", "old"))
VERTEX_CACHE = f"{PROJECT}/cachedContents/4711"
NOW = 1_700_000_000.0
HANDBOOK = "The handbook of the greenhouse. " * 200


# -- words to build bodies with


def user(*parts: str | Json) -> Json:
    return {"role": "user", "parts": [_part(each) for each in parts]}


def model(*parts: str | Json) -> Json:
    return {"role": "model", "parts": [_part(each) for each in parts]}


def _part(each: str | Json) -> Json:
    return {"text": each} if isinstance(each, str) else each


def call(signature: str | None = SIGNATURE, name: str = "read_sensor", **more: Any) -> Json:
    part: Json = {"functionCall": {"name": name, "args": {"bed": "3"}, **more}}
    return part if signature is None else part | {"thoughtSignature": signature}


def response(value: Any = None, name: str = "read_sensor", **more: Any) -> Json:
    return {"functionResponse": {"name": name, "response": {"output": "41 %"} if value is None else value, **more}}


OPENING = user("How moist is bed 3?")
PARAMETERS: Json = {"type": "OBJECT", "properties": {"bed": {"type": "STRING"}}, "required": ["bed"]}
TOOL: Json = {"name": "read_sensor", "description": "Read one sensor", "parameters": PARAMETERS}
TOOLS: list[Json] = [{"functionDeclarations": [TOOL]}]
