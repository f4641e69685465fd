"""The stateless path writes its own bytes. They are those of the SDK's plain call, they depend on nothing that went
before, and a turn costs what is new in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anthropic
import httpx2
import pytest

from turnproof.cache import ExplicitCachePlugin
from turnproof.messages import Message
from turnproof_adapters._calling import Prompt

from .histories import TOOLS, arbitrary, ordinary_conversation
from .kit import KEY, MODEL, Capture, legacy, stateless

URL = "http://example.invalid"
SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
FIRST = Message.user("hi")


def body(provider: Any, capture: Capture, messages: Sequence[Message], **kwargs: Any) -> bytes:
    provider.complete(messages, "rules", TOOLS, **kwargs)
    return bytes(capture.requests[-1].content)


def fresh(messages: Sequence[Message], **kwargs: Any) -> bytes:
    capture = Capture()
    return body(stateless(URL, transport=capture.transport), capture, messages, **kwargs)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
@pytest.mark.parametrize("history", [*map(ordinary_conversation, (1, 2, 3, 4, 9, 40)), *map(arbitrary, range(30))])
def test_the_request_is_the_one_that_the_plain_sdk_call_sends(history: list[Message], streamed: bool) -> None:
    history = [FIRST, *history]  # of a conversation in which nothing is said there is no request
    ours, theirs = Capture(), Capture()
    thinking = {"budget_tokens": 2000}
    provider = stateless(URL, transport=ours.transport, thinking=thinking)
    provider.complete(history, "rules", TOOLS, response_schema=SCHEMA, on_chunk=print if streamed else None)
    kwargs = legacy(URL, thinking=thinking)._kwargs(Prompt(history, "rules", TOOLS, SCHEMA))
    plain = anthropic.Anthropic(api_key=KEY, base_url=URL, http_client=httpx2.Client(transport=theirs.transport))
    mode: dict[str, Any] = {"stream": True} if streamed else {}
    plain.messages.create(**kwargs, **mode, timeout=600)
    assert ours.body == theirs.body
    assert set(ours.requests[-1].headers) == set(theirs.requests[-1].headers)
    assert ours.requests[-1].url == theirs.requests[-1].url


def test_a_turn_with_a_cache_plugin_encodes_no_more_for_a_longer_history() -> None:
    costs = []
    for length in (40, 400):
        provider, plugin = stateless(URL, transport=Capture().transport), ExplicitCachePlugin(minimum_tokens=1)
        history = ordinary_conversation(length)
        for _ in range(6):
            before = provider.messages_encoded
            prepared = plugin.prepare(history, "rules", TOOLS)
            provider.complete(prepared.messages, prepared.system, prepared.tools)
            history += [Message.model("ok"), Message.user("and?")]
        costs.append(provider.messages_encoded - before)
    assert costs[0] == costs[1] <= 4


def test_another_model_gets_an_encoding_of_its_own() -> None:
    capture = Capture()
    provider = stateless(URL, transport=capture.transport)
    history = [Message.user("hi"), Message.system("be brief")]
    provider.complete(history)
    assert [message["role"] for message in capture.body["messages"]] == ["user"]
    provider.connect("claude-opus-4-8")
    provider.complete(history)
    assert capture.body["model"] == "claude-opus-4-8"
    assert [message["role"] for message in capture.body["messages"]] == ["user", "system"]
    provider.connect(MODEL)
    provider.complete(history)
    assert [message["role"] for message in capture.body["messages"]] == ["user"]
