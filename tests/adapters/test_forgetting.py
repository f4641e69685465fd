"""What an adapter keeps beside messages goes with them: nothing of a conversation outlives its session's messages."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from turnproof.messages import Message

from .anthropic import kit as anthropic
from .anthropic.histories import TOOLS, grown
from .antigravity import kit as antigravity
from .github_models import kit as github
from .google_genai import kit as google
from .openai import kit as openai
from .openai_responses import kit as responses

OPENED: dict[str, Any] = {
    "anthropic": lambda: anthropic.stateless("http://example.invalid", transport=anthropic.Capture().transport),
    "antigravity": lambda: antigravity.stateless(transport=antigravity.Capture().transport),
    "copilot": lambda: github.chat(transport=github.Capture().transport),
    "github_models": lambda: github.stateless(transport=github.Capture().transport),
    "google_genai": lambda: google.stateless(transport=google.Capture().transport),
    "openai": lambda: openai.stateless(openai.URL, transport=openai.Capture().transport),
    "openai_responses": lambda: responses.stateless(transport=responses.Capture().transport),
}


@pytest.mark.parametrize("name", OPENED)
def test_messages_that_a_session_drops_are_freed_and_their_encodings_with_them(name: str) -> None:
    provider = OPENED[name]()
    history = [*grown(41), Message.user("so?")]
    provider.complete(history, "rules", TOOLS)
    dropped, kept = [weakref.ref(message) for message in history[:20]], history[20:]
    del history
    provider.complete(kept, "rules", TOOLS)
    gc.collect()
    assert [each() for each in dropped if each() is not None] == []
    assert len(provider._encoder._rows) == len(kept)
    everything = [weakref.ref(message) for message in kept]
    del kept
    gc.collect()
    assert [each() for each in everything if each() is not None] == []
    assert len(provider._encoder._rows) == len(provider._encoder._beginnings) == 0
