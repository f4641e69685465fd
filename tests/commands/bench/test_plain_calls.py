"""The official SDKs' own calls are what turns are measured against: they must send what the stateless path sends."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from turnproof.commands.bench.callers import checked, open_caller
from turnproof.commands.bench.canned_answers import canned_responses
from turnproof.commands.bench.canned_provider import CannedServer
from turnproof.commands.bench.conversations import SHORT, WHOLE, Answer
from turnproof.dialects import dialect
from turnproof.provider import PlainConversation
from turnproof.run.bindings import resolve_binding
from turnproof.wire.emulator import EmulatorServer

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")

# Google's SDK spells some fields in its own way: that adapter's own tests say which.
NAMES = ("anthropic", "copilot", "copilot_responses", "github_models", "ollama", "openai", "openai_responses", "zai")


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[EmulatorServer, CannedServer]]:
    with EmulatorServer() as emulator, CannedServer() as canned:
        yield emulator, canned


def sent(servers: tuple[EmulatorServer, CannedServer], adapter: str, caller: str, answer: Answer) -> Any:
    """The request of a caller that was answered, and told the answer whole."""
    emulator, canned = servers
    binding = resolve_binding(adapter)
    wire = dialect(binding.dialect)
    responses = canned_responses(emulator, wire, partial(open_caller, binding, caller, "turn", messages=2), answer)
    url = canned.add(responses, wire.service.base_path)
    opened = open_caller(binding, caller, "turn", url, 8)
    checked(opened, answer)
    opened.close()
    return json.loads(canned.last(url).body)


@pytest.mark.parametrize("answer", [WHOLE, SHORT], ids=["whole", "streamed"])
@pytest.mark.parametrize("adapter", NAMES)
def test_every_plain_call_sends_what_the_stateless_path_sends(
    servers: tuple[EmulatorServer, CannedServer], adapter: str, answer: Answer
) -> None:
    by_us = sent(servers, adapter, "stateless", answer)
    plain_calls = resolve_binding(adapter).plain_calls
    assert plain_calls
    for name in plain_calls:
        assert sent(servers, adapter, name, answer) == by_us


def test_an_adapter_without_a_plain_call_is_one_without_an_sdk() -> None:
    assert not resolve_binding("antigravity").plain_calls


@pytest.mark.parametrize("adapter", [*NAMES, "google_genai"])
def test_every_plain_call_holds_a_conversation_that_grows_and_begins_anew(
    servers: tuple[EmulatorServer, CannedServer], adapter: str
) -> None:
    emulator, canned = servers
    binding = resolve_binding(adapter)
    wire = dialect(binding.dialect)
    for name in binding.plain_calls:
        open_at = partial(open_caller, binding, name, "turn", messages=2)
        url = canned.add(canned_responses(emulator, wire, open_at, WHOLE), wire.service.base_path)
        call = open_at(url)
        assert isinstance(call, PlainConversation)
        assert pickle.loads(pickle.dumps(call.history))
        call.begin()
        assert call.say("the first words") == call.say("the second words") == WHOLE.text
        body = canned.last(url).body
        assert [body.count(text) for text in (b"the first words", b"the second words", WHOLE.text.encode())] == [
            1,
            1,
            1,
        ]
        call.begin()
        call.say("the third words")
        body = canned.last(url).body
        assert b"the third words" in body
        assert b"the first words" not in body
        assert b"greenhouse" in body
        call.close()
