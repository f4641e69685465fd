"""The stateless path writes its own bytes. They say what the SDK's plain call says, they depend on nothing that went
before, and a turn costs what is new in it.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Sequence
from typing import Any

import pytest

from turnproof.messages import CacheMark, Message, Text
from turnproof_adapters.google_genai import splice
from turnproof_adapters.google_genai import stateless as stateless_module
from turnproof_adapters.google_genai.encode import BytesCodec
from turnproof_adapters.google_genai.models import target
from turnproof_adapters.google_genai.rows import row

from ..callback_recorder import CallbackRecorder
from .histories import TOOLS, arbitrary, framed, issued, ordinary_conversation, rich
from .kit import MODEL, Capture, stateless

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}


def body(provider: Any, capture: Capture, messages: Sequence[Message], **kwargs: Any) -> bytes:
    provider.complete(messages, "rules", TOOLS, **kwargs)
    return bytes(capture.requests[-1].content)


def fresh(messages: Sequence[Message], **kwargs: Any) -> bytes:
    capture = Capture()
    return body(stateless(transport=capture.transport), capture, messages, **kwargs)


@pytest.fixture
def plain_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """An SDK that does not have its client build the request."""
    monkeypatch.setattr(stateless_module, "supported", lambda: False)


def alike(value: Any, key: str = "") -> Any:
    """A body less what the SDK writes in another, equally valid way: base64 url-safe, some fields in snake case."""
    if isinstance(value, dict):
        return {re.sub("_([a-z])", lambda m: m[1].upper(), name): alike(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [alike(each) for each in value]
    if key in ("thoughtSignature", "data") and isinstance(value, str):
        return urlsafe_b64decode(value) if "-" in value or "_" in value else b64decode(value)
    return value


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
@pytest.mark.parametrize(
    "history", [rich(), *map(ordinary_conversation, (1, 2, 3, 4, 9, 40)), *map(arbitrary, range(30))]
)
def test_the_request_is_the_one_that_the_plain_sdk_call_sends(
    history: list[Message], streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = framed(history)
    requests = []
    for spliced in (True, False):
        monkeypatch.setattr(stateless_module, "supported", lambda spliced=spliced: spliced)
        capture = Capture()
        provider = stateless(transport=capture.transport, thinking={"budget_tokens": 2000}, max_tokens=99)
        callbacks = CallbackRecorder().callbacks if streamed else {}
        provider.complete(history, "rules", TOOLS, response_schema=SCHEMA, **callbacks)
        requests += capture.requests
    ours, theirs = requests
    assert alike(json.loads(ours.content)) == alike(json.loads(theirs.content))
    assert ours.url == theirs.url
    assert set(ours.headers) == set(theirs.headers)
    assert {name: ours.headers[name] for name in ours.headers if name != "content-length"} == {
        name: theirs.headers[name] for name in theirs.headers if name != "content-length"
    }


def test_the_rich_conversation_loses_nothing_on_its_way_through_the_sdks_types() -> None:
    """Otherwise the comparison above could compare two requests that both lack a part."""
    sent = json.loads(fresh(rich()))["contents"]
    kinds = [next(iter(part)) for content in sent for part in content["parts"]]
    assert kinds == [
        *("text", "inlineData", "fileData"),
        *("text", "text", "functionCall", "functionCall"),
        *("functionResponse", "fileData", "functionResponse"),
        *("executableCode", "codeExecutionResult", "toolCall", "text"),
        "text",
    ]


def test_the_installed_sdk_lets_its_body_be_replaced() -> None:
    assert splice.supported()


@pytest.mark.usefixtures("plain_sdk")
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_an_sdk_that_does_not_is_called_in_its_own_types(streamed: bool) -> None:
    capture = Capture()
    response = stateless(transport=capture.transport).complete(
        rich(), Text("rules"), TOOLS, **(CallbackRecorder().callbacks if streamed else {})
    )
    assert response.text == "hi"
    assert len(capture.body["contents"]) == 5


def test_before_a_model_is_chosen_nothing_is_encoded() -> None:
    provider = stateless_module.GoogleStateless()
    provider.forget_encodings()
    assert provider.messages_encoded == 0


def test_a_call_within_a_call_sends_its_own_body() -> None:
    """A callback may ask another question: what is carried for the outer call does not leak into it, nor back."""
    capture = Capture()
    provider = stateless(transport=capture.transport)

    def ask(_: str) -> None:
        provider.complete([Message.user("inner")])
        provider.list_models()

    provider.complete([Message.user("outer")], on_chunk=ask)
    provider.complete([Message.user("after")])
    bodies = [request.content for request in capture.requests]
    assert [b"outer" in bodies[0], b"inner" in bodies[1], bodies[2], b"after" in bodies[3]] == [True, True, b"", True]
    assert capture.requests[2].method == "GET"


@pytest.mark.parametrize(("mark", "marked"), [(None, False), (CacheMark(), True)])
def test_a_message_with_a_mark_is_known_to_change(mark: CacheMark | None, marked: bool) -> None:
    """What follows a mark is arranged anew with every turn: marks move on."""
    message = Message.user("see", Text("this", cache=mark))
    assert row(message, BytesCodec(), target(MODEL)).marked is marked


def test_the_sdk_sees_as_much_of_a_long_conversation_as_of_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is given to convert is a stub: its own work cannot grow with the history."""
    provider = stateless(transport=Capture().transport)
    calls: list[Any] = []
    models = provider._require_client().models
    original = models.generate_content

    def watched(**kwargs: Any) -> Any:
        calls.append(kwargs)
        return original(**kwargs)

    monkeypatch.setattr(models, "generate_content", watched)
    for length in (1, 401):
        provider.complete(ordinary_conversation(length), "rules", TOOLS, response_schema=SCHEMA)
    assert calls[0] == calls[1] == {"model": MODEL, "contents": splice.STUB}


def test_another_model_gets_an_encoding_of_its_own() -> None:
    capture = Capture()
    provider = stateless(transport=capture.transport)
    history = [Message.user("hi"), Message.model(Text("ho", provider_data=issued())), Message.user("and?")]
    signed = []
    for model in (MODEL, "gemini-2.5-flash", MODEL):
        provider.connect(model)
        provider.complete(history)
        assert f"models/{model}:" in str(capture.requests[-1].url)
        signed.append("thoughtSignature" in capture.body["contents"][1]["parts"][0])
    assert signed == [True, False, True]
