"""The tables of refusals: each rule as a pair, what is accepted although one might think otherwise, and the kit."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.dialects.gemini_interactions import DIALECT, rules

from ..refusals import Accepted, RefusalKit, judge_by
from .asks import Ask, ask, loop, on, world
from .builders import CALLED, MODEL, OPENING, OTHER, SIGNED_CALL, call, function, model, result, text, thought, user
from .pairs import PAIRS

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else the project sends: `error_kind(429)` and the faults of the emulator",
    "resume-position": "it is about a stream that was sent before: `test_store.py`",
}
"""Rules that no request can break by itself, with the reason."""

ACCEPTED: tuple[Accepted[Ask], ...] = (
    Accepted("text-alone", Ask({"model": MODEL, "input": "Hello"})),
    Accepted("one-content", Ask({"model": MODEL, "input": text("Hello")})),
    Accepted("contents", ask(text("Hello"), {"type": "image", "data": "cG5n", "mime_type": "image/png"})),
    Accepted("first-step-of-the-model", ask(model("Welcome."), OPENING)),
    Accepted("neighbours-of-one-role", ask(OPENING, user("And bed 4?"))),
    Accepted("results-in-any-order", loop(call("a"), call("b"), result("b"), result("a"))),
    Accepted("call-from-elsewhere-without-a-thought", loop(call(), result())),
    Accepted("signed-call-at-a-model-that-did-not-make-it", loop(SIGNED_CALL, result("call_signed"), model=OTHER)),
    Accepted("old-thought-left-out", loop(SIGNED_CALL, result("call_signed"), model("41 %"), user("Thanks"))),
    Accepted("result-of-a-held-call", ask(result("call_signed"), previous_interaction_id=CALLED)),
    Accepted("thought-without-a-call", loop(thought("", "Hm."), model("41 %"), user("Thanks"))),
    Accepted("result-as-an-object", loop(call(), result(value={"percent": 41}))),
    Accepted("result-as-contents", loop(call(), result(value=[text("41 %")]))),
    Accepted("failed-result", loop(call(), result(value="wet", is_error=True))),
    Accepted("tool-of-the-service", ask(tools=[{"type": "google_search"}])),
    Accepted("tool-without-parameters", ask(tools=[{"type": "function", "name": "f"}])),
    Accepted("forced-tool", ask(tools=[function()], generation_config={"tool_choice": "any"})),
    Accepted("alias", ask(model="gemini-flash-latest")),
    Accepted("models", Ask(path="/v1beta/models", method="GET")),
    Accepted("deleted", on(CALLED, "DELETE")),
)  # fmt: skip

judge = judge_by(DIALECT, world)

REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge, ACCEPTED, inferred_without_pair=frozenset({"resume-position"}),
    several=(loop(thought(""), call(), messages=[]), (True, False, False)),
    wrong_key=Ask(raw=b"{", headers={"x-goog-api-key": "wrong"}), bad_key=rules.BAD_KEY,
    kinds={400: "invalid_request", 403: "permission_denied", 418: "invalid_request", 429: "too_many_requests",
           502: "internal_error", 503: "unavailable"},
    meanings={
        "authentication": [(400, "invalid_request", "API key not valid. Please pass a valid API key.")],
        "context-limit": [
            (400, "invalid_request", "The input token count (7) exceeds the maximum number of tokens allowed (5)."),
        ],
        "rate-limit": [(200, "too_many_requests", "Slow down")],
        "overloaded": [(200, "unavailable", "Busy")],
        None: [(400, "invalid_request", "maxOutputTokens: too many tokens"), (429, "too_many_requests", "Slow down")],
    },
)  # fmt: skip
