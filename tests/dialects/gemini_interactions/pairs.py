"""Every refusal of the Interactions API as a pair: the smallest illegal request, and its nearest legal neighbour.

Data only, so that the same table judges the dialect alone and the emulator behind a real socket. A pair whose rule is
only documented or inferred (`enforced=False`) must be logged, and accepted.
"""

from __future__ import annotations

from functools import partial

from .asks import Ask, ask, body, loop, on
from .asks import Pair as AnyPair
from .builders import (
    FAILED,
    FLEETING,
    KEY,
    MODEL,
    OPENING,
    RUNNING,
    SIGNED,
    SIGNED_BY_OTHER,
    SIGNED_CALL,
    SIGNED_ELSEWHERE,
    STORED,
    call,
    result,
    thought,
    user,
)

Pair = partial(AnyPair, kind="invalid_request")
THANKS = user("Thanks")
SIGNED_RESULT = result("call_signed")
_INVALID = "Request contains an invalid argument."


def _denial(name: str) -> str:
    return f"You do not have permission to access the interaction {name} or it may not exist."


_WHO_AND_WHERE = (
    Pair(
        "missing-key", Ask(body(), headers={"x-goog-api-key": None}),
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
        "form of API consumer identity to call this API.",
        Ask(body(), headers={"x-goog-api-key": None}, query={"key": KEY}), status=403, kind="permission_denied",
    ),
    Pair(
        "bad-key", Ask(body(), headers={"x-goog-api-key": "wrong"}), "API key not valid. Please pass a valid API key.",
        ask(),
    ),
    Pair(
        "not-found", Ask(body(), path="/v1beta/interaction"),
        "The requested URL /v1beta/interaction was not found on this server.", ask(), status=404, kind="not_found",
        enforced=False,
    ),
    Pair(
        "method-not-allowed", Ask(body(), method="PUT"), "/v1beta/interactions takes no PUT.", ask(), status=405,
        enforced=False,
    ),
)  # fmt: skip

_BODY = (
    Pair("malformed-json", Ask(raw=b"{"), "The request body is no JSON.", ask(), enforced=False),
    Pair(
        "malformed-json", Ask(raw=b"[]"), "The request body is no JSON object.", ask(), enforced=False, variant="list",
    ),
    Pair(
        "wrong-type", Ask({"model": MODEL, "input": 7}),
        "Invalid value at `input`: expected a text, a content, or a list of contents or steps.",
        Ask({"model": MODEL, "input": "7"}), enforced=False,
    ),
    Pair(
        "wrong-type", loop(call(), {**result(), "result": 41}),
        "Invalid value at `input[2].result`: expected a list of contents.", loop(call(), result(value="41")),
        enforced=False, variant="result",
    ),
    Pair(
        "wrong-type", ask(stream="yes"), "Invalid value at `stream`: expected a boolean.", ask(stream=True),
        enforced=False, variant="flag",
    ),
    Pair(
        "missing-model", Ask({"input": "Hello"}), "Either `model` or `agent` has to be given.",
        Ask({"input": "Hello", "agent": "deep-research-pro-preview-12-2025", "background": True}), enforced=False,
    ),
    Pair(
        "unknown-model", ask(model="gemini-9"),
        "models/gemini-9 is not found for API version v1beta, or is not supported for interactions. Call ListModels to "
        "see the list of available models and their supported methods.",
        ask(), status=404, kind="not_found",
    ),
    Pair("missing-input", Ask({"model": MODEL}), "`input` is required.", ask(), enforced=False),
    Pair("unknown-field", ask(messages=[]), "Unknown field `messages`.", ask(labels={"a": "b"}), enforced=False),
    Pair(
        "unknown-field", ask(generation_config={"top_k": 4}), "Unknown field `generation_config.top_k`.",
        ask(generation_config={"top_p": 0.4}), enforced=False, variant="setting",
    ),
    Pair(
        "unknown-step", loop({"type": "assistant", "content": []}), "Unknown step type 'assistant'.",
        loop({"type": "model_output", "content": []}), enforced=False,
    ),
    Pair(
        "setting-choice", ask(generation_config={"thinking_level": "extreme"}),
        "Invalid value 'extreme' for `generation_config.thinking_level`.",
        ask(generation_config={"thinking_level": "high"}), enforced=False,
    ),
)  # fmt: skip

_STORE = (
    Pair(
        "unknown-interaction", ask(THANKS, previous_interaction_id="v1_gone"), _denial("v1_gone"),
        ask(THANKS, previous_interaction_id=STORED), status=403, kind="permission_denied",
    ),
    Pair(
        "unknown-interaction", ask(THANKS, previous_interaction_id=FLEETING), _denial(FLEETING),
        ask(THANKS, previous_interaction_id=STORED), status=403, kind="permission_denied", variant="not-stored",
    ),
    Pair(
        "unknown-interaction", on("v1_gone"), _denial("v1_gone"), on(STORED), status=403, kind="permission_denied",
        variant="asked-for",
    ),
    Pair(
        "unfinished-previous", ask(THANKS, previous_interaction_id=FAILED),
        f"The interaction {FAILED} has the status 'failed'.", ask(THANKS, previous_interaction_id=STORED),
        enforced=False,
    ),
    Pair(
        "background-unstored", ask(background=True, store=False), "`background` requires `store`.",
        ask(background=True), enforced=False,
    ),
    Pair(
        "cancel-of-foreground", on(f"{STORED}/cancel", "POST"), f"The interaction {STORED} is not in progress.",
        on(f"{RUNNING}/cancel", "POST"), enforced=False,
    ),
    Pair(
        "resume-without-stream", on(STORED, last_event_id="evt_1"), "`last_event_id` requires `stream`.",
        on(STORED, last_event_id="evt_1", stream="true"), enforced=False,
    ),
)  # fmt: skip

_CONVERSATION = (
    Pair(
        "unsigned-thought", loop(thought("", "Hm."), call(), result()), _INVALID, loop(thought(), call(), result()),
    ),
    Pair(
        "unsigned-thought", loop(thought(None, "Hm."), call(), result()), _INVALID, loop(call(), result()),
        variant="none",
    ),
    Pair(
        "call-without-its-thought", loop(SIGNED_CALL, SIGNED_RESULT), _INVALID,
        loop(thought(), SIGNED_CALL, SIGNED_RESULT),
    ),
    Pair(
        "foreign-signature", loop(thought(SIGNED_BY_OTHER), call(), result()),
        "The signature of a thought was issued by gemini-2.5-flash.", loop(thought(SIGNED), call(), result()),
        enforced=False,
    ),
    Pair(
        "invalid-signature", loop(thought(SIGNED_ELSEWHERE), call(), result()),
        "The signature of a thought was not issued here.", loop(thought(SIGNED), call(), result()), enforced=False,
    ),
    Pair(
        "call-without-result", loop(call(), THANKS), "The function call call_1 has no function result.",
        loop(call(), result(), THANKS), enforced=False,
    ),
    Pair(
        "result-without-call", ask(OPENING, result()), "No function call has the id call_1.",
        loop(call(), result()), enforced=False,
    ),
    Pair(
        "too-many-tokens", ask(user("a" * 4_300_000)),
        "The input token count (1075001) exceeds the maximum number of tokens allowed (1048576).",
        ask(user("a" * 4_100_000)),
    ),
)  # fmt: skip

PAIRS: tuple[AnyPair, ...] = (*_WHO_AND_WHERE, *_BODY, *_STORE, *_CONVERSATION)
