"""What a real service did wrong, by what it answers: a part of the API that an imitation lacks is nobody's mistake."""

from __future__ import annotations

import http.client
import json

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, Rendered, WireEvent
from turnproof.wire.cassettes.recording_proxy import ProxyTarget
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.live_answers import LiveAnswers
from turnproof.wire.emulator.live_responder import LiveResponder, LiveService

WIRE = dialect("anthropic-messages")
CALL = Call("generate")


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

    assert LiveService(target, imitates=True).look_at(WIRE, CALL, refusal(kind, message)).startswith("the service ")
    assert LiveService(target).look_at(WIRE, CALL, refusal(kind, message)) == ""
    assert LiveService(target, imitates=True).look_at(WIRE, CALL, refusal(kind, "temperature is no number")) == ""


def test_a_stranger_with_another_key_is_refused_and_the_service_is_not_asked() -> None:
    def target() -> ProxyTarget:
        return ProxyTarget("https://api.invalid", "sk-real", WIRE)

    with EmulatorServer() as server:
        run = server.open_run(WIRE, LiveResponder(LiveService(target), LiveAnswers()))
        run.judges = False
        body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
        headers = {"x-api-key": "sk-of-a-stranger", "anthropic-version": "2023-06-01"}
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("POST", f"/run/{run.id}/v1/messages", json.dumps(body), headers)
        assert connection.getresponse().status == 401
        connection.close()
        assert run.service_fault == ""
        assert run.exchanges[0].origin == ""
