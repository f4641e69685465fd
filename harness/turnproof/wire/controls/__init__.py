"""Control adapters: one for each wire API, so plain that they are right on sight.

A certification judges its control before anybody else. What the control is accused of is turnproof's own doing, or the
machine's: a server that loses bytes, a driver that cancels in the wrong place, a check that is wrong. Controls are
written with the standard library, from the API's documentation; they share no code with any adapter, nor with the
dialects that judge them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...scenarios import Scenario, load_all

__all__ = ["CONTROLS", "control_scenarios"]

CONTROLS: Mapping[str, str] = {
    "anthropic-messages": "turnproof.wire.controls.anthropic_messages:CONTROL",
    "antigravity": "turnproof.wire.controls.antigravity:CONTROL",
    "gemini": "turnproof.wire.controls.gemini:CONTROL",
    "gemini-interactions": "turnproof.wire.controls.gemini_interactions:CONTROL",
    "openai-chat": "turnproof.wire.controls.openai_chat:CONTROL",
    "openai-responses": "turnproof.wire.controls.openai_responses:CONTROL",
    "ollama": "turnproof.wire.controls.ollama:CONTROL",
    "zai": "turnproof.wire.controls.zai:CONTROL",
}
"""The binding of the control of each dialect, as `module:attribute`."""


def control_scenarios() -> list[Scenario]:
    """The conversations of a control: text, tools, cancels, faults, a collection, a save, a fresh provider."""
    return list(load_all(Path(__file__).parent / "scenarios").values())
