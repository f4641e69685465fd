"""What a real service did wrong, by what it answers: a part of the API that an imitation lacks is nobody's mistake."""

from __future__ import annotations

import json

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Rendered, WireEvent
from turnproof.wire.cassettes.recording_proxy import ProxyTarget
from turnproof.wire.emulator.live_responder import LiveService

WIRE = dialect("anthropic-messages")


def refusal(kind: str, message: str) -> Rendered:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
    return Rendered(400, {"content-type": "application/json"}, (WireEvent(body, "body"),))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("exceed_context_size_error", "request (10985 tokens) exceeds the available context size (8192 tokens)"),
        ("invalid_request_error", "unsupported content[].type"),
    ],
)
def test_what_an_imitation_lacks_is_its_own_fault_and_at_the_vendors_address_a_refusal(kind: str, message: str) -> None:
    def target() -> ProxyTarget:
        return ProxyTarget("https://api.example", "sk-1", WIRE)

    assert LiveService(target, imitates=True).look_at(WIRE, refusal(kind, message)).startswith("the service ")
    assert LiveService(target).look_at(WIRE, refusal(kind, message)) == ""
    assert LiveService(target, imitates=True).look_at(WIRE, refusal(kind, "temperature is no number")) == ""
