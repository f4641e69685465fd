"""One neutral part as one block of the API, or as none."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pytest

from turnproof.errors import InvalidRequestError
from turnproof.messages import (
    CacheMark,
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    Part,
    ProviderData,
    Text,
    Thought,
    ToolResult,
)
from turnproof_adapters.anthropic.blocks import row
from turnproof_adapters.anthropic.plain_conversation import DictCodec
from turnproof_adapters.anthropic.service import ANTHROPIC

from .kit import DATED, MODEL, OURS, answered, call, result, signed, text, use

IMAGE = InlineData("image/png", b"\x89PNG")
IMAGE_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": b64encode(b"\x89PNG").decode()},
}


@dataclass(frozen=True)
class PartCase:
    id: str
    part: Part
    block: dict[str, Any] | None


USER_PARTS = [
    PartCase("image", IMAGE, IMAGE_BLOCK),
    PartCase(
        "pdf",
        InlineData("application/pdf", b"%PDF"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": b64encode(b"%PDF").decode()},
        },
    ),
    PartCase(
        "text-file",
        InlineData("text/csv", b"a;b"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a;b"}},
    ),
    PartCase(
        "image-by-url",
        FileRef("image/jpeg", "https://example.com/a.jpg"),
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg"}},
    ),
    PartCase(
        "stored-file",
        FileRef("application/pdf", "file_011"),
        {"type": "document", "source": {"type": "file", "file_id": "file_011"}},
    ),
    PartCase(
        "image-of-the-stores",
        FileRef("image/png", "file_012"),
        {"type": "image", "source": {"type": "file", "file_id": "file_012"}},
    ),
    PartCase(
        "page-by-url",
        FileRef("text/html", "https://example.com/file_1"),
        {"type": "document", "source": {"type": "url", "url": "https://example.com/file_1"}},
    ),
    PartCase(
        "text-file-that-is-no-utf-8",
        InlineData("text/plain", b"caf\xe9"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "caf\ufffd"}},
    ),
    PartCase(
        "marked-image",
        InlineData(IMAGE.mime_type, IMAGE.data, cache=CacheMark()),
        {**IMAGE_BLOCK, "cache_control": {"type": "ephemeral"}},
    ),
    PartCase("unknown-block-of-ours", Opaque(OURS, "x", {"type": "x", "y": 1}), {"type": "x", "y": 1}),
    PartCase("block-of-another-dialect", Opaque("gemini", "x", {"y": 1}), None),
    PartCase("blank-text", Text(" \n\t"), None),
    PartCase("code-another-service-ran", ExecutableCode("PYTHON", "1+1"), text("```python\n1+1\n```")),
    PartCase("what-that-code-gave", CodeExecutionResult("OK", "2"), text("```\n2\n```")),
    PartCase(
        "marked-text",
        Text("keep", cache=CacheMark()),
        {**text("keep"), "cache_control": {"type": "ephemeral"}},
    ),
    PartCase(
        "text-marked-for-an-hour",
        Text("keep", cache=CacheMark("1h")),
        {**text("keep"), "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ),
]


def blocks(message: Message) -> list[dict[str, Any]]:
    return [unit.value for unit in row(message, DictCodec(), ANTHROPIC, MODEL).units]


def only(block: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [] if block is None else [block]


@pytest.mark.parametrize("case", USER_PARTS, ids=attrgetter("id"))
def test_a_user_part_becomes_its_block(case: PartCase) -> None:
    assert blocks(Message.user("see", case.part, "so")) == [text("see"), *only(case.block), text("so")]


CITATIONS = {"citations": [{"type": "char_location"}]}
SERVED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
CALLER = {"caller": {"type": "code_execution", "tool_id": "x"}}
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "sig=="}

MODEL_PARTS = [
    PartCase(
        "text-with-citations",
        Text("so", provider_data=ProviderData(OURS, DATED, CITATIONS)),
        {**text("so"), **CITATIONS},
    ),
    PartCase(
        "text-with-citations-of-another-service",
        Text("so", provider_data=ProviderData("gemini", DATED, CITATIONS)),
        text("so"),
    ),
    PartCase("call", call(path="/a"), use(path="/a")),
    PartCase(
        "call-by-the-services-own-code",
        FunctionCall("toolu_1", "read", {}, provider_data=ProviderData(OURS, DATED, CALLER)),
        {**use(), **CALLER},
    ),
    PartCase(
        "call-by-another-services-code",
        FunctionCall("toolu_1", "read", {}, provider_data=ProviderData("gemini", DATED, CALLER)),
        use(),
    ),
    PartCase(
        "marked-call",
        FunctionCall("toolu_1", "read", {}, cache=CacheMark()),
        {**use(), "cache_control": {"type": "ephemeral"}},
    ),
    PartCase("what-the-service-ran-itself", Opaque(OURS, "server_tool_use", SERVED), SERVED),
]


@pytest.mark.parametrize("case", MODEL_PARTS, ids=attrgetter("id"))
def test_a_part_of_an_answer_goes_back_as_it_came(case: PartCase) -> None:
    assert blocks(Message.model(case.part)) == only(case.block)


RESULTS = [
    PartCase("string", result(value="plain ’北🌍"), answered(content="plain ’北🌍")),
    PartCase("json", result(value={"a": [1, None]}), answered(content='{"a":[1,null]}')),
    PartCase("none", result(value=None), answered(content="null")),
    PartCase("empty", result(value=""), {"type": "tool_result", "tool_use_id": "toolu_1"}),
    PartCase("blank", result(value=" \n"), answered(content=" \n")),
    PartCase("blank-with-image", result(value=" \n", attachments=(IMAGE,)), answered(content=[IMAGE_BLOCK])),
    PartCase("failed", result(value="no", is_error=True), answered(content="no", is_error=True)),
    PartCase("with-image", result(value="look", attachments=(IMAGE,)), answered(content=[text("look"), IMAGE_BLOCK])),
    PartCase("image-alone", result(value=None, attachments=(IMAGE,)), answered(content=[IMAGE_BLOCK])),
    PartCase("marked", result(cache=CacheMark()), answered(cache_control={"type": "ephemeral"})),
]


@pytest.mark.parametrize("case", RESULTS, ids=attrgetter("id"))
def test_a_tool_result_becomes_its_block(case: PartCase) -> None:
    assert isinstance(case.part, ToolResult)
    assert blocks(Message.tool(case.part)) == only(case.block)


THOUGHTS = [
    PartCase("signed", signed("hm"), SIGNED),
    PartCase("signed-and-silent", signed(""), {"type": "thinking", "thinking": "", "signature": "sig=="}),
    PartCase(
        "redacted",
        Thought(provider_data=ProviderData(OURS, DATED, {"redacted": "EqkE=="})),
        {"type": "redacted_thinking", "data": "EqkE=="},
    ),
    PartCase("asked-for-by-an-alias", signed("hm", model=MODEL), SIGNED),
    PartCase("unsigned", Thought("hm"), None),
    PartCase("with-an-empty-signature", signed("hm", signature=""), None),
    PartCase("of-another-model", signed("hm", model="claude-opus-4-5-20251101"), None),
    PartCase("of-another-service", signed("hm", dialect="gemini"), None),
    PartCase(
        "encrypted-by-another-service", Thought(provider_data=ProviderData("gemini", DATED, {"redacted": "x"})), None
    ),
]


@pytest.mark.parametrize("case", THOUGHTS, ids=attrgetter("id"))
def test_thinking_goes_back_verbatim_to_the_model_that_signed_it_and_to_no_other(case: PartCase) -> None:
    assert blocks(Message.model(case.part, Text("so"), call())) == [*only(case.block), text("so"), use()]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (Message.user("hear", InlineData("audio/wav", b"RIFF")), "'audio/wav'"),
        (Message.model("see", IMAGE), r"message '.+' of the model: \$\.parts\[1\] is a 'image/png'"),
        (Message.user("see", "half a pair: \ud83d"), r"of the user: \$\.parts\[1\] is a text with half of"),
    ],
    ids=["sound", "image-of-the-model", "broken-text"],
)
def test_what_the_api_has_no_place_for_is_refused_with_its_place(message: Message, words: str) -> None:
    with pytest.raises(InvalidRequestError, match=words):
        blocks(message)


def test_a_message_says_whether_it_carries_a_mark() -> None:
    marked = Text("keep", cache=CacheMark())
    assert [
        row(Message.user(*parts), DictCodec(), ANTHROPIC, MODEL).marked for parts in (("a", marked), ("a", "b"), ())
    ] == [
        True,
        False,
        False,
    ]
