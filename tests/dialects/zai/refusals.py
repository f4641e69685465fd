"""Every refusal of Z.ai's Anthropic-compatible endpoint as a pair, and what Anthropic refuses and it accepts.

The words of requests are Anthropic's (`anthropic_messages.builders`): the same requests, at another address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.zai import DIALECT, rules

from ..anthropic_messages.asks import Ask, Pair, body
from ..anthropic_messages.builders import (
    KEY,
    OPENING,
    THINKING,
    TOOL,
    assistant,
    call,
    image,
    mark,
    result,
    text,
    thinking,
    user,
)
from ..anthropic_messages.builders import system as instruction
from ..refusals import Accepted, RefusalKit, judge_by
from ..requests import Json

MODEL = "glm-4.7"
PATH = "/api/anthropic/v1/messages"
INVALID = "Invalid API parameter, please check the documentation."


def world() -> World:
    """One key, all models, nothing issued."""
    return World(keys=frozenset({KEY}), models=DIALECT.models, clock=lambda: 0.0)


def ask(*messages: Json, headers: Mapping[str, str | None] | None = None, **more: Any) -> Ask:
    """A request of these messages (one question where there are none)."""
    return Ask(body(*messages, **{"model": MODEL, **more}), PATH, headers=headers or {})


def without(name: str) -> Ask:
    """The smallest request without one of its fields."""
    return Ask({key: value for key, value in ask().body.items() if key != name}, PATH)


_PNG = image({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="})

PAIRS: tuple[Pair, ...] = (
    Pair("wrong-route", replace(ask(), path="/v1/messages"), "404 NOT_FOUND", ask(), 200, "500", enforced=False),
    Pair(
        "wrong-route", Ask(path=PATH, method="GET"), "404 NOT_FOUND", ask(), 200, "500",
        variant="method", enforced=False,
    ),
    Pair(
        "missing-key", ask(headers={"x-api-key": None}),
        "Authentication parameter not received in Header, unable to authenticate", ask(), 401, "1001",
    ),
    Pair("bad-key", ask(headers={"x-api-key": "wrong"}), "token expired or incorrect", ask(), 401, "401"),
    Pair(
        "bad-key", ask(headers={"x-api-key": None, "authorization": "Bearer wrong"}), "token expired or incorrect",
        ask(headers={"x-api-key": None, "authorization": f"Bearer {KEY}"}), 401, "401", variant="bearer",
    ),
    Pair("unreadable-body", Ask(path=PATH, raw=b"{"), INVALID, ask(), 400, "1210"),
    Pair("unreadable-body", Ask(path=PATH, raw=b"[]"), INVALID, ask(), 400, "1210", variant="list"),
    Pair(
        "missing-parameter", without("messages"), "The messages parameter was not received properly.", ask(),
        400, "1213",
    ),
    Pair(
        "missing-parameter", without("model"), "The model parameter was not received properly.", ask(), 400, "1213",
        variant="model",
    ),
    Pair(
        "illegal-parameter", ask(system=5), "The system parameter is illegal. Please check the documentation.",
        ask(system="5"), 400, "1214",
    ),
    Pair(
        "illegal-parameter", ask({"role": "user", "content": [5]}),
        "The messages parameter is illegal. Please check the documentation.",
        ask({"role": "user", "content": []}), 400, "1214", variant="block",
    ),
    Pair(
        "unknown-model", ask(model="glm-1"), "Unknown Model, please check the model code.",
        ask(model="claude-haiku-4-5"), 400, "1211",
    ),
    Pair(
        "unknown-model", Ask(path="/api/anthropic/v1/models/glm-1", method="GET"),
        "Unknown Model, please check the model code.",
        Ask(path=f"/api/anthropic/v1/models/{MODEL}", method="GET"), 400, "1211", variant="described",
    ),
    Pair(
        "no-user-message", ask(instruction("Be brief.")),
        "The messages parameter is illegal. Please check the documentation.",
        ask(instruction("Be brief."), OPENING), 400, "1214",
    ),
    Pair(
        "forced-tool", ask(tools=[TOOL], tool_choice={"type": "tool", "name": "read_sensor"}), INVALID,
        ask(tools=[TOOL], tool_choice={"type": "auto"}), 400, "1210",
    ),
    Pair(
        "forced-tool", ask(tools=[TOOL], tool_choice={"type": "any"}), INVALID,
        ask(tools=[TOOL], tool_choice={"type": "none"}), 400, "1210", variant="any",
    ),
    Pair(
        "prompt-too-long", ask(user("m" * 800_000)), "Prompt exceeds max length", ask(user("m" * 700_000)), 400, "1261",
    ),
    Pair(
        "no-output-limit", without("max_tokens"), "The max_tokens parameter was not received properly.", ask(),
        400, "1213", enforced=False,
    ),
    Pair(
        "image-for-text-model", ask(user(_PNG)), INVALID, ask(user(_PNG), model="glm-4.6v"), 400, "1210",
        enforced=False,
    ),
)  # fmt: skip

WITHOUT_PAIR: Mapping[str, str] = {
    "rate-limit": "it depends on what else is sent: `error_kind(429)` and the faults of the emulator",
    "overloaded": "it depends on the load of the service: `error_kind(529)` and the faults of the emulator",
    "balance": "it depends on the account: a scripted fault",
    "usage-limit": "it depends on the account: a scripted fault",
}
"""Rules that no request can break by itself, with the reason."""

ACCEPTED: tuple[Accepted[Ask], ...] = (
    Accepted("dangling-call", ask(OPENING, assistant(call()), OPENING, tools=[TOOL])),
    Accepted("orphan-result", ask(user(result("call_9")))),
    Accepted("text-before-result", ask(OPENING, assistant(call()), user("Here:", result()), tools=[TOOL])),
    Accepted("two-results-for-one-call", ask(OPENING, assistant(call()), user(result(), result()), tools=[TOOL])),
    Accepted("same-id-twice", ask(OPENING, assistant(call(), call()), user(result()))),
    Accepted("odd-id", ask(OPENING, assistant(call("call 1!")), user(result("call 1!")))),
    Accepted("empty-text", ask(user(text("")))),
    Accepted("prefill-with-trailing-blanks", ask(OPENING, assistant("It is "))),
    Accepted(
        "thinking-without-signature", ask(OPENING, assistant(thinking(signature=None), "41 %"), OPENING, **THINKING)
    ),
    Accepted("foreign-signature", ask(OPENING, assistant(thinking(), "41 %"), OPENING, thinking={"type": "enabled"})),
    Accepted("five-breakpoints", ask(user(*(text(f"{n}", **mark()) for n in range(5))))),
    Accepted("unknown-field", ask(stop=".")),
    Accepted("unknown-beta", ask(headers={"anthropic-beta": "no-such-beta"})),
    Accepted("no-version", ask(headers={"anthropic-version": None})),
)
"""What Anthropic refuses and this service is not known to."""


judge = judge_by(DIALECT, world)

REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge, ACCEPTED,
    wrong_key=Ask(path="/api/anthropic/v1/messages", raw=b"{", headers={"x-api-key": "wrong"}), bad_key=rules.BAD_KEY,
    meanings={
        "authentication": [(401, "401", ""), (200, "401", "")],
        "context-limit": [(400, "1261", "")],
        "content-filter": [(400, "1301", "")],
        "overloaded": [(429, "1305", "")],
        None: [(429, "1302", ""), (429, "1113", ""), (400, "1210", ""), (503, None, "")],
    },
)  # fmt: skip
