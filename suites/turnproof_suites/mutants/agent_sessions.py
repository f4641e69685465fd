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
from ._mutant import suite_mutant

# -- which session is open ----------------------------------------------------------------------------------


@suite_mutant("no-session-id-told")
class NoSessionIdTold(BrokenAgent):
    """The id stands in the program's first line, and the adapter waits for a setting that names it."""

    def session_id(self) -> str | None:
        return None


@suite_mutant("session-id-of-each-turn")
class SessionIdOfEachTurn(BrokenAgent):
    """Each turn has an id of its own, which is told for that of the session."""

    count = 0

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().send(text, turn)
        self.count += 1
        self.shown_id = f"{self.own_id}-{self.count}"
        return reply


@suite_mutant("new-session-is-the-old-one")
class NewSessionIsTheOldOne(BrokenAgent):
    """A new session is asked for, and the program is given the old id with the next message."""

    def new_session(self) -> None:
        """What is open stays open."""


@suite_mutant("earlier-words-carried-over")
class EarlierWordsCarriedOver(BrokenAgent):
    """What the user said last goes along with the first message of a new session."""

    last = ""
    carried = ""

    def new_session(self) -> None:
        super().new_session()
        self.carried = self.last

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        message, self.carried, self.last = f"{self.carried}\n{text}".strip(), "", text
        return super().send(message, turn)


@suite_mutant("history-of-all-sessions")
class HistoryOfAllSessions(BrokenAgent):
    """The local copy grows from session to session, and is never replaced."""

    earlier: tuple[Message, ...] = ()

    def new_session(self) -> None:
        self.earlier = (*self.earlier, *super().history())
        super().new_session()

    def history(self) -> Sequence[Message]:
        return [*self.earlier, *super().history()]


# -- taking one up again ------------------------------------------------------------------------------------


@suite_mutant("resume-begins-anew")
class ResumeBeginsAnew(Resumed):
    """A fresh session is begun, and goes by the id that was to be resumed."""

    def after_resume(self, session_id: str) -> None:
        self.replace_session(session_id)


@suite_mutant("resume-tells-another-id")
class ResumeTellsAnotherId(Resumed):
    """The program goes on under the same id, and tells another one, which is believed."""

    def after_resume(self, session_id: str) -> None:
        self.shown_id = f"{session_id}-2"


@suite_mutant("resumed-as-text")
class ResumedAsText(Resumed):
    """A session is put back as one text in front of the next message: what was called in it is not in that."""

    past = ""

    def after_resume(self, session_id: str) -> None:
        self.past = "\n".join(message.text for message in self.history())
        self.replace_session(session_id)

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        message, self.past = f"{self.past}\n{text}".strip(), ""
        return super().send(message, turn)


@suite_mutant("replay-shown-as-new")
class ReplayShownAsNew(Resumed):
    """The messages that the program replays late stand in front of the next answer."""

    replayed = ""

    def after_resume(self, session_id: str) -> None:
        self.replayed = "".join(message.text for message in self.history() if message.role == "model")

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        late, self.replayed = self.replayed, ""
        if late and turn.on_chunk is not None:
            turn.on_chunk(late)
        reply = super().send(text, turn)
        return replace(reply, text=late + reply.text)


@suite_mutant("resumed-history-is-empty")
class ResumedHistoryIsEmpty(Resumed):
    """The local history begins with the next turn."""

    before = 0

    def after_resume(self, session_id: str) -> None:
        self.before = len(super().history())

    def history(self) -> Sequence[Message]:
        return super().history()[self.before :]


class _OpenedOtherwise(BrokenAgent):
    """An agent that is given something else where it is opened with a session."""

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(setup if setup.session is None else self.change_setup(setup))

    def change_setup(self, setup: SessionSetup) -> SessionSetup:
        """What it is given."""
        return setup


@suite_mutant("no-system-text-on-resume")
class NoSystemTextOnResume(_OpenedOtherwise):
    """The system text is told where a session is made, and the program does not store it."""

    def change_setup(self, setup: SessionSetup) -> SessionSetup:
        return replace(setup, system=None)


@suite_mutant("no-tools-on-resume")
class NoToolsOnResume(_OpenedOtherwise):
    """The servers of tools are passed with a new session, and not where one is loaded."""

    def change_setup(self, setup: SessionSetup) -> SessionSetup:
        return replace(setup, tools=())


@suite_mutant("default-model-on-resume")
class DefaultModelOnResume(_OpenedOtherwise):
    """A session that is resumed asks the model of the program's own settings."""

    def change_setup(self, setup: SessionSetup) -> SessionSetup:
        model, adapter = setup.endpoint.model, self.inner.adapter
        assert isinstance(adapter, Binding)
        models = dialect(adapter.dialect).models
        same = _names(model, models)
        default = next(name for name in models if not same & _names(name, models))
        return replace(setup, endpoint=replace(setup.endpoint, model=default))


def _names(model: str, models: Mapping[str, ModelFacts]) -> set[str]:
    facts = models.get(model)
    return {model} if facts is None else {name for name in (model, facts.id, facts.alias_of) if name}


@suite_mutant("system-text-told-twice")
class SystemTextToldTwice(BrokenAgent):
    """The system text is a setting of the program, and stands in front of each message as well."""

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        return super().send(f"{self.setup.system}\n\n{text}", turn)


# -- what there is not --------------------------------------------------------------------------------------


class _RefusedResume(BrokenAgent):
    """An agent that is broken where a session cannot be resumed."""

    def resume_session(self, session_id: str) -> None:
        try:
            super().resume_session(session_id)
        except TurnproofError as error:
            self.refuse(session_id, error)

    def refuse(self, session_id: str, error: TurnproofError) -> None:
        """What comes of it."""
        raise error


@suite_mutant("unknown-session-begun")
class UnknownSessionBegun(_RefusedResume):
    """Where there is no session of that id, a new one is begun without a word."""

    def refuse(self, session_id: str, error: TurnproofError) -> None:
        self.new_session()


@suite_mutant("unknown-session-not-in-a-table")
class UnknownSessionNotInATable(_RefusedResume):
    """An unknown id is looked up in a table of those that are known, and the caller gets the KeyError."""

    def refuse(self, session_id: str, error: TurnproofError) -> None:
        raise KeyError(session_id) from None


@suite_mutant("refused-resume-closes")
class RefusedResumeCloses(_RefusedResume):
    """The session that is open is let go of before the other one is found."""

    def refuse(self, session_id: str, error: TurnproofError) -> None:
        self.new_session()
        raise error


@suite_mutant("opening-insists")
class OpeningInsists(BrokenAgent):
    """Opening fails where the session that a setting names is gone."""

    def open_handle(self, setup: SessionSetup) -> Any:
        if setup.session is None:
            return super().open_handle(setup)
        handle = super().open_handle(replace(setup, session=None, continue_last=False))
        try:
            self.operation("resume_session")(handle, setup.session)
        except TurnproofError:
            self.operation("close")(handle)
            raise
        return handle


@suite_mutant("first-made-is-the-last")
class FirstMadeIsTheLast(BrokenAgent):
    """Going on takes what stands first in a list, and that is the oldest."""

    def __init__(self, *args: Any) -> None:
        self.own_ids: list[str] = []
        super().__init__(*args)

    def send(self, text: str, turn: SessionTurn) -> SessionReply:
        reply = super().send(text, turn)
        self.own_ids += [self.own_id] if self.own_id else []
        return reply

    def continue_last(self, cwd: str | None) -> str | None:
        if not self.own_ids:
            return None
        self.resume_session(self.own_ids[0])
        return self.own_ids[0]


@suite_mutant("continues-in-the-configured-folder")
class ContinuesInTheConfiguredFolder(BrokenAgent):
    """The folder of the settings is passed to the program, and not the one that is worked in."""

    configured: ClassVar[dict[str, str]] = {}

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(replace(setup, cwd=self.configured.setdefault(setup.home, setup.cwd)))


@suite_mutant("damaged-agent-session-begun-anew")
class DamagedAgentSessionBegunAnew(BrokenAgent):
    """A session whose file has lines that cannot be read is begun anew under its old id."""

    def resume_session(self, session_id: str) -> None:
        self.new_session()
        self.shown_id = session_id


@suite_mutant("capability-under-another-name")
class CapabilityUnderAnotherName(BrokenAgent):
    """That sessions can be loaded is said as `can_resume`, which nobody reads."""

    def session_capabilities(self) -> Any:
        capabilities: SessionCapabilities = self.do("session_capabilities")
        return _Renamed(capabilities)


class _Renamed:
    """Capabilities with a name that there is not."""

    def __init__(self, capabilities: SessionCapabilities) -> None:
        self.can_list = capabilities.can_list
        self.can_resume = capabilities.can_load
        self.can_continue_last = capabilities.can_continue_last
        self.can_delete = capabilities.can_delete
        self.can_fork = capabilities.can_fork


@suite_mutant("capability-not-there")
class CapabilityNotThere(BrokenAgent):
    """The agent says that it forks sessions, and refuses to."""

    def fork_session(self) -> str:
        raise NotImplementedError("this version of the program cannot fork")
