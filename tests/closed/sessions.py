"""Sessions that open their own client, as every agent framework's does, and how they are broken.

An adapter of ours is the client. turnproof is given no provider, and no call goes through a tap: there is the wire, the
history, and what the user was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from turnproof.foreign import normalise, normalise_legacy
from turnproof.provider import Binding, Endpoint, Path
from turnproof.run.driver.mutation import Mutant, all_mutants
from turnproof.session.binding import REFERENCE, OpenedSession, load_session, open_session
from turnproof.session.session import Session
from turnproof.subject import SessionBinding, SessionSetup
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE_GENAI
from turnproof_adapters.openai.binding import BINDING as OPENAI

Wrap = Callable[[Any, Path], Any]
Change = Callable[[Endpoint], Endpoint]


def _unchanged(provider: Any, path: Path) -> Any:
    return provider


def _same(endpoint: Endpoint) -> Endpoint:
    return endpoint


class Client:
    """What the session has of the adapter: whatever that offers, and no more."""

    def __init__(self, provider: Any) -> None:
        self.provider = provider

    def __getattr__(self, name: str) -> Any:
        return getattr(self.provider, name)


def closed(adapter: Binding, wrap: Wrap = _unchanged, endpoint: Change = _same) -> SessionBinding:
    """The reference session with this adapter as its own client, on both paths.

    `wrap` may change the client, and `endpoint` what it is opened with.
    """

    def own(setup: SessionSetup) -> SessionSetup:
        def open_client(path: Path) -> Client:
            opener = adapter.opener(path)
            assert opener is not None, f"{adapter.name} has a {path} path"
            raw = opener(endpoint(setup.endpoint))
            if path == "stateless":
                return Client(wrap(normalise(raw, signature=adapter.signature, errors=adapter.errors), path))
            return Client(wrap(normalise_legacy(raw, errors=adapter.errors), path))

        return replace(setup, open_provider=open_client)

    def load(setup: SessionSetup, saved: str) -> Session:
        return load_session(own(setup), saved)

    def swap(session: OpenedSession, _: object) -> None:
        before: Any = session.provider
        session.swap(session.setup.open_provider(session.path))
        before.shutdown()

    return replace(
        REFERENCE,
        name=f"closed-{adapter.name}",
        adapter=replace(adapter, open_stateless=None, open_legacy=None),
        open=lambda setup: open_session(own(setup)),
        load=load,
        swap=swap,
        close=lambda session: session.provider.shutdown(),
    )


CLOSED_ANTHROPIC = closed(ANTHROPIC)
CLOSED_OPENAI = closed(OPENAI)
CLOSED_GOOGLE_GENAI = closed(GOOGLE_GENAI)

ADAPTERS = {binding.name: binding for binding in (ANTHROPIC, OPENAI, GOOGLE_GENAI)}


def broken_inside(mutant: Mutant, adapter: Binding) -> Mutant:
    """The same defect in a session's own client, where nobody can look."""
    broken = closed(adapter, mutant.wrap or _unchanged, mutant.endpoint)
    return replace(mutant, seam="session", wrap=None, endpoint=_same, session=lambda _: broken)


def mutants_inside(adapter: Binding) -> dict[str, Mutant]:
    """Every mutant of adapters, inside a closed session."""
    inside = {}
    for name, mutant in all_mutants().items():
        if mutant.seam in ("inputs", "outputs", "callbacks", "wire") and "stateless" in mutant.paths:
            inside[name.replace("-", "_").upper()] = broken_inside(mutant, adapter)
    return inside
