"""Sessions that open their own client, as every agent framework's does, and how they are broken.

An adapter of ours is the client. turnproof is given no provider, and no call goes through a tap: there is the wire, the
history, and what the user was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from turnproof.foreign import normalise
from turnproof.provider import Binding
from turnproof.run.driver.mutation import Mutant, all_mutants
from turnproof.session.binding import REFERENCE, load_session, open_session
from turnproof.session.session import Session
from turnproof.subject import SessionBinding, SessionSetup
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE_GENAI
from turnproof_adapters.openai.binding import BINDING as OPENAI

Wrap = Callable[[Any], Any]


class Client:
    """What the session has of the adapter: whatever that offers, and no more."""

    def __init__(self, provider: Any) -> None:
        self.provider = provider

    def __getattr__(self, name: str) -> Any:
        return getattr(self.provider, name)


def closed(adapter: Binding, wrap: Wrap = lambda provider: provider) -> SessionBinding:
    """The reference session with this adapter as its own client, which `wrap` may change."""
    opener = adapter.open_stateless
    assert opener is not None, f"{adapter.name} has a stateless path"

    def own(setup: SessionSetup) -> SessionSetup:
        def open_client(path: str) -> Client:
            raw = opener(setup.endpoint)
            return Client(wrap(normalise(raw, signature=adapter.signature, errors=adapter.errors)))

        return replace(setup, open_provider=open_client)

    def load(setup: SessionSetup, saved: str) -> Session:
        return load_session(own(setup), saved)

    return replace(
        REFERENCE,
        name=f"closed-{adapter.name}",
        adapter=replace(adapter, open_stateless=None, open_legacy=None),
        open=lambda setup: open_session(own(setup)),
        load=load,
        swap=None,
        provider_history=None,
        close=lambda session: session.provider.shutdown(),
        other_path=False,
        paths=("stateless",),
    )


CLOSED_ANTHROPIC = closed(ANTHROPIC)
CLOSED_OPENAI = closed(OPENAI)
CLOSED_GOOGLE_GENAI = closed(GOOGLE_GENAI)

ADAPTERS = {binding.name: binding for binding in (ANTHROPIC, OPENAI, GOOGLE_GENAI)}


def broken_inside(mutant: Mutant, adapter: Binding) -> Mutant:
    """The same defect in a session's own client, where nobody can look."""
    wrap = mutant.wrap
    session = mutant.session if wrap is None else lambda _: closed(adapter, lambda own: wrap(own, "stateless"))
    return replace(
        mutant, seam="session", wrap=None, session=session or (lambda binding: binding), paths=("stateless",)
    )


def mutants_inside(adapter: Binding) -> dict[str, Mutant]:
    """Every mutant of adapters, inside a closed session."""
    inside = {}
    for name, mutant in all_mutants().items():
        if mutant.seam in ("inputs", "outputs", "callbacks", "wire") and "stateless" in mutant.paths:
            inside[name.replace("-", "_").upper()] = broken_inside(mutant, adapter)
    return inside
