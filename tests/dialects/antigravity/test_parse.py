"""A request of the gateway is read out of its envelope as the Gemini dialect reads what is in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import examples

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.antigravity.call import AntigravityCall
from turnproof.dialects.antigravity.fields import FIELDS
from turnproof.dialects.base import Call, Refusal
from turnproof.dialects.gemini import DIALECT as GEMINI_DIALECT
from turnproof.dialects.gemini.surfaces import Surface
from turnproof.messages import FunctionCall, Text, Thought, ToolResult

from ..gemini.builders import model, user
from .builders import (
    CLAUDE,
    GEMINI,
    KEY,
    OPENING,
    SENSOR,
    Ask,
    ask,
    call,
    claude,
    envelope,
    read,
    refresh,
    refresh_token,
    response,
    thought,
    world,
)


def test_what_is_in_the_envelope_is_read_as_the_gemini_api_reads_it() -> None:
    contents = [OPENING, model("I look.", call(None)), user(response(None), "And bed 4?")]
    request_body = {"contents": contents, "systemInstruction": {"parts": [{"text": "You garden."}]}}
    request_body |= {"tools": [{"functionDeclarations": [SENSOR]}], "generationConfig": {"maxOutputTokens": 9}}
    ours = read(Ask(envelope(request_body)))
    theirs = GEMINI_DIALECT.parse(
        Ask(request_body, f"/v1beta/models/{GEMINI}:generateContent").request(), world(any_key=True)
    )
    assert isinstance(theirs, Call)
    assert GEMINI_DIALECT.match_form(ours) == GEMINI_DIALECT.match_form(theirs)
    assert (ours.system, ours.tools, ours.settings) == (theirs.system, theirs.tools, theirs.settings)
    assert ours.body == theirs.body


def test_the_envelope_says_who_is_asked_and_for_which_project() -> None:
    found = read(ask())
    assert (found.operation, found.model, found.project) == ("generate", GEMINI, "turnproof-main")
    assert (found.stream, found.surface) == (False, Surface.CLOUD_CODE)


@pytest.mark.parametrize("alt", ["sse", None])
def test_a_stream_is_asked_for_by_the_verb_and_framed_by_alt(alt: str | None) -> None:
    request = Ask(ask().body, "/v1internal:streamGenerateContent", query={"alt": alt} if alt else {})
    found = read(request)
    assert (found.stream, found.sse) == (True, alt == "sse")


def test_fields_of_the_clients_that_differ_are_all_read() -> None:
    by_gemini_cli = envelope(
        {"contents": [OPENING], "session_id": "s", "labels": {"a": "b"}},
        userAgent=None, requestId=None, project=None, user_prompt_id="p", enabled_credit_types=["X"],
    )  # fmt: skip
    assert read(Ask(by_gemini_cli)).project == ""
    by_antigravity = envelope({"contents": [OPENING], "sessionId": "-1"}, requestType="agent")
    assert DIALECT.match_form(read(Ask(by_antigravity))) == DIALECT.match_form(read(Ask(by_gemini_cli)))


def test_thoughts_calls_and_results_of_claude_are_read_with_their_ids() -> None:
    found = read(claude(OPENING, model(thought("Hm.", "c2ln"), call(bed="3")), user(response())))
    assert [message.role for message in found.messages] == ["user", "model", "tool"]
    thought_part, called = found.messages[1].parts
    assert isinstance(thought_part, Thought)
    assert thought_part.text == "Hm."
    assert thought_part.provider_data is not None
    assert isinstance(called, FunctionCall)
    assert called.id == "toolu_vrtx_01A"
    (result,) = found.messages[2].parts
    assert isinstance(result, ToolResult)
    assert result.call_id == "toolu_vrtx_01A"


@pytest.mark.parametrize("where", ["", "/daily", "/autopush", "/prod", "/down-503"])
def test_a_host_is_the_first_folder_of_a_path(where: str) -> None:
    assert read(ask().at(f"{where}/v1internal:generateContent")).host == where.removeprefix("/")
    assert read(refresh(refresh_token("main")).at(f"{where}/token")).host == where.removeprefix("/")


def test_a_token_count_names_its_model_within() -> None:
    request = Ask({"request": {"model": f"models/{GEMINI}", "contents": [OPENING]}}, "/v1internal:countTokens")
    found = read(request)
    assert (found.operation, found.model) == ("count_tokens", GEMINI)
    assert [message.text for message in found.messages] == ["How moist is bed 3?"]


@pytest.mark.parametrize(
    ("verb", "operation"),
    [
        ("loadCodeAssist", "other"),
        ("onboardUser", "other"),
        ("retrieveUserQuota", "other"),
        ("fetchAdminControls", "other"),
        ("listExperiments", "other"),
        ("recordCodeAssistMetrics", "other"),
        ("fetchAvailableModels", "list_models"),
    ],
)
def test_requests_about_an_account_are_read_whatever_they_say(verb: str, operation: str) -> None:
    found = read(Ask({"metadata": {"ideType": "ANTIGRAVITY"}, "anything": 1}, f"/v1internal:{verb}"))
    assert (found.operation, found.verb, found.model) == (operation, verb, None)
    assert found.account is not None


def test_a_long_running_operation_is_asked_for_by_its_name() -> None:
    found = read(Ask(b"", "/v1internal/operations/onboard", "GET"))
    assert (found.verb, found.resource) == ("operations", "operations/onboard")


@pytest.mark.parametrize(
    "sendable",
    [
        pytest.param(ask().at("/v1internal/generateContent"), id="a slash for the colon"),
        pytest.param(ask().at(f"/v1beta/models/{GEMINI}:generateContent"), id="the Gemini API"),
        pytest.param(ask().at("/v1internal:embedContent"), id="unknown verb"),
        pytest.param(Ask(b"", "/v1internal:generateContent", "GET"), id="wrong method"),
        pytest.param(Ask(b"", "/token", "GET"), id="token by GET"),
        pytest.param(ask().at("/daily/eu/v1internal:generateContent"), id="two folders"),
    ],
)
def test_what_the_gateway_does_not_have_is_not_found(sendable: Ask) -> None:
    found = DIALECT.parse(sendable.request(), world())
    assert isinstance(found, Refusal)
    assert (found.rule.id, found.status, found.kind) == ("antigravity/not-found", 404, "NOT_FOUND")


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff", b"[]", b'"a"', b'{"a":' * 5000 + b"1" + b"}" * 5000],
    ids=["cut off", "no text", "a list", "a string", "too deep"],
)
def test_a_body_that_is_no_object_is_refused_as_such(body: bytes) -> None:
    found = DIALECT.parse(Ask(body).request(), world())
    assert isinstance(found, Refusal)
    assert (found.rule.id, found.status) == ("antigravity/malformed-json", 400)


def test_a_bad_token_is_named_before_a_body_that_cannot_be_read() -> None:
    found = DIALECT.parse(Ask(b"{").by("wrong").request(), world())
    assert isinstance(found, Refusal)
    assert found.status == 401


def test_a_managed_cache_that_is_named_serves_nothing() -> None:
    system = {"parts": [{"text": "You garden."}]}
    named, plain = (read(ask(systemInstruction=system, **more)) for more in ({"cachedContent": "cachedContents/a"}, {}))
    facts = DIALECT.models[GEMINI]
    assert DIALECT.new_cache().account(named, facts, 0.0)[0] == DIALECT.new_cache().account(plain, facts, 0.0)[0]


def test_a_call_without_model_or_request_can_be_read_and_has_neither() -> None:
    found = read(Ask({}))
    assert (found.model, found.messages, found.project) == ("", (), "")


def test_neither_key_nor_tokens_show_in_a_call() -> None:
    assert KEY not in repr(read(ask()))
    found = read(refresh(refresh_token("main")))
    assert found.account is not None
    assert found.account.name == "main"
    assert KEY not in repr(found)
    assert found.body is None


def test_a_plain_call_counts_as_nobodys() -> None:
    plain = Call("generate", CLAUDE, messages=(), system=(Text("a"),))
    ours = AntigravityCall.from_call(plain)
    assert (ours.model, ours.system, ours.account, ours.surface) == (CLAUDE, (Text("a"),), None, Surface.CLOUD_CODE)
    assert AntigravityCall.from_call(ours) is ours


# -- anything at all

_NAMES = st.sampled_from(sorted({name for fields in FIELDS.values() for name in fields}))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "user", "model", "AAAA", "STRING", CLAUDE]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)
_PARTS = st.lists(
    st.sampled_from([{"text": "a"}, thought("b"), thought("", "AAAA"), call(), call(None), response(), response(None)]),
    max_size=3,
)
_CONTENTS = st.lists(
    st.builds(lambda role, parts: {"role": role, "parts": parts}, st.sampled_from(["user", "model"]), _PARTS)
)


@settings(examples(30), suppress_health_check=list(HealthCheck))
@given(
    request=st.dictionaries(_NAMES, _VALUES) | st.builds(lambda contents: {"contents": contents}, _CONTENTS),
    more=st.dictionaries(_NAMES, _VALUES, max_size=2),
    name=st.sampled_from([GEMINI, CLAUDE, "gpt-oss-120b-medium", "nope"]),
    verb=st.sampled_from(["generateContent", "countTokens", "loadCodeAssist"]),
)
def test_whatever_is_sent_is_read_and_judged_or_refused(
    request: dict[str, Any], more: dict[str, Any], name: str, verb: str
) -> None:
    sent, here = Ask(envelope(request, name) | more, f"/v1internal:{verb}").request(), world()
    found = DIALECT.parse(sent, here)
    refusals = [found] if isinstance(found, Refusal) else DIALECT.validate(sent, found, here)
    for refusal in refusals:
        rendered = DIALECT.render_refusal(refusal, "")
        answer = DIALECT.read_response(rendered.status, rendered.headers, rendered.events[0].data)
        assert (answer.status, answer.error_kind) == (refusal.status, refusal.kind)
    if isinstance(found, Call) and found.model is not None and found.model in DIALECT.models:
        counted = DIALECT.new_cache().account(found, DIALECT.models[found.model], 0.0)[0]
        assert counted.whole == DIALECT.count(found)
