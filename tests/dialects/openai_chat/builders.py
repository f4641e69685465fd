"""Words to build requests with: the smallest bodies that say something, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from turnproof.dialects.base import HttpRequest, World
from turnproof.dialects.openai_chat import DIALECT
from turnproof.dialects.openai_chat.surfaces import Surface

Json = dict[str, Any]

KEY = "key-of-the-pairs"
MODEL = "gpt-4o"
REASONER = "gpt-5"
SESSION = "tid=0;exp=1800;of=the-pairs"
UNREACHABLE = "https://garden.example/gone.png"
DEPLOYMENT = "/openai/deployments/gpt-4o/chat/completions"

PATHS: Mapping[Surface, str] = {
    Surface.OPENAI: "/v1/chat/completions",
    Surface.AZURE: DEPLOYMENT,
    Surface.GITHUB: "/inference/chat/completions",
    Surface.COPILOT: "/chat/completions",
    Surface.ZAI: "/api/paas/v4/chat/completions",
    Surface.OLLAMA: "/v1/chat/completions",
}
MODELS: Mapping[Surface, str] = {
    Surface.OPENAI: MODEL,
    Surface.AZURE: MODEL,
    Surface.GITHUB: "openai/gpt-4o",
    Surface.COPILOT: "gpt-4o",
    Surface.ZAI: "glm-4.7",
    Surface.OLLAMA: "qwen3",
}
HEADERS: Mapping[Surface, Mapping[str, str]] = {
    Surface.AZURE: {"api-key": KEY},
    Surface.COPILOT: {"authorization": f"Bearer {SESSION}", "editor-version": "turnproof/1.0"},
    Surface.OLLAMA: {},
}


def world() -> World:
    """The world of the pairs: one key, one session token, all models, one dead URL; its clock stands at zero."""
    return World(
        keys=frozenset({KEY}),
        models=DIALECT.models,
        clock=lambda: 0.0,
        unreachable_urls=frozenset({UNREACHABLE}),
        resources={"copilot": {SESSION: 1800}},
    )


@dataclass(frozen=True)
class Ask:
    """One request. `headers` override the usual ones; None takes one away. `raw` replaces the encoded body."""

    body: Json = field(default_factory=dict)
    path: str | None = None
    method: str = "POST"
    headers: Mapping[str, str | None] = field(default_factory=dict)
    query: Mapping[str, str] | None = None
    raw: bytes | None = None
    surface: Surface = Surface.OPENAI

    @property
    def address(self) -> str:
        return self.path if self.path is not None else PATHS[self.surface]

    @property
    def parameters(self) -> Mapping[str, str]:
        usual = {"api-version": "2024-10-21"} if self.surface is Surface.AZURE else {}
        return usual if self.query is None else self.query

    def request(self, encode: Callable[[Json], bytes]) -> HttpRequest:
        """The request as it arrives."""
        usual = {"content-type": "application/json"}
        usual |= HEADERS.get(self.surface, {"authorization": f"Bearer {KEY}"})
        headers = {name: value for name, value in (usual | dict(self.headers)).items() if value is not None}
        body = self.raw if self.raw is not None else b"" if self.method == "GET" else encode(self.body)
        return HttpRequest(self.method, self.address, dict(self.parameters), headers, body)


@dataclass(frozen=True)
class Pair:
    """`illegal` is refused by `rule` with exactly these words; `legal` differs as little as can be and is accepted."""

    rule: str
    illegal: Ask
    message: str
    legal: Ask
    status: int = 400
    kind: str = "invalid_request_error"
    enforced: bool = True
    variant: str = ""
    param: str | None = None

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.variant}" if self.variant else self.rule


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


ASKED = user("How moist is bed 3?")
TOOL = tool()
PNG = "data:image/png;base64,iVBORw0KGgo="


def body(*messages: Json, surface: Surface = Surface.OPENAI, **more: Any) -> Json:
    """A request of these messages (one question where there are none)."""
    return {"model": MODELS[surface], "messages": list(messages or (ASKED,))} | more


def ask(*messages: Json, surface: Surface = Surface.OPENAI, **more: Any) -> Ask:
    return Ask(body(*messages, surface=surface, **more), surface=surface)


def loop(*answers: Json, surface: Surface = Surface.OPENAI, **more: Any) -> Ask:
    """A running tool loop: asked, called, answered with these messages."""
    return ask(ASKED, assistant(None, call()), *answers, surface=surface, tools=[TOOL], **more)


def without(name: str) -> Ask:
    return Ask({key: value for key, value in body().items() if key != name})
