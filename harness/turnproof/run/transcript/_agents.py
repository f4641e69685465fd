"""Events of agents that keep sessions and processes of their own."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..tracebacks import Raised
from ._event import BaseEvent


class SessionListed(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry of a list of sessions, by labels. `age` counts from the one that was updated last, 0; None: not told."""

    session: str
    cwd: str = ""
    titled: bool = False
    age: int | None = None
    problem: bool = False


class SessionStepped(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="session_stepped"):
    """Something was done with the sessions that an agent keeps: `do`, as scenarios have it, with the session `asked`.

    Sessions go by the labels of the scenario; one that it does not speak of is `other-1` and so on, and `nobody` is an
    id that no session has. `was` and `now` are the sessions open before and after it, None where the agent knows of
    none. `outcome`: it was `done`, or `refused` with an error (`typed`: one of turnproof's tree; `unsupported`: a
    NotImplementedError), or there was `nothing` to be done. `returned` is the session that the agent named. `last`: the
    last session was asked for.
    """

    do: str
    outcome: Literal["done", "refused", "nothing"]
    asked: str | None = None
    cwd: str = ""
    was: str | None = None
    now: str | None = None
    returned: str | None = None
    last: bool = False
    error: str = ""
    message: str = ""
    typed: bool = False
    unsupported: bool = False
    listed: tuple[SessionListed, ...] = ()
    raised: Raised | None = None


class SessionInForce(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="session_in_force"):
    """The session that is open after a turn, by its label, and what the agent says can be done with its sessions.

    `unknown` names what it says beside that, of whatever type. `program` is what the program behind it calls itself,
    with its version.
    """

    session: str | None
    can: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    program: str = ""


class SaidBeside(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="said_beside"):
    """Somebody else asked the agent for a turn while this one ran, and it came to this end.

    `outcome`: an `answer`, or an `error` (`typed`: one of turnproof's tree); `open` where it came to none in time.
    """

    outcome: Literal["answer", "error", "open"]
    text: str = ""
    error: str = ""
    message: str = ""
    typed: bool = False
    raised: Raised | None = None


class Killed(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="killed"):
    """Every process that the agent had started was killed at this point of the scenario; `processes` counts them."""

    at: str
    processes: int


class LeftBehind(BaseEvent, frozen=True, kw_only=True, omit_defaults=True, tag="left_behind"):
    """What the agent has left when it was shut down: `processes` by their names, and changed `files` in the folders it
    worked in.

    `started` counts the processes that it ever had, `exposed` those in whose command line the key stood.
    """

    processes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    started: int = 0
    exposed: tuple[str, ...] = ()
