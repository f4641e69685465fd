"""What signs a thought is found by its value, under whatever name an adapter keeps it."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.atoms import token_of, tokens_of
from turnproof.messages import ProviderData, Thought

SEAL, OTHER = "Er8B" + "x" * 96, "Ab3C" + "y" * 96


def thought(**data: Any) -> Thought:
    return Thought("Hm.", provider_data=ProviderData("anthropic-messages", "m", data) if data else None)


@pytest.mark.parametrize(
    "data",
    [
        {"signature": SEAL},
        {"my_signature": SEAL},
        {"blocks": [{"type": "thinking", "sig": SEAL}]},
        {"json": f'{{"type": "thinking", "signature": "{SEAL}"}}'},
        {"signature": OTHER, "second": SEAL},
        {"signature": {"base64": SEAL}},
        {"thought_signature": {"kind": "bytes", "value": [SEAL]}},
    ],
)
def test_a_signature_that_is_held_under_any_name_is_the_one_that_was_sent(data: dict[str, Any]) -> None:
    assert tokens_of(thought(**data), thought(signature=SEAL)) == (SEAL, SEAL)


@pytest.mark.parametrize(
    "data",
    [{"my_signature": OTHER}, {"signature": OTHER}, {"signature": {"base64": OTHER}}, {"kind": "thinking"}, {}],
)
def test_another_signature_than_the_held_one_is_another_one(data: dict[str, Any]) -> None:
    ours, theirs = tokens_of(thought(**data), thought(signature=SEAL))
    assert theirs == SEAL
    assert ours != SEAL


def test_a_signature_under_a_name_of_the_adapters_own_can_be_lost() -> None:
    assert tokens_of(thought(my_signature=SEAL), thought()) == (SEAL, None)


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "thinking", "index": 3},
        {"id": f"rs_{'0' * 50}"},
        {"item": '{"type": "reasoning", "summary": "' + "a" * 90 + '"}'},
        {"summary": "The bed is dry, so it has to be watered before the evening; " * 3},
    ],
)
def test_what_else_an_adapter_keeps_is_no_signature(data: dict[str, Any]) -> None:
    """Nobody is said to have lost one that never was."""
    assert token_of(thought(**data)) is None
    assert tokens_of(thought(**data), thought()) == (None, None)
