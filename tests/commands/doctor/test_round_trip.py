"""One round trip through bindings that are wrong in one way each: it is seen, and said what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from run.driver.foreign_session import FOREIGN, Handle

from turnproof.agents import Tool
from turnproof.commands.doctor.binding import binding
from turnproof.commands.doctor.model import Diagnostic, State
from turnproof.commands.doctor.outbound_connections import MARK
from turnproof.commands.doctor.round_trip import Trip, trouble
from turnproof.provider import Binding
from turnproof.run.driver import Runner
from turnproof.run.transcript import Failed, RunEnded, RunKey, Transcript

from . import broken

BINDINGS = {name: value for name, value in vars(broken).items() if isinstance(value, Binding) and name != "CONTROL"}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """In this process: the bindings that need one of their own are told from made-up runs."""
    with Runner(in_process=True, bindings=BINDINGS) as runner:
        yield runner


def wrongs(runner: Runner, name: str) -> list[Diagnostic]:
    return [finding for finding in binding(runner, name) if finding.state is State.WRONG]


@pytest.mark.parametrize(
    ("name", "message", "do"),
    [
        ("FAILS_TO_OPEN", "it cannot be opened: ValueError: no such region: 'moon-1'", "open_stateless(endpoint)"),
        ("NO_RUN", "it sent POST /v1/messages, outside of the address", "use the whole of endpoint.base_url"),
        ("TWICE", "POST /v1/v1/messages was answered with 404", "has no version at its end"),
        ("NOBODY_THERE", "no request reached the emulator; complete() raised TransportError", "endpoint.base_url"),
        ("OTHER_KEY", "answered with 401: invalid x-api-key", "send endpoint.api_key"),
        ("OTHER_MODEL", "asked for the model 'no-such-model'", "pass on endpoint.model"),
        ("NO_COMPLETE", "which has no complete()", "wrap it in a class with complete()"),
        ("SHORT", "unexpected keyword argument", "say the other signature"),
        ("UNTYPED", "complete() raised KeyError: 'choices'", "raise a ProviderError"),
        ("TYPED", "no request reached the emulator; complete() raised AuthenticationError", "endpoint.base_url"),
        (
            "RETURNS_TEXT",
            "complete() returned str instead of a ProviderResponse",
            "return ProviderResponse((Text(text),)",
        ),
        ("NO_CALLS", "the response has no FunctionCall", "parts"),
        ("OTHER_ARGUMENTS", "read_sensor({'bed': '3'}), the response has read_sensor({'bed': 3})", "parsed JSON"),
        ("SHOUTS", "answered 'Bed 3 is at 41 %.', the response has 'BED 3 IS AT 41 %.'", "as it came"),
        ("NO_PATH", "it has no path at all", "open_stateless or open_legacy"),
        (
            "UNKNOWN_DIALECT",
            "unknown dialect 'anthropic-mesages'; known: anthropic-messages",
            "docs/bind-your-adapter.md",
        ),
        ("nobody:THERE", "there is no module 'nobody'", "turnproof list adapters"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(runner: Runner, name: str, message: str, do: str) -> None:
    (found,) = wrongs(runner, name)
    assert message in found.said
    assert do in found.do


@pytest.mark.parametrize(
    ("name", "message"),
    [("NO_CHUNKS", "on_chunk was never called"), ("NO_DETECTION", "on_function_call was never called")],
)
def test_what_is_wrong_with_streams_alone_is_told_of_them_alone(runner: Runner, name: str, message: str) -> None:
    (found,) = wrongs(runner, name)
    assert (found.what, found.said) == ("stateless, streamed", message)


def test_a_key_that_leaks_is_told_whatever_else_is_wrong(runner: Runner) -> None:
    raised, leaked = wrongs(runner, "LEAKS")
    assert "complete() raised AuthenticationError: refused: [key]" in raised.said
    assert leaked.what == "stateless, the key"
    assert leaked.said.startswith("the key was seen in Failed")
    assert "take it out" in leaked.do


def test_a_sound_binding_is_told_on_each_path_and_in_both_ways(runner: Runner) -> None:
    found = list(binding(runner, "BOTH"))
    assert {finding.state for finding in found} == {State.OK}
    assert [finding.what for finding in found[1:]] == [
        "stateless, streamed",
        "stateless, in one piece",
        "legacy, streamed",
        "legacy, in one piece",
    ]
    assert all(finding.said.startswith("2 requests to POST /v1/messages, a tool call") for finding in found[1:])


def test_a_session_that_cannot_be_opened_hears_of_its_setup() -> None:
    def fail(setup: Any) -> Any:
        raise TypeError("no such tool")

    with Runner(in_process=True, bindings={"shut": replace(FOREIGN, open=fail)}) as runner:
        (found,) = [one for one in binding(runner, "shut") if one.state is State.WRONG]
    assert found.said == "it cannot be opened: TypeError: no such tool"
    assert found.do.startswith("open(setup) has to return a session on setup.endpoint")


def test_a_session_that_reports_no_tools_is_seen_to_run_them_by_its_requests() -> None:
    """It opens its endpoint itself, and need not call `setup.on_tool`."""
    unheard = replace(FOREIGN, open=lambda setup: Handle(replace(setup, tools=tuple(map(without_result, setup.tools)))))
    with Runner(in_process=True, bindings={"foreign": FOREIGN, "unheard": unheard}) as runner:
        assert [one.said for one in binding(runner, "foreign") if one.state is State.WRONG] == []
        (wrong,) = [one for one in binding(runner, "unheard") if one.state is State.WRONG]
    assert wrong.said == "the tool was never run"


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (lambda handle: handle.held(), "history() raised AttributeError: 'Handle' object has no attribute 'held' at "),
        (
            lambda handle: [{"role": "user"}],
            "history() raised TypeError: history() has a dict at index 0 instead",
        ),
        (lambda handle: (), "history() has no messages after a turn"),
    ],
)
def test_a_session_that_cannot_say_what_it_holds_is_wrong(history: Callable[[Any], Any], words: str) -> None:
    with Runner(in_process=True, bindings={"lost": replace(FOREIGN, history=history)}) as runner:
        (wrong,) = [one for one in binding(runner, "lost") if one.state is State.WRONG]
    assert wrong.said.startswith(words)


def without_result(tool: Tool) -> Tool:
    """A tool in its place, which answers something else."""
    return replace(tool, run=lambda args, token: "no sensor there")


def test_a_path_that_is_not_there_is_no_fault(runner: Runner) -> None:
    found = {finding.what: finding for finding in binding(runner, "SOUND")}
    assert found["legacy"].state is State.OK
    assert "it has no legacy path" in found["legacy"].said


def test_what_is_not_claimed_is_not_asked_for(runner: Runner) -> None:
    without_streaming = {finding.what: finding for finding in binding(runner, "NO_STREAMING")}
    assert "stateless, streamed" not in without_streaming
    assert without_streaming["streaming"].state is State.WARNING
    without_tools = {finding.what: finding for finding in binding(runner, "NO_TOOLS")}
    assert "1 request to POST" in without_tools["stateless, streamed"].said


# -- what only a process of its own can show, from runs that are made up -----------------------------------------------


def a_trip(*events: Failed, how: str = "completed", printed: str = "", **more: object) -> Trip:
    ended = RunEnded(how=how, detail="in turn 0", stdout=printed)  # type: ignore[arg-type]
    key = RunKey("doctor/round_trip", "stateless")
    return Trip(Transcript("mine", "openai-chat", "m", "emulate", key, 0, (*events, ended)), tools=True, port=4321)


def lacking(message: str) -> Failed:
    return Failed(scope="call", error="AttributeError", message=message, typed=False)


REFUSED = Failed(scope="call", error="TransportError", message="refused", typed=True)


@pytest.mark.parametrize(
    ("trip", "message", "do"),
    [
        (a_trip(how="hung"), "it hung: in turn 0", "a read without a timeout"),
        (a_trip(how="died"), "it ended its process: in turn 0", "os._exit()"),
        (
            a_trip(REFUSED, printed=f"hello\n{MARK}api.openai.com:443\n{MARK}api.openai.com:443\n"),
            "it calls api.openai.com:443, and not the endpoint; nothing was let out",
            "pass endpoint.base_url, which ends with /v1, to the client instead of its own address",
        ),
        (
            a_trip(REFUSED, printed=f"{MARK}127.0.0.1:11434\n"),
            "it calls 127.0.0.1:11434 on this machine, and not the endpoint",
            "instead of its own address",
        ),
        (
            a_trip(REFUSED, printed=f"{MARK}127.0.0.1:4321\n"),
            "no request reached the emulator",
            "no proxy between",
        ),
        (a_trip(), "no request reached the emulator, and complete() returned all the same", "call the endpoint"),
        (
            a_trip(lacking("'str' object has no attribute 'complete'")),
            "'str' object has no attribute 'complete' before a request",
            "open_stateless() may have returned something else",
        ),
        (
            a_trip(lacking("'list' object has no attribute 'get'")),
            "complete() raised AttributeError: 'list' object has no attribute 'get' before a request",
            "look at what raised it",
        ),
    ],
)
def test_what_a_process_shows_is_said(trip: Trip, message: str, do: str) -> None:
    found = trouble(trip)
    assert found is not None
    assert message in found.observation
    assert do in found.do
    assert not found.ours


def test_a_failure_of_the_harness_is_not_the_bindings() -> None:
    found = trouble(a_trip(how="harness-fault"))
    assert found is not None
    assert found.ours


def test_a_worker_lets_nothing_out_and_says_where_it_was_going() -> None:
    """In a worker, as the command does it: the only place where a socket can be watched without watching our own."""
    name = f"{__package__}.broken:ELSEWHERE"
    with Runner(jobs=1) as runner:
        runner.warm(["turnproof.commands.doctor.audit_hook"])
        (found,) = wrongs(runner, name)
    assert found.said == "it calls api.example.org:80, and not the endpoint; nothing was let out"
