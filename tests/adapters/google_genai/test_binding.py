"""What the binding says of the adapter: claims, meant differences, the SDK, and what goes with it."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import google.genai
import pytest
from google.genai.chats import Chat
from google.genai.models import Models

from turnproof.judge.parity import check_declared
from turnproof.messages import InlineData, Message, ProviderData, Text
from turnproof.run.bindings import resolve_binding
from turnproof_adapters.google_genai.binding import BINDING

from .kit import Capture, legacy, stateless, stream, text


def unclaimed(model: str) -> set[str]:
    """The claims that are not made; `wire` is none."""
    claims = asdict(BINDING.claims(model))
    return {name for name, value in claims.items() if name != "wire" and (not value or value == "none")}


NEVER = {"opaque_thinking", "mid_system", "chain", "websocket", "chain_deletion", "background", "window"}
"""The API gives no thinking without words, has no place for instructions between turns, and keeps nothing."""


def test_the_binding_claims_all_that_its_model_can_do_and_declares_what_differs_on_purpose() -> None:
    assert unclaimed(BINDING.model) == NEVER
    check_declared(BINDING.declared)
    assert all(difference.reason.endswith(".") for difference in BINDING.declared), "reports show whole sentences"
    # All but the words of errors show in the test at the end.
    assert {difference.name for difference in BINDING.declared} == {
        "field-spelling",
        "base64-alphabet",
        "contents-split-per-chunk",
        "blank-text",
        "empty-fields",
        "error-words",
        "foreign-history",
    }


@pytest.mark.parametrize(
    ("model", "cannot"),
    [
        ("a-model-of-tomorrow", set()),
        ("gemini-2.5-pro", {"structured"}),
        ("gemini-2.0-flash-001", {"structured", "thinking"}),
    ],
)
def test_what_a_model_cannot_do_is_not_claimed(model: str, cannot: set[str]) -> None:
    assert unclaimed(model) == NEVER | cannot


def test_the_binding_is_found_by_its_name_and_needs_the_official_sdk() -> None:
    assert resolve_binding("google_genai") is BINDING
    assert BINDING.name == stateless().name == "google_genai"
    assert BINDING.package is not None
    assert version(BINDING.package) == google.genai.__version__


def test_the_plain_calls_are_the_sdks_own_by_name() -> None:
    assert list(BINDING.plain_calls) == [Models.generate_content.__name__, f"chat.{Chat.send_message.__name__}"]


def test_what_differs_on_purpose_is_what_the_sdks_chat_does_otherwise() -> None:
    foreign = Text("ho", provider_data=ProviderData("anthropic-messages", "claude-sonnet-4-5", {"signature": "s=="}))
    history = [Message.user(Text("look"), InlineData("image/png", b"\xfb\xff")), Message.model(foreign)]
    pieces = stream(text("Hel"), text("lo"), text(""))
    by_chat, by_us = Capture(events=pieces), Capture(events=pieces)
    old, new = legacy(transport=by_chat.transport), stateless(transport=by_us.transport)
    old.create_session(None, None, history)
    parts = old.get_history()[1].parts
    for words in ("more", "again"):
        old.send_message_streaming(words, lambda piece: None)
        history.append(Message.user(words))
        response = new.complete(history, on_chunk=lambda piece: None)
        history.append(Message.model(*response.parts))

    shown = [(files_and_texts(capture.body), capture.body.get("generationConfig")) for capture in (by_chat, by_us)]
    assert shown == [
        ([{"mime_type": "image/png", "data": "-_8="}, "ho", "Hel", "lo", ""], {}),
        ([{"mimeType": "image/png", "data": "+/8="}, "ho", "Hello"], None),
    ]
    assert parts == (Text("ho"),) != (foreign,)


def files_and_texts(body: Any) -> list[Any]:
    """The files in a request, and the words of the model's."""
    parts = [(content["role"], part) for content in body["contents"] for part in content["parts"]]
    return [part.get("inlineData", part.get("text")) for role, part in parts if role == "model" or "inlineData" in part]
