"""Every refusal of the gateway as a pair: the smallest illegal request, and its nearest legal neighbour.

A pair whose rule is only inferred (`enforced=False`) must be logged, and accepted. Messages of Claude models are given
as what stands within the message that goes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.dialects.anthropic_messages.signing import digest as digest_of_thought
from turnproof.dialects.antigravity import DIALECT, errors, rules
from turnproof.dialects.base import Refusal, World
from turnproof.dialects.gemini.signing import digest
from turnproof.messages import FunctionCall

from .. import refusals
from ..gemini.builders import model, user
from ..refusals import RefusalKit
from ..requests import Json
from .builders import (
    CLAUDE,
    GEMINI,
    OLD,
    OPENING,
    OTHER_CLAUDE,
    SENSOR,
    Ask,
    ask,
    call,
    claude,
    declaring,
    envelope,
    judged,
    refresh,
    refresh_token,
    response,
    thought,
    world,
)

SIGNATURE, FORGED = "c2lnbmVk", "bmV2ZXItaXNzdWVk"
OTHERS, MOVED = "c2lnbmVkLWJ5LWFub3RoZXI=", "c2lnbmVkLWZvci1hbm90aGVy"
THOUGHT_SIGNATURE, OTHERS_THOUGHT = "dGhvdWdodCBieSBDbGF1ZGU=", "dGhvdWdodCBieSBhbm90aGVy"


def judges() -> World:
    """The world of the pairs: the signatures of one call and one thought, each also by another model."""
    called, thinking = FunctionCall("", "read_sensor", {"bed": "3"}), digest_of_thought("Hm.")
    issued = {
        SIGNATURE: (digest(called), GEMINI),
        OTHERS: (digest(called), "gemini-3-pro-high"),
        MOVED: (digest(FunctionCall("", "read_sensor", {"bed": "4"})), GEMINI),
        THOUGHT_SIGNATURE: (thinking, CLAUDE),
        OTHERS_THOUGHT: (thinking, OTHER_CLAUDE),
    }
    return world(issued=issued)


@dataclass(frozen=True)
class Pair(refusals.Pair[Ask]):
    """A pair with what the refusals of this API mostly have."""

    kind: str = "INVALID_ARGUMENT"


_EXPECTED = (
    "Expected OAuth 2 access token, login cookie or other valid authentication credential. See "
    "https://developers.google.com/identity/sign-in/web/devconsole-project."
)
_REVOKED = "Token has been expired or revoked."
_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)


def _oauth() -> list[Pair]:
    good = refresh(refresh_token("main"))
    return [
        Pair("grant-type", refresh(refresh_token("main"), grant_type="password"), "Invalid grant_type: password", good,
             kind="unsupported_grant_type"),
        Pair("missing-parameter", refresh(refresh_token("main"), client_id=None),
             "Missing required parameter: client_id", good, kind="invalid_request"),
        Pair("client-secret", refresh(refresh_token("main"), client_secret=None), "client_secret is missing.", good,
             kind="invalid_request"),
        Pair("invalid-grant", refresh(refresh_token("revoked")), _REVOKED, good, kind="invalid_grant"),
        Pair("invalid-grant", refresh(refresh_token("main", "other-key")), _REVOKED, good, kind="invalid_grant",
             variant="never-issued"),
        Pair("invalid-grant", refresh("main"), _REVOKED, good, kind="invalid_grant", variant="no-token"),
    ]  # fmt: skip


def _caller() -> list[Pair]:
    unavailable = "The service is currently unavailable."
    return [
        Pair("not-found", ask().at("/v1internal/generateContent"), "Requested entity was not found.", ask(),
             status=404, kind="NOT_FOUND"),
        Pair("host-down", ask().at("/down-503/v1internal:generateContent"), unavailable,
             ask().at("/prod/v1internal:generateContent"), status=503, kind="UNAVAILABLE"),
        Pair("host-down", ask().at("/down-404/v1internal:generateContent"), "Requested entity was not found.",
             ask().at("/prod/v1internal:generateContent"), status=404, kind="NOT_FOUND", variant="404"),
        Pair("missing-token", ask().by(None), f"Request is missing required authentication credential. {_EXPECTED}",
             ask(), status=401, kind="UNAUTHENTICATED"),
        Pair("bad-token", ask().by("ya29.never-issued"),
             f"Request had invalid authentication credentials. {_EXPECTED}", ask(), status=401, kind="UNAUTHENTICATED"),
        Pair("bad-token", ask().by(refresh_token("main")),
             f"Request had invalid authentication credentials. {_EXPECTED}", ask(), status=401, kind="UNAUTHENTICATED",
             variant="a-refresh-token"),
        Pair("others-project", Ask(envelope({"contents": [OPENING]}, project="turnproof-second")),
             "Permission denied on resource project turnproof-second.", ask(), status=403, kind="PERMISSION_DENIED"),
        Pair("missing-project", Ask(envelope({"contents": [OPENING]}, project=None)), "No project was named",
             Ask(envelope({"contents": [OPENING]}, project="rising-shift-htf18")), status=403, kind="PERMISSION_DENIED",
             enforced=False),
    ]  # fmt: skip


def _unknown(name: str, where: str = "") -> str:
    at = f" at '{where}'" if where else ""
    return f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'


_PARAMETERS = "request.tools[0].function_declarations[0].parameters"


def _schema(**more: Any) -> Ask:
    return declaring(SENSOR | {"parameters": {"type": "object", "properties": {"bed": {"type": "string"} | more}}})


def _reading() -> list[Pair]:
    keywords: Mapping[str, Any] = {
        "const": "3",
        "$ref": "#/$defs/bed",
        "$defs": {},
        "definitions": {},
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "bed",
        "default": "3",
        "examples": ["3"],
    }
    strangers: Json = {"messages": [], "max_tokens": 9, "anthropic_version": "1", "system_instruction": {}}
    bed = f"{_PARAMETERS}.properties[0].value"
    plain = _schema(description="Which bed")
    return [
        Pair("malformed-json", Ask(b"[]"),
             'Invalid JSON payload received. Unknown name "": Root element must be a message.', ask()),
        *(Pair("unknown-name", _schema(**{keyword: value}), _unknown(keyword, bed), plain, variant=keyword)
          for keyword, value in keywords.items()),
        *(Pair("unknown-name", Ask(envelope({"contents": [OPENING]}, **{name: value})), _unknown(name), ask(),
               variant=name)
          for name, value in strangers.items()),
        Pair("not-repeating", _schema(type=["string", "null"]),
             f"Invalid JSON payload received. Unknown name \"type\" at '{bed}': Proto field is not repeating, cannot "
             "start list.", plain),
        Pair("wrong-type", ask(systemInstruction="You garden."),
             "Invalid value at 'request.system_instruction' "
             "(type.googleapis.com/google.cloud.aiplatform.master.Content), \"You garden.\"",
             ask(systemInstruction={"parts": [{"text": "You garden."}]})),
        Pair("wrong-type", declaring(SENSOR | {"parameters": {"type": "object", "properties": {"bed": "object"}}}),
             f"Invalid value at '{bed}' (type.googleapis.com/google.cloud.aiplatform.master.Schema), \"object\"", plain,
             variant="schema"),
        Pair("oneof", ask(user({"text": "a", "inlineData": {"mimeType": "image/png", "data": "cG5n"}})),
             "Invalid value at 'request.contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set "
             "'inlineData'", ask(user("a")), enforced=False),
        Pair("broken-base64", ask(user({"inlineData": {"mimeType": "image/png", "data": "!"}})),
             "Invalid value at 'request.contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed "
             'for "!"', ask(user({"inlineData": {"mimeType": "image/png", "data": "cG5n"}})), enforced=False),
    ]  # fmt: skip


_SCHEMA = "* GenerateContentRequest.tools[0].function_declarations[0].parameters"


def _takes(**schema: Any) -> Ask:
    """A tool whose parameters have such a schema."""
    parameters: Json = {"type": "OBJECT", "properties": {"bed": {"type": "STRING"}}, **schema}
    return ask(tools=[{"functionDeclarations": [SENSOR | {"parameters": parameters}]}])


def _target() -> list[Pair]:
    search: Json = {"googleSearch": {}}
    return [
        Pair("unknown-model", ask(model="claude-opus-4-5"), "Requested entity was not found.",
             ask(model="claude-opus-4-5-thinking"), status=404, kind="NOT_FOUND"),
        Pair("unknown-model", ask(model=f"models/{GEMINI}"), "Requested entity was not found.", ask(), status=404,
             kind="NOT_FOUND", variant="as-a-resource"),
        Pair("empty-content", ask(OPENING, model(), user("?")),
             "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.\n",
             ask(OPENING, model("Yes."), user("?")), enforced=False),
        Pair("empty-part", ask(user({})),
             "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one "
             "initialized field\n", ask(user(""))),
        Pair("no-contents", Ask(envelope({})), "* GenerateContentRequest.contents: contents is not specified\n", ask(),
             enforced=False),
        Pair("invalid-role", ask(OPENING | {"role": "assistant"}), "Please use a valid role: user, model.", ask(),
             enforced=False),
        Pair("tool-name", declaring(SENSOR | {"name": "mcp/query"}),
             f"* GenerateContentRequest.tools[0].function_declarations[0].name: {_NAME}\n",
             declaring(SENSOR | {"name": "mcp:query"})),
        Pair("tool-name", declaring(SENSOR | {"name": "a" * 65}),
             f"* GenerateContentRequest.tools[0].function_declarations[0].name: {_NAME}\n",
             declaring(SENSOR | {"name": "a" * 64}), variant="long"),
        Pair("duplicate-tool", declaring(SENSOR, SENSOR), "Duplicate function declaration found: read_sensor",
             declaring(SENSOR), enforced=False),
        Pair("search-with-functions", ask(tools=[search, {"functionDeclarations": [SENSOR]}]),
             "Request contains an invalid argument.", ask(tools=[search]), enforced=False),
        Pair("schema-required", _takes(required=["plot"]), f"{_SCHEMA}.required[0]: property is not defined\n",
             _takes(required=["bed"]), enforced=False),
        Pair("schema-items", _takes(properties={"bed": {"type": "ARRAY"}}),
             f"{_SCHEMA}.properties[bed].items: missing field.\n",
             _takes(properties={"bed": {"type": "ARRAY", "items": {"type": "ARRAY", "items": {"type": "STRING"}}}})),
        Pair("schema-items", _takes(properties={"bed": {"type": "ARRAY", "items": {"type": "ARRAY"}}}),
             f"{_SCHEMA}.properties[bed].items.items: missing field.\n", _takes(), variant="nested"),
        Pair("schema-enum", _takes(properties={"bed": {"type": "INTEGER", "enum": ["1"]}}),
             f"{_SCHEMA}.properties[bed].enum: only allowed for STRING type\n",
             _takes(properties={"bed": {"type": "STRING", "enum": ["1"]}}), enforced=False),
        Pair("setting-range", ask(generationConfig={"topK": 0}),
             "Unable to submit request because it has a topK value of 0 but the supported range is from 1 (inclusive) "
             "to 65 (exclusive). Update the value and try again.", ask(generationConfig={"topK": 1}), enforced=False),
        Pair("stop-sequences", ask(generationConfig={"stopSequences": list("abcdef")}),
             "Unable to submit request because it has a stopSequences value of 6 but the supported range is from 1 "
             "(inclusive) to 6 (exclusive). Update the value and try again.",
             ask(generationConfig={"stopSequences": list("abcde")}), enforced=False),
        Pair("temperature", ask(generationConfig={"temperature": 3}),
             "Unable to submit request because it has a temperature value of 3 but the supported range is from 0 "
             "(inclusive) to 2.0001 (exclusive). Update the value and try again.",
             ask(generationConfig={"temperature": 2}), enforced=False),
        Pair("json-with-tools",
             ask(model=OLD, tools=[{"functionDeclarations": [SENSOR]}],
                 generationConfig={"responseMimeType": "application/json"}),
             "Function calling with a response mime type: 'application/json' is unsupported",
             ask(model=OLD, generationConfig={"responseMimeType": "application/json"}), enforced=False),
    ]  # fmt: skip


def _loop(signature: str | None, *answers: Json) -> Ask:
    called = call(None, bed="3") | ({} if signature is None else {"thoughtSignature": signature})
    return ask(OPENING, model(called), user(*(answers or (response(None),))))


def _gemini() -> list[Pair]:
    good = _loop(SIGNATURE)
    turn = (
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    )
    answer = "Please ensure that function response turn comes immediately after a function call turn."
    count = (
        "Please ensure that the number of function response parts is equal to the number of function call parts of the "
        "function call turn."
    )
    last = "Please ensure that single turn requests end with a user role or the role field is empty."
    signed = call(None, bed="3") | {"thoughtSignature": SIGNATURE}
    return [
        Pair("call-turn", ask(model(signed), user(response(None))), turn, good),
        Pair("response-turn", ask(OPENING, model("41 %"), user(response(None))), answer, good, enforced=False),
        Pair("response-count", _loop(SIGNATURE, response(None), response(None)), count, good),
        Pair("last-is-model", ask(OPENING, model("41 %")), last, ask(OPENING, model("41 %"), user("?"))),
        Pair("dangling-call", _loop(SIGNATURE, {"text": "Never mind."}), answer, good, enforced=False),
        Pair("response-pairing", _loop(SIGNATURE, response(None, "water")),
             "Function response `water` has the id and name of no call of the function call turn.", good,
             enforced=False),
        Pair("missing-signature", _loop(None),
             "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
             "correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
             "function call `default_api:read_sensor` , position 2. Please refer to "
             "https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
             _loop("skip_thought_signature_validator")),
        Pair("invalid-signature", _loop(FORGED), "Unable to submit request because Thought signature is not valid",
             good),
        Pair("foreign-model-signature", _loop(OTHERS), "Thought signature was issued by gemini-3-pro-high", good,
             enforced=False),
        Pair("moved-signature", _loop(MOVED), "Thought signature was issued for another part", good, enforced=False),
    ]  # fmt: skip


def _claude() -> list[Pair]:
    called, answered = model(call(bed="3")), user(response())
    good = claude(OPENING, called, answered)
    first = "messages.1.content.0"
    dangling = (
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_vrtx_01A. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message."
    )

    def thinking(signature: str | None, text: str = "Hm.", *later: Json) -> Ask:
        return claude(OPENING, model(thought(text, signature), call(bed="3")), answered, *later)

    signed = thinking(THOUGHT_SIGNATURE)
    budget = {"thinkingConfig": {"thinkingBudget": 1024}}
    return [
        Pair("claude-budget", claude(generationConfig=budget | {"maxOutputTokens": 1024}),
             "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
             "https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
             claude(generationConfig=budget | {"maxOutputTokens": 1025})),
        Pair("claude-dangling-call", claude(OPENING, called, user("Never mind.")), dangling, good),
        Pair("claude-dangling-call", claude(OPENING, called, user(response("toolu_vrtx_01B"))), dangling, good,
             variant="another-id"),
        Pair("claude-text-before-result", claude(OPENING, called, user("Well.", response())), dangling,
             claude(OPENING, called, user(response(), "Well.")), enforced=False),
        Pair("claude-text-after-call", claude(OPENING, model(call(bed="3"), "I look."), answered), dangling,
             claude(OPENING, model("I look.", call(bed="3")), answered), enforced=False),
        Pair("claude-orphan-result", claude(OPENING, model("41 %"), answered),
             "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_vrtx_01A. Each "
             "`tool_result` block must have a corresponding `tool_use` block in the previous message.", good),
        Pair("claude-duplicate-call-id", claude(OPENING, model(call(bed="3"), call(bed="4")), answered),
             "messages.1.content.1: `tool_use` ids must be unique",
             claude(OPENING, model(call(bed="3"), call("b", bed="4")), user(response(), response("b"))),
             enforced=False),
        Pair("claude-duplicate-result", claude(OPENING, called, user(response(), response())),
             "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_vrtx_01A",
             good, enforced=False),
        Pair("claude-unsigned-thinking", thinking(None), f"{first}.thinking.signature: Field required", good),
        Pair("claude-invalid-signature", thinking(FORGED), f"{first}: Invalid `signature` in `thinking` block", signed),
        Pair("claude-invalid-signature", thinking("skip_thought_signature_validator"),
             f"{first}: Invalid `signature` in `thinking` block", signed, variant="stand-in"),
        Pair("claude-modified-thinking", thinking(THOUGHT_SIGNATURE, "Ha."),
             f"{first}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
             "These blocks must remain as they were in the original response.", signed, enforced=False),
        Pair("claude-foreign-model-signature", thinking(OTHERS_THOUGHT),
             f"{first}: `signature` was issued by {OTHER_CLAUDE}", signed, enforced=False),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_oauth(), *_caller(), *_reading(), *_target(), *_gemini(), *_claude())

WITHOUT_PAIR: Mapping[str, str] = {
    "unlicensed": "it depends on the account: see the tests of accounts",
    "unverified": "it depends on the account: see the tests of accounts",
    "quota": "it depends on what the account has asked before: see the tests of accounts",
    "unreachable-file": "it depends on what can be fetched; not seen from the gateway",
    "too-many-tokens": "a prompt of megabytes: tested by itself",
    "claude-prompt-too-long": "a prompt of a megabyte: tested by itself",
    "claude-dangling-last-without-tools": "what is handed on always has tools: Anthropic's case cannot be told apart",
}
"""Rules that no small request can break by itself, with the reason."""


def inner_message(refusal: Refusal) -> str:
    """The message; for a Claude model the one within it."""
    inner = errors.nested_error(refusal.message)
    return refusal.message if inner is None else str(inner["message"])


def judge(request: Ask) -> list[Refusal]:
    """All refusals of a request."""
    return judged(request, judges())


REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge,
    inferred_without_pair=frozenset(
        {"claude-dangling-last-without-tools", "claude-prompt-too-long", "unreachable-file"}
    ),
    words=inner_message,
    kinds={503: "UNAVAILABLE", 529: "UNAVAILABLE", 418: "INVALID_ARGUMENT"},
    meanings={
        "authentication": [(400, "invalid_grant", "Token has been expired or revoked.")],
        None: [
            (401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
            (429, "RESOURCE_EXHAUSTED", errors.EXHAUSTED),
            (400, "INVALID_ARGUMENT", '{"type":"error","error":{"message":"messages.1: no"}}'),
            (400, "INVALID_ARGUMENT", "{not json"), (400, "INVALID_ARGUMENT", '{"error":"a word"}'), (400, None, None),
        ],
        "context-limit": [
            (400, "INVALID_ARGUMENT",
             '{"type":"error","error":{"message":"prompt is too long: 2 tokens > 1 maximum"}}'),
        ],
    },
)  # fmt: skip
