"""The tables of refusals: each rule as a pair, what is accepted although one might think otherwise, and the kit."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.dialects.base import Refusal
from turnproof.dialects.openai_chat import DIALECT, SURFACES, rules
from turnproof.dialects.openai_chat.surfaces import Surface

from ..refusals import Accepted, RefusalKit, find_refusals
from .asks import Ask, ask, body, loop, world
from .builders import OPENING, PNG, TOOL, assistant, call, image, result, system, tool, user
from .pairs import PAIRS

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else the organisation sends: `error_kind(429)` and the faults of the emulator",
    "content-filter": "it depends on what the filter makes of a text: the faults of the emulator (`content_filter`)",
}
"""Rules that no request can break by itself, with the reason."""

_UNPAIRED = (OPENING, assistant(None, call("a")), user("Well?"), result("b"))

ACCEPTED: tuple[Accepted[Ask], ...] = (
    Accepted("first-message-from-the-assistant", ask(assistant("Welcome."), OPENING)),
    Accepted("only-instructions", ask(system("Greet the gardener."))),
    Accepted("developer-role", ask(system("Be brief.", "developer"), OPENING)),
    Accepted("instructions-in-the-middle", ask(OPENING, assistant("41 %"), system("Be brief."), OPENING)),
    Accepted("neighbours-of-one-role", ask(OPENING, user("And bed 4?"), assistant("41 %"), assistant("And 38 %."))),
    Accepted("calls-without-content", loop(result())),
    Accepted("calls-with-empty-content", ask(OPENING, assistant("", call()), result(), tools=[TOOL])),
    Accepted(
        "calls-with-no-content-key",
        ask(OPENING, {key: value for key, value in assistant(None, call()).items() if key != "content"}, result()),
    ),
    Accepted("text-beside-calls", ask(OPENING, assistant("Let me look.", call()), result())),
    Accepted(
        "results-in-any-order",
        ask(OPENING, assistant(None, call("a"), call("b")), result("b"), result("a"), tools=[TOOL]),
    ),
    Accepted("arguments-that-are-no-json", ask(OPENING, assistant(None, call(arguments='{"bed": ')), result())),
    Accepted("empty-result", loop(result(content=""))),
    Accepted("result-in-blocks", loop(result(content=[{"type": "text", "text": "41 %"}]))),
    Accepted("image-as-data-url", ask(user([{"type": "text", "text": "What is this?"}, image(PNG)]))),
    Accepted("names-of-speakers", ask({**OPENING, "name": "anna"})),
    Accepted("null-arguments", ask(response_format=None, tools=None, stream_options=None, max_tokens=None)),
    Accepted("dated-id", ask(model="gpt-4o-2024-08-06")),
    Accepted("both-limits-of-an-old-model", ask(max_completion_tokens=100)),
    Accepted("functions-of-the-old-kind", ask(functions=[tool()["function"]], function_call="auto")),
    Accepted("schema-that-is-not-strict", ask(tools=[tool(parameters={"type": "object"}, strict=False)])),
    Accepted("trailing-slash", Ask(body(), path="/v1/chat/completions/")),
    Accepted("organisation-of-github", Ask(
        body(surface=Surface.GITHUB), path="/orgs/garden/inference/chat/completions", surface=Surface.GITHUB,
    )),
    Accepted("coding-plan-of-zai", Ask(
        body(surface=Surface.ZAI), path="/api/coding/paas/v4/chat/completions", surface=Surface.ZAI,
    )),
    Accepted("thinking-sent-back-to-zai", ask(
        OPENING, assistant("41 %", reasoning_content="Read it."), user("And?"), surface=Surface.ZAI,
        thinking={"type": "enabled", "clear_thinking": False},
    )),
    Accepted("unpaired-on-zai", ask(*_UNPAIRED, surface=Surface.ZAI)),
    Accepted("unpaired-on-ollama", ask(*_UNPAIRED, surface=Surface.OLLAMA)),
    Accepted("anything-on-ollama", ask(surface=Surface.OLLAMA, enable_thinking=False, keep_alive="5m")),
    Accepted("any-role-on-ollama", ask({"role": "gardener", "content": "How moist is bed 3?"}, surface=Surface.OLLAMA)),
    Accepted("tool-without-a-name-on-ollama", ask(
        surface=Surface.OLLAMA, tools=[{"type": "function", "function": {"description": "Read"}}],
    )),
    Accepted("wrong-key-on-ollama", Ask(
        body(surface=Surface.OLLAMA), headers={"authorization": "Bearer wrong"}, surface=Surface.OLLAMA,
    )),
)  # fmt: skip


def judge(request: Ask) -> list[Refusal]:
    """All refusals of a request."""
    return find_refusals(SURFACES[request.surface.value], request, world())


REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge, ACCEPTED,
    wrong_key=Ask(raw=b"{", headers={"authorization": "Bearer wrong"}), bad_key=rules.BAD_KEY,
    meanings={
        "context-limit": [
            (400, "context_length_exceeded", ""), (413, "tokens_limit_reached", ""),
            (400, "model_max_prompt_tokens_exceeded", ""), (400, "1261", "Prompt exceeds max length"),
            (400, "invalid_request_error", "prompt too long; exceeded max context length by 7 tokens"),
        ],
        "content-filter": [(400, "1301", "unsafe")],
        "authentication": [(200, "401", "token expired or incorrect")],
        None: [
            (400, "invalid_value", "max_tokens is too large: 9. This model supports at most 8 completion tokens"),
            (429, "insufficient_quota", "You exceeded your current quota"),
            (401, "invalid_api_key", "Incorrect API key provided"), (500, None, None),
        ],
    },
)  # fmt: skip
