"""Requests to the Responses API, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.openai_responses import DIALECT
from turnproof.dialects.openai_responses.store import Conversation, remember

from .. import refusals, requests
from ..requests import Json
from .builders import (
    BACKGROUND,
    CONVERSATION,
    FAILED,
    FLEETING,
    KEY,
    MODEL,
    OPENING,
    OTHER,
    RESPONSE,
    SEALED_BY_OTHER,
    SEALED_FOR_OTHERS,
    SESSION,
    STORED,
    STORED_ANSWER,
    assistant,
    reasoning,
)


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
