"""Agents that take up another session than they were asked for, or not all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from turnproof.dialects import dialect
from turnproof.dialects.base import ModelFacts
from turnproof.errors import TurnproofError
from turnproof.messages import Message
from turnproof.provider import Binding
from turnproof.sessions import SessionCapabilities
from turnproof.subject import SessionReply, SessionSetup, SessionTurn

from ._agent import BrokenAgent, Resumed
from ._mutant import mutant

# -- which session is open ----------------------------------------------------------------------------------


@mutant(
    "no-session-id-told",
    "agent",
    caught_by="sessions/has-an-id",
    scenarios="basics/plain",
    sources=("behaviours:D13", "defects:RS4"),
)
class NoSessionIdTold(BrokenAgent):
    """The id stands in the program's first line, and the adapter waits for a setting that names it."""

    def session_id(self) -> str | None:
        return None


@mutant(
    "session-id-of-each-turn",
    "agent",
    caught_by="sessions/id-stays-through-its-turns",
    scenarios="basics/four_turns",
    sources="defects:RS1",
)
class SessionIdOfEachTurn(BrokenAgent):
    """Each turn has an id of its own, which is told for that of the session."""

    count = 0

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().send(text, turn)
        self.count += 1
        self.under = f"{self.own_id}-{self.count}"
        return reply


@mutant(
    "new-session-is-the-old-one",
    "agent",
    caught_by="sessions/new-session-is-another-one",
    scenarios="sessions/continued_in_place",
    sources="behaviours:D13",
)
class NewSessionIsTheOldOne(BrokenAgent):
    """A new session is asked for, and the program is given the old id with the next message."""

    def new_session(self) -> None:
        """What is open stays open."""


@mutant(
    "earlier-words-carried-over",
    "agent",
    caught_by="sessions/sessions-stay-apart",
    scenarios="sessions/resumed_in_place",
    sources=("behaviours:O8", "defects:RS10"),
)
class EarlierWordsCarriedOver(BrokenAgent):
    """What the user said last goes along with the first message of a new session."""

    last = ""
    carried = ""

    def new_session(self) -> None:
        super().new_session()
        self.carried = self.last

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        said, self.carried, self.last = f"{self.carried}\n{text}".strip(), "", text
        return super().send(said, turn)


@mutant(
    "history-of-all-sessions",
    "agent",
    caught_by="sessions/local-history-is-the-open-sessions",
    scenarios="sessions/resumed_in_place",
    sources="behaviours:O8",
)
class HistoryOfAllSessions(BrokenAgent):
    """The local copy grows from session to session, and is never replaced."""

    earlier: tuple[Message, ...] = ()

    def new_session(self) -> None:
        self.earlier = (*self.earlier, *super().history())
        super().new_session()

    def history(self) -> Sequence[Message]:
        return [*self.earlier, *super().history()]


# -- taking one up again ------------------------------------------------------------------------------------


@mutant(
    "resume-begins-anew",
    "agent",
    caught_by="sessions/resume-brings-back-what-was-said",
    scenarios="sessions/resumed_in_place",
    sources=("behaviours:D13", "defects:RS1"),
)
class ResumeBeginsAnew(Resumed):
    """A fresh session is begun, and goes by the id that was to be resumed."""

    def taken_up(self, session_id: str) -> None:
        self.begun_anew(session_id)


@mutant(
    "resume-tells-another-id",
    "agent",
    caught_by="sessions/resume-keeps-the-id",
    scenarios="sessions/resumed",
    sources=("defects:RS5", "defects:RS6"),
)
class ResumeTellsAnotherId(Resumed):
    """The program goes on under the same id, and tells another one, which is believed."""

    def taken_up(self, session_id: str) -> None:
        self.under = f"{session_id}-2"


@mutant(
    "resumed-as-text",
    "agent",
    caught_by="sessions/resume-restores-calls-and-results",
    scenarios="sessions/resumed",
    sources=("defects:TP2", "behaviours:L1"),
)
class ResumedAsText(Resumed):
    """A session is put back as one text in front of the next message: what was called in it is not in that."""

    past = ""

    def taken_up(self, session_id: str) -> None:
        self.past = "\n".join(message.text for message in self.history())
        self.begun_anew(session_id)

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        said, self.past = f"{self.past}\n{text}".strip(), ""
        return super().send(said, turn)


@mutant(
    "replay-shown-as-new",
    "agent",
    caught_by="sessions/resumed-history-is-no-new-output",
    scenarios="sessions/resumed",
    sources=("defects:RS8", "defects:TH11"),
)
class ReplayShownAsNew(Resumed):
    """The messages that the program replays late stand in front of the next answer."""

    replayed = ""

    def taken_up(self, session_id: str) -> None:
        self.replayed = "".join(message.text for message in self.history() if message.role == "model")

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        late, self.replayed = self.replayed, ""
        if late and turn.on_chunk is not None:
            turn.on_chunk(late)
        reply = super().send(text, turn)
        return replace(reply, text=late + reply.text)


@mutant(
    "resumed-history-is-empty",
    "agent",
    caught_by="sessions/resume-restores-local-history",
    scenarios="sessions/resumed",
    sources="behaviours:O8",
)
class ResumedHistoryIsEmpty(Resumed):
    """The local history begins with the next turn."""

    before = 0

    def taken_up(self, session_id: str) -> None:
        self.before = len(super().history())

    def history(self) -> Sequence[Message]:
        return super().history()[self.before :]


class _OpenedOtherwise(BrokenAgent):
    """An agent that is given something else where it is opened with a session."""

    def opened(self, setup: SessionSetup) -> Any:
        return super().opened(setup if setup.session is None else self.otherwise(setup))

    def otherwise(self, setup: SessionSetup) -> SessionSetup:
        """What it is given."""
        return setup


@mutant(
    "no-system-text-on-resume",
    "agent",
    caught_by="sessions/system-text-is-sent-after-resume",
    scenarios="sessions/resumed",
    sources=("defects:LS6", "behaviours:O10"),
)
class NoSystemTextOnResume(_OpenedOtherwise):
    """The system text is told where a session is made, and the program does not store it."""

    def otherwise(self, setup: SessionSetup) -> SessionSetup:
        return replace(setup, system=None)


@mutant(
    "no-tools-on-resume",
    "agent",
    caught_by="sessions/tools-are-there-after-resume",
    scenarios="sessions/resumed",
    sources=("behaviours:O3", "defects:LS6"),
)
class NoToolsOnResume(_OpenedOtherwise):
    """The servers of tools are passed with a new session, and not where one is loaded."""

    def otherwise(self, setup: SessionSetup) -> SessionSetup:
        return replace(setup, tools=())


@mutant(
    "default-model-on-resume",
    "agent",
    caught_by="sessions/model-stays-the-one-asked-for",
    scenarios="sessions/resumed_twice",
    sources="defects:RS10",
)
class DefaultModelOnResume(_OpenedOtherwise):
    """A session that is resumed asks the model of the program's own settings."""

    def otherwise(self, setup: SessionSetup) -> SessionSetup:
        asked, adapter = setup.endpoint.model, self.inner.adapter
        assert isinstance(adapter, Binding)
        models = dialect(adapter.dialect).models
        same = _names(asked, models)
        default = next(name for name in models if not same & _names(name, models))
        return replace(setup, endpoint=replace(setup.endpoint, model=default))


def _names(model: str, models: Mapping[str, ModelFacts]) -> set[str]:
    facts = models.get(model)
    return {model} if facts is None else {name for name in (model, facts.id, facts.alias_of) if name}


@mutant(
    "system-text-told-twice",
    "agent",
    caught_by="sessions/system-text-is-sent-once",
    scenarios="basics/plain",
    sources="behaviours:O10",
)
class SystemTextToldTwice(BrokenAgent):
    """The system text is a setting of the program, and stands in front of each message as well."""

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        return super().send(f"{self.setup.system}\n\n{text}", turn)


# -- what there is not --------------------------------------------------------------------------------------


@mutant(
    "unknown-session-begun",
    "agent",
    caught_by="sessions/unknown-id-is-refused",
    scenarios="sessions/unknown",
    sources=("behaviours:O6", "defects:RS4"),
)
class UnknownSessionBegun(BrokenAgent):
    """Where there is no session of that id, a new one is begun without a word."""

    def resume_session(self, session_id: str) -> None:
        try:
            super().resume_session(session_id)
        except TurnproofError:
            self.new_session()


@mutant(
    "unknown-session-not-in-a-table",
    "agent",
    caught_by="sessions/unknown-id-is-refused",
    scenarios="sessions/unknown",
    sources="behaviours:O6",
)
class UnknownSessionNotInATable(BrokenAgent):
    """An unknown id is looked up in a table of those that are known, and the caller gets the KeyError."""

    def resume_session(self, session_id: str) -> None:
        try:
            super().resume_session(session_id)
        except TurnproofError:
            raise KeyError(session_id) from None


@mutant(
    "refused-resume-closes",
    "agent",
    caught_by="sessions/refused-resume-changes-nothing",
    scenarios="sessions/unknown",
    sources=("behaviours:O6", "defects:RS6"),
)
class RefusedResumeCloses(BrokenAgent):
    """The session that is open is let go of before the other one is found."""

    def resume_session(self, session_id: str) -> None:
        try:
            super().resume_session(session_id)
        except TurnproofError:
            self.new_session()
            raise


@mutant(
    "opening-insists",
    "agent",
    caught_by="sessions/opening-falls-back",
    scenarios="sessions/opened_unknown",
    sources=("behaviours:O3", "defects:RS4"),
)
class OpeningInsists(BrokenAgent):
    """Opening fails where the session that a setting names is gone."""

    def opened(self, setup: SessionSetup) -> Any:
        if setup.session is None:
            return super().opened(setup)
        handle = super().opened(replace(setup, session=None, continue_last=False))
        try:
            self.the("resume_session")(handle, setup.session)
        except TurnproofError:
            self.the("close")(handle)
            raise
        return handle


@mutant(
    "first-made-is-the-last",
    "agent",
    caught_by="sessions/continue-takes-the-last-updated",
    scenarios="sessions/continued_in_place",
    sources="behaviours:O4",
)
class FirstMadeIsTheLast(BrokenAgent):
    """Going on takes what stands first in a list, and that is the oldest."""

    def __init__(self, *given: Any) -> None:
        self.made: list[str] = []
        super().__init__(*given)

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().send(text, turn)
        self.made += [self.own_id] if self.own_id else []
        return reply

    def continue_last(self, cwd: str | None) -> str | None:
        if not self.made:
            return None
        self.resume_session(self.made[0])
        return self.made[0]


@mutant(
    "continues-in-the-configured-folder",
    "agent",
    caught_by="sessions/continue-stays-in-its-folder",
    scenarios="sessions/continued_elsewhere",
    sources=("behaviours:O5", "defects:RS7"),
)
class ContinuesInTheConfiguredFolder(BrokenAgent):
    """The folder of the settings is passed to the program, and not the one that is worked in."""

    configured: ClassVar[dict[str, str]] = {}

    def opened(self, setup: SessionSetup) -> Any:
        return super().opened(replace(setup, cwd=self.configured.setdefault(setup.home, setup.cwd)))


@mutant(
    "damaged-agent-session-begun-anew",
    "agent",
    caught_by="sessions/damaged-session-is-no-empty-one",
    scenarios="sessions/damaged",
    sources=("defects:PE3", "behaviours:P6"),
)
class DamagedAgentSessionBegunAnew(BrokenAgent):
    """A session whose file has lines that cannot be read is begun anew under its old id."""

    def resume_session(self, session_id: str) -> None:
        self.new_session()
        self.under = session_id


@mutant(
    "capability-under-another-name",
    "agent",
    caught_by="sessions/capabilities-are-what-is-claimed",
    scenarios="sessions/resumed",
    sources=("behaviours:O1", "behaviours:O2"),
)
class CapabilityUnderAnotherName(BrokenAgent):
    """That sessions can be loaded is said as `can_resume`, which nobody reads."""

    def session_capabilities(self) -> Any:
        told: SessionCapabilities = self.do("session_capabilities")
        return _Renamed(told)


class _Renamed:
    """Capabilities with a name that there is not."""

    def __init__(self, told: SessionCapabilities) -> None:
        self.can_list = told.can_list
        self.can_resume = told.can_load
        self.can_continue_last = told.can_continue_last
        self.can_delete = told.can_delete
        self.can_fork = told.can_fork


@mutant(
    "capability-not-there",
    "agent",
    caught_by="sessions/capabilities-are-what-is-claimed",
    scenarios="sessions/forked",
    sources="behaviours:O1",
)
class CapabilityNotThere(BrokenAgent):
    """The agent says that it forks sessions, and refuses to."""

    def fork_session(self) -> str:
        raise NotImplementedError("this version of the program cannot fork")
