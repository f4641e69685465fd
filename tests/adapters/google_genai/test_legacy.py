"""The path whose history lives in the SDK's `Chat`: what it holds, and what it says on the wire."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import httpx2
import pytest
from google.genai import chats

from turnproof import messages as m
from turnproof.dialects.base import Call, HttpRequest, World
from turnproof.dialects.gemini import DIALECT
from turnproof.errors import InvalidRequestError, UsageError
from turnproof_adapters.google_genai import legacy as legacy_module
from turnproof_adapters.google_genai.names import is_made_up, wire_name

from ..callback_recorder import CallbackRecorder
from ..contract.adapter_kit import outcome
from .histories import FIRST, TOOLS, arbitrary, issued, ordinary_conversation, rich
from .kit import MODEL, SIGNATURE, Capture, answer, call, event, legacy, stateless, stream, text, thought
from .legacy_conversation import LegacyConversation, refusal, reply

SCHEMA = {"type": "object", "properties": {"berth": {"type": "integer"}}}
OLD = "gemini-2.5-flash"

both = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[chats.Chat]:
    """Every `Chat` that is started."""
    new_chats: list[chats.Chat] = []
    create = chats.Chats.create

    def watched(*args: Any, **kwargs: Any) -> chats.Chat:
        new_chats.append(create(*args, **kwargs))
        return new_chats[-1]

    monkeypatch.setattr(chats.Chats, "create", watched)
    return new_chats


# What the Chat holds


@both
def test_a_conversation_with_tools_is_held_as_it_goes(streamed: bool) -> None:
    call_parts = [thought("hm", SIGNATURE), text("look"), call("read", {"p": 1}, "a", "AAAA")]
    talk = LegacyConversation(reply(*call_parts, streamed=streamed), reply(text("done"), streamed=streamed))
    talk.provider.create_session("rules", [m.ToolSchema("read")])
    talk.say("hi", streamed=streamed)
    results = [
        m.ToolResult("a", "read", {"rows": [1, None]}, is_error=True, attachments=(m.InlineData("image/png", b"\xff"),))
    ]
    if streamed:
        talk.provider.send_tool_results_streaming(results, lambda piece: None)
    else:
        talk.provider.send_tool_results(results)
    called = m.FunctionCall("a", "read", {"p": 1}, provider_data=issued(signature="AAAA"))
    assert talk.history == [
        ("user", (m.Text("hi"),)),
        ("model", (m.Thought("hm", provider_data=issued()), m.Text("look"), called)),
        ("tool", tuple(results)),
        ("model", (m.Text("done"),)),
    ]
    assert talk.provider.get_token_usage() == m.TokenUsage(61, 29, 90, cache_read_tokens=40, thinking_tokens=23)


def test_an_ordinary_turn_goes_through_one_chat(started: list[chats.Chat]) -> None:
    name = TOOLS[0].name
    called = call(wire_name(name), {}, "a")
    pieces = stream(thought("h"), thought("m", SIGNATURE), text("Hel"), text("lo"), called, text("", "AAAA"))
    talk = LegacyConversation(pieces, answer(text("done")), stream(text("bye")))
    talk.provider.create_session(None, TOOLS)
    chat = started[-1]
    talk.say("hi", streamed=True)
    talk.provider.send_tool_results([m.ToolResult("a", name, 1)])
    talk.say("thanks", streamed=True)
    assert started[-1] is chat
    assert [content.role for content in chat.get_history()] == [
        "user",
        *["model"] * 6,
        "user",
        "model",
        "user",
        "model",
    ]
    assert chat.get_history() == chat.get_history(curated=True)
    assert all("+chat" in request.headers["x-goog-api-client"] for request in talk.requests)


def test_a_streamed_answer_comes_back_as_one_message_and_goes_out_in_its_pieces() -> None:
    talk = LegacyConversation(stream(text("Hel"), text("lo"), text("!", SIGNATURE)), answer(text("bye")))
    talk.say("hi", streamed=True)
    assert talk.history[1:] == [("model", (m.Text("Hello"), m.Text("!", provider_data=issued())))]
    talk.say("more", streamed=False)
    assert talk.contents == [
        ("user", ["hi"]),
        ("model", ["Hel"]),
        ("model", ["lo"]),
        ("model", ["!"]),
        ("user", ["more"]),
    ]


@both
def test_texts_side_by_side_in_one_piece_are_one_text_as_in_the_response(streamed: bool) -> None:
    whole = answer(text("Hel"), text("lo"))
    talk = LegacyConversation([event(whole)] if streamed else whole)
    response = talk.say("hi", streamed=streamed)
    assert talk.history[1:] == [("model", response.parts)] == [("model", (m.Text("Hello"),))]


@pytest.mark.parametrize("history", [rich(), *map(ordinary_conversation, (1, 2, 3, 20))])
def test_a_history_that_is_given_is_held_and_gone_on_from(history: list[m.Message]) -> None:
    talk = LegacyConversation(answer(text("so")))
    talk.provider.create_session(None, TOOLS, history)
    before = talk.provider.get_history()
    assert [message.text for message in before] == [message.text for message in history]
    if not before[-1].calls:
        talk.say("and?", streamed=False)
        assert m.same_history(talk.provider.get_history()[:-2], before, ids=False)


CALLED = m.FunctionCall("a", "f", {})


@pytest.mark.parametrize("history", [[m.Message.model(CALLED)], [m.Message.model("so", CALLED), m.Message.user("hi")]])
def test_a_history_that_begins_with_a_call_is_refused_and_the_last_conversation_stays(history: list[m.Message]) -> None:
    talk = LegacyConversation()
    talk.provider.create_session(None, None, ordinary_conversation(1))
    before = talk.history
    with pytest.raises(InvalidRequestError, match="begins with a call"):
        talk.provider.create_session(None, None, history)
    assert talk.history == before


@pytest.mark.parametrize(
    "history",
    [
        [m.Message.model("so")],
        [m.Message.user("hi"), m.Message.model(CALLED)],
        [m.Message.model("so"), m.Message.model(CALLED)],
    ],
)
def test_a_history_may_begin_with_words_of_either_side(history: list[m.Message]) -> None:
    talk = LegacyConversation()
    talk.provider.create_session(None, None, history)
    assert talk.provider.get_history()[0].text == history[0].text


def test_a_new_session_begins_anew() -> None:
    talk = LegacyConversation(answer(text("ho")), answer(text("hey")))
    talk.provider.create_session("rules", TOOLS)
    talk.say("hi", streamed=False)
    talk.provider.create_session()
    assert talk.provider.get_token_usage() == m.TokenUsage()
    talk.say("hello", streamed=False)
    assert talk.bodies[-1].keys() == {"contents", "generationConfig"}
    assert talk.contents == [("user", ["hello"])]


def test_a_history_without_a_session_is_empty_and_a_session_without_a_client_is_refused() -> None:
    provider = legacy_module.GoogleLegacy()
    assert provider.get_history() == []
    assert provider.get_token_usage() == m.TokenUsage()
    with pytest.raises(UsageError, match="initialize"):
        provider.send_message("hi")
    provider.initialize({"api_key": "k"})
    with pytest.raises(UsageError, match="connect"):
        provider.create_session()


def test_a_provider_without_a_session_starts_one() -> None:
    capture = Capture(answer(text("so"), call("read-x0123456789", {}, "a")))
    provider = legacy_module.GoogleLegacy()
    provider.initialize({"api_key": "k", "transport": capture.transport})
    provider.connect(MODEL)
    assert [each.name for each in provider.send_message("hi").calls] == ["read-x0123456789"]
    assert [message.text for message in provider.get_history()] == ["hi", "so"]
    assert capture.body.keys() == {"contents", "generationConfig"}


def test_the_conversation_goes_on_with_another_client_and_another_model() -> None:
    capture = Capture()
    provider = legacy(transport=capture.transport)
    provider.create_session(
        "rules", None, [m.Message.user("hi"), m.Message.model(m.Text("ho", provider_data=issued()))]
    )
    provider.initialize({"api_key": "other", "transport": capture.transport})
    provider.send_message("again")
    assert capture.requests[-1].headers["x-goog-api-key"] == "other"
    assert capture.body["contents"][1]["parts"][0].keys() == {"text", "thoughtSignature"}
    provider.connect("gemini-2.5-pro")
    provider.send_message("and you?")
    assert "models/gemini-2.5-pro:" in str(capture.requests[-1].url)
    assert [each["parts"][0]["text"] for each in capture.body["contents"]] == ["hi", "ho", "again", "hi", "and you?"]
    assert capture.body["contents"][1]["parts"][0].keys() == {"text"}


def test_a_serialised_history_comes_back_without_loss() -> None:
    provider = legacy()
    provider.create_session(None, None, rich())
    history = provider.get_history()
    assert m.same_history(provider.deserialize_history(provider.serialize_history(history)), history)


# Calls: ids, names, and who answers them


@both
def test_calls_without_ids_keep_those_made_up_for_them(streamed: bool) -> None:
    first_reply = reply(call("f", {"n": 1}), call("f", {"n": 2}), call("g", {}, "own"), streamed=streamed)
    talk = LegacyConversation(first_reply, answer(text("done")), model=OLD)
    response = talk.say("hi", streamed=streamed)
    first, second, third = response.calls
    assert is_made_up(first.id)
    assert is_made_up(second.id)
    assert talk.history[-1] == ("model", response.parts)
    results = [m.ToolResult(each.id, each.name, n) for n, each in enumerate((first, second, third))]
    talk.provider.send_tool_results(results[::-1])
    assert talk.history[-2] == ("tool", tuple(results))
    functions = [part["functionResponse"] for part in talk.bodies[-1]["contents"][-1]["parts"]]
    assert [(each.get("id"), each["response"]) for each in functions] == [
        (None, {"output": 0}),
        (None, {"output": 1}),
        ("own", {"output": 2}),
    ]
    assert "unnamed" not in talk.requests[-1].content.decode()


def test_tools_come_back_under_their_own_names() -> None:
    (tool, plain), args = TOOLS, {"path": "a"}
    first_answer = answer(call(wire_name(tool.name), args, "a"), call("plain", {}, "b"))
    talk = LegacyConversation(first_answer, answer(text("done")))
    talk.provider.create_session(None, TOOLS)
    response = talk.say("hi", streamed=False)
    assert [each.name for each in response.calls] == [tool.name, plain.name]
    talk.provider.send_tool_results([m.ToolResult("a", tool.name, 1), m.ToolResult("b", "plain", 2)])
    assert [result.name for result in talk.provider.get_history()[2].results] == [tool.name, "plain"]
    assert tool.name not in talk.requests[-1].content.decode()


def test_a_tool_that_is_offered_no_more_keeps_its_name_in_the_history() -> None:
    results = m.Message.tool(m.ToolResult("a", TOOLS[0].name, 1))
    talk = LegacyConversation()
    talk.provider.create_session(None, None, [FIRST, m.Message.model(m.FunctionCall("a", TOOLS[0].name)), results])
    _, called, answered = talk.provider.get_history()
    assert called.calls[0].name == answered.results[0].name == TOOLS[0].name


def test_calls_that_nobody_answered_are_answered_before_something_else_is_said() -> None:
    talk = LegacyConversation(answer(call("f", {}, "a"), call("g", {}, "b")), answer(text("as you like")))
    talk.say("hi", streamed=False)
    talk.say("never mind", streamed=False)
    assert talk.contents[1:] == [
        ("model", ["functionCall", "functionCall"]),
        ("user", ["functionResponse", "functionResponse"]),
        ("user", ["never mind"]),
    ]
    assert [role for role, _ in talk.history] == ["user", "model", "tool", "user", "model"]
    assert all(result.is_error for result in talk.provider.get_history()[2].results)


def test_results_that_are_missing_are_made_up_in_their_place() -> None:
    talk = LegacyConversation(answer(call("f", {}, "a"), call("g", {}, "b")), answer(text("done")))
    talk.say("hi", streamed=False)
    talk.provider.send_tool_results([m.ToolResult("b", "g", "ok")])
    (first, second) = talk.provider.get_history()[2].results
    assert (first.call_id, first.is_error) == ("a", True)
    assert second == m.ToolResult("b", "g", "ok")


@both
def test_a_user_who_says_nothing_is_sent_as_an_empty_text(streamed: bool) -> None:
    """Recorded: the API takes it, and the conversation goes on."""
    talk = LegacyConversation(reply(text("a"), streamed=streamed), reply(text("b"), streamed=streamed))
    talk.say("", streamed=streamed)
    talk.say("so?", streamed=streamed)
    first, second = (body["contents"] for body in talk.bodies)
    assert first == [{"role": "user", "parts": [{"text": ""}]}]
    assert second[-2:] == [{"role": "model", "parts": [{"text": "a"}]}, {"role": "user", "parts": [{"text": "so?"}]}]


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda provider: provider.send_tool_results([m.ToolResult("a", "f", 1)]), "results that answer no open call"),
        (lambda provider: provider.send_message_with_parts([]), "a message that says nothing"),
    ],
)
def test_nothing_to_send_is_refused_before_it_is_sent(ask: Any, reason: str) -> None:
    talk = LegacyConversation()
    talk.provider.create_session(None, None, ordinary_conversation(4))
    before = talk.history
    with pytest.raises(InvalidRequestError) as refused:
        ask(talk.provider)
    assert refused.value.message == f"there is nothing to send in {reason}"
    assert talk.requests == []
    assert talk.history == before


# The request


@both
def test_system_text_and_tools_are_sent_with_a_schema_too(streamed: bool) -> None:
    talk = LegacyConversation(reply(text('{"berth": 9}'), streamed=streamed), reply(text("ok"), streamed=streamed))
    talk.provider.create_session("rules", TOOLS)
    response = talk.say("hi", streamed=streamed, response_schema=SCHEMA)
    assert response.structured_output == {"berth": 9}
    talk.say("thanks", streamed=streamed)
    with_schema, without = talk.bodies
    assert with_schema["generationConfig"] == {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    assert without["generationConfig"] == {}
    assert with_schema["systemInstruction"] == without["systemInstruction"]
    assert with_schema["tools"] == without["tools"]


def test_settings_of_the_provider_are_sent_with_every_message() -> None:
    talk = LegacyConversation(answer(text("a")), answer(text("b")), max_tokens=77, thinking={"budget_tokens": 128})
    talk.say("hi", streamed=False)
    talk.provider.set_thinking_config(None)
    talk.say("hi", streamed=False)
    thinking = {"includeThoughts": True, "thinkingBudget": 128}
    assert [read(request)[-1] for request in talk.requests] == [
        {"maxOutputTokens": 77, "thinkingConfig": thinking},
        {"maxOutputTokens": 77},
    ]


def test_one_message_is_one_request_whatever_the_answer_asks_for() -> None:
    """The SDK could call tools by itself, and go on by itself where an answer says that it goes on."""
    goes_on = {**answer(text("so")), "continuationToken": "AAAA"}
    goes_on["candidates"][0] |= {"finishReason": "CONTINUATION", "continuationToken": "AAAA"}
    talk = LegacyConversation(answer(call("f", {}, "a")), goes_on)
    talk.provider.create_session(None, [m.ToolSchema("f")])
    talk.say("hi", streamed=False)
    talk.provider.send_tool_results([m.ToolResult("a", "f", 1)])
    assert len(talk.requests) == 2


@both
@pytest.mark.parametrize("history", [rich(), *map(ordinary_conversation, (1, 3, 20)), *map(arbitrary, range(40))])
def test_both_paths_say_the_same_on_the_wire(history: list[m.Message], streamed: bool) -> None:
    # Of what the API did on its own side the SDK sends names in another spelling, two levels down.
    history = [
        FIRST,
        *(
            m.Message(each.role, tuple(part for part in each.parts if not isinstance(part, m.Opaque)))
            for each in history
        ),
    ]
    old, new, last = Capture(), Capture(), m.Message.user("so?")
    provider = legacy(transport=old.transport)
    provider.create_session("rules", TOOLS, history)
    if streamed:
        provider.send_message_streaming(last.text, lambda piece: None)
    else:
        provider.send_message(last.text)
    callbacks: Any = CallbackRecorder().callbacks if streamed else {}
    stateless(transport=new.transport).complete([*history, last], "rules", TOOLS, **callbacks)
    assert read(old.requests[0]) == read(new.requests[0])


def read(request: httpx2.Request) -> Any:
    """What a service reads in a request."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    path, query = request.url.path, dict(request.url.params)
    world = World.with_any_key(DIALECT.models)
    found = DIALECT.parse(HttpRequest("POST", path, query, headers, request.content), world)
    assert isinstance(found, Call), found
    messages = [(message.role, m.to_builtins(message.parts)) for message in found.messages]
    return found.operation, found.model, found.stream, found.system, found.tools, messages, dict(found.settings)


@both
def test_both_paths_give_the_same_answer(streamed: bool) -> None:
    parts = [
        thought("h"),
        thought("m", SIGNATURE),
        text("so "),
        text("it is"),
        call("f", {"x": 1}, "a"),
        text("", "AAAA"),
    ]
    stateless_recorder, recorder = CallbackRecorder(), CallbackRecorder()
    talk = LegacyConversation(reply(*parts, streamed=streamed))
    capture = Capture(answer(*parts), stream(*parts))
    callbacks: Any = stateless_recorder.callbacks if streamed else {}
    expected = stateless(transport=capture.transport).complete([m.Message.user("hi")], **callbacks)
    response = talk.say("hi", streamed=streamed, **(recorder.callbacks if streamed else {}))
    assert outcome(response) == outcome(expected)
    assert (recorder.events, recorder.usage) == (stateless_recorder.events, stateless_recorder.usage)


def test_files_are_sent_either_way() -> None:
    parts: list[m.Part] = [m.Text("what is"), m.InlineData("image/png", b"\xfb\xff\xfe")]
    talk = LegacyConversation(answer(text("a ship")), stream(text("a "), text("ship")))
    talk.provider.send_message_with_parts(parts)
    talk.provider.send_message_with_parts_streaming(parts, lambda piece: None)
    question = ("user", ["what is", "inlineData"])
    assert talk.contents == [question, ("model", ["a ship"]), question]
    assert urlsafe_b64encode(b"\xfb\xff\xfe").decode() in talk.requests[-1].content.decode()
    assert talk.history[2:] == [("user", tuple(parts)), ("model", (m.Text("a ship"),))]


def test_text_that_is_not_valid_unicode_is_refused_before_anything_is_sent() -> None:
    talk = LegacyConversation(refusal(500))
    talk.provider.create_session("half a pair: \ud83d")
    for words in ("hi", "\ud83d"):
        with pytest.raises(InvalidRequestError, match="Unicode"):
            talk.say(words, streamed=False)
    assert talk.requests == []
    assert talk.history == []
