"""The live backend against a foreign service: what it says of a right adapter is true, whatever the service does."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from foreign_service import ForeignService, Trouble, serving

from turnproof._base.canonical import canonical
from turnproof.dialects.base import Call, Rendered
from turnproof.dialects.contract import Dialect
from turnproof.errors import UsageError
from turnproof.judge.verdict import Status
from turnproof.messages import FinishReason
from turnproof.wire.cassettes.recording_proxy import PRESENCE
from turnproof.wire.emulator import passing_writer
from turnproof.wire.emulator.answer_writer import whole_calls
from turnproof.wire.emulator.live_answers import LiveAnswers

from .live_runs import certify_live, certify_recorded, wait_until

TOOLS = "tools/one"
REFUSED = "core/no-request-is-refused"


def test_a_right_adapter_is_accused_of_nothing_by_a_model_that_draws_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scenarios = ("basics/four_turns", "tools/one", "tools/parallel", "cancel/in_text", "faults/overloaded")
    with serving(ForeignService()) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=scenarios)
    assert measured.accused() == {}
    assert measured.status("core/text-is-what-the-wire-carried") is Status.HELD
    assert measured.status(REFUSED) is Status.HELD


def test_what_a_model_that_draws_anew_was_recorded_to_say_accuses_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scenarios = ("basics/four_turns", "cancel/in_one_write", "cancel/in_text", "faults/overloaded", "tools/one")
    with serving(ForeignService()) as service:
        measured = certify_recorded(service, monkeypatch, tmp_path, scenarios=scenarios)
    assert measured.accused() == {}
    assert measured.status("core/text-is-what-the-wire-carried") is Status.HELD
    assert all(view.live for view in measured.views if view.exchanges)


def test_a_service_that_refuses_everything_is_never_a_reason_to_hold_anything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serving(ForeignService(always="refuse")) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=("basics/four_turns", TOOLS))
    assert [place for place, one in measured.verdicts.items() if one.status is Status.HELD] == []
    assert measured.status(REFUSED) is Status.VIOLATED


@pytest.mark.parametrize("trouble", ["overloaded", "reset", "garbage", "stream"])
def test_what_the_service_did_wrong_is_made_again_and_nobodys_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trouble: Trouble
) -> None:
    with serving(ForeignService(troubles={0: trouble})) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=(TOOLS,))
    assert measured.accused() == {}
    assert {view.transcript.end.how for view in measured.views} == {"completed"}
    assert measured.status("tools/results-answer-every-call") is Status.HELD


def test_a_service_that_streams_to_everybody_is_no_fault_of_who_asked_for_no_stream(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serving(ForeignService(always="stream")) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=("basics/plain",))
    assert measured.accused() == {}
    assert {(view.key.mode, view.transcript.end.how) for view in measured.views} == {
        ("stream", "completed"),
        ("batch", "service-fault"),
    }
    assert measured.status("core/text-is-what-the-wire-carried") is Status.HELD


def test_an_adapter_that_waits_for_a_slow_service_does_not_hang(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serving(ForeignService(troubles={0: "slow"}, slow=4.5)) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=(TOOLS,), path="stateless", time_limit=3.0)
    assert {view.transcript.end.how for view in measured.views} == {"completed"}
    assert measured.status("core/turns-come-to-an-end") is Status.HELD


def test_a_service_slower_than_the_time_limit_of_a_scenario_is_nobodys_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only = ("recovery/turn-survives-a-passing-fault", "errors/silence-ends-the-call")
    with serving(ForeignService(always="slow", slow=0.7)) as service:
        measured = certify_live(
            service, monkeypatch, tmp_path, scenarios=("faults/stall",), only=only, path="stateless", timeout=0.3
        )
    assert {view.transcript.end.how for view in measured.views} == {"service-fault"}
    assert {one.status for one in measured.verdicts.values()} == {Status.INCONCLUSIVE}


def test_a_recording_that_a_client_left_for_its_time_limit_accuses_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serving(ForeignService(troubles=dict.fromkeys(range(4, 16), "pause"), slow=0.7)) as service:
        measured = certify_recorded(service, monkeypatch, tmp_path, scenarios=("faults/stall",), timeout=0.3)
    assert measured.accused() == {}
    assert {view.transcript.end.how for view in measured.views} == {"service-fault"}


def test_a_service_is_left_when_the_adapter_leaves_a_stream_that_does_not_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only = ("cancellation/*", "parity/*")
    with serving(ForeignService(troubles={1: "endless"})) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=("cancel/in_text",), only=only)
        wait_until(lambda: service.open == 0)
        assert service.left >= 1
    assert measured.accused() == {}
    assert measured.status("cancellation/connection-is-closed") is Status.HELD


def test_a_cancel_that_the_answer_has_no_place_for_is_nobodys_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The script cancels within the arguments of a call, and the service calls no tool."""
    with serving(ForeignService(calls_tools=False)) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=("cancel/in_arguments",))
    assert measured.accused() == {}


def test_a_fault_that_the_answer_has_no_place_for_has_not_happened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The script breaks answers behind their second piece of text, and these have one."""
    outcome = "parity/same-outcome-of-each-turn"
    with serving(ForeignService(words=(1, 1))) as service:
        measured = certify_live(
            service, monkeypatch, tmp_path, scenarios=("faults/plain_streams",), path="stateless", only=(outcome,)
        )
    assert measured.accused() == {}


def test_a_failed_run_leaves_undecided_what_only_it_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first run fails again when it is made again; another scenario decides what both show."""
    with serving(ForeignService(broken_texts=("How moist is bed 3?",))) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=(TOOLS, "basics/four_turns"))
    assert "service-fault" in {view.transcript.end.how for view in measured.views}
    assert measured.accused() == {}
    assert measured.status("core/text-is-what-the-wire-carried") is Status.HELD
    assert measured.status("tools/results-answer-every-call") is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("key", "does not accept the key (status 401"),
        ("no-model", "no model 'gpt-5-mini', or another address (status 404"),
        ("quota", "the quota is used up (status 429"),
    ],
)
def test_a_service_that_will_never_answer_is_asked_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trouble: Trouble, words: str
) -> None:
    with serving(ForeignService(always=trouble)) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=("basics/four_turns", TOOLS))
        assert len(service.requests) < 6
    assert words in " ".join(measured.backends.service_faults)
    assert {one.status for one in measured.verdicts.values()} <= {Status.INCONCLUSIVE, Status.NOT_CLAIMED}


def test_a_quota_that_is_used_up_half_way_ends_the_asking_and_accuses_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    half_way = 6
    with serving(ForeignService(troubles=dict.fromkeys(range(half_way, 99), "quota"))) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=("basics/four_turns", TOOLS))
        assert half_way < len(service.requests) < half_way + 6
    assert "the quota is used up (status 429" in " ".join(measured.backends.service_faults)
    assert measured.accused() == {}
    assert "service-fault" in {view.transcript.end.how for view in measured.views}


def test_an_answer_of_megabytes_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with serving(ForeignService(troubles={0: "huge"}, calls_tools=False)) as service:
        measured = certify_live(
            service,
            monkeypatch,
            tmp_path,
            scenarios=(TOOLS,),
            path="stateless",
            only=("core/text-is-what-the-wire-carried",),
        )
    assert measured.status("core/text-is-what-the-wire-carried") is Status.HELD


def test_probes_and_the_other_path_are_given_the_services_one_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only = ("core/threads-are-not-mixed", "core/event-loops-may-come-and-go", "parity/*")
    with serving(ForeignService()) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=(TOOLS,), only=only)
        bodies = [canonical(body) for body in service.requests]
    assert len(set(bodies)) == len(bodies)
    assert measured.accused() == {}
    assert measured.status("core/threads-are-not-mixed") is Status.HELD
    assert measured.status("parity/same-history-after-each-turn", "parity") is Status.HELD


def test_a_run_whose_paths_were_answered_apart_leaves_the_verdict_to_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    find = LiveAnswers.find

    def forgetful(self: LiveAnswers, wire: Dialect, call: Call, place: tuple[int, int], attempt: int) -> Any:
        return find(self, wire, call, place, attempt) if call.tools else None

    monkeypatch.setattr(LiveAnswers, "find", forgetful)
    history = "parity/same-history-after-each-turn"
    for scenarios, status in ((("basics/plain",), Status.INCONCLUSIVE), (("basics/plain", TOOLS), Status.HELD)):
        with serving(ForeignService()) as service:
            measured = certify_live(service, monkeypatch, tmp_path, scenarios=scenarios, only=(history,))
        assert measured.status(history, "parity") is status


def test_what_turnproof_would_refuse_and_the_service_took_is_an_opinion(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serving(ForeignService()) as service:
        measured = certify_live(
            service, monkeypatch, tmp_path, scenarios=("gc/context_limit",), path="stateless", only=(REFUSED,)
        )
    assert measured.status(REFUSED) is Status.HELD


def test_nobody_at_the_address_is_said_before_the_first_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    service = ForeignService(url="http://127.0.0.1:9/v1")
    tried: list[tuple[object, float]] = []

    def nobody(address: object, timeout: float) -> None:
        tried.append((address, timeout))
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", nobody)
    with pytest.raises(UsageError, match=r"nobody answers at http://127\.0\.0\.1:9.*OPENAI_BASE_URL"):
        certify_live(service, monkeypatch, tmp_path, scenarios=(TOOLS,))
    # One try, which is given up after its limit, and no run.
    assert tried == [(("127.0.0.1", 9), PRESENCE)]
    assert PRESENCE <= 2.0
    assert not (tmp_path / "evidence").exists()


def test_what_a_scenario_is_about_is_asked_of_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A call by the tool choice, a short answer by a limit; the adapter's own requests are judged as they were sent."""
    with serving(ForeignService(words=(40, 60))) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=(TOOLS, "finish/reasons"), path="stateless")
        passed_on = list(service.requests)
    assert measured.accused() == {}
    choices = [body["tool_choice"] for body in passed_on if body.get("tools")]
    assert {"type": "function", "function": {"name": "read_sensor"}} in choices
    assert "none" in choices
    assert 4 in {body.get("max_completion_tokens") for body in passed_on}
    for view in measured.views:
        for exchange in view.exchanges:
            assert "tool_choice" not in exchange.body
            assert exchange.body["max_completion_tokens"] > 4
    parameters = [
        exchange.response.asked for view in measured.views for exchange in view.exchanges if exchange.response
    ]
    assert {"max_completion_tokens": 4} in parameters
    finishes = {call.answer.finish for view in measured.views for call in view.calls if call.answer is not None}
    assert FinishReason.MAX_TOKENS in finishes


def test_a_service_that_cannot_be_told_the_name_of_a_tool_is_offered_no_other_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scenarios, only = ("tools/one_at_a_time",), ("tools/no-arguments-are-an-empty-object",)
    with serving(ForeignService(chooses_by_name=False)) as service:
        measured = certify_live(service, monkeypatch, tmp_path, scenarios=scenarios, only=only, path="stateless")
        passed_on = [body for body in service.requests if isinstance(body.get("tool_choice"), dict)]
    for body in passed_on:
        assert [tool["function"]["name"] for tool in body["tools"]] == [body["tool_choice"]["function"]["name"]]
    assert measured.accused() == {}
    assert measured.status(*only) is Status.HELD
    assert {len(exchange.body["tools"]) for view in measured.views for exchange in view.exchanges} == {2}


def test_where_a_call_ends_is_not_looked_for_in_every_piece_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Reading all that came, at each of a thousand pieces, would keep the front from answering anybody for minutes."""
    looks: list[int] = []

    def counting(dialect: Dialect, rendered: Rendered) -> int:
        looks.append(len(rendered.events))
        return whole_calls(dialect, rendered)

    monkeypatch.setattr(passing_writer, "whole_calls", counting)
    with serving(ForeignService(long_arguments=True)) as service:
        measured = certify_live(
            service, monkeypatch, tmp_path, scenarios=("cancel/after_call",), path="stateless", only=("cancellation/*",)
        )
    assert measured.accused() == {}
    assert max(looks) > 400
    assert len(looks) < 20
    (answer,) = [e.response for view in measured.views for e in view.exchanges if e.response and e.response.held]
    assert answer.released == "peer-closed"
