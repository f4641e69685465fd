"""Histories in the SDK's own types, and read back: nothing of what was said is lost, and nothing is added."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof import messages as m
from turnproof.errors import InvalidRequestError
from turnproof_adapters.google_genai.arrange import contents as arranged
from turnproof_adapters.google_genai.contents import history_from_sdk, history_to_sdk, keep_ids
from turnproof_adapters.google_genai.models import target
from turnproof_adapters.google_genai.names import is_made_up, made_up_id, restorer

from .histories import TOOLS, arbitrary, issued, ordinary_conversation, rich
from .kit import MARK, MODEL, SIGNATURE

OLD = "gemini-2.5-flash"
IMAGE = m.InlineData("image/png", b"\xfb\xff\xfe")
SOUND = m.InlineData("audio/wav", b"\x00")

restore = restorer(lambda: [tool.name for tool in TOOLS])


def back(messages: Sequence[m.Message], model: str = MODEL) -> list[m.Message]:
    """There and back again."""
    return history_from_sdk(history_to_sdk(messages, model), model, restore)


def content(role: str, *parts: dict[str, Any]) -> types.Content:
    return types.Content(role=role, parts=[types.Part.model_validate(part) for part in parts])


def read(*contents: types.Content) -> list[tuple[str, tuple[m.Part, ...]]]:
    return [(message.role, message.parts) for message in history_from_sdk(contents, MODEL)]


def texts() -> st.SearchStrategy[str]:
    return st.sampled_from(["yes", " ", "’北🌍", "line\nbreak", "\u2028", "\x00"])


def issuers(model: str) -> st.SearchStrategy[m.ProviderData | None]:
    return st.sampled_from([None, issued(model), issued(model, "AAAA")])


def media() -> st.SearchStrategy[m.InlineData | m.FileRef]:
    return st.sampled_from([IMAGE, SOUND, m.InlineData("application/pdf", b"%PDF"), m.FileRef("image/png", "gs://a/b")])


def attachments() -> st.SearchStrategy[tuple[m.InlineData | m.FileRef, ...]]:
    """What a response can hold itself comes first: so it comes back."""
    return st.lists(media(), max_size=2).map(lambda some: tuple(sorted(some, key=lambda each: each is SOUND)))


JSON: list[Any] = [
    None,
    True,
    3,
    2.5,
    "ok",
    "",
    [1, [None, "’北"]],
    {"a": {"b": []}},
    {"output": 1},
    {"error": "x"},
    {},
]


@st.composite
def answers(draw: st.DrawFn, model: str, turn: int) -> list[m.Message]:
    """What the model said, and the results of what it called."""
    marks = st.sampled_from([issued(model), m.ProviderData("gemini", model, {})])
    words = st.one_of(
        st.builds(m.Text, text=texts(), provider_data=issuers(model)),
        st.builds(m.Thought, text=texts(), provider_data=marks),
        st.builds(m.Text, text=st.just(""), provider_data=st.just(issued(model))),
    )
    parts: list[m.Part] = [*draw(st.lists(words, max_size=3)), m.Text("so")]
    calls: list[m.FunctionCall] = []
    for n in range(draw(st.integers(0, 3))):
        own_id = draw(st.sampled_from([f"call {turn}.{n}", made_up_id(str(turn), n)]))
        args = {draw(texts()): draw(st.sampled_from(JSON))}
        name = draw(st.sampled_from([tool.name for tool in TOOLS]))
        calls.append(m.FunctionCall(own_id, name, args, provider_data=draw(issuers(model))))
    results = [
        m.ToolResult(call.id, call.name, draw(st.sampled_from(JSON)), draw(st.booleans()), draw(attachments()))
        for call in calls
    ]
    return [m.Message("model", (*parts, *calls)), *([m.Message.tool(*results)] if results else [])]


@st.composite
def conversations(draw: st.DrawFn, model: str) -> list[m.Message]:
    messages: list[m.Message] = []
    for turn in range(draw(st.integers(1, 3))):
        user_parts = st.one_of(st.builds(m.Text, text=texts()), media())
        messages.append(m.Message("user", tuple(draw(st.lists(user_parts, min_size=1, max_size=3)))))
        for step in range(draw(st.integers(0, 2))):
            messages += draw(answers(model, turn * 10 + step))
            if messages[-1].role == "model":
                break
    return messages


@examples(60)
@given(st.data())
@pytest.mark.parametrize("model", [MODEL, OLD])
def test_a_conversation_comes_back_as_it_went(model: str, data: st.DataObject) -> None:
    messages = data.draw(conversations(model))
    assert m.same_history(back(messages, model), messages, ids=False)


def test_one_of_everything_comes_back_but_for_the_order_of_results() -> None:
    *before, call_message, results, after, last = rich()
    answered = m.Message.tool(*sorted(results.results, key=lambda result: result.call_id))
    assert m.same_history(back(rich()), [*before, call_message, answered, after, last], ids=False)


def test_what_was_once_put_in_order_stays_as_it_is() -> None:
    for seed in range(60):
        once = back(arbitrary(seed))
        assert m.same_history(back(once), once, ids=False), seed


def test_every_content_of_the_other_path_is_held() -> None:
    for seed in range(60):
        # The last message is the user's, so that no call at the end is left open.
        messages = [*arbitrary(seed), m.Message.user("so?")]
        wire = [_plain(each) for each in history_to_sdk(messages, MODEL)]
        assert wire == [_plain(types.Content.model_validate(each)) for each in arranged(messages, target(MODEL))], seed


def _plain(each: types.Content) -> dict[str, Any]:
    return each.model_dump(exclude_none=True)


def test_calls_at_the_end_are_left_open() -> None:
    messages = ordinary_conversation(2)
    assert [each.role for each in history_to_sdk(messages, MODEL)] == ["user", "model"]
    assert m.same_history(back(messages), messages, ids=False)


def test_calls_that_something_else_followed_are_closed() -> None:
    messages = [*ordinary_conversation(2), m.Message.user("never mind")]
    roles = [each.role for each in history_to_sdk(messages, MODEL)]
    assert roles == ["user", "model", "user", "user"]
    assert [message.role for message in back(messages)] == ["user", "model", "tool", "user"]
    assert back(messages)[2].results[0].is_error


def test_the_pieces_of_a_streamed_answer_are_one_message() -> None:
    signature = b64decode(SIGNATURE)
    assert read(
        content("user", {"text": "hi"}),
        content("model", {"text": "let me ", "thought": True}),
        content("model", {"text": "think", "thought": True}),
        content("model", {"text": "Hel"}),
        content("model", {"text": "lo"}),
        content("model", {"function_call": {"id": "a", "name": "f"}, "thought_signature": signature}),
        content("model", {"function_call": {"id": "b", "name": "f"}}, {"text": "bye"}),
        content("model", {"text": "", "thought_signature": signature}),
    ) == [
        ("user", (m.Text("hi"),)),
        (
            "model",
            (
                m.Thought("let me think", provider_data=MARK),
                m.Text("Hello"),
                m.FunctionCall("a", "f", provider_data=issued()),
                m.FunctionCall("b", "f"),
                m.Text("bye"),
                m.Text("", provider_data=issued()),
            ),
        ),
    ]


@pytest.mark.parametrize("kind", [m.Text, m.Thought])
def test_an_answer_may_end_in_the_middle_of_its_words(kind: type[m.Text] | type[m.Thought]) -> None:
    pieces = [{"text": piece, "thought": kind is m.Thought} for piece in ("He", "l", "lo")]
    assert read(*(content("model", piece) for piece in pieces)) == [
        ("model", (kind("Hello", provider_data=MARK if kind is m.Thought else None),))
    ]


def test_a_part_with_a_signature_is_joined_to_nothing() -> None:
    signature = b64decode(SIGNATURE)
    pieces: list[dict[str, Any]] = [{"text": "a"}, {"text": "b", "thought_signature": signature}, {"text": "c"}]
    ((_, parts),) = read(*(content("model", piece) for piece in pieces))
    assert parts == (m.Text("a"), m.Text("b", provider_data=issued()), m.Text("c"))


def test_texts_that_came_apart_in_one_content_stay_apart() -> None:
    messages = [m.Message.user("a", "b"), m.Message.model("c", "d")]
    assert m.same_history(back(messages), messages, ids=False)


def test_a_signature_without_words_is_kept() -> None:
    ((_, parts),) = read(content("model", {"thought": True, "thought_signature": b64decode(SIGNATURE)}))
    assert parts == (m.Thought("", provider_data=issued()),)


def test_contents_without_parts_are_no_messages() -> None:
    assert read(content("user"), content("model"), types.Content(role="model"), content("model", {"text": ""})) == []


def test_what_stands_in_for_a_signature_is_none() -> None:
    messages = [m.Message.user("hi"), m.Message.model(m.FunctionCall("a", "plain"))]
    (call_part,) = (part for each in history_to_sdk(messages, MODEL) for part in each.parts or () if part.function_call)
    assert call_part.thought_signature == b"skip_thought_signature_validator"
    assert m.same_history(back(messages), messages, ids=False)


def test_ids_that_were_made_up_are_kept_and_never_sent() -> None:
    one, two = made_up_id("answer", 0), made_up_id("answer", 1)
    messages = [
        m.Message.user("hi"),
        m.Message.model(m.FunctionCall(one, "plain"), m.FunctionCall("own", "plain"), m.FunctionCall(two, "plain")),
        m.Message.tool(*(m.ToolResult(each, "plain", each) for each in (one, "own", two))),
    ]
    contents = history_to_sdk(messages, MODEL)
    assert m.same_history(history_from_sdk(contents, MODEL), messages, ids=False)
    sent = str([_plain(each) for each in contents])
    assert f"'id': '{one}'" not in sent
    assert f"'id': '{two}'" not in sent
    assert sent.count("'id': 'own'") == 2


def test_an_answer_is_given_the_ids_that_were_made_up_for_it() -> None:
    answer = [
        content("model", {"text": "so"}, {"function_call": {"name": "f", "args": {"n": 1}}}),
        content("model", {"function_call": {"name": "g", "id": "b"}}),
    ]
    calls = [m.FunctionCall(made_up_id("r", 0), "f", {"n": 1}), m.FunctionCall("b", "g")]
    before = [_plain(each) for each in answer]
    keep_ids(answer, calls)
    assert read(*answer) == [("model", (m.Text("so"), *calls))]
    assert [_plain(each) for each in answer] == before


def test_an_answer_whose_calls_were_dropped_stays_as_it_is() -> None:
    answer = [content("model", {"text": "so"}, {"function_call": {"name": "f"}})]
    before = [_plain(each) for each in answer]
    keep_ids(answer, [])
    assert [_plain(each) for each in answer] == before


def test_contents_of_somebody_else_get_ids_by_their_place() -> None:
    called, own = {"function_call": {"name": "f"}}, {"function_call": {"name": "f", "id": "own"}}
    answered = [{"function_response": {"name": "f", "response": {"output": n}}} for n in range(4)]
    messages = history_from_sdk(
        [
            content("model", called, own, called),
            content("user", *answered[:2]),
            content("model", called, called),
            content("user", *answered[2:]),
        ],
        MODEL,
    )
    ids = [call.id for message in messages for call in message.calls if call.id != "own"]
    assert len(set(ids)) == 4
    assert all(map(is_made_up, ids))
    results = [result for message in messages for result in message.results]
    assert results == [m.ToolResult(own_id, "f", n) for n, own_id in enumerate(ids)]


def test_what_a_part_of_somebody_else_lacks_is_empty() -> None:
    files: list[dict[str, Any]] = [{"inline_data": {}}, {"file_data": {}}, {}]
    assert read(content("model", {"function_call": {"id": "a"}}), content("user", {"function_response": {}})) == [
        ("model", (m.FunctionCall("a", ""),)),
        ("tool", (m.ToolResult("", "", {}),)),
    ]
    assert read(content("user", {"function_response": {"id": "a", "name": "f", "parts": files}})) == [
        ("tool", (m.ToolResult("a", "f", {}, attachments=(m.InlineData("", b""), m.FileRef("", ""))),)),
    ]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"output": "ok"}, ("ok", False)),
        ({"error": "no"}, ("no", True)),
        ({"error": None}, (None, True)),
        ({"error": "no", "code": 3}, ({"error": "no", "code": 3}, True)),
        ({"error": None, "rows": []}, ({"error": None, "rows": []}, False)),
        ({"output": 1, "unit": "m"}, ({"output": 1, "unit": "m"}, False)),
        ({}, ({}, False)),
    ],
)
def test_a_response_of_any_form_is_read(response: dict[str, Any], expected: tuple[Any, bool]) -> None:
    ((_, (result,)),) = read(content("user", {"function_response": {"id": "a", "name": "f", "response": response}}))
    assert isinstance(result, m.ToolResult)
    assert (result.result, result.is_error) == expected


def test_a_result_that_looks_like_an_error_is_none() -> None:
    results = m.Message.tool(m.ToolResult("a", "f", {"error": "is what it is about"}))
    messages = [m.Message.user("hi"), m.Message.model(m.FunctionCall("a", "f")), results]
    assert m.same_history(back(messages), messages, ids=False)


def test_results_and_words_in_one_content_are_two_messages() -> None:
    answered = {"function_response": {"id": "a", "name": "f", "response": {"output": 1}}}
    image = {"inline_data": {"mime_type": IMAGE.mime_type, "data": IMAGE.data}}
    assert read(content("user", answered, image, {"text": "and now?"}, image)) == [
        ("tool", (m.ToolResult("a", "f", 1, attachments=(IMAGE,)),)),
        ("user", (m.Text("and now?"), IMAGE)),
    ]


def test_a_signature_goes_to_the_model_that_issued_it_only() -> None:
    messages = [m.Message.user("hi"), m.Message.model(m.Text("so", provider_data=issued("gemini-2.5-pro")))]
    assert [message.parts for message in back(messages)] == [(m.Text("hi"),), (m.Text("so"),)]


def test_marks_ids_and_parts_of_other_dialects_have_no_place() -> None:
    foreign = m.ProviderData("anthropic-messages", "claude", {"signature": "s=="})
    messages = [
        m.Message.user(m.Text("hi", cache=m.CacheMark())),
        m.Message.model(m.Thought("hm", provider_data=foreign), m.Text("so", provider_data=foreign)),
        m.Message.system("be brief"),
    ]
    returned = back(messages)
    assert [(message.role, message.parts) for message in returned] == [
        ("user", (m.Text("hi"),)),
        ("model", (m.Text("so"),)),
        ("user", (m.Text("be brief"),)),
    ]
    assert not {message.message_id for message in returned} & {message.message_id for message in messages}


def test_a_part_of_a_kind_unknown_to_the_sdk_is_left_out() -> None:
    known = m.Opaque("gemini", "toolCall", {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}})
    unknown = m.Opaque("gemini", "newKind", {"newKind": {"a": 1}})
    messages = [m.Message.user("hi"), m.Message.model(known, unknown, m.Text("so"))]
    assert [message.parts for message in back(messages)][1] == (known, m.Text("so"))


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (m.Text("so", provider_data=issued(signature="%%%")), r"content\.parts\[0\]\.thoughtSignature: .*base64"),
        (m.Text("half a pair: \ud83d"), "Unicode"),
    ],
)
def test_what_the_sdks_types_refuse_is_told_with_its_place(part: m.Part, reason: str) -> None:
    with pytest.raises(InvalidRequestError, match=reason):
        history_to_sdk([m.Message.user("hi"), m.Message("model", (part,))], MODEL)


def test_an_iterator_of_contents_will_do() -> None:
    contents: Iterable[types.Content] = iter(history_to_sdk(ordinary_conversation(6), MODEL))
    assert m.same_history(history_from_sdk(contents, MODEL), ordinary_conversation(6), ids=False)
