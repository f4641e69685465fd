"""Over conversations of any shape the stateless path sends what the SDK's plain call sends for the same, as JSON.

The plain call is the legacy path's, which gives the SDK its own types. The Anthropic and Google adapters have the same
test beside their other tests of encodings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from turnproof.errors import ProviderError
from turnproof.messages import Message

from .anthropic.histories import TOOLS, arbitrary, grown
from .callback_recorder import CallbackRecorder
from .github_models import kit as github
from .openai import kit as openai
from .openai_responses import kit as responses

ADAPTERS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[[], Any]]] = {
    "openai": (
        lambda **options: openai.stateless(openai.URL, **options),
        lambda **options: openai.legacy(openai.URL, **options),
        openai.Capture,
    ),
    "openai_responses": (responses.stateless, responses.legacy, responses.Capture),
    "github_models": (github.stateless, github.legacy, github.Capture),
}
HISTORIES = [*map(grown, (1, 4, 20, 41)), *map(arbitrary, range(30))]
QUESTION = Message.user("so?")


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_the_body_is_that_of_the_plain_sdk_call(name: str, streamed: bool) -> None:
    stateless, legacy, capture = ADAPTERS[name]
    sent = 0
    for history in HISTORIES:
        history = [Message.user("hi"), *history]
        ours, theirs = capture(), capture()
        old, new = legacy(transport=theirs.transport), stateless(transport=ours.transport)
        refused = _problem(partial(new.complete, [*history, QUESTION], "rules", TOOLS, **_told(streamed)))
        assert refused == _problem(partial(_say, old, history, streamed))
        assert [request.url for request in ours.requests] == [request.url for request in theirs.requests]
        if refused is None:
            assert ours.body == theirs.body
            sent += 1
    assert sent > len(HISTORIES) / 2, "too few of the conversations were sent to compare anything"


def _say(provider: Any, history: list[Message], streamed: bool) -> None:
    provider.create_session("rules", TOOLS, history)
    if streamed:
        callbacks = _told(streamed)
        provider.send_message_streaming(QUESTION.text, callbacks.pop("on_chunk"), **callbacks)
    else:
        provider.send_message(QUESTION.text)


def _told(streamed: bool) -> dict[str, Any]:
    return dict(CallbackRecorder().callbacks) if streamed else {}


def _problem(call: Callable[[], object]) -> str | None:
    """Why a conversation is not sent."""
    try:
        call()
    except ProviderError as error:
        return str(error)
    return None
