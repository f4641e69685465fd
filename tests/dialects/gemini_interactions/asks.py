"""Requests to the Interactions API, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.gemini_interactions import DIALECT
from turnproof.dialects.gemini_interactions.store import remember

from .. import refusals, requests
from ..requests import Json
from .builders import (
    CALLED,
    FAILED,
    FLEETING,
    KEY,
    MODEL,
    OPENING,
    OTHER,
    RUNNING,
    SIGNED_BY_OTHER,
    SIGNED_CALL,
    STORED,
    model,
    thought,
)


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
