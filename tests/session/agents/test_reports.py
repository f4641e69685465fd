"""What a subagent tells its parent: completed, then idle; once; when the parent is idle; and nothing in between."""

from __future__ import annotations

import pytest

from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason
from turnproof.session.agents import Report

from ..fakes import reply, tool
from .kit import LIMIT, Minds, Pause, at_rest, calls, results, spawn, team_of, when


def test_a_child_in_the_foreground_is_a_call_with_its_answer_as_the_result() -> None:
    minds = Minds(lead=[calls(spawn("count the pots")), reply("Seven pots.")], count=[reply("I count 7.")])
    with team_of(minds) as team:
        result = team.send("lead the way")
        assert result.text == "Seven pots."
        assert results(team) == [
            {"agent": "count", "status": "idle", "reports": [{"ended": "completed", "text": "I count 7."}]}
        ]
        assert not team.wait(LIMIT), "what was a result is no report as well"


def test_a_child_in_the_background_reports_completed_then_idle_once_its_parent_is_idle() -> None:
    pause = Pause("7 ", "pots")
    minds = Minds(
        lead=[calls(spawn("count the pots", background=True)), reply("Started."), reply("Seven, I hear.")],
        count=[pause],
    )
    with team_of(minds) as team:
        assert team.send("lead the way").text == "Started."
        assert results(team) == [{"agent": "count", "status": "started"}]
        assert not team.lead.session.waiting
        pause.go.set()
        assert team.wait(LIMIT)
        (report,) = team.lead.session.waiting
        assert report.text == "[subagent count: COMPLETED]\n7 pots\n[subagent count: IDLE]"
        assert [result.text for result in team.settle()] == ["Seven, I hear."]
        assert minds.of("lead")[-1].messages[-1].text == report.text


def test_children_of_one_response_work_at_the_same_time() -> None:
    first, second = Pause(), Pause()
    # Each goes on only once the other has begun.
    minds = Minds(
        lead=[calls(spawn("a"), spawn("b")), reply("Both.")],
        a=[when(second.reached, first)],
        b=[second],
    )
    first.go.set()
    second.go = first.reached
    with team_of(minds) as team:
        assert team.send("lead").text == "Both."
        assert [one["agent"] for one in results(team)] == ["a", "b"]


def test_several_reports_are_delivered_in_one_turn_in_the_order_in_which_they_came() -> None:
    first, second = Pause("", "one"), Pause("", "two")
    minds = Minds(
        lead=[calls(spawn("b", background=True), spawn("a", background=True)), reply("Go."), reply("Thanks.")],
        b=[first],
        a=[second],
    )
    with team_of(minds) as team:
        team.send("lead")
        for pause, agent in ((second, team.child(team.lead, "a")), (first, team.child(team.lead, "b"))):
            pause.go.set()
            at_rest(team, agent)
        assert [result.text for result in team.settle()] == ["Thanks."]
        senders = [message.text.split(":")[0] for message in minds.of("lead")[-1].messages[-2:]]
        assert senders == ["[subagent a", "[subagent b"]


def test_what_was_fetched_is_not_delivered_and_what_was_delivered_is_not_fetched() -> None:
    ask = ("subagent_result", {"name": "count"})
    minds = Minds(
        lead=[
            calls(spawn("count", background=True)),
            calls(ask),
            calls(ask),
            reply("It is 7."),
            calls(("message_subagent", {"name": "count", "text": "again", "background": True})),
            reply("Asked again."),
            calls(ask),
            reply("Still 8."),
        ],
        count=[reply("7"), reply("8")],
    )
    with team_of(minds) as team:
        assert team.send("lead").text == "It is 7."
        assert results(team, 1)[0]["reports"] == [{"ended": "completed", "text": "7"}]
        assert results(team, 2)[0] == {
            "agent": "count",
            "status": "idle",
            "reports": [],
            "note": "nothing new: all was reported before",
        }
        assert not team.wait(LIMIT)
        team.send("ask again")
        assert [result.text for result in team.settle()] == ["Still 8."]
        assert results(team)[0]["reports"] == []


def test_progress_is_not_forwarded() -> None:
    pause = Pause("thinking about it", ", done")
    minds = Minds(
        lead=[calls(spawn("work", background=True)), reply("Go."), reply("Heard.")],
        work=[calls(("look", {})), pause],
    )
    with team_of(minds, tools=[tool()]) as team:
        team.send("lead")
        pause.await_reached()
        assert team.lead.session.waiting == ()
        pause.go.set()
        assert len(list(team.settle())) == 1
        text = minds.of("lead")[-1].messages[-1].text
        assert text == "[subagent work: COMPLETED]\nthinking about it, done\n[subagent work: IDLE]"


def test_the_users_next_words_come_behind_the_reports_that_wait() -> None:
    minds = Minds(lead=[calls(spawn("a", background=True)), reply("Go."), reply("Yes.")], a=[reply("found it")])
    with team_of(minds) as team:
        team.send("lead")
        assert team.wait(LIMIT)
        team.send("And?")
        texts = [message.text for message in minds.of("lead")[-1].messages[-2:]]
        assert texts == ["[subagent a: COMPLETED]\nfound it\n[subagent a: IDLE]", "And?"]
        assert not team.wait(LIMIT)


def test_a_report_is_not_lost_with_the_turn_that_was_to_deliver_it() -> None:
    minds = Minds(
        lead=[calls(spawn("a", background=True)), reply("Go."), InvalidRequestError("no", status=400), reply("Now.")],
        a=[reply("found it")],
    )
    with team_of(minds) as team:
        team.send("lead")
        assert team.wait(LIMIT)
        before = team.lead.session.history.messages
        with pytest.raises(InvalidRequestError):
            team.deliver()
        assert team.lead.session.history.messages == before
        assert [result.text for result in team.settle()] == ["Now."]


def test_a_child_that_fails_is_told_of_as_an_error_and_the_parents_turn_goes_on() -> None:
    minds = Minds(
        lead=[calls(spawn("a")), reply("Too bad.")],
        a=[InvalidRequestError("the prompt is not to my liking", status=400)],
    )
    with team_of(minds) as team:
        assert team.send("lead").text == "Too bad."
        (outcome,) = results(team)
        assert outcome["status"] == "failed"
        assert outcome["reports"] == [{"ended": "error", "text": "InvalidRequestError: the prompt is not to my liking"}]
        (result,) = team.lead.session.history.messages[2].results
        assert result.is_error


def test_an_error_in_the_background_is_reported_without_idle() -> None:
    minds = Minds(lead=[calls(spawn("a", background=True)), reply("Go."), reply("Oh.")], a=[SystemExit(3)])
    with team_of(minds) as team:
        team.send("lead")
        assert [result.text for result in team.settle()] == ["Oh."]
        assert minds.of("lead")[-1].messages[-1].text == "[subagent a: ERROR]\nSystemExit: 3"


def test_a_failed_child_can_be_spoken_to_again_and_hears_its_task_then() -> None:
    minds = Minds(
        lead=[
            calls(spawn("a task")),
            calls(("message_subagent", {"name": "a", "text": "try again"})),
            reply("At last."),
        ],
        a=[InvalidRequestError("no", status=400), reply("done")],
    )
    with team_of(minds) as team:
        assert team.send("lead").text == "At last."
        assert results(team)[0]["reports"] == [{"ended": "completed", "text": "done"}]
        assert [message.text for message in minds.of("a")[-1].messages] == ["a task", "try again"]


def test_an_answer_that_was_cut_off_says_so() -> None:
    report = Report("a", "completed", "half", FinishReason.MAX_TOKENS)
    assert str(report) == "[subagent a: COMPLETED, MAX_TOKENS]\nhalf"
    minds = Minds(lead=[calls(spawn("a")), reply("Half.")], a=[reply("half", finish="max_tokens")])
    with team_of(minds) as team:
        team.send("lead")
        assert results(team)[0]["reports"] == [{"ended": "completed, max_tokens", "text": "half"}]


def test_only_the_last_answer_is_reported_of_a_turn_with_tools() -> None:
    minds = Minds(
        lead=[calls(spawn("a")), reply("Ok.")],
        a=[reply("Let me look.", calls(("look", {})).parts[0]), reply("It is dry.")],
    )
    with team_of(minds, tools=[tool()]) as team:
        team.send("lead")
        assert results(team)[0]["reports"][0]["text"] == "It is dry."


def test_a_saved_parent_holds_its_own_history_and_the_reports_delivered_or_not() -> None:
    minds = Minds(
        lead=[calls(spawn("a", background=True)), reply("Go."), reply("Heard.")],
        a=[reply("a thought of the child", calls(("look", {})).parts[0]), reply("a find of the child")],
    )
    with team_of(minds, tools=[tool()]) as team:
        team.send("lead")
        assert team.wait(LIMIT)
        early = team.lead.session.save()
        list(team.settle())
        late = team.lead.session.save()
        history = team.lead.session.history.messages
    for saved in (early, late):
        assert saved.count("a find of the child") == 1
        assert "a thought of the child" not in saved
    with team_of(Minds(lead=[reply("Heard.")])) as other:
        other.lead.session.restore(early)
        assert [result.text for result in other.settle()] == ["Heard."]
        continued = other.lead.session.history.messages
    assert [(m.role, m.parts) for m in continued] == [(m.role, m.parts) for m in history]
    with team_of(Minds(lead=[reply("Yes.")])) as other:
        other.lead.session.restore(late)
        assert other.lead.session.waiting == ()
        assert other.send("go on").text == "Yes."
