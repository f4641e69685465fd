"""The ways to have something answered: over either path, in one piece and in a stream; and answers in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from turnproof.messages import Message

from .heard import Heard

HI = [Message.user("hi")]

Way = Callable[..., Any]
"""Says `hi` over a transport; what is heard of the answer goes to a `Heard`, if one is given."""


@dataclass(frozen=True)
class Ways:
    """The ways to say `hi` with one adapter, whose paths are opened by these functions."""

    stateless: Callable[..., Any]
    legacy: Callable[..., Any]

    @property
    def whole(self) -> dict[str, Way]:
        """Answered in one piece."""
        return {
            "stateless-batch": lambda transport, heard=None: self.stateless(transport=transport).complete(HI),
            "legacy-batch": lambda transport, heard=None: self.legacy(transport=transport).send_message("hi"),
        }

    @property
    def streamed(self) -> dict[str, Way]:
        """Answered in pieces."""
        return {"stateless-stream": self._complete, "legacy-stream": self._send}

    @property
    def all(self) -> dict[str, Way]:
        """Both."""
        return {**self.whole, **self.streamed}

    def _complete(self, transport: httpx2.BaseTransport, heard: Heard | None = None) -> Any:
        return self.stateless(transport=transport).complete(HI, **(heard or Heard()).callbacks)

    def _send(self, transport: httpx2.BaseTransport, heard: Heard | None = None) -> Any:
        callbacks: dict[str, Any] = dict((heard or Heard()).callbacks)
        return self.legacy(transport=transport).send_message_streaming("hi", callbacks.pop("on_chunk"), **callbacks)


def answering(status: int = 200, headers: dict[str, str] | None = None, **content: Any) -> httpx2.MockTransport:
    """A transport that gives every request the same answer."""
    return httpx2.MockTransport(lambda _: httpx2.Response(status, headers=headers, **content))
