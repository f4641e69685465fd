"""Agents whose lists of sessions, forks and deletions are something else than they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.errors import TurnproofError
from turnproof.sessions import SessionInfo
from turnproof.subject import SessionReply, SessionTurn

from ._agent import BrokenAgent
from ._mutant import mutant


class _BrokenList(BrokenAgent):
    """An agent whose list is something else."""

    def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        found: Sequence[SessionInfo] = self.do("list_sessions", cwd)
        return self.listed(found)

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        """What is made of the list."""
        return found


@mutant(
    "first-page-only",
    "agent",
    caught_by="sessions/list-has-every-session",
    scenarios="sessions/many",
    sources=("behaviours:O4", "behaviours:O5"),
)
class FirstPageOnly(_BrokenList):
    """Of a list that comes in pages, the first one is read."""

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return found[:25]


@mutant(
    "a-page-read-twice",
    "agent",
    caught_by="sessions/list-has-every-session",
    scenarios="sessions/resumed_twice",
    sources="behaviours:O5",
)
class APageReadTwice(_BrokenList):
    """What stands last on one page stands first on the next."""

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [*found, *found[-1:]]


@mutant(
    "list-of-the-own-folder",
    "agent",
    caught_by="sessions/list-is-of-the-folder-asked-for",
    scenarios="sessions/listed",
    sources=("behaviours:O5", "defects:RS7"),
)
class ListOfTheOwnFolder(_BrokenList):
    """Whatever folder is asked for, the list is of the one that the program runs in."""

    def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        return super().list_sessions(self.setup.cwd)


@mutant(
    "times-left-out",
    "agent",
    caught_by="sessions/list-tells-when",
    scenarios="sessions/resumed_twice",
    sources=("behaviours:O1", "behaviours:O4"),
)
class TimesLeftOut(_BrokenList):
    """The list tells of no session when it was updated."""

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [replace(info, updated_at=None) for info in found]


@mutant(
    "listing-takes-over-an-id",
    "agent",
    caught_by="sessions/listing-changes-nothing",
    scenarios="sessions/listed",
    sources=("behaviours:O6", "defects:RS9"),
)
class ListingTakesOverAnId(_BrokenList):
    """The last id that was read is taken for that of the session that is open, until the next turn."""

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        self.under = next((info.session_id for info in found if info.session_id != self.own_id), None)
        return found

    def said(self, say: Any, turn: SessionTurn) -> SessionReply:
        self.under = None
        return super().said(say, turn)


@mutant(
    "titles-made-for-a-list",
    "agent",
    caught_by="sessions/listing-asks-no-model",
    scenarios="sessions/resumed_twice",
    sources="behaviours:O5",
)
class TitlesMadeForAList(_BrokenList):
    """For a list the model is asked what the conversation is about."""

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        self.inner.send(self.handle, "Give this conversation a title.", SessionTurn(CancelToken()))
        return found


# -- forks --------------------------------------------------------------------------------------------------


@mutant(
    "fork-is-its-origin",
    "agent",
    caught_by="sessions/fork-has-an-id-of-its-own",
    scenarios="sessions/forked",
    sources="design:agents",
)
class ForkIsItsOrigin(BrokenAgent):
    """A fork goes on in the session itself, under its id."""

    def fork_session(self) -> str:
        return self.own_id or ""


@mutant(
    "fork-begins-empty",
    "agent",
    caught_by="sessions/fork-knows-what-was-said",
    scenarios="sessions/forked",
    sources="design:agents",
)
class ForkBeginsEmpty(BrokenAgent):
    """The copy gets an id, and a new session is spoken to under it."""

    def fork_session(self) -> str:
        copy = super().fork_session()
        self.new_session()
        self.under = copy
        return copy


@mutant(
    "fork-writes-into-its-origin",
    "agent",
    caught_by="sessions/fork-leaves-its-origin-alone",
    scenarios="sessions/forked",
    sources="design:agents",
)
class ForkWritesIntoItsOrigin(BrokenAgent):
    """The copy gets an id, and what is said in it is stored with the session that it was made of."""

    def fork_session(self) -> str:
        origin = self.own_id or ""
        copy = super().fork_session()
        self.resume_session(origin)
        self.under = copy
        return copy

    def resume_session(self, session_id: str) -> None:
        if session_id == self.own_id:
            self.under = None
        else:
            super().resume_session(session_id)


# -- deletions ----------------------------------------------------------------------------------------------


@mutant(
    "deletion-hides",
    "agent",
    caught_by="sessions/deleted-session-is-gone",
    scenarios="sessions/deleted",
    sources="behaviours:L3",
)
class DeletionHides(_BrokenList):
    """A deleted session is in no list, and can be resumed."""

    def __init__(self, *given: Any) -> None:
        self.known: set[str] = set()
        self.hidden: set[str] = set()
        super().__init__(*given)

    def session_id(self) -> str | None:
        found = super().session_id()
        self.known |= {found} if found else set()
        return found

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [info for info in found if info.session_id not in self.hidden]

    def delete_session(self, session_id: str) -> None:
        if session_id in self.known:
            self.hidden.add(session_id)
        else:
            self.do("delete_session", session_id)


@mutant(
    "deletion-leaves-an-entry",
    "agent",
    caught_by="sessions/deleted-session-is-gone",
    scenarios="sessions/deleted",
    sources="behaviours:L3",
)
class DeletionLeavesAnEntry(_BrokenList):
    """A deleted session cannot be resumed, and is still in the list."""

    gone: tuple[SessionInfo, ...] = ()

    def listed(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [*found, *self.gone]

    def delete_session(self, session_id: str) -> None:
        self.do("delete_session", session_id)
        self.gone = (*self.gone, SessionInfo(session_id, cwd=self.setup.cwd))


@mutant(
    "deletion-closes-what-is-open",
    "agent",
    caught_by="sessions/deleting-leaves-the-others",
    scenarios="sessions/deleted",
    sources="behaviours:L3",
)
class DeletionClosesWhatIsOpen(BrokenAgent):
    """Whichever session is deleted, the next message begins a new one."""

    def delete_session(self, session_id: str) -> None:
        self.do("delete_session", session_id)
        self.new_session()


@mutant(
    "deletion-of-nothing-succeeds",
    "agent",
    caught_by="sessions/deleting-an-unknown-one-is-refused",
    scenarios="sessions/deleted",
    sources="behaviours:L3",
)
class DeletionOfNothingSucceeds(BrokenAgent):
    """To delete a session that there is not is no error."""

    def delete_session(self, session_id: str) -> None:
        try:
            self.do("delete_session", session_id)
        except TurnproofError:
            return
