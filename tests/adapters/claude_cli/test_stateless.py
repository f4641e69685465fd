"""The program told whole conversations and asked for one answer: what goes over the wire, and what comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall, Message, Text, Thought, ToolResult, ToolSchema
from turnproof.wire.emulator.server_run import CANARY_KEY
from turnproof_adapters._child_process import Child

from ..claude_troubles import refusals, strange_programs, write_program
from ..emulated_conversation import SCRIPT, SENSOR, SYSTEM, Api
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import PROGRAM, api, legacy, provider

QUESTION = Message.user("How moist are beds 3 and 4?")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that has closed its output and takes longer to end nobody could say how it has ended."""
    monkeypatch.setattr("turnproof_adapters._child_process.GRACE", 60.0)


@pytest.fixture
def emulated() -> Iterator[Api]:
    with api() as found:
        found.arm(0)
        yield found


def conversation(emulated: Api, complete: Callable[..., Any]) -> list[Message]:
    """The script's conversation, held with `complete`."""
    first = complete([QUESTION])
    results = Message.tool(*(ToolResult(call.id, call.name, "41 %") for call in first.calls))
    history = [QUESTION, Message("model", first.parts), results]
    history.append(Message("model", complete(history).parts))
    emulated.arm(1)
    history.append(Message.user("And bed 5?"))
    return [*history, Message("model", complete(history).parts)]


@pytest.mark.parametrize("streamed", [True, False])
def test_the_wire_carries_the_conversation_and_nothing_is_lost_or_added(emulated: Api, streamed: bool) -> None:
    chunks: list[str] = []
    with provider(emulated.run.base_url) as claude:
        on_chunk = chunks.append if streamed else None
        history = conversation(
            emulated, lambda messages: claude.complete(messages, SYSTEM, [SENSOR], on_chunk=on_chunk)
        )
    assert [len(message.calls) for message in history] == [0, 2, 0, 0, 0, 0]
    assert [message.text for message in history if message.role == "model"] == [
        "Let me look.",
        "Both are at 41 %.",
        "I cannot say.",
    ]
    assert "".join(chunks) == ("Let me look.Both are at 41 %.I cannot say." if streamed else "")
    for call, length in zip(emulated.calls, (1, 3, 5), strict=True):
        assert emulated.run.dialect.differences(history[:length], SYSTEM, [SENSOR], call, call.model) == []
    assert [finding.rule.id for one in emulated.run.exchanges for finding in one.findings] == []


@pytest.mark.parametrize(
    "system", ["", "Line one.\n\n  Line two: ünïcode. 🌱", "Water the beds. " * 20_000], ids=["none", "lines", "long"]
)
def test_a_system_text_of_any_length_goes_out_as_it_is(emulated: Api, system: str) -> None:
    with provider(emulated.run.base_url) as claude:
        claude.complete([QUESTION], system, [SENSOR])
    (call,) = emulated.calls
    assert emulated.run.dialect.differences([QUESTION], system, [SENSOR], call, call.model) == []


def test_calls_come_back_under_the_names_that_the_session_knows(emulated: Api) -> None:
    recorder: list[FunctionCall] = []
    with provider(emulated.run.base_url) as claude:
        answer = claude.complete(
            [QUESTION], SYSTEM, [SENSOR], on_chunk=lambda _: None, on_function_call=recorder.append
        )
    assert [(call.name, call.args["bed"]) for call in answer.calls] == [("read_sensor", "3"), ("read_sensor", "4")]
    assert recorder == list(answer.calls)
    assert answer.finish_reason is FinishReason.TOOL_USE
    assert [tool.name for tool in emulated.calls[0].tools] == ["mcp__session__read_sensor"]


def test_a_long_description_of_a_tool_goes_out_whole(emulated: Api) -> None:
    tool = ToolSchema(SENSOR.name, "Read one sensor. " * 1000, SENSOR.parameters)
    with provider(emulated.run.base_url) as claude:
        claude.complete([QUESTION], SYSTEM, [tool])
    (call,) = emulated.calls
    assert emulated.run.dialect.differences([QUESTION], SYSTEM, [tool], call, call.model) == []


def test_the_same_call_on_a_fresh_object_sends_the_same(emulated: Api) -> None:
    for _ in range(2):
        with provider(emulated.run.base_url) as claude:
            claude.complete([QUESTION], SYSTEM, [SENSOR])
    one, other = (exchange.request.body for exchange in emulated.run.exchanges)
    assert one == other


def test_what_a_user_says_is_no_command_to_the_program(emulated: Api) -> None:
    history = [Message.user("/cost"), Message.model("Nothing."), Message.user("/cost")]
    with provider(emulated.run.base_url) as claude:
        claude.complete(history, SYSTEM, [SENSOR])
    (call,) = emulated.calls
    assert emulated.run.dialect.differences(history, SYSTEM, [SENSOR], call, call.model) == []


def test_a_cancel_ends_the_program_and_keeps_what_was_shown() -> None:
    token, shown = CancelToken(), []

    def stop(piece: str) -> None:
        shown.append(piece)
        token.cancel()

    with api() as emulated, provider(emulated.run.base_url) as claude:
        emulated.arm(1)
        answer = claude.complete([Message.user("And bed 5?")], SYSTEM, on_chunk=stop, cancel_token=token)
    assert answer.finish_reason is FinishReason.CANCELLED
    assert answer.parts == (Text("".join(shown)),)


def test_a_cancel_before_the_question_is_asked_asks_nothing(emulated: Api) -> None:
    token = CancelToken()
    token.cancel()
    with provider(emulated.run.base_url) as claude, pytest.raises(errors.Cancelled):
        claude.complete([QUESTION], SYSTEM, cancel_token=token)
    assert emulated.calls == []


@refusals
def test_a_refusal_is_typed_by_what_the_api_said(
    status: int, kind: str, message: str, error: type[errors.ProviderError]
) -> None:
    body = {"type": "error", "error": {"type": kind, "message": message}}

    def refuse(exchange: Exchange) -> None:
        exchange.answer(body, status)

    with scripted(refuse) as server, provider(server.url) as claude:
        with pytest.raises(error) as raised:
            claude.complete([QUESTION], SYSTEM)
        assert len(server.requests) == 1, "whoever drives the adapter tries again"
    assert raised.value.status == status
    assert CANARY_KEY not in str(raised.value)


THINKING = {
    **SCRIPT,
    "turns": [
        {
            "user": "How moist are beds 3 and 4?",
            "model": [
                [{"thinking": "Both have sensors."}, {"call": "read_sensor", "args": {"bed": "3"}}],
                [{"thinking": "Dry enough."}, "Bed 3 is at 41 %."],
            ],
        },
        {"user": "And bed 5?", "model": [["I cannot say."]]},
    ],
}


def test_thinking_goes_back_with_its_signature() -> None:
    with api(THINKING) as emulated:
        emulated.arm(0)
        with provider(emulated.run.base_url, thinking={"budget_tokens": 1024}) as claude:
            history = conversation(emulated, lambda messages: claude.complete(messages, SYSTEM, [SENSOR]))
        assert [part.text for message in history for part in message.parts if isinstance(part, Thought)] == [
            "Both have sensors.",
            "Dry enough.",
        ]
        for call, length in zip(emulated.calls, (1, 3, 5), strict=True):
            assert emulated.run.dialect.differences(history[:length], SYSTEM, [SENSOR], call, call.model) == []
        assert [exchange.findings for exchange in emulated.run.exchanges] == [[], [], []]
        sent = [part for part in emulated.calls[1].messages[1].parts if isinstance(part, Thought)]
        assert [thought.provider_data is not None for thought in sent] == [True]


@pytest.mark.parametrize("config", [{"budget_tokens": 5}, {"type": "sometimes"}])
def test_thinking_that_cannot_be_asked_for_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(errors.UsageError, match="thinking"), provider("http://127.0.0.1:9", thinking=config):
        pass


def test_the_program_sees_no_key_but_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    program = write_program(tmp_path, "import os, sys\nsys.exit(' '.join(sorted(os.environ)))")
    opened = provider("http://127.0.0.1:9", program)
    with opened as claude, pytest.raises(errors.TransportError, match="ANTHROPIC_API_KEY") as raised:
        claude.complete([QUESTION], SYSTEM)
    assert "OPENAI" not in str(raised.value)
    assert "BEDROCK" not in str(raised.value)


HEAD = (
    (
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant",'
        b'"model":"claude-haiku-4-5","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}\n\n'
    ),
    (
        b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
        b'"content_block":{"type":"text","text":""}}\n\n'
    ),
    (
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"Monday"}}\n\n'
    ),
)
OVERLOADED = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'


@pytest.mark.parametrize(
    ("pieces", "error"),
    [((*HEAD, OVERLOADED), errors.OverloadedError), (HEAD, errors.TransportError)],
    ids=["an error event", "cut"],
)
def test_a_stream_that_breaks_off_is_no_answer_and_is_asked_for_once(
    pieces: tuple[bytes, ...], error: type[errors.ProviderError]
) -> None:
    shown: list[str] = []
    with scripted(lambda exchange: exchange.stream(*pieces)) as server, provider(server.url) as claude:
        with pytest.raises(error) as raised:
            claude.complete([QUESTION], SYSTEM, on_chunk=shown.append)
        assert len(server.requests) == 1
    assert shown == ["Monday"]
    assert raised.value.partial == (Text("Monday"),)


CUT = [{"parts": ["Monday"], "finish": "max_tokens"}]
CALLS_NOBODY = [["Monday", {"call": "divining_rod", "args": {"bed": "3"}, "unknown": True}], ["There is none."]]


@pytest.mark.parametrize("path", ["stateless", "legacy"])
@pytest.mark.parametrize(
    ("reply", "reason"),
    [(CUT, FinishReason.MAX_TOKENS), (CALLS_NOBODY, FinishReason.TOOL_USE)],
    ids=["cut", "an unknown tool"],
)
def test_a_slow_listener_does_not_let_the_program_ask_the_model_to_go_on(
    reply: Any, reason: FinishReason, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill, killed = Child.kill, threading.Event()

    def kill_and_note(child: Child) -> None:
        kill(child)
        killed.set()

    monkeypatch.setattr(Child, "kill", kill_and_note)

    def listen(piece: str) -> None:
        """Takes until the program is killed: it has to be while nobody takes its lines."""
        assert killed.wait(LIMIT)

    with api({**SCRIPT, "results": {}, "turns": [{"user": "q", "model": reply}]}) as emulated:
        emulated.arm(0)
        if path == "stateless":
            with provider(emulated.run.base_url) as claude:
                answer = claude.complete([Message.user("q")], SYSTEM, on_chunk=listen)
        else:
            with legacy(emulated.run.base_url) as write_and_hold:
                answer = write_and_hold.send_message_streaming("q", listen)
        assert len(emulated.run.exchanges) == 1
    assert (answer.text, answer.finish_reason) == ("Monday", reason)
    assert answer.usage.output_tokens > 0


def test_the_conversation_has_to_ask_something() -> None:
    with provider("http://127.0.0.1:9") as claude, pytest.raises(errors.InvalidRequestError, match="nothing is asked"):
        claude.complete([QUESTION, Message.model("At 41 %.")], SYSTEM)


def test_what_the_program_has_written_is_removed(emulated: Api, tmp_path: Path) -> None:
    with provider(emulated.run.base_url, cwd=str(tmp_path)) as claude:
        program = claude._require_client()
        claude.complete([QUESTION], SYSTEM, [SENSOR])
        assert program.home.is_dir()
    assert not program.home.exists()
    assert list(tmp_path.iterdir()) == [], "and nothing is written where the program runs"


def test_a_program_named_from_here_is_found_from_there(
    emulated: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(PROGRAM).parent)
    with provider(emulated.run.base_url, f"./{Path(PROGRAM).name}", cwd=str(tmp_path)) as claude:
        assert claude.complete([QUESTION], SYSTEM, [SENSOR]).calls


def test_several_threads_do_not_mix(emulated: Api) -> None:
    answers: list[Any] = []
    with provider(emulated.run.base_url) as claude:
        threads = [
            threading.Thread(target=lambda: answers.append(claude.complete([QUESTION], SYSTEM, [SENSOR]).parts))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 3
    assert len({tuple(map(repr, parts)) for parts in answers}) == 1


# -- programs that are none -------------------------------------------------------------------------------------------


@strange_programs
def test_a_program_that_does_something_else_is_a_typed_error(tmp_path: Path, source: str, message: str) -> None:
    program = write_program(tmp_path, source)
    limit = 0.3 if "sleep" in source else 60
    open_provider = provider("http://127.0.0.1:9", program, timeout=limit)
    with open_provider as claude, pytest.raises(errors.TransportError, match=message) as raised:
        claude.complete([QUESTION], SYSTEM)
    assert CANARY_KEY not in repr(raised.value)


def test_a_program_that_is_missing_or_cannot_be_run_is_told_with_what_to_do(tmp_path: Path) -> None:
    plain = tmp_path / "claude"
    plain.write_text("")
    with pytest.raises(errors.UsageError, match="install it"), provider("http://127.0.0.1:9", str(tmp_path / "none")):
        pass
    with pytest.raises(errors.UsageError, match="not executable"), provider("http://127.0.0.1:9", str(plain)):
        pass
