"""The reference adapter, broken on purpose in one place each, as somebody's `module:attribute`."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from turnproof.messages import FinishReason, ProviderResponse, Text
from turnproof.provider import Binding, Capabilities, Endpoint
from turnproof.run.project_folder import project_folder
from turnproof_adapters.anthropic.binding import BINDING as REFERENCE


class Wrapped:
    """The adapter, with its answers changed."""

    def __init__(self, inner: Any, change: Callable[[ProviderResponse], ProviderResponse]) -> None:
        self._inner = inner
        self._change = change

    def complete(self, *args: Any, **kw: Any) -> ProviderResponse:
        return self._change(self._inner.complete(*args, **kw))

    def shutdown(self) -> None:
        self._inner.shutdown()


def binding(name: str, change: Callable[[ProviderResponse], ProviderResponse]) -> Binding:
    """The reference binding's stateless path, changed."""
    opener = REFERENCE.open_stateless
    assert opener is not None
    return dataclasses.replace(
        REFERENCE, name=name, open_stateless=lambda endpoint: Wrapped(opener(endpoint), change), open_legacy=None
    )


def _always_stop(response: ProviderResponse) -> ProviderResponse:
    return msgspec.structs.replace(response, finish_reason=FinishReason.STOP)


def _shouting(response: ProviderResponse) -> ProviderResponse:
    parts = tuple(Text(part.text.upper()) if isinstance(part, Text) else part for part in response.parts)
    return msgspec.structs.replace(response, parts=parts)


def _hang(response: ProviderResponse) -> ProviderResponse:
    Path(project_folder(), "hanging").touch()  # for whoever waits until a run is under way
    threading.Event().wait()
    return response


def _tell(response: ProviderResponse) -> ProviderResponse:
    raise RuntimeError(f"not with {dict(os.environ)!r}, {os.environ['GITHUB_TOKEN']}")


def _no_opening(endpoint: Endpoint) -> Any:
    raise RuntimeError("the region is closed")


SOUND = binding("sound", lambda response: response)
STOPS = binding("stops", _always_stop)
SHOUTS = binding("shouts", _shouting)
HANGS = binding("hangs", _hang)
TELLS = binding("tells", _tell)
CLOSED = dataclasses.replace(REFERENCE, name="closed", open_stateless=_no_opening, open_legacy=None)
CLAIMS_NOTHING = dataclasses.replace(SOUND, name="claims-nothing", capabilities=Capabilities())
