"""The legacy path: what it holds after every ending of a turn, and what it sends next."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from turnproof import messages as m
from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError, OverloadedError, TransportError, UsageError
from turnproof_adapters.antigravity.legacy import AntigravityLegacy

from ..google_genai.legacy_conversation import LegacyConversation as GeminiConversation
from ..google_genai.legacy_conversation import Reply
from .kit import (
    CLAUDE,
    GEMINI,
    KEY,
    SIGNATURE,
    STREAMED,
    URL,
    call,
    envelope,
    event,
    issued,
    legacy,
    mark,
    stream,
    text,
    thought,
)


class LegacyConversation(GeminiConversation):
    """The same with the gateway, which wants requests in an envelope."""

    opener = staticmethod(legacy)

    @property
    def request(self) -> Any:
        """The last request, without its envelope."""
        return self.bodies[-1]["request"]


def reply(*parts: dict[str, Any], streamed: bool, **fields: Any) -> Reply:
    """An answer in one piece, or with each of its parts in a piece of its own."""
    return stream(*parts, **fields) if streamed else envelope(*parts, **fields)


@STREAMED
def test_a_conversation_grows_by_what_is_said_on_both_sides(streamed: bool) -> None:
    talk = LegacyConversation(
        reply(thought("hm"), text("Hel"), text("lo"), streamed=streamed), reply(text("Bye"), streamed=streamed)
    )
    assert talk.say("hi", streamed=streamed).text == "Hello"
    assert talk.history == [
        ("user", (m.Text("hi"),)),
        ("model", (m.Thought("hm", provider_data=mark()), m.Text("Hello"))),
    ]
    talk.say("bye", streamed=streamed)
    assert talk.contents == [("user", ["hi"]), ("model", ["hm", "Hello"]), ("user", ["bye"])]
    assert talk.provider.get_token_usage() == m.TokenUsage(96, 32, 128, cache_read_tokens=40, thinking_tokens=10)


@STREAMED
def test_tools_are_called_and_answered_under_their_ids_and_own_names(streamed: bool) -> None:
    talk = LegacyConversation(
        reply(call("f", {"x": 1}, "a", SIGNATURE), call("f", {}), streamed=streamed),
        reply(text("ok"), streamed=streamed),
    )
    talk.provider.create_session("rules", [m.ToolSchema("f")])
    first, second = talk.say("hi", streamed=streamed).calls
    results = [m.ToolResult(second.id, "f", 2), m.ToolResult(first.id, "f", 1)]
    if streamed:
        talk.provider.send_tool_results_streaming(results, lambda piece: None)
    else:
        talk.provider.send_tool_results(results)
    model, user = talk.bodies[-1]["request"]["contents"][1:]
    assert model["parts"] == [
        {"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "f", "args": {}}},
    ]
    assert [part["functionResponse"]["response"] for part in user["parts"]] == [{"output": 1}, {"output": 2}]
    assert "id" not in user["parts"][1]["functionResponse"]
    assert [call.id for call in talk.provider.get_history()[1].calls] == [first.id, second.id]
    assert talk.bodies[-1]["request"]["systemInstruction"] == {"parts": [{"text": "rules"}]}


@STREAMED
@pytest.mark.parametrize("failure", ["refused", "cut", "callback"])
def test_a_failed_call_leaves_the_history_as_it_was(streamed: bool, failure: str) -> None:
    def broken(_: Any) -> None:
        raise LookupError("mine")

    bad: dict[str, Reply] = {
        "refused": httpx2.Response(503),
        "cut": stream(text("so far"), text("."))[:1] if streamed else httpx2.Response(200, text="{"),
        "callback": reply(call("f", {}, "a"), streamed=streamed),
    }
    talk = LegacyConversation(reply(text("ok"), streamed=streamed), bad[failure], reply(text("ok"), streamed=streamed))
    talk.say("hi", streamed=streamed)
    before, expected = talk.history, {"refused": OverloadedError, "cut": TransportError, "callback": LookupError}
    if failure == "callback" and not streamed:
        return  # a batch answer has no callbacks on this path
    options = {"on_function_call": broken} if failure == "callback" else {}
    with pytest.raises(expected[failure]):
        talk.say("more", streamed=streamed, **options)
    assert talk.history == before
    talk.say("again", streamed=streamed)
    assert talk.contents == [("user", ["hi"]), ("model", ["ok"]), ("user", ["again"])]


def test_a_cancelled_turn_keeps_what_was_said_and_no_call() -> None:
    token = CancelToken()
    pieces = [text("so far"), call("f", {}, "a"), text(".")]
    talk = LegacyConversation(stream(*pieces), envelope(text("ok")))

    def stop(piece: str) -> None:
        token.cancel()

    response = talk.provider.send_message_streaming("hi", stop, cancel_token=token)
    assert response.finish_reason is m.FinishReason.CANCELLED
    assert talk.history == [("user", (m.Text("hi"),)), ("model", (m.Text("so far"),))]
    talk.say("go on")
    assert talk.contents == [("user", ["hi"]), ("model", ["so far"]), ("user", ["go on"])]


def test_an_answer_without_a_word_leaves_the_question() -> None:
    talk = LegacyConversation(envelope(finish="STOP"), envelope(text("ok")))
    talk.say("hi")
    assert talk.history == [("user", (m.Text("hi"),))]
    talk.say("well?")
    assert talk.contents == [("user", ["hi"]), ("user", ["well?"])]


def test_an_answer_that_is_nothing_but_thinking_is_kept_and_not_sent_again() -> None:
    talk = LegacyConversation(stream(thought("h"), thought("m")), envelope(text("ok")))
    talk.say("hi", streamed=True)
    assert talk.history == [("user", (m.Text("hi"),)), ("model", (m.Thought("hm", provider_data=mark()),))]
    talk.say("well?")
    assert talk.contents == [("user", ["hi"]), ("user", ["well?"])]


def test_calls_that_nobody_answers_are_answered_before_anything_else_is_said() -> None:
    talk = LegacyConversation(envelope(call("f", {}, "a"), call("g", {}, "b")), envelope(text("ok")))
    talk.say("hi")
    talk.say("never mind")
    assert talk.contents[2:] == [("user", ["functionResponse"] * 2), ("user", ["never mind"])]
    parts = talk.bodies[-1]["request"]["contents"][2]["parts"]
    assert ["error" in part["functionResponse"]["response"] for part in parts] == [True, True]


def test_what_says_nothing_is_not_sent() -> None:
    talk = LegacyConversation(envelope(text("ok")))
    with pytest.raises(InvalidRequestError, match="a message that says nothing"):
        talk.say("")
    with pytest.raises(InvalidRequestError, match="results that answer no open call"):
        talk.provider.send_tool_results([m.ToolResult("a", "f", 1)])
    assert (talk.history, talk.bodies) == ([], [])


def test_files_are_said_too() -> None:
    talk = LegacyConversation(envelope(text("ok")), stream(text("ok")))
    image = m.InlineData("image/png", b"\x01")
    talk.provider.send_message_with_parts([image, m.Text("?")])
    talk.provider.send_message_with_parts_streaming([image], lambda piece: None)
    assert talk.contents[0] == ("user", ["inlineData", "?"])
    assert talk.history[2] == ("user", (image,))


def test_a_history_that_is_given_is_gone_on_from() -> None:
    history = [
        m.Message.user("hi"),
        m.Message.model(m.FunctionCall("a", "f", {}, provider_data=issued())),
        m.Message.tool(m.ToolResult("a", "f", 1)),
        m.Message.model("ok"),
    ]
    talk = LegacyConversation(envelope(text("ok")))
    talk.provider.create_session("rules", None, history)
    assert m.same_history(talk.provider.get_history(), history, ids=False)
    talk.say("more")
    assert [role for role, _ in talk.contents] == ["user", "model", "user", "model", "user"]
    assert talk.bodies[0]["request"]["contents"][1]["parts"][0]["thoughtSignature"] == SIGNATURE
    talk.provider.create_session()
    assert talk.history == []
    assert talk.provider.get_token_usage() == m.TokenUsage()


def test_open_calls_of_a_history_that_is_given_can_be_answered() -> None:
    talk = LegacyConversation(envelope(text("ok")))
    talk.provider.create_session(None, None, [m.Message.user("hi"), m.Message.model(m.FunctionCall("a", "f", {}))])
    talk.provider.send_tool_results([m.ToolResult("a", "f", 1)])
    assert talk.contents == [("user", ["hi"]), ("model", ["functionCall"]), ("user", ["functionResponse"])]


def test_a_history_that_nobody_would_go_on_with_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="begins with a call"):
        legacy().create_session(None, None, [m.Message.model(m.FunctionCall("a", "f", {}))])


def test_another_model_takes_over_what_it_can() -> None:
    """A thought that another model signed is nothing to it; what was said and done is."""
    talk = LegacyConversation(
        envelope(thought("hm", SIGNATURE), call("f", {}, "functions.f:0")), envelope(text("ok")), model=CLAUDE
    )
    talk.say("hi")
    talk.provider.connect(GEMINI)
    talk.provider.send_tool_results([m.ToolResult("functions.f:0", "f", 1)])
    assert talk.bodies[0]["model"] == CLAUDE
    assert talk.bodies[1]["model"] == GEMINI
    first, second = talk.bodies[1]["request"]["contents"][1:]
    assert first["parts"][-1]["functionCall"]["id"] == "functions.f:0"
    assert second["parts"][0]["functionResponse"]["id"] == "functions.f:0"
    assert all(part.get("thoughtSignature") != SIGNATURE for part in first["parts"])


def test_a_structured_answer_is_parsed() -> None:
    talk = LegacyConversation(envelope(text('{"x": 1}')))
    assert talk.say("hi", response_schema={"type": "object"}).structured_output == {"x": 1}


def test_a_conversation_needs_a_model() -> None:
    provider = AntigravityLegacy()
    assert provider.get_history() == []
    provider.initialize({"api_key": KEY, "base_url": URL})
    with pytest.raises(UsageError, match="no model"):
        provider.create_session()


def test_an_event_may_come_bare_of_its_envelope() -> None:
    talk = LegacyConversation([event(envelope(text("a"), finish=None)["response"]), *stream(text("b"))])
    assert talk.say("hi", streamed=True).text == "ab"
