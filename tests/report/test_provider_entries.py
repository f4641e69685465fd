"""What a conversation shows of providers that were watched."""

from __future__ import annotations

import pytest

from turnproof.messages import TokenUsage
from turnproof.report.provider_entries import Watching, provider_entry
from turnproof.run.transcript import Accounts, ProviderAsked, ProviderHolds, ProviderSeen, ProviderTouched


@pytest.mark.parametrize(
    ("event", "label", "text"),
    [
        (ProviderSeen(cls="m:P", how="given", complete=True), "provider given: m:P", "complete(): yes"),
        (
            ProviderSeen(cls="m:P", how="behind", methods=("get_history",)),
            "provider behind: m:P",
            "complete(): no; it has get_history",
        ),
        (
            ProviderTouched(name="count_tokens", how="called", during="save"),
            "provider.count_tokens was called during save",
            "",
        ),
        (
            ProviderHolds(cls="m:P", after="call", looked_at=3, messages=(".log[0]",), plugins=(".helper",)),
            "what m:P holds after the call",
            ".log[0]\nthe cache plugin: .helper",
        ),
        (
            ProviderHolds(cls="m:P", after="conversation", looked_at=3),
            "what m:P holds after the conversation",
            "no messages",
        ),
        (
            ProviderAsked(what="connect", outcome="fails", said="it raised"),
            "asked of the provider, connect: fails",
            "it raised",
        ),
        (
            Accounts(at="before", usage=TokenUsage(1, 2, 3), turns=2),
            "the session's account before the reset",
            "3 tokens; 2 turns",
        ),
        (Accounts(at="after"), "the session's account after the reset", "no usage shown; no turns shown"),
    ],
)
def test_each_event_is_an_entry_that_people_can_read(event: Watching, label: str, text: str) -> None:
    assert provider_entry(event) == (label, text)
