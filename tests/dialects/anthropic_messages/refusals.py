"""The tables of refusals: each rule as a pair, what is accepted although one might think otherwise, and the kit."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.dialects.anthropic_messages import DIALECT, rules

from ..refusals import Accepted, RefusalKit, judge_by
from .asks import Ask, ask, body, counted, loop, new_version, world
from .builders import (
    MODEL,
    NEWEST,
    OPENING,
    REDACTED,
    SIGNATURE_OF_NOTHING,
    THINKING,
    TOOL,
    assistant,
    call,
    image,
    mark,
    result,
    system,
    text,
    thinking,
    user,
)
from .pairs import PAIRS

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else the organisation sends: `error_kind(429)` and the faults of the emulator",
    "overloaded": "it depends on the load of the service: `error_kind(529)` and the faults of the emulator",
}
"""Rules that no request can break by itself, with the reason."""

_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "moist"}}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
_PNG = image({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="})

ACCEPTED: tuple[Accepted[Ask], ...] = (
    Accepted("first-message-from-the-assistant", ask(assistant("Welcome."), OPENING)),
    Accepted(
        "merged-calls-answered-together",
        ask(OPENING, assistant(call("a")), assistant(call("b")), user(result("a"), result("b")), tools=[TOOL]),
    ),
    Accepted(
        "results-in-two-user-messages",
        ask(OPENING, assistant(call("a"), call("b")), user(result("a")), user(result("b")), tools=[TOOL]),
    ),
    Accepted(
        "same-id-in-different-turns",
        ask(OPENING, assistant(call()), user(result()), assistant("41 %"), OPENING, assistant(call()), user(result())),
    ),
    Accepted("foreign-ids", ask(OPENING, assistant(call("fc_0a-B")), user(result("fc_0a-B")))),
    Accepted("blank-assistant-text", ask(OPENING, assistant(text(" "), call()), user(result()))),
    Accepted("result-content-string", loop(result(content="41 %"))),
    Accepted("result-content-blocks", loop(result(content=[text("41 %"), _PNG]))),
    Accepted("result-content-empty-list", loop(result(content=[]))),
    Accepted("result-content-absent", loop({"type": "tool_result", "tool_use_id": "call_1"})),
    Accepted("result-flagged-as-error", loop(result(is_error=True))),
    Accepted("text-after-results", loop(result(), text("And bed 4?"))),
    Accepted("thinking-back-while-off", ask(OPENING, assistant(thinking(), "41 %"), user("Thanks"))),
    Accepted("thinking-absent-while-on-but-no-loop", ask(OPENING, assistant("41 %"), user("Thanks"), **THINKING)),
    Accepted(
        "redacted-opens-the-loop",
        ask(OPENING, assistant({"type": "redacted_thinking", "data": REDACTED}, call()), user(result()), **THINKING),
    ),
    Accepted(
        "later-calls-of-a-loop-without-thinking",
        ask(
            OPENING,
            assistant(thinking(), call("a")),
            user(result("a")),
            assistant(call("b")),
            user(result("b")),
            **THINKING,
        ),
    ),
    Accepted(
        "adaptive-thinking-does-not-demand-it",
        ask(OPENING, assistant(call()), user(result()), model=NEWEST, thinking={"type": "adaptive"}),
    ),
    Accepted("prefill-on-4-5", ask(OPENING, assistant("Bed 3 is"), model="claude-haiku-4-5")),
    Accepted("empty-final-assistant-message", ask(OPENING, assistant())),
    Accepted("paused-turn-goes-back", ask(OPENING, assistant("Searching.", _SEARCH), model=NEWEST)),
    Accepted(
        "caller-of-a-call-sent-back",
        ask(OPENING, assistant(call(caller={"type": "direct"})), user(result()), tools=[TOOL]),
    ),
    Accepted("server-tool-beside-text", ask(OPENING, assistant(_SEARCH, _FOUND, "41 %"), user("Thanks"))),
    Accepted("unknown-block-types", ask(user({"type": "hologram", "anything": 1}, "Look."))),
    Accepted(
        "system-after-results-at-the-end",
        ask(OPENING, assistant(call()), user(result()), system("Be brief."), model=NEWEST),
    ),
    Accepted("system-string-blank", ask(system=" ")),
    Accepted("null-cache-control", ask(user(text("Hello", cache_control=None)))),
    Accepted("automatic-breakpoint-on-a-marked-block", ask(user(text("Hello", **mark())), **mark())),
    Accepted("one-hour-before-five-minutes", ask(user(text("Go.", **mark("5m"))), tools=[TOOL | mark("1h")])),
    Accepted("window-of-4-5-is-not-strict", ask(user("moist soil " * 72_500), max_tokens=64_000)),
    Accepted("cache-warm-up", ask(max_tokens=0)),
    Accepted(
        "count-with-tools-and-thinking", counted(tools=[TOOL], thinking={"type": "enabled", "budget_tokens": 1024})
    ),
    Accepted("dated-id", ask(model=f"{MODEL}-20250929")),
    Accepted("file-source-in-the-new-version", new_version(user(image({"type": "file", "file_id": "file_1"})))),
    Accepted(
        "signed-thinking-of-empty-text",
        ask(OPENING, assistant(thinking("", SIGNATURE_OF_NOTHING), call()), user(result()), **THINKING),
    ),
)


judge = judge_by(DIALECT, world)

REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge, ACCEPTED,
    several=(Ask(body(stop_sequences=[" "]), headers={"content-type": "text/plain"}), (True, False)),
    wrong_key=Ask(raw=b"{", headers={"x-api-key": "wrong"}), bad_key=rules.BAD_KEY,
    kinds={
        400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
        404: "not_found_error", 409: "conflict_error", 413: "request_too_large", 422: "invalid_request_error",
        429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
        418: "invalid_request_error", 599: "api_error",
    },
)  # fmt: skip
