"""Adapters that a conversation is handed to, as `module:attribute`: two that are right, and what can go wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from turnproof.messages import Message, ProviderResponse
from turnproof.provider import Binding, Capabilities, Endpoint
from turnproof.wire.controls.anthropic_messages import CONTROL as ANTHROPIC
from turnproof.wire.controls.zai import CONTROL as ZAI

HERE = "commands.handoff.parties"


class _Forgetful:
    """Sends nothing of a conversation but the last turn."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def complete(self, messages: Sequence[Message], *args: Any, **kw: Any) -> ProviderResponse:
        start = max(n for n, message in enumerate(messages) if message.role == "user")
        response: ProviderResponse = self._inner.complete(messages[start:], *args, **kw)
        return response

    def shutdown(self) -> None:
        self._inner.shutdown()


def _forgetful(endpoint: Endpoint) -> _Forgetful:
    assert ZAI.open_stateless is not None
    return _Forgetful(ZAI.open_stateless(endpoint))


def _closed(endpoint: Endpoint) -> Any:
    raise RuntimeError("the region is closed")


def _stateless(binding: Binding, name: str, **changes: Any) -> Binding:
    return dataclasses.replace(binding, name=name, open_legacy=None, **changes)


FIRST = _stateless(ANTHROPIC, "first")
SECOND = _stateless(ZAI, "second")
FORGETFUL = _stateless(ZAI, "forgetful", open_stateless=_forgetful)
CLOSED = _stateless(ZAI, "closed", open_stateless=_closed)
MUTE = _stateless(ZAI, "mute", capabilities=Capabilities(streaming=True))
