"""What is no difference: noise, ids, what follows from something else, what cannot be compared."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from suites.build import RunBuilder, body_with, response_with, scripted, spoilt
from suites.conversations import THREE, cancelled, plain, read, result, tools

from turnproof.dialects.base import PromptUsage
from turnproof.judge.parity import Place, compare_paths, compare_views
from turnproof.judge.parity.bodies import body_pairs
from turnproof.judge.view import View
from turnproof.messages import FinishReason, Message, Text, TokenUsage
from turnproof.run.transcript import CallBegan, HistorySnapshot, Refused, Response, WireRequest, WireResponse

from .kit import compared, nth_snapshot, replace_messages


def _words(text: str) -> Any:
    return response_with(parts=(Text(text),))


def test_what_the_right_side_says_otherwise_each_time_is_noise() -> None:
    comparison = compared(plain, (Response, _words("Moist."), 0), again=(Response, _words("Quite moist."), 0))
    assert comparison.differences == ()
    assert comparison.noise == ("answers turn 0 round 0 $.parts[0].text",)


def test_noise_at_one_place_hides_no_difference_at_another() -> None:
    changed = response_with(parts=(Text("Moist."),), finish_reason=FinishReason.MAX_TOKENS)
    comparison = compared(plain, (Response, changed, 0), again=(Response, _words("Quite moist."), 0))
    assert [(found.name, found.path) for found in comparison.differences] == [("answers-differ", "$.finish")]


def test_without_a_second_run_everything_counts() -> None:
    legacy = spoilt(plain(path="legacy"), Response, _words("Moist."))
    assert compare_views(plain(), legacy).names == {"answers-differ"}


def test_other_ids_on_the_wire_are_no_difference() -> None:
    def run(name: str, path: str) -> View:
        builder = RunBuilder(scripted([read(name=name)], ["Moist."], user="How is bed 3?"), path=path)
        call = read(name=name)
        builder.turn("How is bed 3?").call(call)
        (sent,) = builder.history[-1].calls
        return builder.results(result(sent.id)).call("Moist.").end().view()

    assert compare_views(run("toolu_1", "stateless"), run("toolu_9", "legacy")).equal


def test_figures_that_follow_the_wire_are_no_difference_of_their_own() -> None:
    def run(path: str, prompt: int) -> View:
        builder = RunBuilder(scripted([THREE], user="How is bed 3?"), path=path)
        return builder.turn("How is bed 3?").call(THREE, prompt=PromptUsage(prompt)).end().view()

    assert compare_views(run("stateless", 20), run("legacy", 23)).equal
    strayed = spoilt(run("legacy", 23), Response, response_with(usage=TokenUsage(20, 5, 25)))
    assert "stream-usage-late" in compare_views(run("stateless", 20), strayed).names


def test_a_history_that_differs_in_both_copies_is_told_once() -> None:
    change = replace_messages(lambda messages: messages[:-1])
    session, provider = (
        (HistorySnapshot, change, nth_snapshot(1, "session")),
        (HistorySnapshot, change, nth_snapshot(1, "provider")),
    )
    comparison = compared(plain, session, provider)
    assert [found.path for found in comparison.differences] == ["$.session[3]"]


def test_what_is_carried_on_is_one_difference_with_all_its_places() -> None:
    change = body_with(lambda body: body.update(max_tokens=1))
    comparison = compared(tools, *((WireRequest, change, nth) for nth in range(3)))
    (found,) = comparison.differences
    assert found.name == "request-settings"
    assert found.places == (Place(turn=0, round=0), Place(turn=0, round=1), Place(turn=1, round=0))
    assert str(found.place) == "turn 0 round 0"


def test_the_names_at_a_call_and_in_its_turn() -> None:
    comparison = compared(tools, (WireRequest, body_with(lambda body: body.update(max_tokens=1)), 1))
    assert comparison.at("0/1#0") == comparison.at("0") == {"request-settings"}
    assert comparison.at("0/0#0") == comparison.at("1") == frozenset()


def test_what_a_cut_answer_had_brought_is_no_difference() -> None:
    comparison = compared(plain, (WireResponse, lambda event: replace(event, ended="cut-by-peer", body=""), 0))
    assert {found.path for found in comparison.differences} == {"$.response.ended"}


@pytest.mark.parametrize("how", ["hung", "died", "open-failed", "harness-fault"])
def test_a_run_without_an_end_is_not_compared(how: str) -> None:
    builder = RunBuilder(scripted(["Yes."]), path="legacy").turn("Moist?").call("No.").end()
    comparison = compare_views(plain(), builder.view(how=how, detail="it was silent"), None)
    assert comparison.differences == ()
    assert not comparison.equal
    assert how in comparison.problem
    assert "it was silent" in comparison.problem


def test_nothing_is_compared_behind_a_paused_answer() -> None:
    def run(path: str, last: str) -> View:
        builder = RunBuilder(scripted(["Looking."], user="Look."), scripted(["Good."], user="So?"), path=path)
        builder.turn("Look.").call("Looking.", finish=FinishReason.PAUSED).call(last).end()
        return builder.turn("So?").call(last).end().view()

    comparison = compare_views(run("stateless", "Found."), run("legacy", "Lost."))
    assert comparison.equal
    assert comparison.compared["answers"] == 1
    assert comparison.compared["outcome"] == 0
    assert "paused" in comparison.cut


def test_both_paths_are_paired_by_scenario_and_mode() -> None:
    views = [
        plain(path=path, mode=mode, repeat=repeat)
        for mode in ("batch", "stream")
        for path, repeat in (("legacy", 1), ("legacy", 0), ("stateless", 0))
    ]
    comparisons = compare_paths(views)
    assert [(one.mode, one.left.label, one.right.label, one.equal) for one in comparisons] == [
        ("batch", "stateless", "legacy", True),
        ("stream", "stateless", "legacy", True),
    ]
    assert compare_paths([plain(), cancelled(path="legacy", mode="batch")]) == ()


def test_bodies_are_told_byte_for_byte() -> None:
    spaced = lambda event: replace(event, raw='{"model": "m"}')  # noqa: E731
    legacy = spoilt(plain(path="legacy"), WireRequest, spaced, 1)
    first, second = body_pairs(plain(), legacy)
    assert first.differs_at is None
    assert first.left == first.right
    assert second.right == '{"model": "m"}'
    assert second.right_bytes == 14
    assert second.differs_at == len(b'{"m')


def test_a_request_that_one_side_did_not_send_has_no_body() -> None:
    shorter = RunBuilder(scripted([THREE], user="How is bed 3?"), path="legacy")
    legacy = shorter.turn("How is bed 3?").call(THREE).end().view()
    last = body_pairs(plain(), legacy)[-1]
    assert (last.right, last.right_bytes, last.differs_at) == (None, 0, 0)


def test_a_history_read_after_another_operation_has_a_place_of_its_own() -> None:
    def collected(path: str, left: int) -> View:
        builder = RunBuilder(scripted(["Yes."], user="Moist?"), path=path)
        builder.turn("Moist?").call("Yes.").end()
        builder.history = builder.history[-left:]
        return builder.snapshot("gc").view()

    comparison = compare_views(collected("stateless", 2), collected("legacy", 1))
    (found,) = comparison.differences
    assert (found.place, str(found.place)) == (Place(turn=0, after="gc"), "turn 0, after gc")


def test_messages_of_other_ids_are_the_same_history() -> None:
    fresh = replace_messages(lambda messages: [Message(message.role, message.parts, "another") for message in messages])
    assert compared(plain, (HistorySnapshot, fresh, 0)).equal


def test_requests_of_a_session_that_hides_its_calls_are_compared_by_turn() -> None:
    def hidden(path: str, limit: int) -> View:
        view = tools(path=path)
        shown = [event for event in view.transcript.events if not isinstance(event, CallBegan | Response)]
        events = [
            replace(event, call=-1) if isinstance(event, WireRequest | WireResponse) else event for event in shown
        ]
        bare = View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)
        return spoilt(bare, WireRequest, body_with(lambda body: body.update(max_tokens=limit)), 1)

    comparison = compare_views(hidden("stateless", 4096), hidden("legacy", 1))
    assert comparison.compared["wire"] == 3
    assert comparison.compared["answers"] == 0
    (found,) = comparison.differences
    assert (found.name, found.place) == ("request-settings", Place(turn=0, request=1))
    assert str(found.place) == "turn 0, request 2"


def test_an_operation_that_one_side_refuses_is_a_difference() -> None:
    refused = Refused(operation="revert", error="ValueError", message="no such turn", turn=0)
    builders = [
        RunBuilder(scripted(["Yes."]), path=path).turn("Moist?").call("Yes.").end() for path in ("stateless", "legacy")
    ]
    builders[1].add(refused)
    (found,) = compare_views(builders[0].view(), builders[1].view()).differences
    assert (found.aspect, found.path, found.right) == ("outcome", "$.refused[0]", ["revert", "ValueError"])
