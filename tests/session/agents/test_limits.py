"""Nothing that a subagent is, does, or fails to do harms its parent: limits, refusals, and the end of a team."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError
from turnproof.messages import ProviderResponse, ToolSchema
from turnproof.session.agents import AgentLimitError, Limits, ProviderSource, Team
from turnproof.subject import Tool

from ..fakes import Play, Watching, reply, tool
from .kit import LIMIT, Minds, Pause, at_rest, calls, over, results, spawn, team_of, when


def refusal(team: Team) -> str:
    """The text of the one error result that the lead's model got last."""
    tool_message = [message for message in team.lead.session.history.messages if message.role == "tool"][-1]
    (result,) = tool_message.results
    assert result.is_error
    assert isinstance(result.result, str)
    return result.result


REFUSED: dict[str, tuple[tuple[str, dict[str, Any]], str]] = {
    "no task": (("spawn_subagent", {}), "UsageError: the arguments of spawn_subagent do not fit: Object missing"),
    "unknown argument": (("spawn_subagent", {"task": "a", "colour": "red"}), "unknown field `colour`"),
    "a name that cannot be": (("spawn_subagent", {"task": "a", "name": "a b"}), "1 to 64 letters, digits, - or _"),
    "the lead's own name": (("spawn_subagent", {"task": "a", "name": "main"}), "there is an agent 'main' already"),
    "a tool that is not there": (
        ("spawn_subagent", {"task": "a", "tools": ["lock"]}),
        "unknown tool 'lock'; did you mean 'look'?",
    ),
    "a provider that is not there": (
        ("spawn_subagent", {"task": "a", "provider": "x"}),
        "unknown provider 'x'; one of",
    ),
    "a model that is not there": (("spawn_subagent", {"task": "a", "model": "x"}), "unknown model 'x'; one of m"),
    "a path that is not there": (("spawn_subagent", {"task": "a", "path": "legacy"}), "there is no legacy path here"),
    "somebody unknown": (("message_subagent", {"name": "b", "text": "hi"}), "'main' has no subagent 'b'; it has none"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_told_to_the_model_and_nothing_is_started(case: str) -> None:
    tool_call, message = REFUSED[case]
    with team_of(Minds(lead=[calls(tool_call), reply("I see.")]), tools=[tool()]) as team:
        assert team.send("lead").text == "I see."
        assert message in refusal(team)
        assert team.lead.children == []


def test_one_child_more_than_the_limit_is_refused_and_closing_one_makes_room() -> None:
    minds = Minds(
        lead=[
            calls(spawn("a")),
            calls(spawn("b")),
            calls(("close_subagent", {"name": "a"})),
            calls(spawn("b")),
            reply("Done."),
        ],
        a=[reply("A.")],
        b=[reply("B.")],
    )
    with team_of(minds, limits=Limits(children=1, patience=LIMIT, grace=LIMIT)) as team:
        team.send("lead")
        (refused,) = results(team, 1)
        assert refused == (
            "AgentLimitError: 'main' has 1 subagents, and 1 is the most: close one that is not needed any more"
        )
        assert results(team, 2) == [{"agent": "a", "status": "closed", "reports": []}]
        assert results(team, 3)[0]["reports"] == [{"ended": "completed", "text": "B."}]
        assert [agent.name for agent in team.lead.children] == ["b"]


def test_children_that_are_asked_for_at_the_same_time_do_not_slip_past_the_limit() -> None:
    minds = Minds(
        lead=[calls(*(spawn(name) for name in "abcd")), reply("Done.")], **{name: [reply("Ok.")] for name in "abcd"}
    )
    with team_of(minds, limits=Limits(children=2, patience=LIMIT)) as team:
        team.send("lead")
        assert len(team.lead.children) == 2
        assert sum("AgentLimitError" in result for result in results(team) if isinstance(result, str)) == 2


def test_the_deepest_agents_are_offered_no_subagents_and_cannot_have_any() -> None:
    minds = Minds(lead=[calls(spawn("a")), reply("Ok.")], a=[calls(spawn("b")), reply("Not me.")])
    with team_of(minds, limits=Limits(depth=1, patience=LIMIT)) as team:
        team.send("lead")
        assert "spawn_subagent" not in {schema.name for schema in minds.of("a")[0].tools}
        assert "there is no tool 'spawn_subagent'" in str(minds.of("a")[1].messages[-1].results)
        (child,) = team.lead.children
        with pytest.raises(AgentLimitError, match="'a' is at depth 1, and 1 is the deepest"):
            team.spawn(child, "b")


def test_limits_are_not_negative() -> None:
    with pytest.raises(UsageError, match="depth is not negative, got -1"):
        Limits(depth=-1)


def test_a_child_gets_no_tool_that_its_parent_lacks() -> None:
    minds = Minds(
        lead=[calls(spawn("a", tools=["look"])), reply("Ok.")],
        a=[calls(spawn("b", tools=["rm"])), calls(spawn("c")), reply("Ok.")],
        c=[reply("Ok.")],
    )
    with team_of(minds, tools=[tool("look"), tool("rm")]) as team:
        team.send("lead")
        assert "'a' cannot give away what it has not: rm" in str(minds.of("a")[1].messages[-1].results)
        own = [{schema.name for schema in minds.of(name)[0].tools} & {"look", "rm"} for name in ("lead", "a", "c")]
        assert own == [{"look", "rm"}, {"look"}, {"look"}]


def test_a_provider_that_cannot_be_opened_for_a_child_is_told_to_the_model() -> None:
    minds = Minds(lead=[calls(spawn("a", provider="broken")), reply("Too bad.")])

    def broken(model: str) -> Any:
        raise OSError("no route")

    providers = {
        "minds": ProviderSource(("m",), open_stateless=lambda model: minds),
        "broken": ProviderSource(("m",), open_stateless=broken),
    }
    with team_of(minds, providers=providers) as team:
        assert team.send("lead").text == "Too bad."
        assert refusal(team) == "OSError: no route"
        assert team.lead.children == []


def test_closing_a_child_at_work_ends_it_and_reports_nothing_later() -> None:
    pause = Pause("so far")
    minds = Minds(
        lead=[
            calls(spawn("a", background=True)),
            when(pause.reached, calls(("close_subagent", {"name": "a"}))),
            reply("Closed."),
        ],
        a=[pause],
    )
    with team_of(minds) as team:
        team.send("lead")
        assert pause.cut
        assert results(team) == [{"agent": "a", "status": "closed", "reports": []}]
        assert not team.wait(LIMIT)
        assert team.lead.session.waiting == ()


def test_status_names_every_child_with_what_it_does_and_has_used() -> None:
    pause = Pause()
    minds = Minds(
        lead=[
            calls(spawn("b")),
            calls(spawn("a", background=True)),
            when(pause.reached, calls(("subagent_status", {}))),
            reply("I see."),
        ],
        a=[pause],
        b=[reply("done")],
    )
    with team_of(minds) as team:
        team.send("lead")
        (listed,) = results(team)
        assert listed == [
            {"agent": "b", "status": "idle", "report_waits": False, "tokens": 12},
            {"agent": "a", "status": "working", "report_waits": False, "tokens": 0},
        ]


def test_the_result_of_whichever_is_ready_first_can_be_asked_for() -> None:
    slow = Pause()
    minds = Minds(
        lead=[
            calls(spawn("slow", background=True), spawn("fast", background=True)),
            calls(("subagent_result", {})),
            calls(("subagent_result", {"name": "slow", "wait": False})),
            reply("Enough."),
        ],
        slow=[slow],
        fast=[reply("first")],
    )
    with team_of(minds) as team:
        team.send("lead")
        assert results(team, 1) == [
            [{"agent": "fast", "status": "idle", "reports": [{"ended": "completed", "text": "first"}]}]
        ]
        assert results(team, 2)[0]["note"] == "still at work: ask again later"


# The end of a team


def test_closing_a_team_ends_everybody_and_leaves_no_thread() -> None:
    helds = [Pause(), Pause()]
    minds = Minds(
        lead=[],
        a=[calls(spawn("b", background=True)), when(helds[1].reached, helds[0])],
        b=[helds[1]],
    )
    team = team_of(minds)
    agent = team.spawn(team.lead, "a", name="a")
    helds[0].await_reached()
    assert team.close() == ()
    for thread in threading.enumerate():
        if thread.name in ("turnproof-agent-a", "turnproof-agent-b"):
            over(thread)
    assert [pause.cut for pause in helds] == [True, True]
    assert [one.status for one in agent.family()] == ["closed", "closed"]
    assert team.close() == ()
    with pytest.raises(UsageError, match="'main' is closed: it starts no more subagents"):
        team.spawn(team.lead, "c")
    with pytest.raises(UsageError, match="subagent 'a' is closed"):
        agent.tell("are you there?")


def test_a_provider_that_ignores_its_cancel_is_left_behind_and_reaches_no_observer() -> None:
    reached, let_go = threading.Event(), threading.Event()
    events: list[str] = []

    def deaf(play: Play) -> ProviderResponse:
        play.stream("before")
        reached.set()
        assert let_go.wait(LIMIT)
        play.stream("after")
        return reply("after all")

    minds = Minds(a=[deaf])
    team = team_of(
        minds,
        limits=Limits(grace=0.0),
        observers=lambda agent: [
            Watching(
                on_output=lambda source, text, mode: events.append(text),
                on_turn_ended=lambda result: events.append("ended"),
                on_status=lambda status: events.append(status),
            )
        ],
    )
    agent = team.spawn(team.lead, "a", name="a")
    assert reached.wait(LIMIT)
    assert team.close() == ("a",)
    before = list(events)
    assert before[-1] == "before"
    let_go.set()
    at_rest(team, agent)
    assert events == before
    assert team.lead.session.waiting == ()


def test_closing_ends_the_tools_that_went_on_in_the_background() -> None:
    stopped = threading.Event()

    def slow(args: object, token: CancelToken) -> str:
        token.on_cancel(stopped.set)
        assert stopped.wait(LIMIT)
        return "too late"

    minds = Minds(a=[calls(("look", {})), reply("It goes on.")])
    team = team_of(minds, tools=[Tool(ToolSchema("look"), slow, background_after=0.0)])
    agent = team.spawn(team.lead, "a", name="a")
    at_rest(team, agent)
    (task,) = agent.session.tasks
    assert not stopped.is_set()
    assert team.close() == ()
    assert stopped.is_set()
    assert task.status == "cancelled"


def test_an_observer_that_raises_harms_no_agent() -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("I am only looking")

    minds = Minds(lead=[calls(spawn("a")), reply("Ok.")], a=[reply("Fine.")])
    with team_of(minds, observers=lambda agent: [Watching(on_output=broken, on_turn_ended=broken)]) as team:
        assert team.send("lead").text == "Ok."
        assert results(team)[0]["status"] == "idle"


def test_an_observer_may_close_the_team() -> None:
    minds = Minds(lead=[], a=[reply("Fine.")])
    closed: list[tuple[str, ...]] = []
    team = team_of(
        minds,
        limits=Limits(grace=0.0),
        observers=lambda agent: [Watching(on_output=lambda *_: closed.append(team.close()))],
    )
    agent = team.spawn(team.lead, "a", name="a")
    at_rest(team, agent)
    # Called from the agent's own thread, which it cannot wait for.
    assert closed == [("a",)]
    assert agent.status == "closed"


def test_a_full_inbox_keeps_a_report_from_being_delivered_but_not_from_being_fetched() -> None:
    minds = Minds(lead=[calls(("subagent_result", {"name": "a"})), reply("There it is.")], a=[reply("found")])
    with team_of(minds) as team:
        for _ in range(256):
            team.interject("lead")
        agent = team.spawn(team.lead, "a", name="a")
        at_rest(team, agent)
        assert len(team.lead.session.waiting) == 256
        assert team.deliver() is not None
        assert results(team)[0]["reports"] == [{"ended": "completed", "text": "found"}]
