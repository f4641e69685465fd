"""The program as what holds the conversation: what it is told, what goes over the wire, and when it is ended."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, InvalidRequestError, RateLimitError, TransportError, UsageError
from turnproof.messages import FinishReason, InlineData, Message, Text, ToolResult
from turnproof_adapters.claude_cli import conversation
from turnproof_adapters.claude_cli.legacy import ClaudeCliLegacy

from ..emulated_conversation import SCRIPT, SENSOR, SYSTEM, Api
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import PROGRAM, REAL, api, legacy, provider
from .test_stateless import HEAD, THINKING

QUESTION = "How moist are beds 3 and 4?"

ANSWER = (
    *HEAD,
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    (
        b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
        b'"usage":{"output_tokens":1}}\n\n'
    ),
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is slow to tell of its turn's end would be ended, and another one started in its place."""
    monkeypatch.setattr(conversation, "GRACE", 60.0)


@pytest.fixture
def emulated() -> Iterator[Api]:
    with api() as found:
        found.arm(0)
        yield found


def script(*turns: Mapping[str, Any]) -> Mapping[str, Any]:
    """A script of these turns."""
    results = SCRIPT["results"] if "read_sensor" in str(turns) else {}
    return {**SCRIPT, "turns": list(turns), "results": results}


def calling(number: int) -> Mapping[str, Any]:
    """A turn in which the model makes some calls and then answers."""
    calls = [{"call": "read_sensor", "args": {"bed": str(bed)}} for bed in range(number)]
    return {"user": QUESTION, "model": [["Let me look.", *calls], ["Moist enough."]]}


def process(claude: ClaudeCliLegacy) -> int | None:
    """The process that holds the conversation."""
    return None if claude._live is None else claude._live._pipe.child._process.pid


def runs(pid: int | None) -> bool:
    assert pid is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def results(claude: ClaudeCliLegacy, *texts: str, **more: Any) -> list[ToolResult]:
    """Results for the calls that are open."""
    calls = claude.get_history()[-1].calls
    contents = texts or ("41 %",) * len(calls)
    return [ToolResult(call.id, call.name, text, **more) for call, text in zip(calls, contents, strict=True)]


def unlike(emulated: Api, claude: ClaudeCliLegacy) -> list[Any]:
    """What differs between what the last request held and what the provider's own list does."""
    call = emulated.calls[-1]
    history = claude.get_history()
    while history[-1].role == "model":
        history.pop()
    return list(emulated.run.dialect.differences(history, SYSTEM, [SENSOR], call, call.model))


def bodies(emulated: Api) -> list[Any]:
    return [json.loads(exchange.request.body) for exchange in emulated.run.exchanges]


# -- one process for all -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("thinking", [False, True])
def test_one_process_holds_the_conversation_and_sends_what_a_fresh_one_would(streamed: bool, thinking: bool) -> None:
    chunks: list[str] = []
    callbacks = {"on_chunk": chunks.append} if streamed else {}
    options: dict[str, Any] = {"thinking": {"budget_tokens": 1024}} if thinking else {}
    with api(THINKING if thinking else SCRIPT) as emulated:
        with legacy(emulated.run.base_url, **options) as claude:
            emulated.arm(0)
            processes = set()
            say: Callable[..., Any] = claude.send_message_streaming if streamed else claude.send_message
            give: Callable[..., Any] = claude.send_tool_results_streaming if streamed else claude.send_tool_results
            for turn, send in enumerate(
                (lambda: say(QUESTION, **callbacks), None, lambda: say("And bed 5?", **callbacks))
            ):
                emulated.arm(turn // 2)
                answer = send() if send else give(results(claude), **callbacks)
                processes.add(process(claude))
                assert claude.get_token_usage() == answer.usage != type(answer.usage)()
                assert unlike(emulated, claude) == []
            history = claude.get_history()
        assert len(processes) == 1
        texts = [message.text for message in history if message.role == "model"]
        assert "".join(chunks) == ("".join(texts) if streamed else "")
        assert [exchange.findings for exchange in emulated.run.exchanges] == [[], [], []]
        sent = bodies(emulated)
        with provider(emulated.run.base_url, **options) as fresh:
            for turn, length in enumerate((1, 3, 5)):
                emulated.arm(turn // 2)
                fresh.complete(history[:length], SYSTEM, [SENSOR])
    assert len(sent) == 3
    assert bodies(emulated)[3:] == sent


def test_the_history_that_a_session_begins_with_is_told_once(emulated: Api) -> None:
    earlier = [Message.user("Good morning."), Message.model("Good morning!")]
    with legacy(emulated.run.base_url) as claude:
        claude.create_session(SYSTEM, [SENSOR], earlier)
        claude.send_message(QUESTION)
        began = process(claude)
        claude.send_tool_results(results(claude))
        assert process(claude) == began
        assert unlike(emulated, claude) == []
        assert claude.get_history()[:2] == earlier
    assert [len(call.messages) for call in emulated.calls] == [3, 5]


def test_what_a_user_says_is_no_command_to_the_program(emulated: Api) -> None:
    emulated.arm(1)
    with legacy(emulated.run.base_url) as claude:
        claude.send_message("/cost")
        emulated.arm(1)
        claude.send_message_with_parts([Text("/cost"), Text("/exit")])
        assert unlike(emulated, claude) == []
    assert len(emulated.calls) == 2


# -- results -----------------------------------------------------------------------------------------------------------

AWKWARD = [
    "  in the middle \n\n",
    "ﬁ e\u0301 \u200b 👩\u200d👧 \ufeff \u202e",
    "line\r\nfeed\t\x1b[31mred\x1b[0m \x07 \u2028",
    "<system-reminder>none</system-reminder>",
    '{"a": 1.0, "b": 12345678901234567890}',
    "é" * 60_000,
]


def test_results_go_out_as_they_are_and_in_the_order_of_the_calls() -> None:
    with api(script(calling(2 * len(AWKWARD)))) as emulated, legacy(emulated.run.base_url) as claude:
        emulated.arm(0)
        claude.send_message(QUESTION)
        began = process(claude)
        failed = results(claude, *AWKWARD, *["broke\nit"] * len(AWKWARD), is_error=True)[len(AWKWARD) :]
        claude.send_tool_results([*results(claude, *AWKWARD * 2)[: len(AWKWARD)], *failed])
        assert process(claude) == began
        assert unlike(emulated, claude) == []


IMAGE = InlineData("image/png", b"\x89PNG\r\n\x1a\nnot really")


@pytest.mark.parametrize(
    "result",
    [
        {"result": ""},
        {"result": " \n"},
        {"result": "", "is_error": True},
        {"result": "it broke \n", "is_error": True},
        {"result": "x" * 20_000, "is_error": True},
        {"result": "here", "attachments": (IMAGE,)},
    ],
    ids=["empty", "blank", "failed without a word", "failed with a line end", "failed at length", "an image"],
)
def test_a_result_that_the_program_would_tell_otherwise_is_told_to_another_one(result: Mapping[str, Any]) -> None:
    with api(script(calling(1), SCRIPT["turns"][1])) as emulated, legacy(emulated.run.base_url) as claude:
        emulated.arm(0)
        claude.send_message(QUESTION)
        began = process(claude)
        (call,) = claude.get_history()[-1].calls
        claude.send_tool_results([ToolResult(call.id, call.name, **result)])
        assert not runs(began)
        assert len(emulated.calls) == 2
        assert unlike(emulated, claude) == []


@pytest.mark.parametrize("answered", [0, 1])
def test_calls_that_are_left_without_a_result_get_one(emulated: Api, answered: int) -> None:
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        if answered:
            claude.send_tool_results(results(claude)[:1])
        else:
            claude.send_message_with_parts([*results(claude)[:1], Text("Never mind.")])
        assert unlike(emulated, claude) == []
    answered_calls = [result.call_id for message in emulated.calls[1].messages for result in message.results]
    assert answered_calls == [call.id for call in claude.get_history()[1].calls]


# -- answers after which the program would go on by itself -------------------------------------------------------------

MALFORMED = {
    "user": "q",
    "model": [["One moment.", {"call": "read_sensor", "pieces": ['{"bed": "3", ', '"x": 4'], "malformed": True}]],
    "error": "TransportError",
}
UNKNOWN = {"user": "q", "model": [[{"call": "divining_rod", "args": {"bed": "3"}, "unknown": True}], ["I have none."]]}
MISTAKEN = {"user": "q", "model": [[{"call": "read_sensor", "args": {"bed": {"a": [3]}}}], ["I cannot."]]}


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ({"user": "q", "model": [{"parts": ["Monday: dry. Tues"], "finish": "max_tokens"}]}, FinishReason.MAX_TOKENS),
        ({"user": "q", "model": [{"parts": ["I would rather not."], "finish": "refusal"}]}, FinishReason.REFUSAL),
        (
            {"user": "q", "model": [{"parts": ["Sunny."], "finish": "unknown", "raw_finish": "sundown"}]},
            FinishReason.UNKNOWN,
        ),
        (UNKNOWN, FinishReason.TOOL_USE),
        (MISTAKEN, FinishReason.TOOL_USE),
    ],
    ids=["cut", "refused", "a new word", "an unknown tool", "wrong arguments"],
)
def test_the_program_asks_nothing_that_it_was_not_told_to(turn: Mapping[str, Any], reason: FinishReason) -> None:
    # On a busy machine the real one may ask before it is killed (docs/claude-cli.md), but not time after time.
    for left in reversed(range(3 if REAL else 1)):
        try:
            asked_and_went_on(turn, reason)
        except AssertionError:
            if not left:
                raise
        else:
            break


def asked_and_went_on(turn: Mapping[str, Any], reason: FinishReason) -> None:
    """Have an answer that the program would follow up, and one behind it: the API is asked for these alone."""
    with api(script(turn, SCRIPT["turns"][1])) as emulated, legacy(emulated.run.base_url) as claude:
        emulated.arm(0)
        answer = claude.send_message("q")
        assert answer.finish_reason is reason
        if answer.calls:
            claude.send_tool_results(results(claude))
            assert unlike(emulated, claude) == []
        emulated.arm(1)
        claude.send_message("And bed 5?")
        assert unlike(emulated, claude) == []
    assert len(emulated.calls) == (3 if answer.calls else 2)


@pytest.mark.parametrize("streamed", [True, False])
def test_a_call_that_cannot_be_read_is_not_asked_for_again_by_the_program(streamed: bool) -> None:
    with api(script(MALFORMED)) as emulated, legacy(emulated.run.base_url) as claude:
        emulated.arm(0)
        say = partial(claude.send_message_streaming, on_chunk=lambda _: None) if streamed else claude.send_message
        with pytest.raises(TransportError):
            say("q")
        assert not runs(process(claude))
        assert claude.get_history() == []
    assert len(emulated.run.exchanges) == 1


# -- calls that end otherwise ------------------------------------------------------------------------------------------


def test_a_cancel_ends_the_program_and_the_conversation_goes_on_with_what_was_said(emulated: Api) -> None:
    token = CancelToken()
    emulated.arm(1)
    with legacy(emulated.run.base_url) as claude:
        claude.send_message("And bed 5?")
        began = process(claude)
        emulated.arm(1)
        answer = claude.send_message_streaming("And 6?", lambda _: token.cancel(), cancel_token=token)
        assert answer.finish_reason is FinishReason.CANCELLED
        assert not runs(began)
        assert [message.parts for message in claude.get_history()[2:]] == [(Text("And 6?"),), answer.parts]
        emulated.arm(1)
        claude.send_message("And 7?")
        assert unlike(emulated, claude) == []
    assert len(emulated.calls) == 3


def test_a_cancel_while_results_are_answered_ends_the_program(emulated: Api) -> None:
    token = CancelToken()
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        began = process(claude)
        tool_results = results(claude)
        answer = claude.send_tool_results_streaming(tool_results, lambda _: token.cancel(), cancel_token=token)
        assert answer.finish_reason is FinishReason.CANCELLED
        assert not runs(began)
        assert claude.get_history()[2].parts == tuple(tool_results)
        emulated.arm(1)
        claude.send_message("And bed 5?")
        assert unlike(emulated, claude) == []


def test_a_cancel_before_anything_is_asked_changes_nothing(emulated: Api) -> None:
    token = CancelToken()
    token.cancel()
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        began, history = process(claude), claude.get_history()
        with pytest.raises(Cancelled):
            claude.send_tool_results(results(claude), cancel_token=token)
        assert claude.get_history() == history
        claude.send_tool_results(results(claude))
        assert process(claude) == began
        assert unlike(emulated, claude) == []


def test_a_cancel_that_comes_after_its_call_ends_nothing(emulated: Api) -> None:
    token = CancelToken()
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION, cancel_token=token)
        began = process(claude)
        token.cancel()
        claude.send_tool_results(results(claude))
        assert process(claude) == began


def test_a_refusal_leaves_the_history_as_it_was() -> None:
    with api() as emulated, legacy(emulated.run.base_url) as claude:
        emulated.arm(1)
        claude.send_message("And bed 5?")
        history = claude.get_history()

        def refuse(exchange: Exchange) -> None:
            exchange.answer({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}, 429)

        with scripted(refuse) as server:
            claude.initialize({"api_key": "k", "base_url": server.url, "program": PROGRAM})
            with pytest.raises(RateLimitError):
                claude.send_message("And 6?")
            assert len(server.requests) == 1
        assert claude.get_history() == history
        assert not runs(process(claude))


def test_what_a_callback_raises_ends_the_call_and_not_the_conversation(emulated: Api) -> None:
    def stumble(piece: str) -> None:
        raise ZeroDivisionError(piece)

    emulated.arm(1)
    with legacy(emulated.run.base_url) as claude:
        with pytest.raises(ZeroDivisionError):
            claude.send_message_streaming("And bed 5?", stumble)
        assert claude.get_history() == []
        emulated.arm(1)
        claude.send_message("And bed 5?")
        assert unlike(emulated, claude) == []


@pytest.mark.parametrize("calls_are_open", [True, False])
def test_a_process_that_was_lost_between_two_calls_is_replaced(emulated: Api, calls_are_open: bool) -> None:
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        if not calls_are_open:
            claude.send_tool_results(results(claude))
            emulated.arm(1)
        assert claude._live is not None
        child = claude._live._pipe.child
        os.killpg(child._process.pid, signal.SIGKILL)
        child._process.wait()
        if calls_are_open:
            claude.send_tool_results(results(claude))
        else:
            claude.send_message("And bed 5?")
        assert unlike(emulated, claude) == []


# -- sessions and settings ---------------------------------------------------------------------------------------------


def test_another_session_has_nothing_of_the_last_one(emulated: Api) -> None:
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        began = process(claude)
        claude.create_session(SYSTEM, [SENSOR])
        assert not runs(began)
        emulated.arm(1)
        claude.send_message("And bed 5?")
        assert unlike(emulated, claude) == []


def test_a_setting_that_changes_holds_for_the_next_call(emulated: Api) -> None:
    emulated.arm(1)
    with legacy(emulated.run.base_url) as claude:
        claude.send_message("And bed 5?")
        claude.set_thinking_config({"budget_tokens": 2000})
        emulated.arm(1)
        claude.send_message("And 6?")
        claude.connect("claude-sonnet-4-5")
        emulated.arm(1)
        claude.send_message("And 7?")
        assert unlike(emulated, claude) == []
    assert [(body["thinking"]["type"], body["model"]) for body in bodies(emulated)] == [
        ("disabled", "claude-haiku-4-5"),
        ("enabled", "claude-haiku-4-5"),
        ("enabled", "claude-sonnet-4-5"),
    ]


def test_the_end_of_the_provider_is_that_of_the_process(emulated: Api) -> None:
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        began = process(claude)
        home = claude._require_client().home
        claude.shutdown()
        assert not runs(began)
        assert not home.exists()
        with pytest.raises(UsageError, match="not open"):
            claude.send_tool_results(results(claude))


def test_a_response_schema_is_refused_and_the_conversation_goes_on(emulated: Api) -> None:
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        began = process(claude)
        with pytest.raises(InvalidRequestError, match="schema"):
            claude.send_tool_results(results(claude), {"type": "object"})
        claude.send_tool_results(results(claude))
        assert process(claude) == began


def test_a_provider_that_is_dropped_leaves_no_process(emulated: Api) -> None:
    with legacy(emulated.run.base_url) as claude:
        claude.send_message(QUESTION)
        assert claude._live is not None
        child, claude._live = claude._live._pipe.child, None
        gc.collect()
        child._process.wait(LIMIT)
        assert child.end() == -signal.SIGKILL


def test_a_provider_that_is_shut_down_in_a_call_leaves_no_process(emulated: Api) -> None:
    began = []

    def stop(piece: str) -> None:
        began.append(process(claude))
        claude.shutdown()

    with legacy(emulated.run.base_url) as claude:
        with suppress(TransportError):  # the answer may have been there
            claude.send_message_streaming(QUESTION, stop)
        assert not runs(began[0])


def test_a_process_that_hangs_behind_its_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program tells of the end of its turn when the service has ended the answer. Some services never do."""
    monkeypatch.setattr(conversation, "GRACE", 0.2)

    def answer(exchange: Exchange) -> None:
        exchange.stream_head()
        for piece in ANSWER:
            exchange.chunk(piece)
        exchange.wait_for_hangup()

    with scripted(answer) as server, legacy(server.url) as claude:
        assert claude.send_message("q").text == "Monday"
        assert not runs(process(claude))
