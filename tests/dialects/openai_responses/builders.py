"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.openai_responses import DIALECT
from turnproof.dialects.openai_responses.store import Conversation, remember

from .. import refusals, requests
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


def world() -> World:
    """The world of the pairs: one key, all models, a stored response of reasoning and a call, another one of an answer,
    one that was not stored, one in the background, one that failed, a conversation, the reasoning of another model, a
    stored response of another owner, and two session tokens of Copilot, of which one is over."""
    found = World(keys=frozenset({KEY}), models=DIALECT.models, clock=lambda: 1_700_000_000.0)
    remember({"id": RESPONSE, "output": list(STORED)}, (OPENING,), found, stored=True, model=MODEL)
    answer = assistant("41 %", id=STORED_ANSWER)
    remember({"id": "resp_answer", "output": [answer]}, (OPENING,), found, stored=True, model=MODEL)
    remember({"id": "resp_fleeting", "output": list(FLEETING)}, (OPENING,), found, stored=False, model=MODEL)
    elsewhere = reasoning("rs_other", SEALED_BY_OTHER)
    remember({"id": "resp_other", "output": [elsewhere]}, (OPENING,), found, stored=False, model=OTHER)
    theirs = reasoning("rs_theirs", SEALED_FOR_OTHERS)
    others = replace(found, owner=1)
    remember({"id": "resp_theirs", "output": [theirs]}, (OPENING,), others, stored=True, model=MODEL)
    for name, more in ((BACKGROUND, {"background": True}), (FAILED, {"status": "failed"})):
        remember({"id": name, "output": [], **more}, (OPENING,), found, stored=True, model=MODEL)
    found.resources[CONVERSATION] = Conversation(CONVERSATION, 1_700_000_000)
    found.resources["copilot"] = {SESSION: 1_700_001_800, "tid=old": 1_700_000_000}
    return found


@dataclass(frozen=True)
class Ask(requests.Ask):
    """One request to the Responses API."""

    path: str = "/v1/responses"

    @property
    def usual_headers(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {KEY}"}


Pair = refusals.Pair[Ask]


def body(*items: Json, **more: Any) -> Json:
    """The body of a request with these items; the one question by default."""
    return {"model": MODEL, "input": list(items) or [OPENING], **more}


def ask(*items: Json, **more: Any) -> Ask:
    """A request with these items."""
    return Ask(body(*items, **more))


def loop(*items: Json) -> Ask:
    """The question, then these items."""
    return ask(OPENING, *items)


def copilot(*items: Json, editor: str | None = "vscode/1.99", token: str = SESSION, **more: Any) -> Ask:
    """The same at Copilot's door."""
    headers = {"editor-version": editor, "authorization": f"Bearer {token}"}
    return Ask(body(*items, **more), path="/responses", headers=headers)


def function(name: str = "read_sensor", parameters: Json | None = None, **more: Any) -> Json:
    """A tool of the caller."""
    return {"type": "function", "name": name, "parameters": parameters or CLOSED, **more}


CLOSED: Json = {
    "type": "object",
    "properties": {"bed": {"type": "string"}},
    "required": ["bed"],
    "additionalProperties": False,
}
