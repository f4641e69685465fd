"""Turns on both paths, one table of expectations for the two: answers, tools, failures, retries, pauses, limits."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.gc import GCConfig, GCResult, TruncateGC
from turnproof.messages import (
    FinishReason,
    InlineData,
    Message,
    Opaque,
    ProviderResponse,
    Text,
    Thought,
    TokenUsage,
    ToolResult,
    same_history,
)
from turnproof.session import Retry, RetryPolicy, Session, TooManyRounds

from .fakes import PATHS, Naps, Play, Watching, call, model, open_session, reply, results, shape, tool, user

pytestmark = pytest.mark.parametrize("path", PATHS)

PICTURE = InlineData("image/png", b"\x89PNG")
SEEN = ToolResult("c1", "look", "seen")


def in_step(session: Session, provider: Any) -> bool:
    """On the legacy path the provider's own history must equal the session's after every operation."""
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


def test_an_answer_is_recorded_behind_the_question(path: str) -> None:
    session, provider = open_session(path, reply("Hello"), system="be brief", tools=[tool()])
    result = session.send("Hi")
    assert (result.text, result.outcome, result.rounds, result.attempts) == ("Hello", "answer", 1, 1)
    assert result.usage == session.usage == TokenUsage(10, 2, 12)
    assert shape(session) == [user("Hi"), model("Hello")]
    (request,) = provider.requests
    assert request.system == "be brief"
    assert [schema.name for schema in request.tools] == ["look"]
    assert in_step(session, provider)


def test_the_next_turn_sends_what_went_before(path: str) -> None:
    session, provider = open_session(path, reply("one"), reply("two"))
    session.send("first")
    session.send("second")
    sent = [(message.role, message.text) for message in provider.requests[1].messages]
    assert sent == [("user", "first"), ("model", "one"), ("user", "second")]
    assert in_step(session, provider)


def test_message_ids_come_from_the_injected_source_and_stay(path: str) -> None:
    session, _ = open_session(path, reply(call()), reply("done"), reply("more"), tools=[tool()])
    session.send("Hi")
    first = session.history.messages
    session.send("on")
    assert [message.message_id for message in session.history.messages] == [f"m{n}" for n in range(1, 7)]
    assert all(a is b for a, b in zip(first, session.history.messages, strict=False))


def test_it_streams_if_and_only_if_on_chunk_is_given(path: str) -> None:
    session, provider = open_session(path, reply("He|llo"), reply("He|llo"))
    pieces: list[str] = []
    streamed = session.send("Hi", on_chunk=pieces.append)
    batch = session.send("Hi")
    assert pieces == ["He", "llo"]
    assert streamed.text == batch.text == "Hello"
    assert provider.requests[0].kwargs["on_chunk"] is not None
    assert provider.requests[1].kwargs.get("on_chunk") is None


def test_every_callback_is_told(path: str) -> None:
    session, _ = open_session(path, reply(Thought("hm"), "let me ", call()), reply("done"), tools=[tool()])
    events: list[Any] = []
    session.send(
        "Hi",
        on_chunk=events.append,
        on_thinking=lambda text: events.append(("thought", text)),
        on_function_call=events.append,
        on_usage_update=events.append,
    )
    usage = TokenUsage(10, 2, 12)
    assert events == [("thought", "hm"), "let me ", call(), usage, "done", usage]


def test_calls_are_run_and_answered_until_there_are_no_more(path: str) -> None:
    session, provider = open_session(
        path,
        reply("a", call(id="c1", n=1), call(id="c2", n=2), prompt=10),
        reply("b", call(id="c3", n=3), prompt=20),
        reply("c", prompt=30),
        tools=[tool(run=lambda args, token: args["n"])],
    )
    result = session.send("Hi")
    assert (result.text, result.rounds, result.attempts) == ("abc", 3, 3)
    assert result.usage.prompt_tokens == 30, "the last call's prompt already holds the others'"
    assert shape(session) == [
        user("Hi"),
        model("a", call(id="c1", n=1), call(id="c2", n=2)),
        results(ToolResult("c1", "look", 1), ToolResult("c2", "look", 2)),
        model("b", call(id="c3", n=3)),
        results(ToolResult("c3", "look", 3)),
        model("c"),
    ]
    assert in_step(session, provider)


def test_text_thoughts_opaque_parts_and_calls_keep_their_order(path: str) -> None:
    parts = (Thought("hm"), Text("a"), call(id="c1"), Opaque("d", "k", {"x": 1}), Text("b"), call(id="c2"))
    session, _ = open_session(path, reply(*parts), reply("done"), tools=[tool()])
    session.send("Hi")
    assert shape(session)[1] == ("model", parts)
    assert [part.call_id for part in session.history.messages[2].results] == ["c1", "c2"]


def test_unknown_and_failing_tools_are_answered_and_the_turn_goes_on(path: str) -> None:
    def fail(args: dict[str, Any], token: CancelToken) -> Any:
        raise OSError("disk full")

    session, _ = open_session(
        path, reply(call("gone", "c1"), call("fail", "c2")), reply("sorry"), tools=[tool("fail", fail)]
    )
    assert session.send("Hi").text == "sorry"
    unknown, failed = session.history.messages[2].results
    assert unknown.is_error
    assert "no tool 'gone'" in unknown.result
    assert failed == ToolResult("c2", "fail", "OSError: disk full", is_error=True)


def test_files_can_be_said_and_a_response_schema_reaches_every_call(path: str) -> None:
    session, provider = open_session(path, reply(call()), reply("done"), tools=[tool()])
    session.send([Text("what is"), PICTURE], response_schema={"type": "object"})
    assert shape(session)[0] == ("user", (Text("what is"), PICTURE))
    assert [request.kwargs["response_schema"] for request in provider.requests] == [{"type": "object"}] * 2


def test_structured_output_is_handed_on(path: str) -> None:
    answer = ProviderResponse((Text("{}"),), TokenUsage(), FinishReason.STOP, structured_output={"a": 1})
    session, _ = open_session(path, answer)
    assert session.send("Hi").structured_output == {"a": 1}


@pytest.mark.parametrize("content", [[], ()])
def test_nothing_to_say_is_refused(path: str, content: Any) -> None:
    session, provider = open_session(path)
    with pytest.raises(errors.UsageError, match="content is empty"):
        session.send(content)
    assert not provider.requests


@pytest.mark.parametrize("finish", ["max_tokens", "refusal", "safety", "context_limit", "error"])
def test_a_call_beside_an_abnormal_finish_is_neither_run_nor_recorded(path: str, finish: str) -> None:
    def run(args: dict[str, Any], token: CancelToken) -> Any:
        raise AssertionError("ran")

    session, provider = open_session(path, reply("I will", call(), finish=finish), reply("ok"), tools=[tool(run=run)])
    result = session.send("Hi")
    assert (result.outcome, result.response.finish_reason, result.text) == ("answer", FinishReason(finish), "I will")
    assert result.response.parts == (Text("I will"), call()), "the caller sees what came"
    assert shape(session) == [user("Hi"), model("I will")]
    assert in_step(session, provider)
    session.send("go on")
    assert [message.role for message in provider.requests[1].messages] == ["user", "model", "user"]


@pytest.mark.parametrize("finish", ["stop", "unknown", "paused", "tool_use"])
def test_a_call_is_run_whatever_ordinary_finish_the_provider_names(path: str, finish: str) -> None:
    session, _ = open_session(path, reply(call(), finish=finish), reply("done"), tools=[tool()])
    assert session.send("Hi").text == "done"
    assert shape(session)[1:3] == [model(call()), results(SEEN)]


def test_an_empty_answer_leaves_no_empty_message(path: str) -> None:
    session, provider = open_session(path, reply(), reply("ok"))
    assert session.send("Hi").text == ""
    assert shape(session) == [user("Hi")]
    assert in_step(session, provider)
    session.send("again")
    assert [message.role for message in provider.requests[1].messages] == ["user", "user"]


def test_a_paused_answer_is_sent_back_unchanged_where_the_path_can(path: str) -> None:
    session, provider = open_session(path, reply("searching", finish="paused"), reply(" found"))
    result = session.send("Hi")
    if path == "legacy":
        # No call of the legacy contract goes on without a new message: the pause reaches the caller.
        assert (result.text, result.response.finish_reason) == ("searching", FinishReason.PAUSED)
        return
    assert (result.text, result.rounds) == ("searching found", 2)
    assert provider.requests[1].messages[-1] is session.history.messages[1]
    assert shape(session) == [user("Hi"), model("searching"), model(" found")]


def test_a_model_that_never_stops_calling_is_stopped_and_the_turn_taken_back(path: str) -> None:
    session, provider = open_session(path, *[reply(call(id=f"c{n}")) for n in range(3)], tools=[tool()], max_rounds=3)
    with pytest.raises(TooManyRounds, match="3 responses"):
        session.send("Hi")
    assert shape(session) == []
    assert in_step(session, provider)


# Failures


def fail_without_a_trace(session: Session, provider: Any, error: errors.ProviderError) -> None:
    """Have a turn fail with this error. The history is the one from before, message by message."""
    before = session.history.messages
    with pytest.raises(type(error)) as failure:
        session.send("second")
    assert failure.value is error
    assert all(a is b for a, b in zip(before, session.history.messages, strict=True))
    assert in_step(session, provider)


def test_a_failed_turn_leaves_the_history_as_it_was(path: str) -> None:
    error = errors.AuthenticationError("bad key", status=401)
    session, provider = open_session(path, reply("one"), error, reply("two"))
    session.send("first")
    fail_without_a_trace(session, provider, error)
    session.send("third")
    assert [message.text for message in provider.requests[-1].messages] == ["first", "one", "third"]


def test_a_failure_after_tool_rounds_takes_the_whole_turn_back(path: str) -> None:
    error = errors.ProviderError("no")
    session, provider = open_session(path, reply("one"), reply(call()), error, reply("two"), tools=[tool()])
    session.send("first")
    fail_without_a_trace(session, provider, error)
    assert session.send("third").text == "two"
    assert in_step(session, provider)


@pytest.mark.parametrize("error", [AttributeError("adapter bug"), KeyboardInterrupt()], ids=["bug", "ctrl-c"])
def test_odd_exceptions_take_the_turn_back_too(path: str, error: BaseException) -> None:
    session, provider = open_session(path, error, reply("ok"))
    with pytest.raises(type(error)):
        session.send("Hi")
    assert shape(session) == []
    assert session.send("Hi").text == "ok", "the session is not left locked"
    assert in_step(session, provider)


@pytest.mark.parametrize("returned", [None, "text"], ids=["none", "text"])
def test_something_else_than_a_response_is_the_providers_error(path: str, returned: Any) -> None:
    session, provider = open_session(path)
    method = "complete" if path == "stateless" else "send_message"
    setattr(provider, method, lambda *args, **kwargs: returned)
    with pytest.raises(errors.ProviderError, match=rf"{method}\(\) returned {type(returned).__name__}"):
        session.send("Hi")


def test_a_coroutine_that_was_not_normalised_is_named_and_closed(path: str) -> None:
    async def answer(*args: Any, **kwargs: Any) -> ProviderResponse:
        raise AssertionError

    session, provider = open_session(path)
    setattr(provider, "complete" if path == "stateless" else "send_message", answer)
    with pytest.raises(errors.ProviderError, match=r"coroutine .* turnproof\.foreign"):
        session.send("Hi")


@pytest.mark.parametrize("error", [KeyError("mine"), errors.OverloadedError("mine too")], ids=["other", "retryable"])
def test_what_a_callback_raises_reaches_the_caller_as_it_is_and_nothing_is_retried(path: str, error: Exception) -> None:
    def on_chunk(piece: str) -> None:
        raise error

    def wraps(play: Play) -> ProviderResponse:
        try:
            play.stream("Hel")
        except Exception as cause:
            raise errors.TransportError("the stream broke") from cause  # as a careless adapter would
        raise AssertionError

    for step in (reply("Hello"), wraps):
        session, provider = open_session(path, step)
        with pytest.raises(type(error)) as failure:
            session.send("Hi", on_chunk=on_chunk)
        assert failure.value is error
        assert len(provider.requests) == 1
        assert shape(session) == []
        assert in_step(session, provider)


# Retries


def test_a_retryable_failure_is_repeated_with_the_same_messages(path: str) -> None:
    naps, retries, causes = (
        Naps(),
        list[Retry](),
        (errors.OverloadedError("busy", retry_after=3), errors.TransportError("reset")),
    )
    session, provider = open_session(
        path, *causes, reply("Hello"), sleep=naps, observers=[Watching(on_retry=retries.append)]
    )
    result = session.send("Hi")
    assert (result.attempts, result.rounds) == (3, 1)
    assert naps.durations == [3, 2]
    assert result.retries == tuple(retries) == (Retry(1, 3, causes[0]), Retry(2, 2, causes[1]))
    assert [[m.text for m in request.messages] for request in provider.requests] == [["Hi"]] * 3
    assert shape(session) == [user("Hi"), model("Hello")]
    assert in_step(session, provider)


def test_retries_of_all_rounds_are_told_in_order_and_a_turn_without_any_has_none(path: str) -> None:
    first, second = errors.OverloadedError("busy"), errors.TransportError("reset")
    session, _ = open_session(path, first, reply(call()), second, reply("done"), reply("again"), tools=[tool()])
    assert session.send("Hi").retries == (Retry(1, 1, first), Retry(1, 1, second))
    assert session.send("Hi").retries == ()


def test_a_wait_that_was_cancelled_is_told_without_its_attempt(path: str) -> None:
    token, busy = CancelToken(), errors.OverloadedError("busy")
    session, _ = open_session(path, busy, sleep=Naps(during=token.cancel))
    result = session.send("Hi", cancel_token=token)
    assert (result.outcome, result.attempts, result.retries) == ("cancelled", 1, (Retry(1, 1, busy),))


def test_a_retried_tool_answer_is_sent_once_per_attempt_and_recorded_once(path: str) -> None:
    session, provider = open_session(path, reply(call()), errors.OverloadedError("busy"), reply("done"), tools=[tool()])
    assert session.send("Hi").attempts == 3
    assert [message.role for message in provider.requests[2].messages] == ["user", "model", "tool"]
    assert shape(session) == [user("Hi"), model(call()), results(SEEN), model("done")]


def broken_after(*pieces: str) -> Any:
    def step(play: Play) -> ProviderResponse:
        play.stream(*pieces)
        raise errors.TransportError("cut in mid-stream", partial=(Text("".join(pieces)),))

    return step


def test_a_retried_stream_shows_no_text_twice(path: str) -> None:
    session, _ = open_session(path, broken_after("Hel", "lo w"), broken_after("He"), reply("Hello |world"))
    pieces: list[str] = []
    result = session.send("Hi", on_chunk=pieces.append)
    assert pieces == ["Hel", "lo w", "orld"]
    assert result.text == "Hello world"
    assert shape(session) == [user("Hi"), model("Hello world")]


@pytest.mark.parametrize("second", ["Goodbye", "Hel"], ids=["other-text", "less-text"])
def test_a_retried_stream_that_contradicts_what_was_shown_fails_with_the_first_error(path: str, second: str) -> None:
    session, provider = open_session(path, broken_after("Hello"), reply(second))
    pieces: list[str] = []
    with pytest.raises(errors.TransportError, match="cut in mid-stream"):
        session.send("Hi", on_chunk=pieces.append)
    assert pieces == ["Hello"]
    assert shape(session) == []
    assert in_step(session, provider)


def test_a_failure_that_lasts_is_raised_when_the_attempts_are_used_up(path: str) -> None:
    session, provider = open_session(
        path, *[errors.OverloadedError(str(n)) for n in range(2)], retry=RetryPolicy(attempts=2, jitter=0)
    )
    with pytest.raises(errors.OverloadedError, match="1"):
        session.send("Hi")
    assert len(provider.requests) == 2
    assert shape(session) == []


# A prompt that is too long


def test_a_prompt_that_is_too_long_is_sent_again_after_a_collection(path: str) -> None:
    collected: list[GCResult] = []
    session, provider = open_session(
        path,
        reply("one"),
        reply("two"),
        errors.ContextLimitError("too long"),
        reply("three"),
        gc=TruncateGC(),
        gc_config=GCConfig(keep_turns=2),
        observers=[Watching(on_collected=collected.append)],
    )
    session.send("first")
    session.send("second")
    assert session.send("third").text == "three"
    assert [[m.text for m in request.messages] for request in provider.requests[2:]] == [
        ["first", "one", "second", "two", "third"],
        ["second", "two", "third"],
    ]
    assert len(collected) == 1
    assert in_step(session, provider)


def test_a_collection_in_mid_turn_keeps_the_call_that_the_retry_answers(path: str) -> None:
    session, provider = open_session(
        path,
        reply("one"),
        reply(call()),
        errors.ContextLimitError("too long"),
        reply("done"),
        tools=[tool()],
        gc=TruncateGC(),
        gc_config=GCConfig(keep_turns=5),
    )
    session.send("first")
    assert session.send("second").text == "done"
    assert shape(session) == [user("second"), model(call()), results(SEEN), model("done")]
    assert in_step(session, provider)


def test_a_prompt_that_stays_too_long_fails_and_brings_the_collected_turns_back(path: str) -> None:
    too_long = [errors.ContextLimitError(str(n)) for n in range(3)]
    session, provider = open_session(
        path, reply("one"), reply("two"), *too_long, gc=TruncateGC(), gc_config=GCConfig(keep_turns=2)
    )
    session.send("first")
    session.send("second")
    before = session.history.messages
    with pytest.raises(errors.ContextLimitError, match="2"):
        session.send("third")
    assert all(a is b for a, b in zip(before, session.history.messages, strict=True))
    assert in_step(session, provider)


def test_text_that_was_shown_before_the_prompt_proved_too_long_is_not_contradicted(path: str) -> None:
    def too_long(play: Play) -> ProviderResponse:
        play.stream("Hello")
        raise errors.ContextLimitError("too long in mid-stream")

    session, _ = open_session(
        path, reply("one"), reply("two"), too_long, reply("Goodbye"), gc=TruncateGC(), gc_config=GCConfig(keep_turns=1)
    )
    session.send("first")
    session.send("second")
    before = session.history.messages
    with pytest.raises(errors.ContextLimitError, match="in mid-stream"):
        session.send("third", on_chunk=lambda text: None)
    assert all(a is b for a, b in zip(before, session.history.messages, strict=True))


def test_without_a_collector_a_prompt_that_is_too_long_fails_at_once(path: str) -> None:
    session, provider = open_session(path, errors.ContextLimitError("too long"))
    with pytest.raises(errors.ContextLimitError):
        session.send("Hi")
    assert len(provider.requests) == 1


# One turn at a time


def test_a_tool_cannot_start_a_turn_or_change_the_session_it_runs_in(path: str) -> None:
    refused: list[str] = []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        for action in (lambda: session.send("me too"), session.clear, session.save, lambda: session.set_system("x")):
            with pytest.raises(errors.UsageError, match="a turn of this session is running"):
                action()
            refused.append("x")
        return "ok"

    session, _ = open_session(path, reply(call()), reply("done"), tools=[tool(run=run)])
    assert session.send("Hi").text == "done"
    assert len(refused) == 4


def test_sessions_whose_tools_call_each_other_are_told_that_they_would_wait_for_themselves(path: str) -> None:
    errors_seen: list[str] = []

    def ask_parent(args: dict[str, Any], token: CancelToken) -> Any:
        try:
            return parent.send("And you?").text
        except errors.UsageError as error:
            errors_seen.append(str(error))
            raise

    parent, _ = open_session(
        path, reply(call()), reply("done"), tools=[tool(run=lambda args, token: child.send("You?").text)]
    )
    child, _ = open_session(path, reply(call()), reply("I am a child"), tools=[tool(run=ask_parent)])
    assert parent.send("Hi").text == "done"
    (word,) = errors_seen
    assert word == (
        "a turn of this session is running, and it waits for the tool, callback or child that makes this call: return "
        "from there first, or use another session"
    )
    (result,) = [part for message in parent.history.messages for part in message.parts if isinstance(part, ToolResult)]
    assert (result.result, result.is_error) == ("I am a child", False)


def test_a_session_that_is_busy_elsewhere_is_told_to_be_waited_for(path: str) -> None:
    refused: list[str] = []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        def send() -> None:
            with pytest.raises(errors.UsageError) as refusal:
                session.send("me too")
            refused.append(str(refusal.value))

        thread = threading.Thread(target=send)
        thread.start()
        thread.join()
        return "ok"

    session, _ = open_session(path, reply(call()), reply("done"), tools=[tool(run=run)])
    session.send("Hi")
    assert refused == ["a turn of this session is running: wait for it, or stop() it first"]


def test_a_history_from_elsewhere_is_made_sound_before_it_is_sent_and_stays_so(path: str) -> None:
    session, provider = open_session(path, errors.AuthenticationError("no"), reply("ok"))
    session.reset([Message.user("look"), Message.model(call())])
    with pytest.raises(errors.AuthenticationError):
        session.send("Hi")
    answer = ToolResult("c1", "look", "no result was recorded for this call", is_error=True)
    assert shape(session) == [user("look"), model(call()), results(answer)], "kept though the turn failed"
    session.send("Hi")
    assert [message.role for message in provider.requests[-1].messages] == ["user", "model", "tool", "user"]
    assert in_step(session, provider)


def test_a_provider_without_the_paths_methods_is_refused(path: str) -> None:
    other = "create_session" if path == "legacy" else "complete"
    with pytest.raises(errors.UsageError, match=rf"object has no {other}\(\): it cannot serve the {path} path"):
        Session(object(), path=path)  # type: ignore[arg-type]


def test_what_a_provider_does_to_its_arguments_stays_with_it(path: str) -> None:
    # FakeStateless clears the list that it was given.
    session, _ = open_session(path, reply("Hello"))
    session.send("Hi")
    assert len(session.history) == 2
