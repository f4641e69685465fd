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
from ._mutant import suite_mutant


class _BrokenList(BrokenAgent):
    """An agent whose list is something else."""

    def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        found: Sequence[SessionInfo] = self.do("list_sessions", cwd)
        return self.change_list(found)

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        """What is made of the list."""
        return found


@suite_mutant("first-page-only")
class FirstPageOnly(_BrokenList):
    """Of a list that comes in pages, the first one is read."""

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return found[:25]


@suite_mutant("a-page-read-twice")
class APageReadTwice(_BrokenList):
    """What stands last on one page stands first on the next."""

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [*found, *found[-1:]]


@suite_mutant("list-of-the-own-folder")
class ListOfTheOwnFolder(_BrokenList):
    """Whatever folder is asked for, the list is of the one that the program runs in."""

    def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        return super().list_sessions(self.setup.cwd)


@suite_mutant("times-left-out")
class TimesLeftOut(_BrokenList):
    """The list tells of no session when it was updated."""

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [replace(info, updated_at=None) for info in found]


@suite_mutant("listing-takes-over-an-id")
class ListingTakesOverAnId(_BrokenList):
    """The last id that was read is taken for that of the session that is open, until the next turn."""

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        self.shown_id = next((info.session_id for info in found if info.session_id != self.own_id), None)
        return found

    def run_turn(self, say: Any, turn: SessionTurn) -> SessionReply:
        self.shown_id = None
        return super().run_turn(say, turn)


@suite_mutant("titles-made-for-a-list")
class TitlesMadeForAList(_BrokenList):
    """For a list the model is asked what the conversation is about."""

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        self.inner.send(self.handle, "Give this conversation a title.", SessionTurn(CancelToken()))
        return found


# -- forks --------------------------------------------------------------------------------------------------


@suite_mutant("fork-is-its-origin")
class ForkIsItsOrigin(BrokenAgent):
    """A fork goes on in the session itself, under its id."""

    def fork_session(self) -> str:
        return self.own_id or ""


@suite_mutant("fork-begins-empty")
class ForkBeginsEmpty(BrokenAgent):
    """The copy gets an id, and a new session is spoken to under it."""

    def fork_session(self) -> str:
        copy = super().fork_session()
        self.new_session()
        self.shown_id = copy
        return copy


@suite_mutant("fork-writes-into-its-origin")
class ForkWritesIntoItsOrigin(BrokenAgent):
    """The copy gets an id, and what is said in it is stored with the session that it was made of."""

    def fork_session(self) -> str:
        origin = self.own_id or ""
        copy = super().fork_session()
        self.resume_session(origin)
        self.shown_id = copy
        return copy

    def resume_session(self, session_id: str) -> None:
        if session_id == self.own_id:
            self.shown_id = None
        else:
            super().resume_session(session_id)


# -- deletions ----------------------------------------------------------------------------------------------


@suite_mutant("deletion-hides")
class DeletionHides(_BrokenList):
    """A deleted session is in no list, and can be resumed."""

    def __init__(self, *args: Any) -> None:
        self.known: set[str] = set()
        self.hidden: set[str] = set()
        super().__init__(*args)

    def session_id(self) -> str | None:
        found = super().session_id()
        self.known |= {found} if found else set()
        return found

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [info for info in found if info.session_id not in self.hidden]

    def delete_session(self, session_id: str) -> None:
        if session_id in self.known:
            self.hidden.add(session_id)
        else:
            self.do("delete_session", session_id)


@suite_mutant("deletion-leaves-an-entry")
class DeletionLeavesAnEntry(_BrokenList):
    """A deleted session cannot be resumed, and is still in the list."""

    deleted: tuple[SessionInfo, ...] = ()

    def change_list(self, found: Sequence[SessionInfo]) -> Sequence[SessionInfo]:
        return [*found, *self.deleted]

    def delete_session(self, session_id: str) -> None:
        self.do("delete_session", session_id)
        self.deleted = (*self.deleted, SessionInfo(session_id, cwd=self.setup.cwd))


@suite_mutant("deletion-closes-what-is-open")
class DeletionClosesWhatIsOpen(BrokenAgent):
    """Whichever session is deleted, the next message begins a new one."""

    def delete_session(self, session_id: str) -> None:
        self.do("delete_session", session_id)
        self.new_session()


@suite_mutant("deletion-of-nothing-succeeds")
class DeletionOfNothingSucceeds(BrokenAgent):
    """To delete a session that there is not is no error."""

    def delete_session(self, session_id: str) -> None:
        try:
            self.do("delete_session", session_id)
        except TurnproofError:
            return
