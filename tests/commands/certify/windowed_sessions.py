"""The reference session with a window: as it shows its provider calls, and as one that opens its own provider."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from turnproof.provider import Binding
from turnproof.session.binding import windowed
from turnproof.subject import SessionBinding, SessionSetup
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC

WIRE = Binding("windowed-wire", ANTHROPIC.dialect, ANTHROPIC.model, replace(ANTHROPIC.claims(), cache="none"))


def closed(claim: str) -> SessionBinding:
    """One of which the wire and the history show, and no provider call."""
    bound = windowed(claim, WIRE.claims(), adapter=WIRE)
    opener = ANTHROPIC.open_stateless
    assert opener is not None

    def own_provider(setup: SessionSetup) -> SessionSetup:
        return replace(setup, open_provider=lambda path: opener(setup.endpoint), path="stateless", cache_plugin=None)

    def opened(setup: SessionSetup) -> Any:
        return bound.open(own_provider(setup))

    def loaded(setup: SessionSetup, saved: str) -> Any:
        assert bound.load is not None
        return bound.load(own_provider(setup), saved)

    def close(session: Any) -> None:
        session.provider.shutdown()

    return replace(bound, name=f"closed-{bound.name}", open=opened, load=loaded, close=close, path=None, swap=None)


MESSAGES = windowed("4 messages", ANTHROPIC.claims())
TURNS = windowed("2 turns", ANTHROPIC.claims())
CLOSED_MESSAGES = closed("4 messages")
CLOSED_TURNS = closed("2 turns")
