"""Many subagents, spoken to and cancelled in any order: each report arrives once, and everybody comes to rest."""

from __future__ import annotations

import threading
from collections import Counter
from random import Random
from typing import Any

import pytest

from turnproof.errors import UsageError
from turnproof.messages import ProviderResponse
from turnproof.session.agents import Limits

from ..fakes import reply, tool
from .kit import LIMIT, Minds, Pause, calls, in_thread, over, spawn, team_of

NAMES = [f"n{number}" for number in range(12)]
LIMITS = Limits(children=len(NAMES), patience=LIMIT, grace=LIMIT)


def test_the_reports_of_many_children_arrive_once_each() -> None:
    minds = Minds(
        lead=[calls(*(spawn(name, background=True) for name in NAMES)), *(reply("Go on.") for _ in range(20))],
        **{name: [reply(f"{name} is done")] for name in NAMES},
    )
    with team_of(minds, limits=LIMITS) as team:
        team.send("lead")
        list(team.settle())
        text = "\n".join(message.text for message in team.lead.session.history.messages)
    assert Counter(name for name in NAMES for _ in range(text.count(f"{name} is done"))) == Counter(NAMES)


def test_a_childs_tools_run_once_and_its_calls_are_none_of_its_parents() -> None:
    beds: list[str] = []
    minds = Minds(lead=[calls(spawn("a")), reply("Ok.")], a=[calls(("dig", {"bed": "3"})), reply("Dug.")])
    with team_of(minds, tools=[tool("dig", lambda args, token: beds.append(args["bed"]))]) as team:
        team.send("lead")
        names = [call.name for message in team.lead.session.history.messages for call in message.calls]
    assert beds == ["3"]
    assert names == ["spawn_subagent"]


def test_one_child_is_continued_while_its_siblings_stream_on_and_nobody_else_changes() -> None:
    helds = {name: Pause(f"{name} says", " this") for name in "ac"}
    minds = Minds(b=[reply("first"), reply("second")], **{name: [pause] for name, pause in helds.items()})
    with team_of(minds) as team:
        agents = {name: team.spawn(team.lead, name, name=name) for name in "abc"}
        for held in helds.values():
            held.await_reached()
        assert team.wait_for(lambda: not agents["b"].is_running, timeout=LIMIT)
        before = {name: agents[name].session.history.messages for name in "ac"}
        agents["b"].tell("go on")
        assert team.wait_for(lambda: not agents["b"].is_running, timeout=LIMIT)
        assert [message.text for message in agents["b"].session.history.messages] == ["b", "first", "go on", "second"]
        assert {name: agents[name].session.history.messages for name in "ac"} == before
        for held in helds.values():
            held.go.set()
        assert team.wait_for(lambda: not team.running, timeout=LIMIT)
        assert [agents[name].take_reports()[0].text for name in "ac"] == ["a says this", "c says this"]


class Talkative:
    """Answers whatever is said, after a word or two, unless it is cancelled meanwhile."""

    def complete(self, messages: Any, system: Any = None, tools: Any = None, **kwargs: Any) -> ProviderResponse:
        kwargs["on_chunk"]("word ")
        return reply("word ", finish="cancelled" if kwargs["cancel_token"].is_cancelled else None)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_done_to_them_in_whatever_order_all_come_to_rest(seed: int) -> None:
    team = team_of(Talkative(), limits=LIMITS)  # type: ignore[arg-type]
    start = threading.Barrier(4)

    def meddle(random: Random) -> None:
        start.wait()
        for _ in range(40):
            name = random.choice(NAMES)
            try:
                match random.randrange(5):
                    case 0 | 1:
                        team.spawn(team.lead, "begin", name=name)
                    case 2:
                        team.child(team.lead, name).tell("more")
                    case 3:
                        team.cancel(team.child(team.lead, name))
                    case _:
                        team.dismiss(team.child(team.lead, name))
            except UsageError:
                pass  # somebody else was faster

    for thread in [in_thread(lambda n=n: meddle(Random(f"{seed}/{n}"))) for n in range(4)]:
        over(thread)
    assert team.wait_for(lambda: not team.running, timeout=LIMIT)
    assert {agent.status for agent in team.lead.children} <= {"idle", "cancelled"}
    for agent in team.lead.children:
        roles = [message.role for message in agent.session.history.messages]
        assert not roles or roles[0] == "user"
    assert team.close() == ()
