"""What the binding says of the adapter, and what it takes to import it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from importlib.metadata import version

import pytest

from turnproof.judge.parity import check_declared
from turnproof.messages import Message, ProviderData, Text
from turnproof_adapters.antigravity.binding import BINDING

from .kit import CLAUDE, GEMINI, GPT, OLD, legacy, stateless


def unclaimed(model: str) -> set[str]:
    """The claims that are not made; `wire` is none."""
    claims = asdict(BINDING.claims(model))
    return {name for name, value in claims.items() if name != "wire" and (not value or value == "none")}


NEVER = {"opaque_thinking", "mid_system", "chain", "websocket", "chain_deletion", "background", "window"}
"""The gateway gives no thinking without words, has no place for instructions between turns, and keeps nothing."""

OF_GEMINI = {"structured", "images", "documents", "result_images", "service_tools", "cache"}


@pytest.mark.parametrize(
    ("model", "cannot"),
    [(GEMINI, set()), (OLD, {"structured"}), (CLAUDE, OF_GEMINI), (GPT, OF_GEMINI | {"thinking"})],
)
def test_what_a_model_cannot_do_is_not_claimed(model: str, cannot: set[str]) -> None:
    assert unclaimed(model) == NEVER | cannot
    assert BINDING.model == GEMINI


def test_the_binding_names_its_dialect_and_its_client() -> None:
    assert (BINDING.name, BINDING.dialect) == ("antigravity", "antigravity") == (stateless().name, BINDING.dialect)
    assert BINDING.package is not None
    assert version(BINDING.package)


def test_what_differs_on_purpose_is_what_contents_have_no_place_for() -> None:
    check_declared(BINDING.declared)
    assert [difference.name for difference in BINDING.declared] == ["foreign-history"]
    assert all(difference.reason.endswith(".") for difference in BINDING.declared), "reports show whole sentences"
    foreign = Text("ho", provider_data=ProviderData("anthropic-messages", "claude-sonnet-4-5", {"signature": "s=="}))
    provider = legacy()
    provider.create_session(None, None, [Message.user("hi"), Message.model(foreign), Message.system("Be brief.")])
    _, answer, instruction = provider.get_history()
    assert answer.parts == (Text("ho"),) != (foreign,)
    assert instruction.role == "user"


WITHOUT = """
import sys
sys.modules["google"] = None
from turnproof_adapters.antigravity import binding
assert not [name for name in sys.modules if name.startswith(("google.", "httpx"))]
import turnproof_adapters.antigravity.stateless, turnproof_adapters.antigravity.legacy
"""


def test_neither_path_needs_googles_sdk_and_the_binding_needs_no_client() -> None:
    """In a process of its own: this one has imported everything."""
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
