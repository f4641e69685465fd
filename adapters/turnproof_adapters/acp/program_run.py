"""One run of a program, spoken to over the protocol: its requests, its updates, and what it can do."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from acp import PROTOCOL_VERSION, RequestError
from acp.connection import Connection
from acp.meta import AGENT_METHODS, CLIENT_METHODS

from turnproof.errors import TransportError, UsageError
from turnproof.sessions import SessionCapabilities

from .._program import GRACE
from .process import Process

_log = logging.getLogger(__name__)

Answer = Mapping[str, Any]

_UNKNOWN = "_turnproof.dev/none"
"""A method that is nobody's. A name that begins like this is free for everyone, and has to be answered."""


class Run:
    """A program that was greeted. Belongs to the loop's thread.

    Every request raises `acp.RequestError` where the program refuses it, and TransportError where it is lost, or says
    nothing for `silence` seconds while nobody else is waited for.
    """

    def __init__(
        self,
        process: Process,
        *,
        silence: float,
        on_update: Callable[[str, Mapping[str, Any]], None],
        on_permission: Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]],
        busy: Callable[[], bool],
    ) -> None:
        self.process = process
        self._silence = silence
        self._on_update = on_update
        self._on_permission = on_permission
        self._busy = busy
        self._update_count = 0
        self.is_lost = False
        """Whether it has ended, or is about to."""
        self._over: asyncio.Task[TransportError] | None = None
        process.on_end = self._note_end
        self._connection = Connection(self._handle_request, process)
        self._greeting: Answer = {}

    def _note_end(self) -> None:
        self.is_lost = True

    async def greet(self) -> None:
        """Say who we are, and hear what it can do. Raises UsageError for a program that speaks another version."""
        self._greeting = await self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
                "clientInfo": {"name": "turnproof", "version": "1"},
            },
        )
        version = self._greeting.get("protocolVersion")
        if version != PROTOCOL_VERSION:
            version_text = f"version {version}" if version is not None else "no version"
            raise UsageError(
                f"{self.process.name} speaks {version_text} of the Agent Client Protocol, and {PROTOCOL_VERSION} is "
                "needed: install one that does, or say with `program` where it is"
            )

    # -- what it can do -------------------------------------------------------------------------------------------

    def can(self, what: str) -> bool:
        """Whether it advertises a request: `list`, `fork`, `delete`, `resume`, `close`, or `load`."""
        own = _mapping(self._greeting, "agentCapabilities")
        if what == "load":
            return own.get("loadSession") is True
        return _mapping(own, "sessionCapabilities").get(what) is not None

    def takes(self, what: str) -> bool:
        """Whether a message may hold it: `image`, `embeddedContext`."""
        return _mapping(_mapping(self._greeting, "agentCapabilities"), "promptCapabilities").get(what) is True

    @property
    def sessions(self) -> SessionCapabilities:
        """The same in turnproof's terms."""
        loads, lists = self.can("load") or self.can("resume"), self.can("list")
        return SessionCapabilities(
            can_list=lists,
            can_load=loads,
            can_continue_last=lists and loads,
            can_delete=self.can("delete"),
            can_fork=self.can("fork"),
        )

    @property
    def agent(self) -> str:
        """What it calls itself."""
        return str(_mapping(self._greeting, "agentInfo").get("name") or "")

    @property
    def version(self) -> str:
        """The version that it tells of itself."""
        return str(_mapping(self._greeting, "agentInfo").get("version") or "")

    # -- requests -------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Ask, and wait for the answer."""
        asking = asyncio.ensure_future(self._connection.send_request(AGENT_METHODS[method], dict(params)))
        try:
            while True:
                count_before = self._update_count
                done, _ = await asyncio.wait({asking}, timeout=self._silence)
                if done:
                    break
                if count_before == self._update_count and not self._busy():
                    words = str(self.process.last_words)
                    await self.end(grace=0)
                    raise TransportError(f"{self.process.name} has said nothing for {self._silence:g} s{words}")
            answer = asking.result()
        except (ConnectionError, OSError):
            raise await self.loss() from None
        finally:
            asking.cancel()
        return answer if isinstance(answer, Mapping) else {}

    async def catch_up(self) -> None:
        """Wait until what it has said so far is heard: its answer to a question that it does not know is behind it."""
        with contextlib.suppress(RequestError, ConnectionError, OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._connection.send_request(_UNKNOWN, {}), GRACE)

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell it something, if it is still there."""
        with contextlib.suppress(ConnectionError, OSError):
            await self._connection.send_notification(AGENT_METHODS[method], dict(params))

    async def loss(self) -> TransportError:
        """End it: its output has ended too soon."""
        self.is_lost = True
        if self._over is None:
            self._over = asyncio.create_task(self.process.loss())
        error = await asyncio.shield(self._over)
        await self._connection.close()
        return TransportError(error.message)

    async def end(self, grace: float = GRACE, *, ask: bool = False) -> None:
        """End it. May be called again."""
        self.is_lost = True
        await self.process.end(grace, ask=ask)
        await self._connection.close()

    # -- what it asks and tells -----------------------------------------------------------------------------------

    async def _handle_request(self, method: str, params: Any, is_notification: bool) -> Any:
        self._update_count += 1
        match params:
            case {"sessionId": str(session), "update": {"sessionUpdate": str()} as update}:
                if method == CLIENT_METHODS["session_update"]:
                    self._on_update(session, update)
                    return None
            case {"toolCall": {}}:
                if method == CLIENT_METHODS["session_request_permission"]:
                    return await self._on_permission(params)
        if is_notification:
            return None
        raise RequestError.method_not_found(method)


def _mapping(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}
