"""What a program is answered when it asks whether a call may run: what the setup says of the session's own tools, and
no of every other."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall

from .calls import Calls, Update

_CANCELLED = {"outcome": {"outcome": "cancelled"}}


class Permissions:
    """Belongs to the loop's thread; `permits` is asked in another, since it may take its time."""

    def __init__(self, permits: Callable[[FunctionCall], bool], tools: Iterable[str]) -> None:
        self._permits = permits
        self._own = set(tools)
        self._calls = Calls(self._own)
        self.asking = 0
        """Questions that the program waits for."""

    def hear(self, update: Update) -> None:
        """What a program shows of a call may be all that tells its name."""
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            self._calls.update(update)

    async def decide(self, request: Mapping[str, Any], token: CancelToken | None) -> dict[str, Any]:
        """The outcome for one request. Where the turn was cancelled, or is over, that is what it says."""
        if token is None or token.is_cancelled:
            return _CANCELLED
        shown = self._calls.update(request.get("toolCall") or {})
        allowed = False
        if shown is not None and shown.name in self._own:
            cancelled = asyncio.Event()
            loop = asyncio.get_running_loop()
            forget = token.on_cancel(partial(_set, loop, cancelled))
            asking = asyncio.ensure_future(asyncio.to_thread(self._permits, shown.call()))
            stopping = asyncio.ensure_future(cancelled.wait())
            self.asking += 1
            try:
                await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self.asking -= 1
                forget()
                stopping.cancel()
            if token.is_cancelled or not asking.done():
                return _CANCELLED
            allowed = asking.result()
        return _chosen(request.get("options"), "allow" if allowed else "reject")


def _set(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
        loop.call_soon_threadsafe(event.set)


def _chosen(options: object, word: str) -> dict[str, Any]:
    """The option that holds for this one call, or else any of its kind."""
    known = {
        str(option.get("kind")): str(option.get("optionId"))
        for option in reversed(options if isinstance(options, list) else [])
        if isinstance(option, Mapping)
    }
    chosen = known.get(f"{word}_once") or known.get(f"{word}_always")
    return _CANCELLED if chosen is None else {"outcome": {"outcome": "selected", "optionId": chosen}}
