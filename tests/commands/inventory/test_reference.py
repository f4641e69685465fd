"""The adapters and the session that are here: complete where they keep a history, empty where they do not."""

from __future__ import annotations

import pytest

from turnproof.commands.inventory import take_inventory
from turnproof.provider import LEGACY_METHODS
from turnproof.session.session import Session
from turnproof_adapters.anthropic.legacy import AnthropicLegacy
from turnproof_adapters.anthropic.stateless import AnthropicStateless
from turnproof_adapters.antigravity.legacy import AntigravityLegacy
from turnproof_adapters.github_models.copilot.stateless import CopilotResponsesStateless
from turnproof_adapters.google_genai.legacy import GoogleLegacy
from turnproof_adapters.google_genai.stateless import GoogleStateless
from turnproof_adapters.openai_responses.stateless import ResponsesStateless

from .kit import InventoryFacts


@pytest.mark.parametrize("cls", [AnthropicStateless, GoogleStateless, ResponsesStateless, CopilotResponsesStateless])
def test_a_stateless_path_has_nothing_left(cls: type) -> None:
    inventory = take_inventory(cls)
    assert inventory.methods == ()
    assert inventory.problems == ()


@pytest.mark.parametrize(
    ("cls", "places", "turn"),
    [
        (AnthropicLegacy, {"_history"}, {"writes _history", "reads _history"}),
        (AntigravityLegacy, {"_contents"}, {"writes _contents", "reads _contents"}),
        (GoogleLegacy, {"_conversation", "_Conversation.chat"}, {"writes _conversation"}),
    ],
)
def test_a_legacy_path_is_found_whole(cls: type, places: set[str], turn: set[str]) -> None:
    facts = InventoryFacts(take_inventory(cls))
    assert facts.places == places
    assert {use.name for use in facts.inventory.legacy} == {*LEGACY_METHODS}
    assert facts.does("_turn") == turn
    for use in facts.inventory.legacy:
        assert use.touches, use.name
    assert facts.inventory.problems == ()


def test_the_reference_session_asks_its_provider_through_its_ports_alone() -> None:
    facts = InventoryFacts(take_inventory(Session))
    calls = {
        use.owner: {
            touch.what for touch in use.touches if touch.kind.startswith("provider") and " via " not in touch.what
        }
        for use in facts.inventory.methods
        if use.name in ("sync", "_call", "_batch", "_stream", "_limit", "reset", "save") and use.owner != "Conversation"
    }
    assert calls["StatelessPort"] == {"complete()"}
    assert calls["LegacyPort"] <= {f"{name}()" for name in LEGACY_METHODS}
    assert facts.does("reset") >= {"provider-call create_session() via changing()"}
    assert "save" not in {use.name for use in facts.inventory.left}
    assert not any(touch.kind == "provider-private" for use in facts.inventory.methods for touch in use.touches)
