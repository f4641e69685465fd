"""One neutral part as one block of the API, or as none."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pytest

from turnproof import messages as m
from turnproof.errors import InvalidRequestError
from turnproof_adapters.anthropic.blocks import row
from turnproof_adapters.anthropic.plain_conversation import DictCodec
from turnproof_adapters.anthropic.service import ANTHROPIC

from .kit import DATED, MODEL, OURS, answered, call, result, signed, text, use

IMAGE = m.InlineData("image/png", b"\x89PNG")
IMAGE_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": b64encode(b"\x89PNG").decode()},
}


@dataclass(frozen=True)
class PartCase:
    id: str
    part: m.Part
    block: dict[str, Any] | None


USER_PARTS = [
    PartCase("image", IMAGE, IMAGE_BLOCK),
    PartCase(
        "pdf",
        m.InlineData("application/pdf", b"%PDF"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": b64encode(b"%PDF").decode()},
        },
    ),
    PartCase(
        "text-file",
        m.InlineData("text/csv", b"a;b"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a;b"}},
    ),
    PartCase(
        "image-by-url",
        m.FileRef("image/jpeg", "https://example.com/a.jpg"),
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg"}},
    ),
    PartCase(
        "stored-file",
        m.FileRef("application/pdf", "file_011"),
        {"type": "document", "source": {"type": "file", "file_id": "file_011"}},
    ),
    PartCase(
        "image-of-the-stores",
        m.FileRef("image/png", "file_012"),
        {"type": "image", "source": {"type": "file", "file_id": "file_012"}},
    ),
    PartCase(
        "page-by-url",
        m.FileRef("text/html", "https://example.com/file_1"),
        {"type": "document", "source": {"type": "url", "url": "https://example.com/file_1"}},
    ),
    PartCase(
        "text-file-that-is-no-utf-8",
        m.InlineData("text/plain", b"caf\xe9"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "caf\ufffd"}},
    ),
    PartCase(
        "marked-image",
        m.InlineData(IMAGE.mime_type, IMAGE.data, cache=m.CacheMark()),
        {**IMAGE_BLOCK, "cache_control": {"type": "ephemeral"}},
    ),
    PartCase("unknown-block-of-ours", m.Opaque(OURS, "x", {"type": "x", "y": 1}), {"type": "x", "y": 1}),
    PartCase("block-of-another-dialect", m.Opaque("gemini", "x", {"y": 1}), None),
    PartCase("blank-text", m.Text(" \n\t"), None),
    PartCase("code-another-service-ran", m.ExecutableCode("PYTHON", "1+1"), text("```python\n1+1\n```")),
    PartCase("what-that-code-gave", m.CodeExecutionResult("OK", "2"), text("```\n2\n```")),
    PartCase(
        "marked-text",
        m.Text("keep", cache=m.CacheMark()),
        {**text("keep"), "cache_control": {"type": "ephemeral"}},
    ),
    PartCase(
        "text-marked-for-an-hour",
        m.Text("keep", cache=m.CacheMark("1h")),
        {**text("keep"), "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ),
]


def blocks(message: m.Message) -> list[dict[str, Any]]:
    return [unit.value for unit in row(message, DictCodec(), ANTHROPIC, MODEL).units]


def only(block: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [] if block is None else [block]


@pytest.mark.parametrize("case", USER_PARTS, ids=attrgetter("id"))
def test_a_user_part_becomes_its_block(case: PartCase) -> None:
    assert blocks(m.Message.user("see", case.part, "so")) == [text("see"), *only(case.block), text("so")]


CITATIONS = {"citations": [{"type": "char_location"}]}
SERVED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
CALLER = {"caller": {"type": "code_execution", "tool_id": "x"}}
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "sig=="}

MODEL_PARTS = [
    PartCase(
        "text-with-citations",
        m.Text("so", provider_data=m.ProviderData(OURS, DATED, CITATIONS)),
        {**text("so"), **CITATIONS},
    ),
    PartCase(
        "text-with-citations-of-another-service",
        m.Text("so", provider_data=m.ProviderData("gemini", DATED, CITATIONS)),
        text("so"),
    ),
    PartCase("call", call(path="/a"), use(path="/a")),
    PartCase(
        "call-by-the-services-own-code",
        m.FunctionCall("toolu_1", "read", {}, provider_data=m.ProviderData(OURS, DATED, CALLER)),
        {**use(), **CALLER},
    ),
    PartCase(
        "call-by-another-services-code",
        m.FunctionCall("toolu_1", "read", {}, provider_data=m.ProviderData("gemini", DATED, CALLER)),
        use(),
    ),
    PartCase(
        "marked-call",
        m.FunctionCall("toolu_1", "read", {}, cache=m.CacheMark()),
        {**use(), "cache_control": {"type": "ephemeral"}},
    ),
    PartCase("what-the-service-ran-itself", m.Opaque(OURS, "server_tool_use", SERVED), SERVED),
]


@pytest.mark.parametrize("case", MODEL_PARTS, ids=attrgetter("id"))
def test_a_part_of_an_answer_goes_back_as_it_came(case: PartCase) -> None:
    assert blocks(m.Message.model(case.part)) == only(case.block)


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
    PartCase("marked", result(cache=m.CacheMark()), answered(cache_control={"type": "ephemeral"})),
]


@pytest.mark.parametrize("case", RESULTS, ids=attrgetter("id"))
def test_a_tool_result_becomes_its_block(case: PartCase) -> None:
    assert isinstance(case.part, m.ToolResult)
    assert blocks(m.Message.tool(case.part)) == only(case.block)


THOUGHTS = [
    PartCase("signed", signed("hm"), SIGNED),
    PartCase("signed-and-silent", signed(""), {"type": "thinking", "thinking": "", "signature": "sig=="}),
    PartCase(
        "redacted",
        m.Thought(provider_data=m.ProviderData(OURS, DATED, {"redacted": "EqkE=="})),
        {"type": "redacted_thinking", "data": "EqkE=="},
    ),
    PartCase("asked-for-by-an-alias", signed("hm", model=MODEL), SIGNED),
    PartCase("unsigned", m.Thought("hm"), None),
    PartCase("with-an-empty-signature", signed("hm", signature=""), None),
    PartCase("of-another-model", signed("hm", model="claude-opus-4-5-20251101"), None),
    PartCase("of-another-service", signed("hm", dialect="gemini"), None),
    PartCase(
        "encrypted-by-another-service",
        m.Thought(provider_data=m.ProviderData("gemini", DATED, {"redacted": "x"})),
        None,
    ),
]


@pytest.mark.parametrize("case", THOUGHTS, ids=attrgetter("id"))
def test_thinking_goes_back_verbatim_to_the_model_that_signed_it_and_to_no_other(case: PartCase) -> None:
    assert blocks(m.Message.model(case.part, m.Text("so"), call())) == [*only(case.block), text("so"), use()]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (m.Message.user("hear", m.InlineData("audio/wav", b"RIFF")), "'audio/wav'"),
        (m.Message.model("see", IMAGE), r"message '.+' of the model: \$\.parts\[1\] is a 'image/png'"),
        (m.Message.user("see", "half a pair: \ud83d"), r"of the user: \$\.parts\[1\] is a text with half of"),
    ],
    ids=["sound", "image-of-the-model", "broken-text"],
)
def test_what_the_api_has_no_place_for_is_refused_with_its_place(message: m.Message, words: str) -> None:
    with pytest.raises(InvalidRequestError, match=words):
        blocks(message)


def test_a_message_says_whether_it_carries_a_mark() -> None:
    marked = m.Text("keep", cache=m.CacheMark())
    assert [
        row(m.Message.user(*parts), DictCodec(), ANTHROPIC, MODEL).marked for parts in (("a", marked), ("a", "b"), ())
    ] == [
        True,
        False,
        False,
    ]
