"""Checks of conversations that the service keeps: runs of the reference adapter, each spoilt in one place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace as with_fields
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.commands.certify.decide import Claimed
from turnproof.commands.certify.decide import decide as verdict_of
from turnproof.dialects import dialect
from turnproof.dialects.openai_responses import DIALECT
from turnproof.judge.requirements import judge, load_suite
from turnproof.judge.undecided_words import why_undecided
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Text
from turnproof.run.bindings import subject_of
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.probes import other_model
from turnproof.run.transcript import Chunk, Failed, Response, RunKey, WireRequest, WireResponse
from turnproof.scenarios import load
from turnproof_adapters.openai_responses.at_openai.background import BackgroundResponses
from turnproof_adapters.openai_responses.binding import BINDING
from turnproof_suites.chains import links, name_of

from .build import body_with, response_with, spoilt
from .cases import Case, decide, status, suite
from .chain_runs import SCENARIOS, Body, Change, Item, body, failed, request, view_of


def chain(name: str) -> Callable[[], View]:
    return partial(view_of, name)


def unstored(name: str) -> Callable[[], View]:
    return partial(view_of, name, "stateless")


def from_answer(number: int, *, alone: bool = False) -> Change:
    """The request goes on from the answer to another one; with its last item alone."""

    def change(view: View, body: Body) -> None:
        body["previous_response_id"] = name_of(view.exchanges[number])
        if alone:
            del body["input"][:-1]

    return change


def without(*names: str) -> Change:
    def change(view: View, body: Body) -> None:
        for name in names:
            del body[name]

    return change


def like_the_first(name: str) -> Change:
    def change(view: View, own: Body) -> None:
        own[name] = body(view, 0)[name]

    return change


def only(keep: Callable[[Item], bool]) -> Change:
    """Of what a request has, only some items and the last one."""

    def change(view: View, body: Body) -> None:
        last = body["input"][-1]
        items = [item for item in body["input"] if item is last or keep(item)]
        assert len(items) < len(body["input"]), "nothing is taken out"
        body["input"] = items

    return change


def told_again(view: View, own: Body) -> None:
    own["input"] = [*body(view, 0)["input"], *own["input"]]


def told_whole(view: View, own: Body) -> None:
    told_again(view, own)
    own["input"].insert(1, {"role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]})
    del own["previous_response_id"]


def half_a_message(view: View, body: Body) -> None:
    del body["input"][0]["content"][1:]


def is_reasoning(item: Item) -> bool:
    return item.get("type") == "reasoning"


def by_id_alone(view: View, body: Body) -> None:
    for item in filter(is_reasoning, body["input"]):
        del item["encrypted_content"]
        item["id"] = "rs_1"


def in_front(view: View, body: Body) -> None:
    body["input"].sort(key=lambda item: not is_reasoning(item))


def without_empty_summaries(view: View, body: Body) -> None:
    for item in filter(is_reasoning, body["input"]):
        if not item["summary"]:
            del item["summary"]


def with_stored_response(view: View) -> View:
    return spoilt(view, WireResponse, lambda event: replace(event, kept=("resp_1",)), 1)


def unsealed(view: View) -> View:
    def change(event: WireResponse) -> WireResponse:
        return replace(event, body=re.sub(r'"encrypted_content":"[^"]*",?', "", event.body))

    return spoilt(view, WireResponse, change)


def still_kept(view: View) -> View:
    name = name_of(view.exchanges[2])
    assert name is not None
    return spoilt(view, WireResponse, lambda event: replace(event, kept=(*event.kept, name)), 5)


def fork_gone(view: View) -> View:
    name = name_of(view.exchanges[3])
    return spoilt(
        view, WireResponse, lambda event: replace(event, kept=tuple(one for one in event.kept if one != name)), 5
    )


def never_named(view: View) -> View:
    def received(event: Failed) -> Response:
        answer = view.transcript.of(Response)[0]
        return replace(answer, turn=event.turn, call=event.call, probe=event.probe)

    return spoilt(view, Failed, received, 0)


def named_behind_a_question(view: View) -> View:
    asking = view.transcript.of(WireRequest)[1]
    return spoilt(view, WireRequest, lambda event: replace(event, call=asking.call), 2)


def a_question_asks_again(view: View) -> View:
    return spoilt(view, WireRequest, lambda event: replace(event, operation="generate", body={"input": "?"}), 2)


def not_received(view: View) -> View:
    def lost(event: Response) -> Failed:
        return Failed(
            scope="call", error="TransportError", message="no", typed=True,
            turn=event.turn, call=event.call, probe=event.probe,
        )  # fmt: skip

    return spoilt(view, Response, lost, 1)


def shown_without_a_piece(view: View) -> View:
    return spoilt(view, Chunk, lambda event: replace(event, text="dry."), number_of(view, Chunk, "broken-stream") + 4)


def returned_without_a_piece(view: View) -> View:
    return spoilt(view, Response, response_with(parts=(Text("Monday: "),)), number_of(view, Response, "broken-stream"))


def number_of(view: View, kind: type[Any], probe: str) -> int:
    """The place of the probe's first event among those of a kind."""
    return next(n for n, event in enumerate(view.transcript.of(kind)) if event.probe == probe)


def never_cancelled(view: View) -> View:
    return spoilt(view, WireRequest, lambda event: replace(event, path=event.path.removesuffix("/cancel")), 5)


def counted_what_was_sent(view: View) -> View:
    def change(event: Response) -> Response:
        usage = event.response.usage
        fresh = usage.prompt_tokens - usage.cache_read_tokens
        return response_with(usage=replace(usage, prompt_tokens=fresh))(event)

    return spoilt(view, Response, change, 1)


def billed_twice(view: View) -> View:
    def change(event: WireResponse) -> WireResponse:
        return replace(event, body=re.sub(r'"input_tokens":(\d+)', r'"input_tokens":9\1', str(event.body)))

    return spoilt(view, WireResponse, change, 1)


def model_said(item: Item) -> bool:
    return item.get("role") == "assistant"


def is_tool(item: Item) -> bool:
    return str(item.get("type", "")).startswith("function_call")


CASES = [
    Case("stored/nothing-is-sent-twice", chain("plain_text"), request(1, told_again), "as well", "twice"),
    Case("stored/nothing-is-missing-from-the-chain", chain("plain_text"), request(1, half_a_message),
         "And leeks in bed 5.", "missing"),
    Case("stored/head-is-the-last-answer", chain("plain_text"), request(2, from_answer(0)), 'the answer "resp_',
         "other", "/previous_response_id"),
    Case("stored/a-turn-sends-what-is-new", chain("plain_text"), request(1, told_whole), "one with 3 messages",
         "everything"),
    Case("stored/without-a-chain-everything-is-sent", chain("plain_text"), request(1, without("previous_response_id")),
         "I sowed basil", "missing"),
    Case("stored/cancelled-answers-are-no-head", chain("cancelled"), request(2, from_answer(1, alone=True)),
         "an earlier answer, or none", "head", "/previous_response_id"),
    Case("stored/cancelled-turns-are-gone-on-from-as-held", chain("cancelled"),
         request(2, only(lambda item: not model_said(item))), "Monday: ", "lost"),
    Case("stored/failed-answers-are-no-head", chain("failed"), request(2, from_answer(1)),
         "an earlier answer, or none", "head", "/previous_response_id"),
    Case("stored/retries-go-on-from-the-same-answer", chain("retried"), request(2, from_answer(1)),
         "as the first attempt", "other", "/previous_response_id"),
    Case("stored/answers-cut-short-are-gone-on-from-as-held", chain("cut_short"),
         request(2, only(lambda item: not model_said(item))), "Monday: dry. Tuesd", "lost"),
    Case("stored/refusals-are-gone-on-from-as-held", chain("cut_short"), request(4, from_answer(2)),
         "Describe the poison in the shed.", "lost"),
    Case("stored/calls-are-answered-before-the-chain-goes-on", chain("cancelled_tool"),
         request(2, from_answer(1, alone=True)), "a result for the call", "unanswered", "/previous_response_id"),
    Case("stored/results-answer-a-call-of-the-chain", chain("tools"), request(3, from_answer(1)),
         "in what the request goes on from", "orphan"),
    Case("stored/collected-history-is-gone-from-the-chain", chain("collected"), request(4, from_answer(3, alone=True)),
         "Bed 1 was watered today.", "there"),
    Case("stored/a-reset-ends-the-chain", chain("reset"), request(2, from_answer(1)), "I sowed basil", "there"),
    Case("stored/reverted-turns-are-gone-from-the-chain", chain("reverted"), request(2, from_answer(1, alone=True)),
         "And chard in bed 4.", "there"),
    Case("stored/resumed-conversations-are-whole", chain("resumed"),
         request(2, only(lambda item: item.get("role") != "user")), "How moist is bed 3?", "lost"),
    Case("stored/resumed-conversations-have-their-calls", chain("resumed"),
         request(2, only(lambda item: not is_tool(item))), "read_sensor", "lost"),
    Case("stored/a-forgotten-chain-loses-nothing", chain("forgotten"), request(3, only(lambda item: False)),
         "I sowed basil", "lost"),
    Case("stored/a-forgotten-chain-is-told-again", chain("forgotten"), failed, "InvalidRequestError", "failed"),
    Case("stored/a-lost-connection-loses-nothing", chain("connection_lost"), request(4, only(lambda item: False)),
         "I sowed basil", "lost"),
    Case("stored/a-chain-stays-on-its-connection", chain("connection_lost"), request(4, from_answer(1, alone=True)),
         "an answer of its own connection", "elsewhere", "/previous_response_id"),
    Case("stored/an-ended-connection-is-replaced", chain("connection_ended"), failed, "InvalidRequestError", "failed"),
    Case("stored/conversations-have-chains-of-their-own", chain("child"), request(2, from_answer(1)),
         "an answer of its own conversation", "crossed"),
    Case("stored/a-chain-stays-with-its-model", chain("plain_text"), request(5, from_answer(4)), "an answer of",
         "other-model"),
    Case("stored/another-key-loses-nothing", chain("plain_text"), request(7, only(lambda item: False)), "Noted.",
         "lost"),
    Case("stored/a-deleted-conversation-is-gone", chain("deleted"), still_kept, "nothing of it", "there"),
    Case("stored/a-deletion-leaves-a-fork-alone", chain("deleted"), fork_gone, "nothing of this id", "gone"),
    Case("stored/a-deletion-leaves-a-fork-alone", chain("deleted"), request(6, without("previous_response_id")),
         "Please forget this later.", "lost"),
    Case("stored/a-deleted-answer-is-not-named", chain("deleted"), request(5, from_answer(2)), "an answer that is kept",
         "named"),
    Case("stored/a-running-answer-is-taken-up", chain("in_background"), never_named, "`on_began`", "unnamed"),
    Case("stored/a-running-answer-is-taken-up", chain("in_background"), named_behind_a_question, "one after it",
         "late"),
    Case("stored/a-running-answer-is-taken-up", chain("in_background"), a_question_asks_again,
         "no request for an answer", "asked-again"),
    Case("stored/a-running-answer-is-taken-up", unstored("in_background"), not_received, "TransportError", "lost"),
    Case("stored/a-broken-stream-is-received-whole", chain("background_stream_broken"), shown_without_a_piece,
         "Monday: bed 3 was watered.", "changed"),
    Case("stored/a-broken-stream-is-received-whole", unstored("background_stream_broken"), returned_without_a_piece,
         "Monday: bed 3 was watered.", "returned"),
    Case("stored/a-broken-stream-is-received-whole", unstored("background_stream_broken"), not_received,
         "TransportError", "lost"),
    Case("stored/a-broken-stream-is-received-whole", chain("background_stream_broken"), a_question_asks_again,
         "one request for an answer", "asked-again"),
    Case("stored/a-cancelled-answer-is-cancelled-at-the-service", unstored("in_background"), never_cancelled,
         "a request that cancels", "running"),
    Case("stored/each-turn-is-counted-as-billed", chain("billed"), counted_what_was_sent, "prompt_tokens",
         "wrong-count"),
    Case("stored/a-chain-costs-no-more-than-sending-all", chain("billed"), billed_twice, "prompt tokens at most",
         "dearer"),
    Case("stored/instructions-go-out-with-every-request", chain("plain_text"), request(1, without("instructions")),
         "You keep a greenhouse log.", "missing"),
    Case("stored/tools-go-out-with-every-request", chain("tools"), request(1, without("tools")), "read_sensor",
         "missing"),
    Case("stored/settings-go-out-with-every-request", chain("plain_text"), request(1, without("max_output_tokens")),
         '"max_output_tokens" = 512', "missing"),
    Case("stored/changed-instructions-replace-the-old", chain("configured"), request(1, like_the_first("instructions")),
         "in rhymes", "other"),
    Case("stored/changed-tools-replace-the-old", chain("configured"), request(1, like_the_first("tools")),
         "water_bed", "other"),
    Case("stored/only-what-was-stored-is-named", unstored("reasoning"), request(1, by_id_alone), "rs_1", "not-stored"),
    Case("stored/a-session-owned-history-goes-on-from-nothing", unstored("plain_text"), request(1, from_answer(0)),
         'one that goes on from "resp_', "head", "/previous_response_id"),
    Case("stored/a-session-owned-history-leaves-nothing-behind", unstored("plain_text"), with_stored_response,
         "nothing at the service", "stored"),
    Case("stored/unstored-reasoning-is-asked-for", unstored("reasoning"), unsealed, "encrypted reasoning", "unsealed"),
    Case("stored/reasoning-goes-back-with-its-call", unstored("reasoning"),
         request(1, only(lambda item: not is_reasoning(item))), "in front of the call", "missing"),
    Case("stored/reasoning-is-not-left-alone", unstored("reasoning"),
         request(2, only(lambda item: not model_said(item))), '"41 %." after the reasoning', "alone"),
    Case("stored/reasoning-keeps-its-place", unstored("reasoning"), request(2, in_front), "right after the reasoning",
         "moved"),
    Case("stored/reasoning-keeps-its-summary", unstored("reasoning"), request(2, without_empty_summaries),
         "expected a list", "missing"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_each_requirement_is_held_by_the_run_and_violated_by_the_spoilt_one(case: Case) -> None:
    decide(case)


def test_another_model_is_one_that_has_what_the_first_one_has() -> None:
    known = DIALECT.models
    for model in ("gpt-5.5", "gpt-5-mini"):
        other = other_model(DIALECT.name, model)
        assert other is not None
        assert known[other].features == known[model].features
        assert known[other].alias_of != known[model].alias_of
    assert other_model(DIALECT.name, "no-such-model") is None


def test_a_fresh_object_is_asked_by_both_models() -> None:
    exchanges = view_of("plain_text").probe_exchanges("other-model")
    assert [one.call.model for one in exchanges if one.call is not None] == [
        "gpt-5.5",
        other_model(DIALECT.name, "gpt-5.5"),
    ]
    assert not view_of("plain_text", "stateless").probe_exchanges("other-model")


def test_a_fresh_object_is_asked_under_both_keys() -> None:
    first, second = view_of("plain_text").probe_exchanges("other-key")
    assert first.call is not None
    assert second.call is not None
    assert (len(first.call.messages), second.call.resource, len(second.call.messages)) == (1, None, 3)
    assert not view_of("plain_text", "stateless").probe_exchanges("other-key")


def test_an_id_of_another_key_is_no_offence_where_the_conversation_goes_on_without_it() -> None:
    requirement = "stored/another-key-loses-nothing"
    view = view_of("plain_text")
    refused = view.probe_exchanges("other-key")[0]

    def named(event: WireRequest) -> WireRequest:
        return body_with(lambda own: own.update(previous_response_id=name_of(refused)))(event)

    assert status(requirement, spoilt(view, WireRequest, named, 7)) is Status.HELD


@pytest.mark.parametrize(("typed", "expected"), [(True, Status.HELD), (False, Status.VIOLATED)])
def test_a_call_under_another_key_may_fail_in_a_way_that_can_be_seen(typed: bool, expected: Status) -> None:
    error = Failed(
        scope="call", error="InvalidRequestError", message="no", typed=typed, turn=-1, call=1, probe="other-key"
    )
    raised = spoilt(view_of("plain_text"), Response, lambda event: error, 7)
    refused = spoilt(raised, WireResponse, lambda event: replace(event, status=400), 7)
    assert status("stored/another-key-loses-nothing", refused) is expected


def once(method: str) -> Any:
    """The adapter's legacy path, of which a method raises when it is called a second time."""
    opener = BINDING.open_legacy
    assert opener is not None

    def open_legacy(endpoint: Any) -> Any:
        provider = opener(endpoint)
        own, called = getattr(provider, method), [method]  # `opener` has called it

        def second(*args: Any, **more: Any) -> Any:
            if called:
                raise KeyError("region")
            return own(*args, **more)

        setattr(provider, method, second)
        return provider

    return with_fields(BINDING, open_legacy=open_legacy)


def run_with_refused(method: str) -> View:
    """The run of an object that refuses another key, or another model."""
    script = load(SCENARIOS / "plain_text.yaml")
    with Runner(in_process=True, bindings={BINDING.name: once(method)}) as runner:
        transcript = runner.run(RunSpec(BINDING.name, script, RunKey(script.name, "legacy", "batch")))
    return View(transcript, dialect(transcript.dialect), script)


@pytest.mark.parametrize(("method", "probe"), [("initialize", "other-key"), ("connect", "other-model")])
def test_what_an_object_raises_when_it_is_given_another_key_or_model_is_recorded(method: str, probe: str) -> None:
    view = run_with_refused(method)
    assert view.transcript.end.how == "completed"
    raised = [one for one in view.transcript.of(Failed) if one.probe == probe]
    assert [(one.error, one.call) for one in raised] == [("KeyError", -1)]
    assert len(view.probe_exchanges(probe)) == 1


def test_what_was_not_asked_under_another_key_says_why() -> None:
    view = run_with_refused("initialize")
    claimed = Claimed.of_subject(subject_of(BINDING), (view.scenario,))
    requirement = load_suite().catalogue["stored/another-key-loses-nothing"]
    verdict = verdict_of(requirement, "legacy", [view], claimed)
    assert verdict.status is Status.INCONCLUSIVE
    (reason,) = verdict.undecided
    words = why_undecided(reason)
    assert words.startswith("the probe other-key was not made: the adapter raised KeyError: 'region' at ")
    assert words.endswith("in stored/plain_text/legacy/batch")


@pytest.mark.parametrize("path", ["stateless", "legacy"])
def test_a_stream_that_breaks_may_be_received_by_another_call(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackgroundResponses, "_position", lambda self, event: None)
    view = view_of.__wrapped__("background_stream_broken", path)
    assert [event.error for event in view.transcript.of(Failed)] == ["TransportError"]
    assert status("stored/a-broken-stream-is-received-whole", view) is Status.HELD


def test_a_typed_error_is_enough_where_the_service_has_forgotten() -> None:
    """Whether the conversation is begun anew is a matter of taste: that nothing is lost in silence is none."""
    spoilt_run = spoilt(failed(view_of("forgotten")), WireRequest, lambda event: None, 3)
    assert status("stored/a-forgotten-chain-loses-nothing", spoilt_run) is Status.HELD
    assert status("stored/a-forgotten-chain-is-told-again", spoilt_run) is Status.VIOLATED


def test_an_untyped_error_is_none_of_that() -> None:
    untyped = spoilt(failed(view_of("forgotten")), Failed, lambda event: replace(event, typed=False))
    without_retry = spoilt(untyped, WireRequest, lambda event: None, 3)
    found = judge(suite().catalogue["stored/a-forgotten-chain-loses-nothing"], "legacy", [without_retry])
    assert [finding.code.rpartition("/")[2] for finding in found.findings] == ["untyped"]


def test_the_answer_of_a_chain_may_be_given_up_for_the_whole_conversation_after_an_abnormal_turn() -> None:
    """An adapter that tells everything anew after a cancel is as right as one that goes on from the answer before."""
    view = view_of("cancelled")
    whole = body(view, 0)["input"]

    def anew(view: View, own: Body) -> None:
        del own["previous_response_id"]
        own["input"] = [*whole, {"role": "assistant", "content": "Noted."}, *own["input"]]

    spoilt_run = request(2, anew)(view)
    expected = ("stored/cancelled-answers-are-no-head", "stored/cancelled-turns-are-gone-on-from-as-held")
    assert {status(one, spoilt_run) for one in expected} == {Status.HELD}


def test_a_service_that_calls_a_tool_by_a_name_that_nobody_offered_accuses_no_adapter() -> None:
    script = load(SCENARIOS.parent / "tools" / "illegal_names.yaml")
    with Runner(in_process=True, bindings={BINDING.name: BINDING}) as runner:
        transcript = runner.run(RunSpec(BINDING.name, script, RunKey(script.name, "legacy", "batch")))
    good = View(transcript, dialect(transcript.dialect), script)
    offered = next(tool["name"] for tool in good.exchanges[0].body["tools"] if tool["name"].startswith("a_b-"))
    held = next(own for own, wire in good.calls[0].wire_names.items() if wire == offered)

    def by_the_sessions_name(event: WireResponse) -> WireResponse:
        assert offered in str(event.body)
        return replace(event, body=str(event.body).replace(offered, held))

    view = spoilt(good, WireResponse, by_the_sessions_name)
    assert held in [call.name for call in links(view)[1].carried[-1].calls]
    for requirement in (
        "core/wire-is-what-the-session-holds",
        "tools/replayed-calls-use-declared-names",
        "tools/names-are-legal",
    ):
        assert status(requirement, good) is Status.HELD
        assert status(requirement, view) is Status.HELD, requirement


@pytest.mark.parametrize(
    "requirement", ["a-running-answer-is-taken-up", "a-cancelled-answer-is-cancelled-at-the-service"]
)
def test_a_conversation_that_is_created_first_is_no_question_about_an_answer(requirement: str) -> None:
    assert status(f"stored/{requirement}", view_of("in_background", conversation=True)) is Status.HELD
