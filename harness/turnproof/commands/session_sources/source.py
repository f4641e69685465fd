"""What every source of sessions can do, and where the model of one is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from ...cancel import CancelToken
from ...dialects import dialect
from ...dialects.access import access_to
from ...errors import UsageError
from ...messages import Message
from ...provider import Endpoint, OnChunk
from ...sessions import SessionCapabilities, SessionInfo


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How a source is to be opened, as the command line has it. What is not said there, the settings may say.

    cwd:     the folder whose sessions are meant.
    home, base_url, system, options: as for an agent, and the last three also for the adapter behind a store.
    adapter: whose provider goes on with a session of a store.
    """

    cwd: Path
    home: Path | None = None
    base_url: str | None = None
    system: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How a turn ended that did not fail: the visible text, and whether it was cancelled."""

    text: str
    cancelled: bool = False


class Source(Protocol):
    """Keeps sessions. Made by `open_agent` or `open_store`; `close` ends whatever it started."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def home(self) -> str | None:
        """The folder where it keeps them; None where its name says so."""

    @property
    def can(self) -> SessionCapabilities:
        """What can be done with its sessions."""

    @property
    def session_id(self) -> str | None:
        """The session that is open."""

    def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        """The sessions of a folder (None: of all), in any order."""

    def enter(self, info: SessionInfo) -> Sequence[Message]:
        """Open a session, for turns too, and tell what was said in it."""

    def look(self, info: SessionInfo) -> Sequence[Message]:
        """What was said in a session. Changes nothing."""

    def enter_last(self, cwd: str) -> str | None:
        """Open the session of a folder that was updated last, and return its id; None if there is none."""

    @property
    def is_configured(self) -> bool:
        """Whether the settings name the session to go on with."""

    def enter_configured(self) -> str:
        """Open the session that the settings name, or, where that cannot be, another one. Its id as they have it; empty
        where they mean the last one."""

    def send(self, text: str, token: CancelToken, on_chunk: OnChunk) -> Answer:
        """A turn in the session that is open."""

    def delete(self, info: SessionInfo) -> None:
        """Remove a session for good."""

    def close(self) -> None:
        """End it. Calling it twice is harmless."""


def abilities(can: SessionCapabilities) -> list[str]:
    """What can be done, a word for each."""
    return [one.name.removeprefix("can_").replace("_", " ") for one in fields(can) if getattr(can, one.name)]


def cannot(name: str, ability: str, can: SessionCapabilities) -> UsageError:
    """That a source lacks an ability, and which it has."""
    return UsageError(
        f"{name} cannot {ability}; what it can do with sessions: {', '.join(abilities(can)) or 'nothing'}"
    )


@contextmanager
def asked_of(name: str) -> Iterator[None]:
    """Raises what a source cannot do as a UsageError that names it."""
    try:
        yield
    except NotImplementedError as error:
        raise UsageError(f"{name} cannot do that: {error or 'it gives no more details'}") from error


KEY = "TURNPROOF_API_KEY"
"""The environment variable of a key for whichever service; the service's own come after it."""


def endpoint_of(
    name: str, dialect_name: str, model: str, base_url: str, options: Mapping[str, Any], *, needs_key: bool
) -> Endpoint:
    """Where the model is: as said, else as the environment says, else the service itself. So with the key.

    Raises UsageError for a key among the options, and with `needs_key` where the environment has none.
    """
    if "api_key" in options:
        raise UsageError(f"{name}: a key is no option: set {KEY} in the environment")
    access = access_to(dialect(dialect_name), repr(name), base_url=base_url, key_variables=(KEY,), needs_key=needs_key)
    return Endpoint(access.base_url, access.key, model, options)
