"""Errors of Ollama's server: what its rules rest on, and the body on each surface, alone and over HTTP."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import anthropic
import httpx2
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Evidence, Refusal, Rule
from turnproof.dialects.ollama import DIALECT, rules
from turnproof.dialects.ollama.models import full_name
from turnproof.dialects.rulebook import recording
from turnproof.wire.emulator import EmulatorServer, ServerRun

from ..anthropic_messages.asks import Ask, Pair
from ..responders import open_run_in
from .refusals import PAIRS, judge, world

NATIVE = dialect("ollama@native")


def test_only_what_is_inferred_or_happens_in_silence_is_not_enforced() -> None:
    silent = [rule for rule in rules.ALL if rule.silent]
    inferred = [rule for rule in rules.ALL if rule.evidence is Evidence.INFERRED]
    assert (silent, inferred) == ([rules.PROMPT_TRUNCATED], [rules.FORMAT])
    assert {pair.rule for pair in PAIRS if not pair.enforced} == {"prompt-truncated", "format"}


def test_no_refusal_of_the_door_that_nobody_recorded_rests_on_a_recording() -> None:
    found = [judge(pair.illegal)[0] for pair in PAIRS if pair.kind]
    assert not any(each.rule.evidence is Evidence.RECORDED for each in found)


def test_a_silent_rule_is_never_enforced_however_well_it_is_known() -> None:
    for silent in (False, True):
        rule = Rule("ollama/x", (recording("https://example.com"),), silent=silent)
        assert Refusal(rule, 400, "", "No.").enforced is not silent


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("gemma3:1b", "registry.ollama.ai/library/gemma3:1b"), ("llama3", "registry.ollama.ai/library/llama3:latest"),
        ("me/own", "registry.ollama.ai/me/own:latest"), ("hf.co/me/own:q4", "hf.co/me/own:q4"),
    ],
)  # fmt: skip
def test_a_model_is_refused_by_its_full_name(name: str, full: str) -> None:
    assert full_name(name) == full


# -- error bodies


def test_each_door_has_its_own_error_body() -> None:
    anthropics, native = (
        next(pair for pair in PAIRS if pair.id == name) for name in ("messages-unknown-model", "unknown-model-native")
    )
    enveloped, plain = (
        json.loads(DIALECT.render_refusal(judge(each.illegal)[0], "s").events[0].data) for each in (anthropics, native)
    )
    assert plain == {"error": "model 'qwen9' not found"}
    assert enveloped["error"] == {"type": "not_found_error", "message": "model 'qwen9' not found"}
    assert enveloped["type"] == "error"
    assert len(enveloped["request_id"]) == len("req_") + 24


def test_where_there_is_no_route_the_web_framework_answers() -> None:
    rendered = DIALECT.render_refusal(judge(PAIRS[0].illegal)[0], "s")
    assert (rendered.status, rendered.headers["content-type"]) == (404, "text/plain")
    assert rendered.events[0].data == b"404 page not found"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"), (401, "authentication_error"), (403, "permission_error"),
        (404, "not_found_error"), (429, "rate_limit_error"), (500, "api_error"), (503, "overloaded_error"),
        (529, "overloaded_error"), (418, "api_error"),
    ],
)  # fmt: skip
def test_a_status_has_a_kind_on_one_door_and_none_on_the_other(status: int, kind: str) -> None:
    assert DIALECT.error_kind(status)[0] == kind
    name, message = NATIVE.error_kind(status)
    assert name == ""
    rendered = NATIVE.render_refusal(Refusal(rules.BUSY, status, name, message), "s")
    answer = NATIVE.read_response(status, rendered.headers, rendered.events[0].data)
    assert (answer.error_kind, answer.error_message) == ("", message)


def test_an_error_in_mid_stream_has_the_framing_of_its_stream() -> None:
    line = DIALECT.error_event("", "out of memory", {"content-type": "application/x-ndjson"})
    assert (line.data, line.kind) == (b'{"error":"out of memory"}\n', "error")
    event = DIALECT.error_event("api_error", "out of memory", {"content-type": "text/event-stream"})
    assert event.data.startswith(b"event: error\ndata: {")
    assert json.loads(event.data.split(b"data: ")[1])["error"] == {"type": "api_error", "message": "out of memory"}


# -- over HTTP


@pytest.fixture(scope="module")
def run() -> Iterator[ServerRun]:
    with EmulatorServer() as server:
        yield open_run_in(world(), server, DIALECT)


def sent(run: ServerRun, sendable: Ask) -> tuple[int, bytes]:
    request = sendable.request()
    host, port = run.base_url.split("/")[2].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    try:
        connection.request(request.method, f"/run/{run.id}{request.path}", request.body, dict(request.headers))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.kind == ""], ids=attrgetter("id"))
def test_the_native_refusals_stand_over_http(pair: Pair, run: ServerRun) -> None:
    status, body = sent(run, pair.illegal)
    if pair.rule == "not-found":
        assert (status, body) == (404, b"404 page not found")
    elif pair.enforced:
        assert (status, json.loads(body)) == (pair.status, {"error": pair.message})
    else:
        assert status == 200
        assert run.exchanges[-1].findings[0].rule.id == f"ollama/{pair.rule}"
    assert sent(run, pair.legal)[0] == 200


@pytest.mark.parametrize(
    "pair", [pair for pair in PAIRS if pair.kind and pair.illegal.raw is None], ids=attrgetter("id")
)
def test_the_sdk_raises_the_refusals_of_the_door_that_is_made_for_it(pair: Pair, run: ServerRun) -> None:
    with (
        anthropic.Anthropic(base_url=run.base_url, api_key="any", max_retries=0, http_client=httpx2.Client()) as client,
        pytest.raises(anthropic.APIStatusError) as raised,
    ):
        client.post(pair.illegal.path, cast_to=httpx2.Response, body=pair.illegal.body)
    assert raised.value.status_code == pair.status
    if pair.rule != "not-found":
        body: Any = raised.value.body
        assert body["error"] == {"type": pair.kind, "message": pair.message}
    assert sent(run, pair.legal)[0] == 200
