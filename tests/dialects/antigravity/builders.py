"""Words to ask the gateway with: envelopes around bodies, the world they are judged in, and what is said to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import msgspec

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.antigravity.call import AntigravityCall
from turnproof.dialects.base import HttpRequest, Refusal, World

from ..gemini.builders import user
from ..refusals import find_refusals
from ..requests import Json

KEY = "key-of-the-garden"
GEMINI, OLD, CLAUDE, OTHER_CLAUDE, GPT = (
    "gemini-3-flash",
    "gemini-2.5-flash",
    "claude-sonnet-4-6",
    "claude-opus-4-6-thinking",
    "gpt-oss-120b-medium",
)
NOW = 1_700_000_000.0


def world(**more: Any) -> World:
    """A world with one key, in which time stands still."""
    return World(keys=frozenset({KEY}), models=DIALECT.models, clock=lambda: NOW, **more)


def refresh_token(name: str, key: str = KEY) -> str:
    return f"1//{key}/{name}"


@dataclass(frozen=True)
class Ask:
    """One request: a body in its envelope, or any other. `account` None sends no token."""

    body: Any
    path: str = "/v1internal:generateContent"
    method: str = "POST"
    query: Mapping[str, str] = field(default_factory=dict)
    token: str | None = KEY

    def request(self) -> HttpRequest:
        """The request as it arrives."""
        headers = {"content-type": "application/json"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        raw = self.body if isinstance(self.body, bytes) else msgspec.json.encode(self.body)
        return HttpRequest(self.method, self.path, self.query, headers, raw)

    def by(self, token: str | None) -> Ask:
        return replace(self, token=token)

    def at(self, path: str) -> Ask:
        return replace(self, path=path)


def envelope(request: Json, model: str = GEMINI, **more: Any) -> Json:
    """A body in the envelope that Antigravity sends; `more` stands beside, or in the place of, what is in it."""
    usual = {"project": "turnproof-main", "model": model, "userAgent": "antigravity", "requestId": "agent-1"}
    return {name: value for name, value in (usual | {"request": request} | more).items() if value is not None}


def call(call_id: str | None = "toolu_vrtx_01A", name: str = "read_sensor", **args: Any) -> Json:
    identity = {} if call_id is None else {"id": call_id}
    return {"functionCall": {"name": name, "args": args, **identity}}


def response(call_id: str | None = "toolu_vrtx_01A", name: str = "read_sensor") -> Json:
    identity = {} if call_id is None else {"id": call_id}
    return {"functionResponse": {"name": name, "response": {"output": "41 %"}, **identity}}


def thought(text: str, signature: str | None = None) -> Json:
    return {"text": text, "thought": True} | ({} if signature is None else {"thoughtSignature": signature})


OPENING = user("How moist is bed 3?")
SENSOR: Json = {
    "name": "read_sensor",
    "description": "Read one sensor",
    "parameters": {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]},
}


def ask(*contents: Json, model: str = GEMINI, **request: Any) -> Ask:
    """A request for an answer to these contents (one question where there are none)."""
    return Ask(envelope({"contents": list(contents or (OPENING,))} | request, model))


def claude(*contents: Json, **request: Any) -> Ask:
    return ask(*contents, model=CLAUDE, **request)


def declaring(*tools: Json) -> Ask:
    return ask(tools=[{"functionDeclarations": list(tools)}])


def refresh(token: str, **more: str | None) -> Ask:
    """A refresh as a client sends it: a form, and no bearer token."""
    form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "c", "client_secret": "s"} | more
    sent = urlencode({name: value for name, value in form.items() if value is not None})
    return Ask(sent.encode(), "/token", token=None)


def judged(request: Ask, here: World | None = None) -> list[Refusal]:
    """All refusals of a request, in this world or in the usual one."""
    return find_refusals(DIALECT, request, here or world())


def read(sendable: Ask, here: World | None = None) -> AntigravityCall:
    """A request that can be read."""
    found = DIALECT.parse(sendable.request(), here or world())
    assert isinstance(found, AntigravityCall), found
    return found
