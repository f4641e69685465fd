"""Requests to the Chat Completions API, at each of its surfaces, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.openai_chat import DIALECT
from turnproof.dialects.openai_chat.surfaces import Surface

from .. import refusals, requests
from ..requests import Json
from .builders import DEPLOYMENT, KEY, MODEL, OPENING, SESSION, TOOL, UNREACHABLE, assistant, call

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
class Ask(requests.Ask):
    """One request to a surface, at its own path where none is named."""

    surface: Surface = Surface.OPENAI

    @property
    def address(self) -> str:
        return self.path or PATHS[self.surface]

    @property
    def usual_headers(self) -> Mapping[str, str]:
        return HEADERS.get(self.surface, {"authorization": f"Bearer {KEY}"})

    @property
    def usual_query(self) -> Mapping[str, str]:
        return {"api-version": "2024-10-21"} if self.surface is Surface.AZURE else {}


Pair = refusals.Pair[Ask]


def body(*messages: Json, surface: Surface = Surface.OPENAI, **more: Any) -> Json:
    """A request of these messages (one question where there are none)."""
    return {"model": MODELS[surface], "messages": list(messages or (OPENING,))} | more


def ask(*messages: Json, surface: Surface = Surface.OPENAI, **more: Any) -> Ask:
    return Ask(body(*messages, surface=surface, **more), surface=surface)


def loop(*answers: Json, surface: Surface = Surface.OPENAI, **more: Any) -> Ask:
    """A running tool loop: asked, called, answered with these messages."""
    return ask(OPENING, assistant(None, call()), *answers, surface=surface, tools=[TOOL], **more)


def without(name: str) -> Ask:
    return Ask({key: value for key, value in body().items() if key != name})
