"""Who is stopped by whom: a parent's cancel reaches the streams of its children, a child's reaches nobody else."""

from __future__ import annotations

import threading

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, InvalidRequestError
from turnproof.session.agents import Limits

from ..fakes import Step, reply, tool
from .kit import (
    LIMIT,
    Minds,
    Pause,
    at_rest,
    calls,
    cancelled,
    in_thread,
    over,
    results,
    spawn,
    statuses,
    team_of,
    when,
)


def test_cancelling_the_parents_turn_cuts_the_streams_of_its_children_and_grandchildren() -> None:
    child, grandchild = Pause("child"), Pause("grandchild")
    minds = Minds(
        lead=[calls(spawn("b", background=True)), calls(spawn("a")), reply("never")],
        a=[calls(spawn("c")), reply("never")],
        b=[child],
        c=[grandchild],
    )
    token = CancelToken()
    with team_of(minds) as team:
        turn = in_thread(lambda: team.send("lead", cancel_token=token))
        child.await_reached()
        grandchild.await_reached()
        token.cancel()
        over(turn)
        assert team.wait_for(lambda: not team.running, timeout=LIMIT)
        assert child.cut
        assert grandchild.cut
        assert statuses(team) == {"a": "cancelled", "b": "cancelled"}
        assert results(team) == ["cancelled"]


def test_stopping_the_leads_session_is_enough() -> None:
    pause = Pause()
    minds = Minds(lead=[calls(spawn("a"))], a=[pause])
    with team_of(minds) as team:
        turn = in_thread(lambda: team.send("lead"))
        pause.await_reached()
        assert team.lead.session.stop()
        over(turn)
        at_rest(team, team.child(team.lead, "a"))
        assert pause.cut
        # The call was answered with "cancelled"; what the child had said until then comes as its report.
        assert results(team) == ["cancelled"]
        assert [message.text for message in team.lead.session.waiting] == ["[subagent a: CANCELLED]\nso far"]


def test_a_child_in_the_background_survives_the_turn_that_started_it_and_a_later_one_that_is_cancelled() -> None:
    pause = Pause("found", " it")
    minds = Minds(lead=[calls(spawn("a", background=True)), reply("Go."), reply("Heard.")], a=[pause])
    with team_of(minds) as team:
        team.send("lead")
        pause.await_reached()
        assert team.send("and now?", cancel_token=cancelled()).outcome == "cancelled"
        assert team.child(team.lead, "a").status == "working"
        pause.go.set()
        assert [result.text for result in team.settle()] == ["Heard."]
        assert minds.of("lead")[-1].messages[-1].text.startswith("[subagent a: COMPLETED]\nfound it")


def test_a_child_in_the_background_ends_with_the_failed_turn_that_started_it() -> None:
    pause = Pause()
    minds = Minds(lead=[calls(spawn("a", background=True)), InvalidRequestError("no", status=400)], a=[pause])
    with team_of(minds) as team:
        # The turn is taken back, and with it all that the model knows of the child.
        with pytest.raises(InvalidRequestError):
            team.send("lead")
        at_rest(team, team.child(team.lead, "a"))
        assert team.child(team.lead, "a").status == "cancelled"


def test_one_child_is_cancelled_and_its_siblings_stream_on() -> None:
    helds = {name: Pause(name, "!") for name in "abc"}
    cancel: Step = calls(("cancel_subagent", {"name": "b"}))
    for pause in helds.values():
        cancel = when(pause.reached, cancel)
    minds = Minds(
        lead=[
            calls(*(spawn(name, background=True) for name in "abc")),
            cancel,
            reply("One less."),
            reply("Two reports."),
        ],
        **{name: [held] for name, held in helds.items()},
    )
    with team_of(minds) as team:
        assert team.send("lead").text == "One less."
        assert results(team) == [
            {"agent": "b", "status": "cancelled", "reports": [{"ended": "cancelled", "text": "b"}]}
        ]
        assert [helds[name].cut for name in "abc"] == [False, True, False]
        assert statuses(team) == {"a": "working", "b": "cancelled", "c": "working"}
        for name in "ac":
            helds[name].go.set()
            at_rest(team, team.child(team.lead, name))
        assert [result.text for result in team.settle()] == ["Two reports."]
        texts = [message.text for message in minds.of("lead")[-1].messages[-2:]]
        assert texts == [f"[subagent {name}: COMPLETED]\n{name}!\n[subagent {name}: IDLE]" for name in "ac"]


def test_a_cancelled_child_goes_on_when_it_is_spoken_to_and_knows_what_it_had_said() -> None:
    pause = Pause("half an answer")
    minds = Minds(
        lead=[
            calls(spawn("a", background=True)),
            when(pause.reached, calls(("cancel_subagent", {"name": "a"}))),
            calls(("message_subagent", {"name": "a", "text": "shorter"})),
            reply("Good."),
        ],
        a=[pause, reply("Short.")],
    )
    with team_of(minds) as team:
        team.send("lead")
        assert results(team)[0]["reports"] == [{"ended": "completed", "text": "Short."}]
        assert [message.text for message in minds.of("a")[-1].messages] == ["a", "half an answer", "shorter"]


def test_a_child_at_work_hears_its_parent_in_mid_turn() -> None:
    pause = Pause("a long")
    minds = Minds(
        lead=[
            calls(spawn("a", background=True)),
            when(pause.reached, calls(("message_subagent", {"name": "a", "text": "shorter"}))),
            reply("Good."),
        ],
        a=[pause, reply("Short.")],
    )
    with team_of(minds) as team:
        team.send("lead")
        assert pause.cut
        assert results(team)[0]["reports"] == [{"ended": "completed", "text": "Short."}]
        assert [message.text for message in minds.of("a")[-1].messages] == ["a", "a long", "shorter"]


def test_cancelling_a_child_reaches_those_below_it_while_it_is_idle_itself() -> None:
    pause = Pause()
    minds = Minds(
        lead=[calls(spawn("a")), calls(("cancel_subagent", {"name": "a"})), reply("Stopped.")],
        a=[calls(spawn("b", background=True)), when(pause.reached, reply("b is at it."))],
        b=[pause],
    )
    with team_of(minds) as team:
        assert team.send("lead").text == "Stopped."
        assert pause.cut
        (child,) = team.lead.children
        assert (child.status, child.children[0].status) == ("cancelled", "cancelled")
        assert len(minds.of("a")) == 2, "what became of b is no reason for a to go on"


def test_what_a_grandchild_reports_sets_its_parent_to_work() -> None:
    pause = Pause("one", "!")
    minds = Minds(
        lead=[calls(spawn("a")), reply("Ok."), reply("Heard.")],
        a=[calls(spawn("b", background=True)), reply("b is at it."), reply("b says one!")],
        b=[pause],
    )
    with team_of(minds) as team:
        team.send("lead")
        pause.go.set()
        assert [result.text for result in team.settle()] == ["Heard."]
        assert minds.of("a")[-1].messages[-1].text == "[subagent b: COMPLETED]\none!\n[subagent b: IDLE]"
        assert minds.of("lead")[-1].messages[-1].text == "[subagent a: COMPLETED]\nb says one!\n[subagent a: IDLE]"


def test_what_a_grandchild_reports_does_not_wake_a_parent_that_was_cancelled() -> None:
    pause, waits = Pause("one", "!"), Pause()
    minds = Minds(
        lead=[],
        a=[calls(spawn("b", background=True)), when(pause.reached, waits)],
        b=[pause],
    )
    with team_of(minds) as team:
        agent = team.spawn(team.lead, "a", name="a")
        waits.await_reached()
        team.cancel(agent)
        assert [one.status for one in agent.family()] == ["cancelled", "cancelled"]
        (report,) = agent.session.waiting
        assert report.text == "[subagent b: CANCELLED]\none"


def test_a_run_that_is_over_is_not_cancelled_by_the_turn_that_began_it() -> None:
    pause = Pause()
    minds = Minds(lead=[calls(spawn("a")), pause], a=[reply("done")])
    with team_of(minds) as team:
        turn = in_thread(lambda: team.send("lead"))
        pause.await_reached()
        assert team.lead.session.stop()
        over(turn)
        assert team.child(team.lead, "a").status == "idle"


def test_stop_ends_the_leads_turn_and_everybody_at_work() -> None:
    lead, child = Pause(), Pause()
    minds = Minds(lead=[calls(spawn("a", background=True)), reply("Go."), lead], a=[child])
    with team_of(minds) as team:
        assert not team.stop()
        team.send("lead")
        child.await_reached()
        turn = in_thread(lambda: team.send("more"))
        lead.await_reached()
        assert team.stop()
        over(turn)
        at_rest(team, team.child(team.lead, "a"))
        assert lead.cut
        assert child.cut


def test_settling_ends_with_a_turn_that_is_cancelled() -> None:
    minds = Minds(lead=[calls(spawn("a", background=True)), reply("Go.")], a=[reply("done")])
    with team_of(minds) as team:
        team.send("lead")
        assert [result.outcome for result in team.settle(cancel_token=cancelled())] == ["cancelled"]
        assert len(team.lead.session.waiting) == 1, "what no model got waits on"


def test_a_child_whose_turn_is_cancelled_already_is_not_started() -> None:
    minds = Minds()
    with team_of(minds) as team:
        with pytest.raises(Cancelled):
            team.spawn(team.lead, "a", under=cancelled())
        assert team.lead.children == []
        assert minds.requests == []


def test_a_child_whose_tool_hangs_is_cancelled_all_the_same() -> None:
    hangs, let_go = threading.Event(), threading.Event()
    minds = Minds(
        lead=[
            calls(spawn("a", background=True)),
            when(hangs, calls(("cancel_subagent", {"name": "a"}))),
            reply("Gone."),
        ],
        a=[calls(("look", {}))],
    )

    def hang(args: object, token: CancelToken) -> bool:
        hangs.set()
        return let_go.wait(LIMIT)

    with team_of(minds, tools=[tool(run=hang)]) as team:
        assert team.send("lead").text == "Gone."
        assert results(team)[0]["status"] == "cancelled"
        let_go.set()


def test_a_parent_that_waits_for_a_child_that_hangs_is_told_so() -> None:
    pause = Pause()
    minds = Minds(lead=[calls(spawn("a")), reply("Later, then.")], a=[pause])
    with team_of(minds, limits=Limits(patience=0.0, grace=LIMIT)) as team:
        assert team.send("lead").text == "Later, then."
        assert results(team) == [
            {"agent": "a", "status": "working", "reports": [], "note": "still at work: ask again later"}
        ]
