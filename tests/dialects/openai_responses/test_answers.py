"""Answers written: batch and stream say the same, in the order of events and with the members that were recorded.

The written side is held against a recorded stream (PA test_openai_responses_phase_streamed_on_part_start) as far as its
form goes; our reader, and the official client in `test_openai_responses_answers_over_http`, keep it honest.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from turnproof.dialects.base import Call, HttpRequest, PromptUsage, ReplyPart, World
from turnproof.dialects.openai_responses import DIALECT
from turnproof.dialects.openai_responses.output import ENCRYPTED
from turnproof.dialects.openai_responses.store import issued_item, kept_ids, stored_response
from turnproof.dialects.openai_responses.surfaces import Surface
from turnproof.messages import FinishReason, FunctionCall, ProviderData, Text, Thought, TokenUsage

from ..answers import LOOK, data, reply
from .asks import Ask, world
from .builders import KEY, MODEL, OPENING, SEALED_BY_OTHER, assistant, output, reasoning
from .rendering import DATED, PROMPT, REPLIES, final, new_call, payloads, read, render

NAME = "openai-responses"


@pytest.mark.parametrize("name", REPLIES)
def test_a_stream_ends_with_the_response_of_a_batch_answer(name: str) -> None:
    batch, stream = (render(REPLIES[name], stream=stream) for stream in (False, True))
    assert final(batch) == final(stream) | {"completed_at": final(batch)["completed_at"]}


@pytest.mark.parametrize(
    ("name", "finish", "raw"),
    [
        ("text", FinishReason.STOP, "completed"), ("cut-off", FinishReason.MAX_TOKENS, "max_output_tokens"),
        ("filtered", FinishReason.SAFETY, "content_filter"), ("refused", FinishReason.REFUSAL, "completed"),
        ("failed", FinishReason.ERROR, "failed"), ("unknown-finish", FinishReason.UNKNOWN, "sundown"),
        ("calls", FinishReason.TOOL_USE, "completed"),
        ("paused", FinishReason.STOP, "completed"), ("window-full", FinishReason.MAX_TOKENS, "max_output_tokens"),
    ],
)  # fmt: skip
def test_each_ending_is_told_in_the_words_of_the_api(name: str, finish: FinishReason, raw: str) -> None:
    answer = read(render(REPLIES[name], stream=True))
    assert (answer.finish, answer.raw_finish) == (finish, raw)


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_sequence_is_no_reason_of_this_api_so_the_answer_is_whole(*, stream: bool) -> None:
    rendered = render(replace(REPLIES["text"], raw_finish="stop_sequence"), stream=stream)
    assert (final(rendered)["status"], final(rendered)["incomplete_details"]) == ("completed", None)


def test_the_events_come_in_the_recorded_order() -> None:
    names = [each["type"] for each in payloads(render(reply(*LOOK[:3], finish=FinishReason.TOOL_USE), stream=True))]
    assert [name.removeprefix("response.") for name, _ in groupby(names)] == [
        "created", "in_progress",
        "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done",
        "output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done",
        "output_item.done",
        "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
        "completed",
    ]  # fmt: skip


def test_events_are_numbered_named_and_placed() -> None:
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), stream=True)
    bodies = payloads(rendered)
    assert [each["sequence_number"] for each in bodies] == list(range(len(bodies)))
    for event, each in zip(rendered.events, bodies, strict=True):
        assert event.data.startswith(b"event: %b\ndata: {" % each["type"].encode())
    items = final(rendered)["output"]
    for each in bodies:
        if "item_id" in each:
            assert each["item_id"] == items[each["output_index"]]["id"]
    assert {each["output_index"] for each in bodies if "output_index" in each} == {0, 1, 2, 3}


def test_an_item_opens_empty_and_ends_whole() -> None:
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), stream=True)
    opened, done = (
        [each["item"] for each in payloads(rendered, f"response.output_item.{word}")] for word in ("added", "done")
    )
    assert done == final(rendered)["output"]
    assert [each["id"] for each in opened] == [each["id"] for each in done]
    thought, message_item, asked_for, _ = opened
    assert (thought["summary"], message_item["content"], asked_for["arguments"]) == ([], [], "")
    assert (message_item["status"], asked_for["status"]) == ("in_progress", "in_progress")
    # Documented: what stands in the opening event may be incomplete; the one to send back comes at the end.
    assert thought["encrypted_content"] != done[0]["encrypted_content"]


def test_deltas_join_to_what_is_done() -> None:
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), stream=True)
    for kind, member in (("output_text", "text"), ("function_call_arguments", "arguments")):
        for done in payloads(rendered, f"response.{kind}.done"):
            deltas = [
                each["delta"] for each in payloads(rendered, f"response.{kind}.delta")
                if each["output_index"] == done["output_index"]
            ]  # fmt: skip
            assert "".join(deltas) == done[member]
            assert len(deltas) > 1 or len(done[member]) < 18
    assert "".join(event.text for event in rendered.events) == LOOK[1].text


def test_scripted_pieces_are_the_deltas() -> None:
    rendered = render(REPLIES["in-pieces"], stream=True)
    assert [each["delta"] for each in payloads(rendered, "response.output_text.delta")] == ["41", " %"]


def test_a_refusal_has_content_and_events_of_its_own() -> None:
    rendered = render(REPLIES["refused"], stream=True)
    assert [each["delta"] for each in payloads(rendered, "response.refusal.delta")] == ["No."]
    assert payloads(rendered, "response.output_text.delta") == []
    assert final(rendered)["output"][0]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_an_incomplete_response_says_why_and_of_which_item() -> None:
    response = final(render(REPLIES["cut-off"]))
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert response["output"][-1]["status"] == "incomplete"
    assert payloads(render(REPLIES["cut-off"], stream=True))[-1]["type"] == "response.incomplete"


def test_a_call_that_was_cut_off_is_broken_and_not_among_the_parts() -> None:
    for stream in (False, True):
        answer = read(render(REPLIES["cut-off-in-a-call"], stream=stream))
        assert (answer.broken_calls, len(answer.parts)) == (1, 1)
    bodies = payloads(render(REPLIES["cut-off-in-a-call"], stream=True))
    assert not any(each["type"] == "response.function_call_arguments.done" for each in bodies)


def test_a_failed_response_holds_its_error() -> None:
    rendered = render(REPLIES["failed"], stream=True)
    assert payloads(rendered)[-1]["type"] == "response.failed"
    assert rendered.events[-1].kind == "error"
    answer = read(rendered)
    assert (answer.error_kind, answer.complete, answer.status) == ("server_error", False, 200)


def test_a_broken_call_without_pieces_is_cut_somewhere() -> None:
    broken = ReplyPart(FunctionCall("", "write", {"path": "a.txt", "text": "long"}), broken=True)
    item = final(render(reply(broken, finish=FinishReason.MAX_TOKENS)))["output"][0]
    assert item["arguments"] == '{"path":"a.txt","text":"long"}'[:20]


def test_summaries_are_told_only_where_they_are_asked_for() -> None:
    silent = new_call(reasoning={"effort": "low"})
    thought = final(render(REPLIES["thinking-and-text"], silent))["output"][0]
    assert thought["summary"] == []
    assert thought["encrypted_content"].startswith("gAAAA")
    assert final(render(REPLIES["thinking-and-text"]))["output"][0]["summary"] == [
        {"type": "summary_text", "text": "Hm."}
    ]


@pytest.mark.parametrize(
    ("asks", "path", "is_there"),
    [
        ({"include": [ENCRYPTED]}, "/v1/responses", True),
        ({"include": ["message.output_text.logprobs"]}, "/v1/responses", False),
        ({"include": None}, "/v1/responses", False),
        ({"include": None}, "/responses", True),
    ],
)
def test_reasoning_is_encrypted_for_who_asks_for_it_and_for_everybody_at_copilot(
    asks: dict[str, Any], path: str, is_there: bool
) -> None:
    call = replace(new_call(**asks), surface=Surface.OPENAI if path.startswith("/v1") else Surface.COPILOT)
    thought = final(render(REPLIES["thinking-and-text"], call))["output"][0]
    assert ("encrypted_content" in thought) is is_there


def test_thinking_that_nobody_may_read_is_sealed() -> None:
    def sealed(hidden: str) -> str:
        part = Thought("", provider_data=ProviderData("scenario", "", {"redacted": hidden}))
        item = final(render(reply(part)))["output"][0]
        assert item["summary"] == []
        return str(item["encrypted_content"])

    assert sealed("one") != sealed("another")


def test_newer_models_say_which_message_is_the_answer() -> None:
    newer = new_call(model="gpt-5.5")
    before = final(render(reply(*LOOK, finish=FinishReason.TOOL_USE), newer))["output"][1]
    assert before["phase"] == "commentary"
    assert final(render(REPLIES["text"], newer))["output"][0]["phase"] == "final_answer"
    assert "phase" not in final(render(REPLIES["text"]))["output"][0]


def test_usage_counts_the_cached_as_input_and_reasoning_as_output() -> None:
    figures = final(render(REPLIES["thinking-and-text"]))["usage"]
    assert figures["input_tokens"] == PROMPT.whole
    assert figures["input_tokens_details"]["cached_tokens"] == 1536
    assert figures["output_tokens_details"]["reasoning_tokens"] == 1
    assert figures["total_tokens"] == figures["input_tokens"] + figures["output_tokens"]
    answer = read(render(REPLIES["thinking-and-text"], stream=True))
    assert answer.usage == TokenUsage(1567, figures["output_tokens"], figures["total_tokens"], 1536, 0, 1)


def test_scripted_figures_override_the_counted_ones() -> None:
    script = reply(Text("a"), usage={"fresh": 5, "cache_read": 128, "cache_write": 2, "output": 9, "thinking": 4})
    assert read(render(script)).usage == TokenUsage(135, 9, 144, 128, 2, 4)


def test_the_response_repeats_what_was_asked() -> None:
    response = final(render(REPLIES["text"], new_call(instructions="Be brief.", max_output_tokens=64, store=False)))
    assert (response["instructions"], response["max_output_tokens"], response["store"]) == ("Be brief.", 64, False)
    assert response["tools"][0]["name"] == "read_sensor"
    assert (response["object"], response["model"], response["created_at"]) == ("response", DATED, 1_700_000_000)


def test_ids_have_the_recorded_form_and_share_their_beginning() -> None:
    response = final(render(reply(*LOOK)))
    ids = [response["id"], *(item["id"] for item in response["output"])]
    assert [each.split("_")[0] for each in ids] == ["resp", "rs", "msg", "fc", "fc"]
    assert {len(each.split("_")[1]) for each in ids} == {50}
    assert len({each.split("_")[1][:16] for each in ids}) == 1
    assert len(set(ids)) == len(ids)


# -- what the service remembers


def test_what_is_kept_is_known_by_name_until_its_time_is_over() -> None:
    clock = [0.0]
    at = World(keys=frozenset(), models=DIALECT.models, clock=lambda: clock[0])
    answers = [final(render(reply(Text(word)), new_call(store=store), at=at, seed=word)) for word, store in
               (("one", True), ("two", False), ("three", True))]  # fmt: skip
    first, _, third = (answer["id"] for answer in answers)
    assert kept_ids(at) == (first, third)
    clock[0] = 31 * 24 * 3600.0
    assert kept_ids(at) == ()


SHORTER = [{"type": "compaction", "compact_threshold": 10}]


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_beyond_the_threshold_is_made_shorter_within_the_answer(stream: bool) -> None:
    """Documented: the item comes in the answer, and carries what came before; the next request has what is new."""
    at = world()
    first = final(
        render(reply(Text("Yes.")), new_call(stream=stream, context_management=SHORTER), at=at, stream=stream)
    )
    item, message_item = first["output"]
    assert (item["type"], item["encrypted_content"][:5]) == ("compaction", "gAAAA")
    assert message_item["content"][0]["text"] == "Yes."
    entry = stored_response(at, first["id"])
    assert entry is not None
    assert [one["type"] for one in entry.context] == ["compaction", "message"]
    follow_up = new_call(items=({"role": "user", "content": "And?"},), previous_response_id=first["id"], at=at)
    assert [message.role for message in follow_up.messages] == ["model", "user"]
    assert not DIALECT.validate(HttpRequest("POST", "/v1/responses", {}, {"authorization": f"Bearer {KEY}"}, b""),
                                follow_up, at)  # fmt: skip


def test_the_item_that_was_made_is_streamed_as_an_item_of_its_own() -> None:
    rendered = render(reply(Text("Yes.")), new_call(stream=True, context_management=SHORTER), stream=True)
    done = payloads(rendered, "response.output_item.done")
    assert [(one["output_index"], one["item"]["type"]) for one in done] == [(0, "compaction"), (1, "message")]
    assert done[0]["item"] == final(rendered)["output"][0]


@pytest.mark.parametrize(
    "asks",
    [
        {},
        {"context_management": None},
        {"context_management": [{"type": "compaction"}]},
        {"context_management": [{"type": "compaction", "compact_threshold": 1_000_000}]},
        {"context_management": [{"type": "something-new", "compact_threshold": 1}]},
    ],
)
def test_no_other_prompt_is_made_shorter(asks: dict[str, Any]) -> None:
    assert [one["type"] for one in final(render(reply(Text("Yes.")), new_call(**asks)))["output"]] == ["message"]


def test_reasoning_that_nobody_asked_for_is_encrypted_nowhere_in_a_stream() -> None:
    rendered = render(REPLIES["thinking-and-text"], new_call(stream=True, include=None), stream=True)
    assert b"encrypted_content" not in b"".join(event.data for event in rendered.events)


def test_reasoning_is_issued_to_the_world_and_goes_with_what_follows() -> None:
    at = world()
    response = final(render(reply(*LOOK), at=at))
    thought, message_item, *_ = response["output"]
    assert at.issued[thought["encrypted_content"]][1] == DATED
    known, follower = issued_item(at, thought["id"]), issued_item(at, message_item["id"])
    assert known is not None
    assert follower is not None
    assert (known.follower, follower.reasoning) == (message_item["id"], thought["id"])


@pytest.mark.parametrize("stream", [False, True])
def test_observing_an_answer_teaches_what_rendering_it_issued(stream: bool) -> None:
    at, again = world(), world()
    question = new_call(stream=stream)
    rendered = render(reply(*LOOK), question, at=at)
    DIALECT.observe(question, 200, rendered.headers, data(rendered), again)
    assert again.issued == at.issued
    assert again.resources == at.resources


def test_an_answer_of_no_items_is_remembered_too() -> None:
    at = world()
    question = new_call(stream=True)
    rendered = render(REPLIES["nothing"], question)
    DIALECT.observe(question, 200, rendered.headers, data(rendered), at)
    assert stored_response(at, final(rendered)["id"]) is not None


def test_of_a_stream_that_was_cut_only_whole_items_are_remembered() -> None:
    at = world()
    question = new_call(stream=True)
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), question)
    thought, message_item, *_ = final(rendered)["output"]
    cut = data(rendered).split(b"event: response.output_text.done")[0]
    DIALECT.observe(question, 200, rendered.headers, cut, at)
    assert issued_item(at, thought["id"]) is not None
    assert issued_item(at, message_item["id"]) is None


def test_both_forms_of_encrypted_content_in_a_stream_are_good() -> None:
    rendered = render(REPLIES["thinking-and-text"], stream=True)
    sealed = final(rendered)["output"][0]["encrypted_content"].encode()
    *events, last = (event.data for event in rendered.events)
    at = world()
    body = b"".join(events) + last.replace(sealed, b"gAAAAABagain")
    DIALECT.observe(new_call(stream=True), 200, rendered.headers, body, at)
    assert {sealed.decode(), "gAAAAABagain"} <= at.issued.keys()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"output": 3}', b'{"output": [{"summary": 3, "id": 4}, 5]}'])
def test_observing_what_is_no_answer_teaches_nothing(body: bytes) -> None:
    at = world()
    DIALECT.observe(new_call(), 200, {"content-type": "application/json"}, body, at)
    assert (at.issued, at.resources) == (world().issued, world().resources)


def test_a_response_is_kept_with_all_that_led_to_it() -> None:
    at = world()
    first = final(render(reply(LOOK[2], finish=FinishReason.TOOL_USE), new_call(at=at), at=at))
    answered = call_id = first["output"][0]["call_id"]
    second = new_call(at=at, items=(output(answered),), previous_response_id=first["id"])
    assert [message.role for message in second.messages] == ["user", "model", "tool"]
    assert second.messages[2].results[0].name == "read_sensor"
    assert (second.managed_messages, second.resource, second.carried) == (2, first["id"], 2)
    response = final(render(REPLIES["text"], second, at=at, seed="t"))
    entry = stored_response(at, response["id"])
    assert entry is not None
    assert [item.get("type") for item in entry.context] == [None, "function_call", "function_call_output", "message"]
    assert call_id == entry.context[2]["call_id"]


def test_a_call_that_was_cut_off_needs_no_output_when_the_conversation_goes_on() -> None:
    at = world()
    first = final(render(REPLIES["cut-off-in-a-call"], new_call(at=at), at=at))
    second = new_call(at=at, previous_response_id=first["id"])
    assert [type(part) for message in second.messages for part in message.parts] == [Text, Text, Text]
    assert DIALECT.validate(Ask(dict(second.body)).request(), second, at) == []


def test_what_is_not_to_be_stored_cannot_be_named_later() -> None:
    at = world()
    response = final(render(reply(*LOOK), new_call(store=False), at=at))
    assert stored_response(at, response["id"]) is None
    known = issued_item(at, response["output"][0]["id"])
    assert known is not None
    assert not known.stored


def test_reasoning_of_another_model_is_told_to_be_withheld() -> None:
    foreign = new_call(items=(OPENING, reasoning("rs_other", SEALED_BY_OTHER), assistant("41 %")))
    assert final(render(REPLIES["text"], foreign))["input_transformations"] == [
        {"type": "reasoning", "id": "rs_other", "action": "removed", "reason": "model_mismatch"}
    ]
    assert "input_transformations" not in final(render(REPLIES["text"]))


def test_given_ids_and_sealed_reasoning_are_used_as_they_are() -> None:
    own = ProviderData(NAME, MODEL, {"id": "rs_given", "encrypted": "gAAAAABgiven"})
    item = final(render(reply(Thought("Hm.", provider_data=own))))["output"][0]
    assert (item["id"], item["encrypted_content"]) == ("rs_given", "gAAAAABgiven")


def test_a_plain_call_is_answered_too() -> None:
    rendered = DIALECT.render(Call("generate", MODEL), REPLIES["text"], PromptUsage(3), world(), "s")
    assert final(rendered)["usage"]["input_tokens"] == 3


# -- operations that no script speaks of


def extra(path: str, method: str = "GET", **headers: str) -> Any:
    at = world()
    request = HttpRequest(method, path, {}, headers, b'{"model": "gpt-5", "input": "Hello"}')
    asked_for = DIALECT.parse(request, at)
    assert isinstance(asked_for, Call)
    rendered = DIALECT.render_extra(asked_for, PromptUsage(DIALECT.count(asked_for)), at, "s")
    return json.loads(data(rendered))


def test_tokens_are_counted_as_the_prompt_is() -> None:
    assert extra("/v1/responses/input_tokens", "POST") == {"object": "response.input_tokens", "input_tokens": 4}


def test_models_are_listed_and_looked_up() -> None:
    listed = extra("/v1/models")
    assert (listed["object"], {each["id"] for each in listed["data"]}) == ("list", set(DIALECT.models))
    assert extra("/v1/models/gpt-5") == {"id": "gpt-5", "object": "model", "created": 0, "owned_by": "system"}
    assert extra("/v1/models/gpt-9")["error"]["code"] == "model_not_found"


def test_copilot_lists_models_with_their_limits() -> None:
    listed = {each["id"]: each for each in extra("/models")["data"]}
    assert listed["gpt-5"]["capabilities"]["limits"]["max_context_window_tokens"] == 400_000
    assert listed["gpt-5.1-codex"]["supported_endpoints"] == ["/responses"]


def test_copilot_gives_a_session_token_that_is_good_for_half_an_hour() -> None:
    token_body = extra("/copilot_internal/v2/token")
    assert (token_body["expires_at"], token_body["refresh_in"]) == (1_700_001_800, 1500)
    assert token_body["token"].startswith("tid=")


def test_an_error_event_is_read_as_an_error() -> None:
    prefix = data(render(REPLIES["text"], stream=True)).split(b"event: response.output_text.done")[0]
    event = DIALECT.error_event("server_error", "Oops")
    answer = DIALECT.read_response(200, {"content-type": "text/event-stream"}, prefix + event.data)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("server_error", "Oops", False)
    assert [part.text for part in answer.parts if isinstance(part, Text)] == ["41 % 🌱"]


def test_the_loop_of_the_question_is_legal_again() -> None:
    at = world()
    response = final(render(reply(*LOOK, finish=FinishReason.TOOL_USE), new_call(at=at), at=at))
    outputs = [output(item["call_id"]) for item in response["output"] if item["type"] == "function_call"]
    again = new_call(at=at, items=(OPENING, *response["output"], *outputs))
    request = Ask(dict(again.body)).request()
    assert DIALECT.validate(request, again, at) == []
