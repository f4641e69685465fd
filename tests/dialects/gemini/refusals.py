"""The tables of refusals: each rule as a pair, what is accepted although one might think otherwise, and the kit."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.dialects.gemini import DIALECT, rules

from ..refusals import Accepted, RefusalKit, judge_by
from ..requests import Json
from .asks import Ask, ask, at, body, cached, counted, created, declared, loop, vertex, world
from .builders import (
    CACHE,
    HANDBOOK,
    MODEL,
    OLD,
    OPENING,
    PARAMETERS,
    TOOL,
    TOOLS,
    UNKNOWN_SIGNATURE,
    call,
    model,
    response,
    user,
)
from .pairs import PAIRS

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else the project sends: `error_kind(429)` and the faults of the emulator",
    "overloaded": "it depends on the load of the service: `error_kind(503)` and the faults of the emulator",
    "location": "it depends on where the caller is",
}
"""Rules that no request can break by itself, with the reason."""

_PNG: Json = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
_SKIP = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

ACCEPTED: tuple[Accepted[Ask], ...] = (
    Accepted("neighbouring-user-contents", ask(OPENING, user("And bed 4?"))),
    Accepted("neighbouring-model-contents", ask(OPENING, model("41 %."), model("Quite dry."), user("Thanks"))),
    Accepted(
        "calls-in-two-contents-answered-in-one",
        loop(model(call(id="a")), model(call(None, id="b")), user(response(id="a"), response(id="b"))),
    ),
    Accepted("a-text-split-off-its-call", loop(model("Let me look."), model(call()), user(response()))),
    Accepted("responses-in-two-contents", loop(model(call(), call(None)), user(response()), user(response()))),
    Accepted("a-response-beside-text", loop(model(call()), user(response(), "And bed 4?"))),
    Accepted("text-in-front-of-a-response", loop(model(call()), user("Here:", response()))),
    Accepted("a-response-beside-an-image", loop(model(call()), user(response(), _PNG))),
    Accepted("an-image-within-a-response", loop(model(call()), user(response(parts=[_PNG])))),
    Accepted("an-empty-response", loop(model(call()), user(response({})))),
    Accepted("empty-texts", ask(user(""), model(""), user(""))),
    Accepted("the-sentinel-encoded", loop(model(call(_SKIP)), user(response()))),
    Accepted("the-sentinel-plain", loop(model(call("skip_thought_signature_validator")), user(response()))),
    Accepted("the-other-sentinel", loop(model(call("context_engineering_is_the_way_to_go")), user(response()))),
    Accepted(
        "no-signature-in-an-older-turn",
        loop(model(call(None)), user(response()), model("41 %."), user("And now?"), model(call()), user(response())),
    ),
    Accepted(
        "an-unknown-signature-in-an-older-turn", loop(model(call(UNKNOWN_SIGNATURE)), user(response()), user("So?"))
    ),
    Accepted(
        "an-unknown-signature-on-a-text",
        loop(model({"text": "Let me look.", "thoughtSignature": UNKNOWN_SIGNATURE}, call()), user(response())),
    ),
    Accepted("no-signature-before-gemini-3", at(OLD, loop(model(call(None)), user(response())))),
    Accepted("ids-on-a-model-that-gives-none", at(OLD, loop(model(call(None, id="a")), user(response(id="a"))))),
    Accepted(
        "a-thought-with-nothing-but-its-signature", ask(OPENING, model({"thought": True}, "41 %."), user("Thanks"))
    ),
    Accepted("the-first-content-from-the-model", ask(model("Welcome."), OPENING)),
    Accepted("the-old-role-of-responses", loop(model(call()), user(response()) | {"role": "function"})),
    Accepted("one-value-for-a-list", Ask({"contents": {"parts": {"text": "Hello"}}})),
    Accepted(
        "snake-case",
        Ask(
            {
                "contents": [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AAAA"}}]}],
                "system_instruction": user("Be brief."),
                "tools": [{"function_declarations": [{"name": "water", "parameters_json_schema": {"$schema": "x"}}]}],
                "generation_config": {"max_output_tokens": 10, "stop_sequences": None},
            }
        ),
    ),
    Accepted("types-by-number", declared(TOOL | {"parameters": {"type": 6, "properties": {"bed": {"type": 1}}}})),
    Accepted("types-in-lower-case", declared(TOOL | {"parameters": PARAMETERS | {"type": "object"}})),
    Accepted("an-object-without-properties", declared(TOOL | {"parameters": {"type": "OBJECT", "properties": {}}})),
    Accepted("a-long-tool-name", declared(TOOL | {"name": "a" * 100})),
    Accepted(
        "json-beside-tools-on-vertex",
        vertex(at(OLD, ask(tools=TOOLS, generationConfig={"responseMimeType": "application/json"}))),
    ),
    Accepted("cached-contents-sent-again", cached(contents=[user(HANDBOOK), OPENING])),
    Accepted("the-cache-ends-with-the-user", cached(contents=[user("Summarise.")])),
    Accepted("a-cache-with-a-tool-config", created(toolConfig={"functionCallingConfig": {"mode": "ANY"}})),
    Accepted("counting-what-is-no-whole-conversation", counted(contents=[OPENING, model("It is")])),
    Accepted("counting-the-vertex-way", vertex(counted(**body(systemInstruction=user("Be brief."), tools=TOOLS)))),
    Accepted(
        "counting-with-a-cache", counted(generateContentRequest=body() | {"model": MODEL, "cachedContent": CACHE})
    ),
    Accepted("streaming", Ask(body(), f"/v1/models/{MODEL}:streamGenerateContent", query={"alt": "sse"})),
    Accepted("an-alias", at("gemini-flash-latest", ask())),
    Accepted("listing-models-on-vertex", Ask({}, "/v1beta1/publishers/google/models", "GET")),
)


judge = judge_by(DIALECT, world)

REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge, ACCEPTED,
    several=(loop(model(call()), user("Never mind."), model("It is")), (True, False)),
    wrong_key=Ask(raw=b"{", headers={"x-goog-api-key": "wrong"}), bad_key=rules.BAD_KEY,
    kinds={
        400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
        413: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL", 503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED", 418: "INVALID_ARGUMENT", 529: "INTERNAL",
    },
    meanings={
        None: [(500, "INTERNAL", "API key not valid. CachedContent not found"), (400, None, None)],
    },
)  # fmt: skip
