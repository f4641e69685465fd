"""Each rule of the Responses API, from both sides: what it refuses, in which words, and what it must leave alone.

No recording of this API is at hand: the words are those that the rules' sources quote.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import Call, Evidence, Refusal
from turnproof.dialects.openai_responses import DIALECT, rules

from .builders import (
    ASKED,
    FLEETING,
    OLD,
    STORED,
    STORED_REASONING,
    ask,
    assistant,
    body,
    call,
    copilot,
    function,
    loop,
    output,
    reasoning,
    user,
)
from .pairs import PAIRS, WITHOUT_PAIR, Ask, Pair, world

encode = msgspec.json.encode
PREFIX = "openai-responses/"


def judged(asked: Ask) -> list[Refusal]:
    """All refusals of a request, whether it fell at reading or at judging."""
    at = world()
    request = asked.request(encode)
    read = DIALECT.parse(request, at)
    return DIALECT.validate(request, read, at) if isinstance(read, Call) else [read]


@pytest.mark.parametrize("pair", PAIRS, ids=attrgetter("id"))
def test_the_illegal_request_is_refused_in_the_words_of_the_service(pair: Pair) -> None:
    found = judged(pair.illegal)
    assert found, "nothing was refused"
    first = found[0]
    assert first.rule.id == PREFIX + pair.rule
    assert (first.status, first.kind, first.message) == (pair.status, pair.kind, pair.message)
    assert first.enforced is pair.enforced


@pytest.mark.parametrize("pair", PAIRS, ids=attrgetter("id"))
def test_the_nearest_legal_neighbour_is_accepted(pair: Pair) -> None:
    assert [each.message for each in judged(pair.legal)] == []


@dataclass(frozen=True)
class Accepted:
    """A request that must pass."""

    id: str
    ask: Ask


ACCEPTED = (
    Accepted("string-input", Ask({"model": "gpt-5", "input": "Hello"})),
    Accepted("input-without-instructions-or-tools", ask()),
    Accepted("first-message-from-the-assistant", ask(assistant("Welcome."), ASKED)),
    Accepted("assistant-content-as-a-string", ask(ASKED, {"role": "assistant", "content": "41 %"}, user("Thanks"))),
    Accepted("refusal-goes-back",
             ask(ASKED, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]})),
    Accepted("neighbours-of-one-role", ask(ASKED, user("And bed 4?"))),
    Accepted("developer-first", ask({"role": "developer", "content": "Be brief."}, ASKED)),
    Accepted("outputs-in-any-order", loop(call("a"), call("b"), output("b"), output("a"))),
    Accepted("output-after-an-interjection", loop(call(), user("Hurry."), output())),
    Accepted("call-without-item-id", loop(call(), output())),
    Accepted("item-id-that-was-never-issued", loop(call(id="fc_elsewhere"), output())),
    Accepted("whole-loop-with-ids", loop(*STORED, output("call_s"))),
    Accepted("stored-reasoning-by-id-alone", loop(reasoning(STORED_REASONING, None), STORED[1], output("call_s"))),
    Accepted("reasoning-without-id", loop(reasoning(None), call(), output())),
    Accepted("readable-reasoning-of-an-open-model",
             loop(reasoning("rs_1", None, content=[{"type": "reasoning_text", "text": "Hm."}]), call(), output())),
    Accepted("stateless-loop", ask(ASKED, *FLEETING, output("call_f"), store=False,
                                   include=["reasoning.encrypted_content"])),
    Accepted("arguments-that-are-no-json", loop(call(arguments='{"bed": '), output())),
    Accepted("output-as-a-list", loop(call(), output(said=[{"type": "input_text", "text": "41 %"}]))),
    Accepted("empty-output", loop(call(), output(said=""))),
    Accepted("tool-without-parameters", ask(tools=[{"type": "function", "name": "f", "parameters": None}])),
    Accepted("tool-of-the-service", ask(tools=[{"type": "web_search"}])),
    Accepted("items-of-unknown-types", loop({"type": "hologram", "id": "h_1", "anything": 1})),
    Accepted("dated-model", ask(model="gpt-5-2025-08-07")),
    Accepted("no-sampling-on-a-model-that-takes-it", ask(model=OLD, temperature=0.2, top_p=0.9)),
    Accepted("count-without-a-model", Ask({"input": "Hello"}, path="/v1/responses/input_tokens")),
    Accepted(
        "codex-cli",
        ask({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]}, ASKED,
            stream=True, store=False, include=["reasoning.encrypted_content"], prompt_cache_key="thread",
            client_metadata={"turn": "1"}, parallel_tool_calls=True, tool_choice="auto"),
    ),
    Accepted("unknown-field-at-copilot", copilot(intent=True)),
    Accepted("copilot", copilot(tools=[function()])),
)  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED, ids=attrgetter("id"))
def test_what_the_service_accepts_is_accepted(case: Accepted) -> None:
    assert [each.message for each in judged(case.ask)] == []


def test_every_rule_has_a_pair_or_a_reason_why_not() -> None:
    named = {rule.id.removeprefix(PREFIX) for rule in rules.ALL}
    assert named == {pair.rule for pair in PAIRS} | set(WITHOUT_PAIR)
    assert len(named) == len(rules.ALL)
    assert all(rule.source for rule in rules.ALL)


def test_only_inferred_rules_are_not_enforced() -> None:
    inferred = {rule.id.removeprefix(PREFIX) for rule in rules.ALL if rule.evidence is Evidence.INFERRED}
    assert inferred == {pair.rule for pair in PAIRS if not pair.enforced}


def test_enforced_refusals_stand_in_front_of_inferred_ones() -> None:
    both = ask(ASKED, output(), call(), tools=[function("a.b"), function("r" * 65)])
    assert [each.enforced for each in judged(both)] == [True, False, False]


def test_a_wrong_key_is_named_before_a_broken_body() -> None:
    assert judged(Ask(raw=b"{", headers={"authorization": "Bearer wrong"}))[0].rule is rules.BAD_KEY


def test_no_key_stands_in_a_refusal() -> None:
    key = "sk-proj-0123456789abcdef"
    message = judged(Ask(body(), headers={"authorization": f"Bearer {key}"}))[0].message
    assert key not in message
    assert "***" in message


def test_a_legal_name_may_not_be_judged_twice() -> None:
    assert [each.rule for each in judged(ask(tools=[function("a.b")]))] == [rules.TOOL_NAME]


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.enforced], ids=attrgetter("id"))
def test_an_error_body_has_all_four_members(pair: Pair) -> None:
    first = judged(pair.illegal)[0]
    rendered = DIALECT.render_refusal(first, "seed")
    assert rendered.status == pair.status
    if not pair.illegal.path.startswith("/v1/"):
        return
    error: Any = msgspec.json.decode(rendered.events[0].data)["error"]
    coded = pair.kind not in ("invalid_request_error",)
    assert error["message"] == pair.message
    assert error["type"] == "invalid_request_error"
    assert error["code"] == (pair.kind if coded else None)
    assert error["param"] == pair.param


def test_copilot_says_it_in_its_own_form() -> None:
    refusal = judged(copilot(ASKED, call()))[0]
    assert msgspec.json.decode(DIALECT.render_refusal(refusal, "s").events[0].data) == {
        "error": {"message": "No tool output found for function call call_1.", "code": "invalid_request_body"}
    }
    plain = DIALECT.render_refusal(judged(copilot(editor=None))[0], "s")
    assert plain.headers["content-type"].startswith("text/plain")
    assert plain.events[0].data == b"bad request: missing Editor-Version header for IDE auth"


@pytest.mark.parametrize(
    ("status", "kind", "error_type"),
    [
        (400, "invalid_request_error", "invalid_request_error"), (401, "invalid_api_key", "invalid_request_error"),
        (403, "permission_error", "permission_error"), (404, "not_found_error", "not_found_error"),
        (429, "rate_limit_exceeded", "tokens"), (500, "server_error", "server_error"),
        (503, "server_is_overloaded", "server_error"), (529, "server_error", "server_error"),
        (418, "invalid_request_error", "invalid_request_error"),
    ],
)  # fmt: skip
def test_each_status_has_its_error(status: int, kind: str, error_type: str) -> None:
    found, message = DIALECT.error_kind(status)
    assert found == kind
    refusal = Refusal(rules.RATE_LIMIT, status, found, message, retry_after=2.0)
    rendered = DIALECT.render_refusal(refusal, "s")
    error: Any = msgspec.json.decode(rendered.events[0].data)["error"]
    assert (error["type"], error["param"]) == (error_type, None)
    assert rendered.headers["retry-after"] == "2"


@pytest.mark.parametrize(
    ("status", "kind", "message", "meaning"),
    [
        (400, "context_length_exceeded", "too long", "context-limit"),
        (400, "model_max_prompt_tokens_exceeded", "too long", "context-limit"),
        (400, None, "prompt token count of 391491 exceeds the limit of 128000", "context-limit"),
        (200, "rate_limit_exceeded", "Slow down", "rate-limit"),
        (200, "server_is_overloaded", "Busy", "overloaded"),
        (400, "invalid_prompt", "Flagged", "content-filter"),
        (400, "invalid_encrypted_content", "could not be verified", None),
        (400, "string_above_max_length", "string too long. maximum length 64", None),
        (429, "insufficient_quota", "You exceeded your current quota", None),
    ],
)
def test_an_error_means_what_its_code_says(status: int, kind: str | None, message: str, meaning: str | None) -> None:
    assert DIALECT.error_meaning(status, kind, message) == meaning
