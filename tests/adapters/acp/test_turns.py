"""Turns over the protocol: what is said, shown and run. With the stand-in, or a real program (`TURNPROOF_ACP`)."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from turnproof.agents import Tool
from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, InvalidRequestError, TransportError, UsageError
from turnproof.messages import FinishReason, FunctionCall, InlineData, Text
from turnproof_adapters.acp import restarting_program
from turnproof_adapters.acp.agent import AcpAgent
from turnproof_adapters.acp.claude import CLAUDE

from ..emulated_conversation import QUESTIONS, SENSOR, SYSTEM
from .kit import AGENT, WHICH, Bench, roles_and_texts, standin_only


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that takes longer to stop a turn would be killed."""
    monkeypatch.setattr(restarting_program, "PATIENCE", 60.0)


def test_a_turn_shows_words_and_calls_runs_each_call_once_and_ends_with_all_its_text(at: Bench) -> None:
    chunks: list[str] = []
    calls: list[FunctionCall] = []
    agent = at.open()
    response = at.say(agent, 0, on_chunk=chunks.append, on_function_call=calls.append)
    assert response.text == "Let me look.Both are at 41 %."
    assert "".join(chunks) == response.text
    assert response.calls == ()
    assert response.finish_reason is FinishReason.STOP
    assert [(call.name, dict(call.args)) for call in calls] == [
        ("read_sensor", {"bed": "3"}),
        ("read_sensor", {"bed": "4"}),
    ]
    assert sorted(args["bed"] for args in at.tool_arguments) == ["3", "4"]
    results = [result for message in agent.history for result in message.results]
    assert [result.result for result in results] == ["41 %", "41 %"]


def test_the_model_is_sent_the_conversation_with_the_system_text_every_time(at: Bench) -> None:
    agent = at.open()
    for turn in range(3):
        at.say(agent, turn)
    assert roles_and_texts(agent.history) == [
        ("user", QUESTIONS[0]),
        ("model", "Let me look."),
        ("model", "Both are at 41 %."),
        ("user", QUESTIONS[1]),
        ("model", "I cannot say."),
        ("user", QUESTIONS[2]),
        ("model", "Good night."),
    ]
    assert len(at.api.calls) == 4
    for call in at.api.calls:
        assert SYSTEM in [part.text for part in call.system if isinstance(part, Text)]
    texts = [message.text for message in at.api.calls[-1].messages]
    assert [text for text in texts if any(one in text for one in QUESTIONS)] != []
    assert sum(QUESTIONS[0] in text for text in texts) == 1


def test_a_turn_that_is_not_streamed_gives_the_same_answer(at: Bench) -> None:
    agent = at.open()
    assert at.say(agent, 0).text == "Let me look.Both are at 41 %."
    assert roles_and_texts(agent.history) == [
        ("user", QUESTIONS[0]),
        ("model", "Let me look."),
        ("model", "Both are at 41 %."),
    ]
    calls = [call.id for message in agent.history for call in message.calls]
    assert [result.call_id for message in agent.history for result in message.results] == calls


def test_usage_is_that_of_the_turn_alone(at: Bench) -> None:
    if WHICH == "codex":
        pytest.skip("codex-acp tells how full the context is, and not what a turn has used")
    agent = at.open()
    first, second = at.say(agent, 1).usage, at.say(agent, 2).usage
    assert first.prompt_tokens > 0
    assert first.output_tokens > 0
    assert second.output_tokens < 2 * first.output_tokens


def test_a_tool_that_fails_is_told_to_the_model_and_the_turn_goes_on(at: Bench) -> None:
    def run(args: dict[str, Any], token: CancelToken) -> Any:
        raise ValueError("the wire is cut")

    agent = at.open(run=run)
    assert at.say(agent, 0).text.endswith("Both are at 41 %.")
    results = [result for message in at.api.calls[-1].messages for result in message.results]
    assert len(results) == 2
    assert all("ValueError: the wire is cut" in str(result.result) for result in results)


def test_no_to_a_call_is_told_to_the_model_and_the_tool_does_not_run(at: Bench) -> None:
    permission_calls: list[FunctionCall] = []

    def permits(call: FunctionCall) -> bool:
        permission_calls.append(call)
        return bool(call.args["bed"] == "4")

    agent = at.open(permits=permits)
    assert at.say(agent, 0).text.endswith("Both are at 41 %.")
    assert [args["bed"] for args in at.tool_arguments] == ["4"]
    assert sorted(str(call.args["bed"]) for call in permission_calls) == ["3", "4"]
    assert {call.name for call in permission_calls} == {"read_sensor"}


def test_a_tool_that_takes_long_is_answered_with_a_handle(at: Bench) -> None:
    freed = threading.Event()

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        freed.wait(60)
        return "41 %"

    setup = replace(at.setup(), tools=(Tool(SENSOR, run, background_after=0.05),))
    agent = AGENT.open(setup)
    at.agents.append(agent)  # type: ignore[arg-type]
    assert at.say(agent, 0).text.endswith("Both are at 41 %.")  # type: ignore[arg-type]
    freed.set()
    results = [result for message in at.api.calls[-1].messages for result in message.results]
    assert all("running" in str(result.result) for result in results)


def test_a_cancel_in_the_middle_of_an_answer_gives_what_had_arrived_and_the_next_turn_is_its_own(at: Bench) -> None:
    token = CancelToken()
    chunks: list[str] = []

    def listen(chunk: str) -> None:
        chunks.append(chunk)
        token.cancel()

    agent = at.open()
    at.say(agent, 2)
    response = at.say(agent, 1, on_chunk=listen, cancel_token=token)
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.text == "".join(chunks)
    assert len(chunks) == 1
    session = agent.session_id
    assert at.say(agent, 2).text == "Good night."
    assert agent.session_id == session
    assert roles_and_texts(agent.history)[2:] == [
        ("user", QUESTIONS[1]),
        ("model", response.text),
        ("user", QUESTIONS[2]),
        ("model", "Good night."),
    ]


def test_a_cancel_while_a_tool_runs_sets_its_token(at: Bench) -> None:
    token, seen = CancelToken(), threading.Event()

    def run(args: dict[str, Any], own: CancelToken) -> Any:
        token.cancel()
        if own.wait(60):
            seen.set()
        own.raise_if_cancelled()

    agent = at.open(run=run)
    response = at.say(agent, 0, cancel_token=token)
    assert response.finish_reason is FinishReason.CANCELLED
    assert seen.wait(60)
    assert at.say(agent, 1).text == "I cannot say."


def test_a_cancel_while_a_permission_is_asked_for_ends_the_turn(at: Bench) -> None:
    token, permission_request = CancelToken(), threading.Event()

    def permits(call: FunctionCall) -> bool:
        token.cancel()
        permission_request.wait(60)
        return True

    agent = at.open(permits=permits)
    response = at.say(agent, 0, cancel_token=token)
    permission_request.set()
    assert response.finish_reason is FinishReason.CANCELLED
    assert at.tool_arguments == []
    assert at.say(agent, 1).text == "I cannot say."


def test_a_token_that_was_set_before_sends_nothing(at: Bench) -> None:
    token = CancelToken()
    token.cancel()
    agent = at.open()
    with pytest.raises(Cancelled):
        at.say(agent, 0, cancel_token=token)
    assert at.api.run.exchanges == []


def test_a_second_turn_at_once_is_refused_and_the_first_goes_on(at: Bench) -> None:
    refused: list[Exception] = []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        try:
            agent.send("And me?")
        except UsageError as error:
            refused.append(error)
        return "41 %"

    agent = at.open(run=run)
    assert at.say(agent, 0).text.endswith("Both are at 41 %.")
    assert len(refused) == 2
    assert "in the middle of a turn" in str(refused[0])


def test_what_a_listener_raises_is_its_callers_and_the_session_can_be_gone_on_with(at: Bench) -> None:
    def listen(chunk: str) -> None:
        raise LookupError("mine")

    agent = at.open()
    with pytest.raises(LookupError, match="mine"):
        at.say(agent, 1, on_chunk=listen)
    assert list(agent.history) == []
    assert at.say(agent, 2).text == "Good night."


def test_an_image_is_sent_where_the_program_takes_images(at: Bench) -> None:
    pixel = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738"
        "550000000049454e44ae426082"
    )
    agent = at.open()
    at.api.arm(1)
    assert agent.send([Text("What is this?"), InlineData("image/png", pixel)]).text == "I cannot say."
    parts = [part for message in at.api.calls[-1].messages for part in message.parts]
    assert any(isinstance(part, InlineData) for part in parts)


def test_no_file_is_written_where_it_works_and_nothing_of_ours_is_left_behind(at: Bench) -> None:
    before = set(threading.enumerate())
    agent = at.open()
    at.say(agent, 0)
    agent.shutdown()
    agent.shutdown()
    assert list(at.cwd.iterdir()) == []
    for thread in set(threading.enumerate()) - before:  # asyncio's own, which waits for a process: it ends by itself
        thread.join(timeout=60)
    assert not set(threading.enumerate()) - before
    with pytest.raises(UsageError, match="shut down"):
        agent.send("hi")


# -- with the stand-in alone ------------------------------------------------------------------------------------------


@standin_only
def test_an_image_is_refused_where_the_program_takes_none(at: Bench) -> None:
    agent = at.open("--bare")
    with pytest.raises(InvalidRequestError, match="takes no images"):
        agent.send([Text("Look"), InlineData("image/png", b"x")])


@standin_only
def test_a_system_text_that_no_setting_takes_goes_in_front_of_the_first_message_once(at: Bench) -> None:
    program = replace(CLAUDE, prepare=lambda setup: replace(CLAUDE.prepare(setup), meta={}, instructed=False))
    agent = AcpAgent(program, at.setup())
    at.agents.append(agent)
    at.say(agent, 1)
    at.say(agent, 2)
    first, second = at.api.calls
    assert [message.text for message in first.messages] == [f"{SYSTEM}{QUESTIONS[1]}"]
    assert sum(SYSTEM in message.text for message in second.messages) == 1
    assert agent.history[0].text == QUESTIONS[1]
    agent.new_session()
    at.say(agent, 1)
    assert SYSTEM in at.api.calls[-1].messages[0].text


@standin_only
@pytest.mark.parametrize("flags", [("--garbage",), ("--long", "2000000"), ("--stray",)], ids=" ".join)
def test_what_is_no_part_of_the_answer_is_passed_over(at: Bench, flags: tuple[str, ...]) -> None:
    chunks: list[str] = []
    agent = at.open(*flags)
    assert at.say(agent, 1, on_chunk=chunks.append).text == "I cannot say."
    assert "".join(chunks) == "I cannot say."
    assert roles_and_texts(agent.history) == [("user", QUESTIONS[1]), ("model", "I cannot say.")]


@standin_only
def test_thinking_that_is_repeated_as_text_takes_no_letter_from_it(at: Bench) -> None:
    thoughts: list[str] = []
    agent = at.open("--repeat")
    response = at.say(agent, 1, on_thinking=thoughts.append)
    assert response.text == "I cannot say."
    assert "".join(thoughts) == "I cannot say."


@standin_only
def test_a_message_that_is_told_anew_replaces_the_one_that_broke_off(at: Bench) -> None:
    agent = at.open("--retell")
    assert at.say(agent, 1).text == "I cannot say."
    assert roles_and_texts(agent.history) == [("user", QUESTIONS[1]), ("model", "I cannot say.")]


@standin_only
def test_a_turn_without_a_word_is_an_error(at: Bench) -> None:
    agent = at.open("--silent")
    with pytest.raises(TransportError, match="without a word"):
        at.say(agent, 1)
    assert list(agent.history) == []


@standin_only
def test_a_turn_without_a_word_is_an_empty_answer_where_the_model_was_heard(at: Bench) -> None:
    agent = at.open("--silent", "--counts")
    response = at.say(agent, 1)
    assert (response.text, response.finish_reason) == ("", FinishReason.STOP)
    assert roles_and_texts(agent.history) == [("user", QUESTIONS[1])]


@standin_only
def test_an_agent_that_loses_count_after_a_cancel_is_started_again(at: Bench) -> None:
    token = CancelToken()
    agent = AcpAgent(replace(CLAUDE, off_by_one="standin"), at.setup("--off-by-one"))
    at.agents.append(agent)
    response = at.say(agent, 1, on_chunk=lambda chunk: token.cancel(), cancel_token=token)
    assert response.finish_reason is FinishReason.CANCELLED
    assert at.say(agent, 2).text == "Good night."
