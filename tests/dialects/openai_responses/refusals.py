"""The tables of refusals: each rule as a pair, what is accepted although one might think otherwise, and the kit."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.dialects.openai_responses import DIALECT, rules

from ..refusals import Accepted, RefusalKit, judge_by
from .asks import Ask, ask, copilot, loop, world
from .builders import (
    FLEETING,
    OLD,
    OPENING,
    STORED,
    STORED_REASONING,
    assistant,
    call,
    function,
    output,
    reasoning,
    user,
)
from .pairs import PAIRS

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else the organisation sends: `error_kind(429)` and the faults of the emulator",
    "response-not-found": "only logged, and yet there is nothing to answer with: `test_stored_operations.py`",
    "resume-position": "it is about a stream that was sent before: `test_stored_operations.py`",
    **dict.fromkeys(
        ("socket-life", "lane-name", "lane-limit", "socket-message", "http-field-on-a-socket"),
        "it is about a WebSocket, which a table of requests does not open: `test_over_socket.py`",
    ),
    **dict.fromkeys(
        (
            "azure-key",
            "azure-version",
            "azure-deployment",
            "xai-key",
            "xai-instructions",
            "openrouter-key",
            "openrouter-state",
            "llamacpp-previous-response",
            "llamacpp-input",
            "llamacpp-item",
            "llamacpp-reasoning",
            "llamacpp-file",
            "llamacpp-window",
        ),
        "it is of another surface than OpenAI: `test_surfaces.py`",
    ),
    "overloaded": "it depends on the load of the service: `error_kind(503)` and the faults of the emulator",
}
"""Rules that no request can break by itself, with the reason."""

ACCEPTED: tuple[Accepted[Ask], ...] = (
    Accepted("string-input", Ask({"model": "gpt-5", "input": "Hello"})),
    Accepted("input-without-instructions-or-tools", ask()),
    Accepted("first-message-from-the-assistant", ask(assistant("Welcome."), OPENING)),
    Accepted("assistant-content-as-a-string", ask(OPENING, {"role": "assistant", "content": "41 %"}, user("Thanks"))),
    Accepted("refusal-goes-back",
             ask(OPENING, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]})),
    Accepted("neighbours-of-one-role", ask(OPENING, user("And bed 4?"))),
    Accepted("developer-first", ask({"role": "developer", "content": "Be brief."}, OPENING)),
    Accepted("outputs-in-any-order", loop(call("a"), call("b"), output("b"), output("a"))),
    Accepted("output-after-an-interjection", loop(call(), user("Hurry."), output())),
    Accepted("call-without-item-id", loop(call(), output())),
    Accepted("item-id-that-was-never-issued", loop(call(id="fc_elsewhere"), output())),
    Accepted("whole-loop-with-ids", loop(*STORED, output("call_s"))),
    Accepted("stored-reasoning-by-id-alone", loop(reasoning(STORED_REASONING, None), STORED[1], output("call_s"))),
    Accepted("reasoning-without-id", loop(reasoning(None), call(), output())),
    Accepted("readable-reasoning-of-an-open-model",
             loop(reasoning("rs_1", None, content=[{"type": "reasoning_text", "text": "Hm."}]), call(), output())),
    Accepted("stateless-loop", ask(OPENING, *FLEETING, output("call_f"), store=False,
                                   include=["reasoning.encrypted_content"])),
    Accepted("arguments-that-are-no-json", loop(call(arguments='{"bed": '), output())),
    Accepted("output-as-a-list", loop(call(), output(value=[{"type": "input_text", "text": "41 %"}]))),
    Accepted("empty-output", loop(call(), output(value=""))),
    Accepted("tool-without-parameters", ask(tools=[{"type": "function", "name": "f", "parameters": None}])),
    Accepted("tool-of-the-service", ask(tools=[{"type": "web_search"}])),
    Accepted("items-of-unknown-types", loop({"type": "hologram", "id": "h_1", "anything": 1})),
    Accepted("dated-model", ask(model="gpt-5-2025-08-07")),
    Accepted("no-sampling-on-a-model-that-takes-it", ask(model=OLD, temperature=0.2, top_p=0.9)),
    Accepted("count-without-a-model", Ask({"input": "Hello"}, path="/v1/responses/input_tokens")),
    Accepted(
        "codex-cli",
        ask({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]}, OPENING,
            stream=True, store=False, include=["reasoning.encrypted_content"], prompt_cache_key="thread",
            client_metadata={"turn": "1"}, parallel_tool_calls=True, tool_choice="auto"),
    ),
    Accepted("unknown-field-at-copilot", copilot(intent=True)),
    Accepted("copilot", copilot(tools=[function()])),
)  # fmt: skip


judge = judge_by(DIALECT, world)

REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge, ACCEPTED,
    inferred_without_pair=frozenset(
        {"response-not-found", "resume-position", "socket-message", "http-field-on-a-socket"}
    ),
    several=(ask(OPENING, output(), call(), tools=[function("a.b"), function("r" * 65)]), (True, False, False)),
    wrong_key=Ask(raw=b"{", headers={"authorization": "Bearer wrong"}), bad_key=rules.BAD_KEY,
    meanings={
        "context-limit": [
            (400, "context_length_exceeded", "too long"), (400, "model_max_prompt_tokens_exceeded", "too long"),
            (400, None, "prompt token count of 391491 exceeds the limit of 128000"),
        ],
        "rate-limit": [(200, "rate_limit_exceeded", "Slow down")],
        "overloaded": [(200, "server_is_overloaded", "Busy")],
        "content-filter": [(400, "invalid_prompt", "Flagged")],
        None: [
            (400, "invalid_encrypted_content", "could not be verified"),
            (400, "string_above_max_length", "string too long. maximum length 64"),
            (429, "insufficient_quota", "You exceeded your current quota"),
        ],
    },
)  # fmt: skip
