"""Requests to the Messages API, and the world they are judged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.anthropic_messages.signing import digest
from turnproof.dialects.base import World

from .. import refusals, requests
from ..requests import Json
from .builders import (
    FOREIGN_SIGNATURE,
    KEY,
    MODEL,
    NEWEST,
    OPENING,
    REDACTED,
    SIGNATURE,
    SIGNATURE_OF_NOTHING,
    THOUGHT,
    TOOL,
    UNREACHABLE,
    assistant,
    call,
    user,
)


def world() -> World:
    """The world of the pairs: one key, all models, two signatures and a redacted block issued, one dead URL."""
    return World(
        keys=frozenset({KEY}),
        models=DIALECT.models,
        clock=lambda: 0.0,
        issued={
            SIGNATURE: (digest(THOUGHT), f"{MODEL}-20250929"),
            SIGNATURE_OF_NOTHING: (digest(""), f"{MODEL}-20250929"),
            FOREIGN_SIGNATURE: (digest(THOUGHT), NEWEST),
            REDACTED: (digest(""), f"{MODEL}-20250929"),
        },
        unreachable_urls=frozenset({UNREACHABLE}),
    )


@dataclass(frozen=True)
class Ask(requests.Ask):
    """One request to the Messages API."""

    path: str = "/v1/messages"

    @property
    def usual_headers(self) -> Mapping[str, str]:
        return {"x-api-key": KEY, "anthropic-version": "2023-06-01"}


Pair = refusals.Pair[Ask]


def body(*messages: Json, **more: Any) -> Json:
    """A request of these messages (one question where there are none)."""
    return {"model": MODEL, "max_tokens": 256, "messages": list(messages or (OPENING,))} | more


def ask(*messages: Json, **more: Any) -> Ask:
    return Ask(body(*messages, **more))


def loop(*answer: Json, **more: Any) -> Ask:
    """A running tool loop: asked, called, answered with these blocks."""
    return ask(OPENING, assistant(call()), user(*answer), tools=[TOOL], **more)


def counted(**more: Any) -> Ask:
    return Ask({"model": MODEL, "messages": [OPENING], **more}, "/v1/messages/count_tokens")


def without(name: str) -> Ask:
    return Ask({key: value for key, value in body().items() if key != name})


def new_version(*messages: Json, **more: Any) -> Ask:
    return Ask(body(*messages, **more), headers={"anthropic-version": "2026-10-21"})
