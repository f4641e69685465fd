"""Answers of Ollama's server: lines or an object on its own API, Anthropic's format with few figures on the other."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.dialects.base import Call, PromptUsage, Rendered, Reply, ReplyPart
from turnproof.dialects.ollama import DIALECT, Ollama
from turnproof.messages import FinishReason, FunctionCall, Text, Thought, TokenUsage

from .. import answers
from ..answers import CALLS, body_of, data, payloads
from ..anthropic_messages.asks import Ask
from ..requests import Json
from .refusals import MODEL, anthropic, chat, generate, shown, world
from .rendering import STREAMS, WHOLES, read, render

reply = partial(answers.reply, finish=FinishReason.TOOL_USE)


def lines(rendered: Rendered) -> list[Json]:
    return [json.loads(line) for line in data(rendered).splitlines()]


# -- either surface


@pytest.mark.parametrize("name", STREAMS)
def test_batch_and_stream_say_the_same(name: str) -> None:
    script = reply(*CALLS, usage={"output": 31})
    stream, whole = read(render(script, STREAMS[name])), read(render(script, WHOLES[name]))
    assert stream == whole
    thought, text, look, water = stream.parts
    assert (thought, text) == CALLS[:2]
    assert isinstance(look, FunctionCall)
    assert isinstance(water, FunctionCall)
    assert (look.name, look.args, water.args) == ("read_sensor", {"bed": "3", "unit": "°C"}, {})
    assert look.id.startswith("call_")
    assert len(look.id) == len("call_") + 8
    assert look.id != water.id
    assert stream.usage == TokenUsage(198, 31, 229)
    assert (stream.finish, stream.complete) == (FinishReason.TOOL_USE, True)


@pytest.mark.parametrize("sendable", [STREAMS["chat"], WHOLES["chat"]])
def test_an_answer_escapes_what_gos_json_escapes_and_no_more(sendable: Ask) -> None:
    text = "<b> & \u2028\u2029 \u0085 né"
    rendered = render(Reply((ReplyPart(Text(text), (text,)),), FinishReason.STOP), sendable)
    assert read(rendered).parts == (Text(text),)
    assert rb"\u003cb\u003e \u0026 \u2028\u2029 " + "\u0085 né".encode() in data(rendered)


@pytest.mark.parametrize("name", STREAMS)
def test_a_message_holds_thinking_then_text_then_calls(name: str) -> None:
    script = reply(Text("One. "), CALLS[2], Thought("Hm."), Text("Two."))
    assert [type(part) for part in read(render(script, STREAMS[name])).parts] == [Thought, Text, FunctionCall]
    assert read(render(script, WHOLES[name])).parts[1] == Text("One. Two.")


@pytest.mark.parametrize("sendable", [*STREAMS.values(), *WHOLES.values()])
def test_of_a_clipped_call_nothing_is_said(sendable: Ask) -> None:
    clipped = ReplyPart(FunctionCall("", "read_sensor", {"bed": "3"}), ('{"be',), broken=True)
    answer = read(render(reply(Text("Let me"), clipped, finish=FinishReason.MAX_TOKENS), sendable))
    assert (answer.parts, answer.finish, answer.broken_calls) == ((Text("Let me"),), FinishReason.MAX_TOKENS, 0)


@pytest.mark.parametrize("sendable", [*STREAMS.values(), *WHOLES.values()])
def test_scripted_ids_and_figures_are_kept(sendable: Ask) -> None:
    answer = read(render(reply(FunctionCall("c", "water"), usage={"fresh": 5, "cache_read": 2, "output": 3}), sendable))
    assert answer.parts == (FunctionCall("c", "water"),)
    assert answer.usage == TokenUsage(7, 3, 10)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
@examples(25)
def test_pieces_join_to_the_text_on_either_door(pieces: list[str]) -> None:
    script = reply(ReplyPart(Text("".join(pieces)), tuple(pieces)), finish=FinishReason.STOP)
    for request in STREAMS.values():
        rendered = render(script, request)
        assert [event.text for event in rendered.events if event.kind == "text"] == pieces
        assert read(rendered).parts == (Text("".join(pieces)),)


# -- the server's own API


def test_a_stream_is_lines_of_json_and_the_last_has_the_figures() -> None:
    rendered = render(reply(*CALLS, usage={"output": 31}), STREAMS["chat"])
    assert rendered.headers["content-type"] == "application/x-ndjson"
    *earlier, last = lines(rendered)
    assert all(line["done"] is False and set(line) == {"model", "created_at", "message", "done"} for line in earlier)
    assert all(line["message"]["role"] == "assistant" for line in earlier)
    assert last["message"] == {"role": "assistant", "content": ""}
    assert (last["done"], last["done_reason"]) == (True, "stop")
    assert (last["prompt_eval_count"], last["eval_count"]) == (198, 31)
    durations = [last[name] for name in ("load_duration", "prompt_eval_duration", "eval_duration")]
    assert last["total_duration"] == sum(durations)
    assert all(event.data.endswith(b"}\n") and event.data.count(b"\n") == 1 for event in rendered.events)


def test_a_call_comes_whole_in_a_line_of_its_own_with_its_arguments_as_an_object() -> None:
    rendered = render(reply(*CALLS), STREAMS["chat"])
    calls = [json.loads(event.data)["message"]["tool_calls"] for event in rendered.events if event.kind == "args"]
    assert [len(each) for each in calls] == [1, 1]
    assert [each[0]["function"] for each in calls] == [
        {"index": 0, "name": "read_sensor", "arguments": {"bed": "3", "unit": "°C"}},
        {"index": 1, "name": "water", "arguments": {}},
    ]


def test_an_older_server_gives_its_calls_no_ids() -> None:
    older = Ollama(call_ids=False)
    for request in (STREAMS["chat"], WHOLES["chat"]):
        answer = read(render(reply(FunctionCall("c", "water")), request, wire=older))
        assert answer.parts == (FunctionCall("", "water"),)
    on_the_door = read(render(reply(FunctionCall("", "water")), STREAMS["messages"], wire=older))
    assert all(part.id for part in on_the_door.parts if isinstance(part, FunctionCall))


def test_a_count_of_nothing_is_left_out() -> None:
    call = DIALECT.parse(chat(stream=False).request(), world())
    assert isinstance(call, Call)
    rendered = DIALECT.render(call, reply(Text("Hi")), PromptUsage(0), world(), "s")
    assert "prompt_eval_count" not in body_of(rendered)
    assert read(rendered).usage == TokenUsage(0, 1, 1)


def test_a_completion_has_a_response_and_a_context() -> None:
    stream = lines(render(reply(Thought("Hm."), Text("Moist.")), generate()))
    assert "".join(line["response"] for line in stream) == "Moist."
    assert "".join(line.get("thinking", "") for line in stream) == "Hm."
    assert not any("message" in line for line in stream)
    whole = body_of(render(reply(Text("Moist.")), generate(stream=False)))
    assert whole["response"] == "Moist."
    assert all(type(number) is int for number in whole["context"])
    assert "context" not in body_of(render(reply(Text("Moist.")), generate(stream=False, raw=True)))


@pytest.mark.parametrize(
    ("sendable", "reason"),
    [
        (Ask({"model": MODEL, "messages": []}, "/api/chat"), "load"), (generate(""), "load"),
        (Ask({"model": MODEL, "messages": [], "keep_alive": 0}, "/api/chat"), "unload"),
        (generate("", keep_alive=0), "unload"),
    ],
)  # fmt: skip
def test_without_a_conversation_the_model_is_only_loaded(sendable: Ask, reason: str) -> None:
    rendered = render(reply(Text("not said")), sendable)
    assert rendered.headers["content-type"] == "application/json; charset=utf-8"
    answer = read(rendered)
    assert (answer.raw_finish, answer.parts, answer.complete) == (reason, (), True)


@pytest.mark.parametrize(
    ("finish", "raw", "done", "stop"),
    [
        (FinishReason.STOP, None, "stop", "end_turn"), (FinishReason.MAX_TOKENS, None, "length", "max_tokens"),
        (FinishReason.CONTEXT_LIMIT, None, "length", "max_tokens"), (FinishReason.REFUSAL, None, "stop", "end_turn"),
        (FinishReason.STOP, "stop_sequence", "stop", "end_turn"), (FinishReason.STOP, "odd", "odd", "stop_sequence"),
    ],
)  # fmt: skip
def test_the_server_has_few_words_for_an_end(finish: FinishReason, raw: str | None, done: str, stop: str) -> None:
    script = reply(Text("Yes."), finish=finish, raw_finish=raw)
    assert read(render(script, chat())).raw_finish == done
    assert read(render(script, anthropic())).raw_finish == stop


# -- the surface of Anthropic's format


def test_the_figures_are_two_and_those_of_the_start_an_estimate() -> None:
    rendered = [render(reply(*CALLS, usage={"output": 31}), STREAMS["messages"], seed=str(n)) for n in range(20)]
    starts = [payloads(each, "start")[0]["message"]["usage"] for each in rendered]
    assert all(set(each) == {"input_tokens", "output_tokens"} and each["output_tokens"] == 0 for each in starts)
    assert len({each["input_tokens"] for each in starts}) > 1
    assert {json.dumps(payloads(each, "usage")[0]["usage"]) for each in rendered} == {
        '{"input_tokens": 198, "output_tokens": 31}'
    }


def test_a_call_is_one_delta_and_without_arguments_an_empty_object() -> None:
    deltas = [each["delta"]["partial_json"] for each in payloads(render(reply(*CALLS), STREAMS["messages"]), "args")]
    assert deltas == ['{"bed":"3","unit":"°C"}', "{}"]


def test_nothing_is_signed_padded_or_pinged() -> None:
    rendered = render(reply(*CALLS), STREAMS["messages"])
    assert {"signature", "ping"}.isdisjoint(event.kind for event in rendered.events)
    assert b"signature" not in data(rendered)
    assert b" }\n" not in data(rendered)


def test_what_is_empty_is_left_out() -> None:
    whole = body_of(render(reply(*CALLS), WHOLES["messages"]))
    assert set(whole) == {"id", "type", "role", "model", "content", "stop_reason", "usage"}
    assert (whole["model"], whole["stop_reason"]) == (MODEL, "tool_use")
    assert not any("caller" in block for block in whole["content"])
    start = payloads(render(reply(*CALLS), STREAMS["messages"]), "start")[0]["message"]
    assert set(start) == {"id", "type", "role", "model", "content", "usage"}
    assert body_of(render(reply(finish=FinishReason.STOP), anthropic()))["content"] is None


def test_a_model_is_named_as_it_was_asked_for() -> None:
    for name in ("qwen3", "qwen3:latest"):
        assert body_of(render(reply(Text("Yes.")), anthropic(model=name)))["model"] == name
        assert body_of(render(reply(Text("Yes.")), chat(model=name, stream=False)))["model"] == name


# -- what is read


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"5", b'{"message":5,"done":true}', b'{"message":{"content":5,"tool_calls":5},"done":true}',
        b'{"message":{"tool_calls":[5,{"function":5},{"function":{"arguments":"x"}}]},"done":true,"eval_count":"9"}',
        b'{"models":[]}', b"<html>", b"\xff\n{", b'{"error":5}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson", "text/event-stream", ""])
def test_reading_never_raises(body: bytes, kind: str) -> None:
    answer = DIALECT.read_response(200, {"content-type": kind}, body)
    assert answer.parts == ()
    events = DIALECT.split_stream({"content-type": kind}, body)
    assert b"".join(event.data for event in events) == body


def test_an_error_line_ends_a_stream_that_had_begun() -> None:
    rendered = render(reply(Text("Let me look at it."), finish=FinishReason.STOP), chat())
    body = (
        b"".join(event.data for event in rendered.events[:1]) + DIALECT.error_event("", "gone", rendered.headers).data
    )
    answer = DIALECT.read_response(200, rendered.headers, body)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("", "gone", False)
    assert answer.parts == (Text(rendered.events[0].text),)
    assert [event.kind for event in DIALECT.split_stream(rendered.headers, body)] == ["text", "error"]


def test_garbage_is_garbage_on_either_door() -> None:
    for request in STREAMS.values():
        rendered = render(reply(*CALLS), request)
        spoilt = b"".join(event.data for event in rendered.events[:2]) + DIALECT.garbage
        spoilt += b"".join(event.data for event in rendered.events[2:])
        assert not DIALECT.read_response(200, rendered.headers, spoilt).complete


def test_calls_of_older_servers_and_odd_order_are_read() -> None:
    body = (
        b'{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"a","arguments":{}}},'
        b'{"function":{"name":"b"}}]},"done":false}\n'
        b'{"model":"m","message":{"role":"assistant","content":"Done."},"done":true,"done_reason":"stop"}\n'
    )
    answer = DIALECT.read_response(200, {"content-type": "application/x-ndjson"}, body)
    assert answer.parts == (Text("Done."), FunctionCall("", "a"), FunctionCall("", "b"))
    assert (answer.finish, answer.raw_finish) == (FinishReason.TOOL_USE, "stop")


# -- what no script speaks of


def extra(sendable: Ask) -> Json:
    call = DIALECT.parse(sendable.request(), world())
    assert isinstance(call, Call)
    return body_of(DIALECT.render_extra(call, PromptUsage(0), world(), "s"))


def get(path: str) -> Ask:
    return Ask(path=path, method="GET")


def test_the_tags_list_each_model_once_with_what_it_can_do() -> None:
    rows = {row["name"]: row for row in extra(get("/api/tags"))["models"]}
    assert rows["qwen3:8b"]["capabilities"] == ["completion", "tools", "thinking"]
    assert rows["gemma3:1b"]["capabilities"] == ["completion"]
    assert rows["qwen3:latest"]["details"]["family"] == "qwen3"
    assert len(rows) == len([facts for facts in DIALECT.models.values() if facts.alias_of is None])


@pytest.mark.parametrize("name", ["qwen3:8b", "llama3:latest", "granite3.2-vision"])
def test_the_window_of_a_model_stands_under_the_name_of_its_architecture(name: str) -> None:
    description = extra(shown(name))
    info = description["model_info"]
    architecture = info["general.architecture"]
    assert info[f"{architecture}.context_length"] == DIALECT.models[name].context_tokens
    assert set(description["capabilities"]) >= {"completion"}


def test_the_server_says_that_it_is_there_and_which_one_it_is() -> None:
    assert list(extra(get("/api/version"))) == ["version"]
    assert extra(get("/api/ps"))["models"][0]["context_length"] > 0
    assert extra(get("/v1/models"))["object"] == "list"
    call = DIALECT.parse(get("/").request(), world())
    assert isinstance(call, Call)
    assert data(DIALECT.render_extra(call, PromptUsage(0), world(), "s")) == b"Ollama is running"
