"""Fields that no list has are logged and accuse nobody; the list of names has those of every dialect."""

from __future__ import annotations

import random
import string
from os import environ

import pytest

from turnproof._base.canonical import canonical
from turnproof.dialects import dialect
from turnproof.dialects.anthropic_messages import fields as messages
from turnproof.dialects.antigravity.fields import FIELDS as GATEWAY
from turnproof.dialects.base import HttpRequest, Refusal, World
from turnproof.dialects.field_names import FIELD_NAMES, is_listed
from turnproof.dialects.gemini.fields import FIELDS as GEMINI
from turnproof.dialects.openai_chat.validate.arguments import _KNOWN_ARGUMENTS
from turnproof.dialects.openai_chat.validate.members import BLOCKS, CALL, FORMAT, TOOL
from turnproof.dialects.openai_responses import fields as responses

SEED = int(environ.get("TURNPROOF_SEED", "20261127"))
KEY = "sk-test"

Body = dict[str, object]

MESSAGE = {"role": "user", "content": "Hello"}
PLAIN: dict[str, tuple[str, Body]] = {
    "anthropic-messages": ("/v1/messages", {"model": "claude-sonnet-4-6", "max_tokens": 99, "messages": [MESSAGE]}),
    "openai-chat": ("/v1/chat/completions", {"model": "gpt-5-mini", "messages": [MESSAGE]}),
    "openai-responses": ("/v1/responses", {"model": "gpt-5-mini", "input": "Hello"}),
    "gemini": (
        "/v1beta/models/gemini-2.5-flash:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
    ),
    "gemini-interactions": ("/v1beta/interactions", {"model": "gemini-3.5-flash", "input": "Hello"}),
}
KEYS = {
    "anthropic-messages": {"x-api-key": KEY, "anthropic-version": "2023-06-01"},
    "openai-chat": {"authorization": f"Bearer {KEY}"},
    "openai-responses": {"authorization": f"Bearer {KEY}"},
    "gemini": {"x-goog-api-key": KEY},
    "gemini-interactions": {"x-goog-api-key": KEY},
}


def judge(name: str, fields: Body, path: str = "", **headers: str) -> list[Refusal]:
    """What the dialect says of a plain request with these fields."""
    wire, (usual, body) = dialect(name), PLAIN[name]
    sent = {"content-type": "application/json", **KEYS[name], **headers}
    request = HttpRequest("POST", path or usual, {}, sent, canonical({**body, **fields}))
    world = World(models=wire.models, keys=frozenset({KEY}), clock=lambda: 0.0)
    parsed = wire.parse(request, world)
    return [parsed] if isinstance(parsed, Refusal) else wire.validate(request, parsed, world)


def drawn_names(count: int) -> list[str]:
    generator = random.Random(SEED)
    words = ["".join(generator.choices(string.ascii_lowercase, k=generator.randint(3, 9))) for _ in range(count * 2)]
    return [f"{one}_{other}" for one, other in zip(words[::2], words[1::2], strict=True)]


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_request_is_refused_nothing(name: str) -> None:
    assert [one.message for one in judge(name, {}) if one.enforced] == []


@pytest.mark.parametrize("name", PLAIN)
def test_a_field_that_no_list_has_is_logged_and_refused_by_nobody(name: str) -> None:
    for field in drawn_names(20):
        found = judge(name, {field: {"level": 2}})
        assert [(one.enforced, field in one.message) for one in found] == [(False, True)], field


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("anthropic-messages", "stop"),
        ("openai-chat", "top_k"),
        ("openai-responses", "quality"),
        ("gemini", "max_tokens"),
    ],
)
def test_a_field_of_another_api_is_refused(name: str, field: str) -> None:
    assert any(one.enforced for one in judge(name, {field: 1}))


def test_beta_values_that_the_list_lacks_are_logged_and_refused_by_nobody() -> None:
    generator = random.Random(SEED)
    for name in drawn_names(20):
        day = f"{generator.randint(2023, 2029)}-0{generator.randint(1, 9)}-1{generator.randint(0, 9)}"
        value = f"{name.replace('_', '-')}-{day}"
        found = judge("anthropic-messages", {}, **{"anthropic-beta": value})
        assert [one.enforced for one in found] == [False], value


@pytest.mark.parametrize("path", ["//v1/chat/completions", "/v1//chat/completions"])
def test_doubled_slashes_are_the_same_address(path: str) -> None:
    assert [one.message for one in judge("openai-chat", {}, path) if one.enforced] == []


def test_azures_address_without_a_deployment_needs_no_version_in_the_query() -> None:
    found = judge("openai-chat", {}, "/openai/v1/chat/completions", **{"api-key": KEY})
    assert [one.message for one in found if one.enforced] == []


def test_the_list_has_the_names_of_every_dialect() -> None:
    expected = set(messages.MESSAGE_BODY | messages.SYSTEM_MESSAGE | messages.CUSTOM_TOOL)
    for members in (messages.SOURCES, messages.TOOL_CHOICES, messages.THINKING, messages.OBJECT_SETTINGS):
        expected = expected.union(*members.values())
    expected = expected.union(*messages.BLOCKS.values(), responses.BODY, responses.COUNT_BODY, responses.MOVED)
    for blocks in (*BLOCKS.values(), CALL, FORMAT, TOOL):
        expected = expected.union(*blocks.values())
    expected = expected.union(*responses.BLOCKS.values(), *responses.ITEMS.values(), _KNOWN_ARGUMENTS)
    for table in (GEMINI, GATEWAY):
        expected = expected.union(*table.values())
    assert expected - FIELD_NAMES == set()
    assert not any(map(is_listed, drawn_names(50)))
