"""Turns that end in another way than the SDK's `Chat` foresees: what the provider holds then, and what it sends next.

The next request is what tells: a turn that is missing there is lost to the conversation, and one that failed and is
there is said twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import ContentFilterError, OverloadedError, ProviderError, TransportError
from turnproof.messages import FinishReason, FunctionCall, Message, Part, ProviderResponse, Text, Thought, ToolResult

from ..background_call import BackgroundCall, write_and_hold
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .histories import issued, ordinary_conversation
from .kit import SIGNATURE, answer, call, chunk, event, legacy, stream, text, thought
from .legacy_conversation import LegacyConversation, Reply, bare, refusal, reply

both = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


# Answers that the Chat takes back, the user's side with them

NO_CONTENT: dict[str, Any] = {"finishReason": "STOP", "index": 0}
NO_PARTS: dict[str, Any] = {"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}
EMPTY: dict[str, Any] = {"content": {}, "finishReason": "SAFETY", "safetyRatings": [{"blocked": True}]}
EMPTY_TEXT: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}


@pytest.mark.parametrize("last", [NO_CONTENT, NO_PARTS, EMPTY, EMPTY_TEXT])
def test_a_last_piece_without_content_costs_nothing_of_the_turn(last: dict[str, Any]) -> None:
    before = [chunk(thought("hm", SIGNATURE)), chunk(text("Hel")), chunk(text("lo"))]
    talk = LegacyConversation(bare(last, before=before, streamed=True), answer(text("bye")))
    response = talk.say("hi", streamed=True)
    assert response.parts == (Thought("hm", provider_data=issued()), Text("Hello"))
    assert talk.history == [("user", (Text("hi"),)), ("model", response.parts)]
    talk.say("more", streamed=False)
    assert [role for role, _ in talk.contents[:1] + talk.contents[-1:]] == ["user", "user"]
    assert "".join(words for role, texts in talk.contents if role == "model" for words in texts) == "hmHello"


@both
@pytest.mark.parametrize("candidate", [NO_CONTENT, NO_PARTS, EMPTY])
def test_an_answer_without_content_leaves_what_the_user_said(candidate: dict[str, Any], streamed: bool) -> None:
    talk = LegacyConversation(bare(candidate, streamed=streamed), reply(text("yes"), streamed=streamed))
    response = talk.say("hi", streamed=streamed)
    assert (response.parts, response.raw_finish) == ((), candidate["finishReason"])
    assert talk.history == [("user", (Text("hi"),))]
    talk.say("are you there?", streamed=streamed)
    assert talk.contents == [("user", ["hi"]), ("user", ["are you there?"])]


@both
def test_a_part_of_a_kind_that_the_sdk_does_not_know_costs_nothing_but_itself(streamed: bool) -> None:
    pieces = [text("so"), {"newKind": {"a": 1}}, text("it is")]
    talk = LegacyConversation(reply(*pieces, streamed=streamed), answer(text("bye")))
    talk.say("hi", streamed=streamed)
    assert [role for role, _ in talk.history] == ["user", "model"]
    talk.say("more", streamed=False)
    assert talk.contents == [("user", ["hi"]), ("model", ["soit is"]), ("user", ["more"])]


@both
@pytest.mark.parametrize("finish", ["MAX_TOKENS", "SAFETY", "UNEXPECTED_TOOL_CALL", "SOMETHING_NEW"])
@pytest.mark.filterwarnings("ignore:SOMETHING_NEW is not a valid FinishReason")
def test_an_answer_that_ended_otherwise_is_kept_as_far_as_it_came(finish: str, streamed: bool) -> None:
    talk = LegacyConversation(reply(text("so far"), streamed=streamed, finish=finish))
    response = talk.say("hi", streamed=streamed)
    assert response.raw_finish == finish
    assert talk.history == [("user", (Text("hi"),)), ("model", (Text("so far"),))]


# Calls that fail

SENDS: list[Callable[[Any], object]] = [
    lambda provider: provider.send_message("again"),
    lambda provider: provider.send_message_streaming("again", print),
    lambda provider: provider.send_message_with_parts([Text("again")]),
    lambda provider: provider.send_message_with_parts_streaming([Text("again")], print),
    lambda provider: provider.send_tool_results([ToolResult("a", "f", "ok")]),
    lambda provider: provider.send_tool_results_streaming([ToolResult("a", "f", "ok")], print),
]


@pytest.mark.parametrize("send", SENDS)
def test_a_failed_call_leaves_the_history_as_it_was(send: Callable[[Any], object]) -> None:
    talk = LegacyConversation(refusal(503), reply(text("ok"), streamed=False))
    talk.provider.create_session(None, None, [Message.user("hi"), Message.model(FunctionCall("a", "f"))])
    before = talk.history
    with pytest.raises(OverloadedError):
        send(talk.provider)
    assert talk.history == before
    talk.provider.send_tool_results([ToolResult("a", "f", "ok")])
    assert [kinds for _, kinds in talk.contents] == [["hi"], ["functionCall"], ["functionResponse"]]


LATER = {"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}}
BLOCKED: dict[str, Any] = {"candidates": None, "promptFeedback": {"blockReason": "SAFETY"}}

NO_ANSWER: dict[str, tuple[Reply, type[ProviderError]]] = {
    "an error in the stream": ([chunk(text("so")), event(LATER)], OverloadedError),
    "an error without a code": ([chunk(text("so")), event({"error": {"message": "later"}})], ProviderError),
    "no end": ([chunk(text("so"))], TransportError),
    "no piece at all": ([], TransportError),
    "a piece that is no object": ([chunk(text("so")), event([1])], TransportError),
    "a piece that is no JSON": ([chunk(text("so")), b"data: {\r\n\r\n"], TransportError),
    "a blocked prompt, streamed": (bare(streamed=True, **BLOCKED), ContentFilterError),
    "a blocked prompt": (bare(streamed=False, **BLOCKED), ContentFilterError),
    "a call that cannot be read, streamed": (stream(text("so"), finish="MALFORMED_FUNCTION_CALL"), TransportError),
    "a call that cannot be read": (answer(finish="MALFORMED_FUNCTION_CALL"), TransportError),
    "no candidate": (bare(streamed=False), TransportError),
    "a list": (httpx2.Response(200, json=[1]), TransportError),
    "no JSON": (httpx2.Response(200, content=b"<html>"), TransportError),
}


@pytest.mark.parametrize("case", NO_ANSWER)
def test_an_answer_that_is_none_leaves_the_history_as_it_was(case: str) -> None:
    broken, kind = NO_ANSWER[case]
    talk = LegacyConversation(broken, answer(text("ho")))
    talk.provider.create_session(None, None, ordinary_conversation(4))
    before = talk.history
    with pytest.raises(kind):
        talk.say("hi", streamed=isinstance(broken, list))
    assert talk.history == before
    talk.say("again", streamed=False)
    assert talk.contents[-2:] == [("model", ["answer 3"]), ("user", ["again"])]


def test_a_failed_call_takes_back_what_was_answered_for_the_user() -> None:
    talk = LegacyConversation(refusal(503), answer(text("ok")))
    talk.provider.create_session(None, None, [Message.user("hi"), Message.model(FunctionCall("a", "f"))])
    with pytest.raises(OverloadedError):
        talk.say("never mind", streamed=False)
    assert [role for role, _ in talk.history] == ["user", "model"]


# Calls that are cancelled

MOMENTS: dict[str, tuple[list[bytes], tuple[Part, ...]]] = {
    "before anything": ([], ()),
    "in thinking": ([chunk(thought("hm"))], ()),
    "after signed thinking": ([chunk(thought("hm", SIGNATURE))], (Thought("hm", provider_data=issued()),)),
    "in a text": ([chunk(text("so ")), chunk(text("far"))], (Text("so far"),)),
    "in a text behind thinking": ([chunk(thought("hm")), chunk(text("so far"))], (Text("so far"),)),
    "after a signed text": ([chunk(text("so", SIGNATURE))], (Text("so", provider_data=issued()),)),
    "after a call": ([chunk(text("so far")), chunk(call("f", {}, "a", SIGNATURE))], (Text("so far"),)),
    "after a call alone": ([chunk(call("f", {}, "a", SIGNATURE))], ()),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_cancelled_stream_keeps_the_users_side_and_what_the_model_had_said(moment: str) -> None:
    pieces, parts = MOMENTS[moment]
    script, stall = write_and_hold(*pieces)
    recorder = CallbackRecorder()
    with scripted(script, lambda exchange: exchange.answer(answer(text("yes")))) as server:
        provider = legacy(server.url)
        callbacks: Any = recorder.callbacks
        running = BackgroundCall(lambda token: provider.send_message_streaming("hi", cancel_token=token, **callbacks))
        assert stall.wait(LIMIT)
        running.wait_until_reading(lambda: recorder.usage or not pieces)
        running.token.cancel()
        response = running.result()
        assert server.hung_up.wait(LIMIT), "the server did not see the cut"
        assert isinstance(response, ProviderResponse), response
        assert response.finish_reason is FinishReason.CANCELLED
        history = [("user", (Text("hi"),)), *([("model", parts)] if parts else [])]
        assert [(message.role, message.parts) for message in provider.get_history()] == history
        provider.send_message("go on")
        sent = server.requests[-1].json["contents"]
    assert [content["role"] for content in sent] == ["user", *(["model"] if parts else []), "user"]
    assert [part.get("text") for content in sent for part in content["parts"]] == [
        "hi",
        *(part.text for part in parts if isinstance(part, Text | Thought)),
        "go on",
    ]


def test_what_stands_behind_the_cancel_in_the_same_piece_is_not_kept() -> None:
    token = CancelToken()
    pieces = event(answer(text("so "), text("far", SIGNATURE), call("f", {}, "a")))
    talk = LegacyConversation([pieces])
    response = talk.say("hi", streamed=True, cancel_token=token, on_chunk=lambda piece: token.cancel())
    assert response.parts == (Text("so "),)
    assert talk.history == [("user", (Text("hi"),)), ("model", response.parts)]


@both
def test_a_cancel_that_comes_with_the_last_byte_keeps_no_call(streamed: bool) -> None:
    token = CancelToken()
    pieces = [text("let me look"), call("f", {}, "a")]

    def late() -> httpx2.Response:
        token.cancel()
        if streamed:
            return httpx2.Response(200, content=b"".join(stream(*pieces)))
        return httpx2.Response(200, json=answer(*pieces))

    talk = LegacyConversation(late, reply(text("ho"), streamed=streamed))
    response = talk.say("hi", streamed=streamed, cancel_token=token)
    assert response.finish_reason is FinishReason.CANCELLED
    expected = () if streamed else (Text("let me look"),)
    assert response.parts == expected
    assert talk.history == [("user", (Text("hi"),)), *([("model", expected)] if expected else [])]
    talk.say("again", streamed=streamed)
    assert "functionCall" not in str(talk.contents)


def test_a_cancelled_batch_call_keeps_the_users_side() -> None:
    script, stall = write_and_hold()
    with scripted(script) as server:
        provider = legacy(server.url)
        running = BackgroundCall(lambda token: provider.send_message("hi", cancel_token=token))
        assert stall.wait(LIMIT)
        running.token.cancel()
        response = running.result()
        assert server.hung_up.wait(LIMIT)
    assert isinstance(response, ProviderResponse), response
    assert response.finish_reason is FinishReason.CANCELLED
    assert [message.text for message in provider.get_history()] == ["hi"]


def test_a_body_that_does_not_end_after_the_answer_has_is_not_waited_for() -> None:
    """The `Chat` records a turn at the end of the body; the turn is over at the end of the answer."""

    def hold(exchange: Exchange) -> None:
        exchange.stream_head()
        for piece in stream(text("Hel"), text("lo")):
            exchange.chunk(piece)
        exchange.wait_for_hangup()

    with scripted(hold) as server:
        provider = legacy(server.url)
        response = provider.send_message_streaming("hi", lambda piece: None)
        assert server.hung_up.wait(LIMIT)
    assert response.finish_reason is FinishReason.STOP
    assert [message.text for message in provider.get_history()] == ["hi", "Hello"]


def test_a_stream_that_nobody_reads_on_is_hung_up_on() -> None:
    def stop(_: str) -> None:
        raise LookupError("mine")

    script, _ = write_and_hold(chunk(text("so")))
    with scripted(script) as server:
        provider = legacy(server.url)
        with pytest.raises(LookupError):
            provider.send_message_streaming("hi", stop)
        assert server.hung_up.wait(LIMIT)
