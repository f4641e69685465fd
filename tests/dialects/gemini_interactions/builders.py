"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.gemini_interactions import DIALECT
from turnproof.dialects.gemini_interactions.store import remember

from .. import refusals, requests
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


def world() -> World:
    """The world of the pairs: one key, all models, a stored interaction of an answer and one of a signed call, one that
    was not stored, one in the background, one that failed, and a thought of another model."""
    found = World(keys=frozenset({KEY}), models=DIALECT.models, clock=lambda: 1_700_000_000.0)
    fields = {"status": "completed"}
    remember({"id": STORED, "steps": [model("41 %")], **fields}, (OPENING,), found, stored=True, model=MODEL)
    steps = [thought(), SIGNED_CALL]
    remember({"id": CALLED, "steps": steps, **fields}, (OPENING,), found, stored=True, model=MODEL)
    remember({"id": FLEETING, "steps": steps, **fields}, (OPENING,), found, stored=False, model=MODEL)
    remember({"id": FAILED, "steps": [], "status": "failed"}, (OPENING,), found, stored=True, model=MODEL)
    remember({"id": RUNNING, "steps": [], "status": "in_progress"}, (OPENING,), found, stored=True, model=MODEL)
    found.resources[RUNNING].final = {"id": RUNNING, "steps": [model("41 %")], **fields}
    remember({"steps": [thought(SIGNED_BY_OTHER)]}, (OPENING,), found, stored=False, model=OTHER)
    return found


@dataclass(frozen=True)
class Ask(requests.Ask):
    """One request to the Interactions API."""

    BODILESS = ("GET", "DELETE")

    path: str = "/v1beta/interactions"

    @property
    def usual_headers(self) -> Mapping[str, str]:
        return {"x-goog-api-key": KEY}


Pair = refusals.Pair[Ask]


def body(*steps: Json, **more: Any) -> Json:
    """The body of a request with these steps; the one question by default."""
    return {"model": MODEL, "input": list(steps) or [OPENING], **more}


def ask(*steps: Json, **more: Any) -> Ask:
    """A request with these steps."""
    return Ask(body(*steps, **more))


def loop(*steps: Json, **more: Any) -> Ask:
    """The question, then these steps."""
    return ask(OPENING, *steps, **more)


def on(name: str, method: str = "GET", **query: str) -> Ask:
    """An operation on an interaction that is kept."""
    return Ask(path=f"/v1beta/interactions/{name}", method=method, query=query)


SCHEMA: Json = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}


def function(name: str = "read_sensor", parameters: Json | None = None, **more: Any) -> Json:
    """A tool of the caller."""
    return {"type": "function", "name": name, "parameters": parameters or SCHEMA, **more}
