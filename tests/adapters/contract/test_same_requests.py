"""Over conversations of any shape, the stateless path sends what the SDK's own call sends for the same, as JSON.

The SDK's own call is the legacy path's, which gives the SDK its own types.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from turnproof.errors import ProviderError
from turnproof.messages import Message

from ..anthropic import histories as anthropic_histories
from ..callback_recorder import CallbackRecorder
from ..histories import ordinary
from ..openai import histories as openai_histories
from .adapter_kit import HI, AdapterKit, RequestRecorder
from .subjects import KITS, batch_and_stream
from .wire_parts import text

# Google's SDK, and the gateway, spell some fields in another way: `google_genai/test_legacy.py` reads both requests.
ALIKE = [kit for kit in KITS if kit.name not in ("google_genai", "antigravity")]
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
    pytest.mark.parametrize("kit", ALIKE, ids=lambda kit: kit.name),
]
URL = "http://example.invalid"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = anthropic_histories.TOOLS


def conversations(kit: AdapterKit) -> list[list[Message]]:
    random_conversation = (openai_histories if kit.name == "openai" else anthropic_histories).arbitrary
    return [*(ordinary(length, "call_") for length in (1, 4, 20, 41)), *map(random_conversation, range(30))]


def open_recorded(kit: AdapterKit, path: Any, **options: Any) -> tuple[Any, RequestRecorder]:
    recorder = RequestRecorder(kit.answer(text("hi")), kit.stream(text("hi")))
    return kit.open(path, URL, transport=recorder.transport, **options), recorder


def body_of(request: httpx2.Request) -> Any:
    return json.loads(request.content)


def refusal_of(call: Callable[[], object]) -> str | None:
    """Why a conversation is not sent."""
    try:
        call()
    except ProviderError as error:
        return str(error)
    return None


def send(kit: AdapterKit, history: list[Message], streamed: bool, **options: Any) -> list[tuple[str | None, Any]]:
    """What each path makes of a conversation: why it is refused, and what is sent."""
    callbacks: dict[str, Any] = dict(CallbackRecorder().callbacks) if streamed else {}
    takes_schemas = kit.binding is None or kit.binding.claims(kit.model).structured
    schema = SCHEMA if options and takes_schemas else None
    stateless, ours = open_recorded(kit, "stateless", **options)
    legacy, theirs = open_recorded(kit, "legacy", **options)

    def converse() -> None:
        legacy.create_session("rules", TOOLS, history)
        if streamed:
            rest = dict(callbacks)
            legacy.send_message_streaming(HI.text, rest.pop("on_chunk"), response_schema=schema, **rest)
        else:
            legacy.send_message(HI.text, schema)

    refusals = (
        refusal_of(lambda: stateless.complete([*history, HI], "rules", TOOLS, response_schema=schema, **callbacks)),
        refusal_of(converse),
    )
    return [
        (
            refusal,
            [
                (each.url, set(each.headers) - kit.optional_headers, kit.comparable(body_of(each)))
                for each in recorder.requests
            ],
        )
        for refusal, recorder in zip(refusals, (ours, theirs), strict=True)
    ]


@batch_and_stream
def test_the_request_is_that_of_the_plain_sdk_call(kit: AdapterKit, streamed: bool) -> None:
    sent = 0
    for history in conversations(kit):
        ours, theirs = send(kit, [Message.user("hi"), *history], streamed)
        assert ours == theirs
        sent += bool(ours[1])
    assert sent > 17, "too few of the conversations were sent to compare anything"


@batch_and_stream
def test_settings_and_a_schema_say_the_same_on_both_paths(kit: AdapterKit, streamed: bool) -> None:
    for settings in kit.settings:
        ours, theirs = send(kit, ordinary(4, "call_"), streamed, **settings)
        assert ours == theirs
        assert ours[1]
