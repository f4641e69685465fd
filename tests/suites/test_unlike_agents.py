"""Correct agents unlike the reference session's: no requirement of the profile accuses them.

Programs wait, refuse, ask for things beside the conversation, and tell less than they could. Where a recommendation is
all that is missed, it is that one and no other.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace as with_fields
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.judge.verdict import Status
from turnproof.messages import FinishReason, Message, Part, ProviderResponse
from turnproof.run.transcript import (
    Event,
    LeftBehind,
    SaidBeside,
    SessionListed,
    SessionStepped,
    TurnEnded,
    UsageReport,
    WireRequest,
    WireResponse,
)
from turnproof.session.store.agent import StoredAgent
from turnproof_adapters.anthropic.binding import BINDING

from .agent_runs import Say, conversation, done
from .build import error, spoilt
from .cases import suite
from .stored_runs import (
    STORED,
    Change,
    accused,
    after,
    asked_again,
    body,
    ended,
    in_force,
    inserted,
    killed,
    of_all,
    run_of,
    scenario,
    status,
    stepped,
    text,
    verdicts,
    view_of,
    with_history,
    with_processes,
)

# -- agents that do something in another way -------------------------------------------------------------------------


def unlike(agent: type[StoredAgent]) -> AgentBinding:
    def opened(setup: AgentSetup) -> StoredAgent:
        assert BINDING.open_stateless is not None
        return agent(setup, BINDING.open_stateless(setup.endpoint))

    return with_fields(STORED, open=opened)


class Patient(StoredAgent):
    """Waits with a second turn until the first is over."""

    def __init__(self, *arguments: Any) -> None:
        self._one_at_a_time = threading.Lock()
        super().__init__(*arguments)

    def send(self, content: str | Sequence[Part], **how: Any) -> ProviderResponse:
        with self._one_at_a_time:
            return super().send(content, **how)


def test_a_second_turn_may_wait_for_the_first() -> None:
    view = run_of(unlike(Patient), scenario("at_once"))
    (event,) = view.transcript.of(SaidBeside)
    assert (event.outcome, event.text) == ("answer", "Yes, I am here.")
    assert accused(view) == set()
    assert status("one-turn-at-a-time", view) is Status.HELD


class Titling(StoredAgent):
    """Asks the model for a title when a turn is over."""

    def __init__(self, setup: AgentSetup, *arguments: Any) -> None:
        assert BINDING.open_stateless is not None
        self._titles = BINDING.open_stateless(setup.endpoint)
        super().__init__(setup, *arguments)

    def send(self, content: str | Sequence[Part], **how: Any) -> ProviderResponse:
        response = super().send(content, **how)
        if response.finish_reason is not FinishReason.CANCELLED:
            self._titles.complete([Message.user("Which title has this conversation?")])
        return response


@pytest.mark.parametrize("name", ["resumed", "resumed_in_place", "denied", "forked", "deleted", "cancelled", "failed"])
def test_an_agent_may_ask_the_model_for_something_beside_the_conversation(name: str) -> None:
    """No dialect knows that question for what it is, so that it gets an answer of the turn's."""
    view = run_of(unlike(Titling), scenario(name))
    assert sum("Which title" in str(one.body) for one in view.transcript.of(WireRequest)) >= 2
    assert verdicts(view) == verdicts(view_of(name))


class Forgetful(StoredAgent):
    """Has no history of what was said before it was opened."""

    def __init__(self, *arguments: Any) -> None:
        self._known = 0
        super().__init__(*arguments)
        self._known = len(super().history)

    @property
    def history(self) -> Sequence[Message]:
        return super().history[self._known :]


def is_recommended(name: str) -> bool:
    return suite().catalogue[f"sessions/{name}"].level == "SHOULD"


def test_a_history_that_is_empty_after_a_resume_misses_a_recommendation() -> None:
    assert accused(run_of(unlike(Forgetful), scenario("resumed"))) == {"resume-restores-local-history"}
    assert is_recommended("resume-restores-local-history")


# -- agents that tell less, or in another order ----------------------------------------------------------------------


def entries(change: Callable[[list[SessionListed]], Sequence[SessionListed]]) -> Change:
    """Every list with other entries."""

    def listed(one: SessionStepped) -> SessionStepped:
        return replace(one, listed=tuple(change(list(one.listed))))

    return lambda view: spoilt(view, SessionStepped, listed, every=True)


def without(**fields: Any) -> Change:
    return entries(lambda listed: [replace(one, **fields) for one in listed])


LISTS = ("listed", "deleted", "resumed_twice")


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    "change",
    [
        entries(lambda listed: listed[::-1]),
        without(titled=False),
        without(cwd=""),
        entries(lambda listed: [*listed, SessionListed(session="other-1", age=9)]),
    ],
    ids=["another-order", "no-titles", "no-folders", "sessions-of-others"],
)
def test_lists_may_differ(name: str, change: Change) -> None:
    assert verdicts(change(view_of(name))) == verdicts(view_of(name))


@pytest.mark.parametrize("name", LISTS)
def test_a_list_without_times_misses_a_recommendation(name: str) -> None:
    assert accused(without(age=None)(view_of(name))) == {"list-tells-when"}
    assert is_recommended("list-tells-when")


def test_what_costs_a_request_misses_a_recommendation() -> None:
    """Gemini's program has the model sum up the latest session when it lists them."""
    request = view_of("deleted").transcript.of(WireRequest)[0]
    summing_up = inserted(SessionStepped, 2, replace(request, exchange=99, extra=True), nth=2)
    assert accused(summing_up(view_of("deleted"))) == {"listing-asks-no-model"}
    assert is_recommended("listing-asks-no-model")


def test_deleting_what_is_not_there_without_an_error_misses_a_recommendation() -> None:
    assert accused(stepped(2, outcome="done")(view_of("deleted"))) == {"deleting-an-unknown-one-is-refused"}
    assert is_recommended("deleting-an-unknown-one-is-refused")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("resumed", stepped(2, now=None)),
        ("resumed_twice", stepped(2, 1, now=None)),
        ("deleted", stepped(1, now="second")),
        ("opened_unknown", stepped(0, now="second")),
        ("continued_elsewhere", stepped(1, now="second")),
    ],
)
def test_an_id_may_be_known_early_or_late(name: str, change: Change) -> None:
    assert verdicts(change(view_of(name))) == verdicts(view_of(name))


# -- agents that refuse, begin anew, or have lost something ----------------------------------------------------------


def only_the_last(found: Any) -> None:
    found["messages"] = found["messages"][-1:]


def newest(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(messages[-2:])


def test_where_there_is_nothing_to_go_on_with_a_session_may_be_begun() -> None:
    """The reference session stays where it is."""
    anew = after(
        view_of("continued_elsewhere"),
        stepped(2, outcome="done", now=None),
        in_force(2, "other-1"),
        body(2, only_the_last),
        with_history(2, newest),
    )
    assert verdicts(anew) == verdicts(view_of("continued_elsewhere"))
    assert view_of("continued_elsewhere").transcript.of(SessionStepped)[1].outcome == "nothing"


REFUSED = stepped(4, 1, outcome="refused", error="ResumeError", message="it is damaged", typed=True, now="second")


def taken_out(kind: type[Event]) -> Change:
    """The last event of a kind is not there."""
    return lambda view: spoilt(view, kind, lambda one: None, -1)


def in_the_second(found: Any) -> None:
    donkey = [text("user", "The donkey is called Anton."), text("assistant", "A fine name.")]
    found["messages"] = [*donkey, found["messages"][-1]]


def test_a_damaged_session_may_be_refused() -> None:
    view = after(
        view_of("damaged"),
        REFUSED,
        in_force(4, "second"),
        body(4, in_the_second),
        with_history(4, lambda messages: (Message.user("The donkey is called Anton."), *newest(messages))),
    )
    assert accused(view) == set()
    assert status("damaged-session-is-no-empty-one", view) is Status.HELD


def test_a_damaged_session_may_be_refused_when_something_is_said_in_it() -> None:
    """A program that starts with the next turn sees only then what is wrong."""
    fails = error("ResumeError")
    unsent = [taken_out(WireRequest), taken_out(WireResponse)]
    view = after(
        view_of("damaged"),
        *unsent,
        inserted(TurnEnded, 4, replace(fails, scope="turn")),
        ended(4, outcome="error", text="", shown=""),
        with_history(4, lambda messages: messages[:-2]),
    )
    assert accused(view) == set()
    assert status("damaged-session-is-no-empty-one", view) is Status.HELD


LOST_TEXT = "We need forty pots "


def without_what_was_lost(found: Any) -> None:
    found["messages"] = [one for one in found["messages"] if LOST_TEXT not in json.dumps(one)]


def with_an_apology(found: Any) -> None:
    for message in found["messages"]:
        for block in message["content"]:
            block["text"] = block["text"].replace(LOST_TEXT, "No response requested.")


def without_the_turn(found: Any) -> None:
    found["messages"] = [one for one in found["messages"] if "Say what we need." not in json.dumps(one)]
    without_what_was_lost(found)


@pytest.mark.parametrize("stored", [without_what_was_lost, with_an_apology, without_the_turn])
def test_what_was_being_said_when_the_agent_was_killed_may_be_lost(stored: Callable[[Any], Any]) -> None:
    def before(messages: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(one for one in messages if one.text != LOST_TEXT)

    changes = [body(turn, stored) for turn in (2, 3)] + [with_history(turn, before) for turn in (1, 2, 3)]
    view = after(killed(), *changes)
    assert verdicts(view) == verdicts(killed())


def test_an_agent_may_have_kept_what_it_had_said_before_it_was_killed() -> None:
    assert accused(killed()) == set()
    for name in ("killed-agent-ends-the-turn", "earlier-turns-survive-a-kill", "loss-is-not-hidden"):
        assert status(name, killed()) is Status.HELD


def test_an_agent_with_processes_or_one_that_asks_again_is_no_worse() -> None:
    assert accused(with_processes()) == accused(asked_again()) == set()


def test_an_agent_that_tells_no_figures_or_changes_no_files_is_not_accused() -> None:
    silent = spoilt(view_of("resumed"), UsageReport, lambda one: None, every=True)
    assert accused(silent) == accused(of_all(LeftBehind, files=())(silent)) == set()


# -- agents that know no session -------------------------------------------------------------------------------------


def test_a_program_that_begins_a_session_to_list_others_has_changed_nothing() -> None:
    """Nothing was open."""
    view = conversation(Say("Hello.", "Hi.", steps=(done("list", now="first"),)))
    assert accused(view) == set()


def test_a_list_does_not_take_up_a_session_where_none_is_open() -> None:
    view = conversation(
        Say("The frost came.", "It did."),
        Say("Hello.", "Hi.", steps=(done("open", now=None), done("list", now="first"))),
    )
    assert status("listing-changes-nothing", view) is Status.VIOLATED


def test_a_session_may_be_deleted_where_none_is_open() -> None:
    closed, deleted = done("open", now=None, label="second"), done("delete", session="first", now=None)
    view = conversation(Say("The frost came.", "It did."), Say("Hello.", "Hi.", "second", (closed, deleted)))
    assert accused(view) == set()


def test_where_no_id_is_told_nothing_is_another_session() -> None:
    """It is accused of having told none, and of nothing that follows from it."""
    view = in_force(1, None)(view_of("resumed"))
    assert accused(view) == {"has-an-id", "id-stays-through-its-turns"}


def test_an_id_that_is_not_told_is_not_that_of_nobody() -> None:
    assert accused(in_force(0, None)(view_of("opened_unknown"))) == {"has-an-id"}
