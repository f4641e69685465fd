"""The four modes of a call: on either path, as a batch or as a stream; and answers in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from turnproof.messages import Message

from .callback_recorder import CallbackRecorder

HI = [Message.user("hi")]

CallMode = Callable[..., Any]
"""Sends `hi` over a transport. The callbacks go to a `CallbackRecorder`, if one is passed."""


@dataclass(frozen=True)
class CallModes:
    """The four modes of one adapter. `stateless` and `legacy` open its paths."""

    stateless: Callable[..., Any]
    legacy: Callable[..., Any]

    @property
    def batch(self) -> dict[str, CallMode]:
        """Both paths, the answer in one piece."""
        return {
            "stateless-batch": lambda transport, recorder=None: self.stateless(transport=transport).complete(HI),
            "legacy-batch": lambda transport, recorder=None: self.legacy(transport=transport).send_message("hi"),
        }

    @property
    def stream(self) -> dict[str, CallMode]:
        """Both paths, the answer as a stream."""
        return {"stateless-stream": self._complete, "legacy-stream": self._send}

    @property
    def all(self) -> dict[str, CallMode]:
        """All four."""
        return {**self.batch, **self.stream}

    def _complete(self, transport: httpx2.BaseTransport, recorder: CallbackRecorder | None = None) -> Any:
        return self.stateless(transport=transport).complete(HI, **(recorder or CallbackRecorder()).callbacks)

    def _send(self, transport: httpx2.BaseTransport, recorder: CallbackRecorder | None = None) -> Any:
        callbacks: dict[str, Any] = dict((recorder or CallbackRecorder()).callbacks)
        return self.legacy(transport=transport).send_message_streaming("hi", callbacks.pop("on_chunk"), **callbacks)


def fixed_answer(status: int = 200, headers: dict[str, str] | None = None, **content: Any) -> httpx2.MockTransport:
    """A transport that gives every request the same answer."""
    return httpx2.MockTransport(lambda _: httpx2.Response(status, headers=headers, **content))
