"""Pairs about what stands beside the conversation: settings, breakpoints, size."""

from __future__ import annotations

from collections.abc import Callable

from ...requests import Json
from ..asks import Ask, Pair, ask, body, loop
from ..builders import (
    BEFORE_45,
    NEWEST,
    OPENING,
    THINKING,
    TOOL,
    UNREACHABLE,
    assistant,
    image,
    mark,
    result,
    text,
    thinking,
    user,
)

_EXTRA = "Extra inputs are not permitted"
_LONG = "moist soil " * 80_000
_FILLING = "moist soil " * 72_500


_FORCED: Json = {"tools": [TOOL], "tool_choice": {"type": "any"}}
_BUDGET: Json = {"type": "enabled", "budget_tokens": 1024}
_AGAINST_WARM_UP: dict[str, Json] = {
    "stream": {"stream": True},
    "thinking": {"thinking": _BUDGET},
    "tool_choice": _FORCED,
    "output_config.format": {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
}
_CLOSED: Json = {"type": "object", "properties": {"bed": {"type": "string"}}, "additionalProperties": False}
_OPEN: Json = {"type": "object", "properties": {"bed": {"type": "string"}}}
_SCHEMA: Json = {"type": "json_schema", "schema": _CLOSED}
_OPEN_SCHEMA = "schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
_AROUND: dict[str, Callable[[Json], Json]] = {
    "outermost": lambda schema: schema,
    "property": lambda schema: _CLOSED | {"properties": {"bed": schema}},
    "item": lambda schema: {"type": "array", "items": schema},
    "choice": lambda schema: {"anyOf": [{"type": "null"}, schema]},
    "definition": lambda schema: {"$ref": "#/$defs/bed", "$defs": {"bed": schema}},
}
"""Where in a schema an object may stand."""
_FORMATS: list[tuple[str, str, Json, str, Json]] = [
    ("missing-field", "format-type", {"schema": _CLOSED}, "type: Field required", _SCHEMA),
    ("missing-field", "format-schema", {"type": "json_schema"}, "schema: Field required", _SCHEMA),
    ("output-format", "", {"type": "json", "schema": _CLOSED}, "type: Input should be 'json_schema'", _SCHEMA),
    *[
        (
            "open-schema",
            variant,
            _SCHEMA | {"schema": around(_OPEN)},
            _OPEN_SCHEMA,
            _SCHEMA | {"schema": around(_CLOSED)},
        )
        for variant, around in _AROUND.items()
    ],
    (
        "open-schema",
        "said-so",
        _SCHEMA | {"schema": _CLOSED | {"additionalProperties": True}},
        _OPEN_SCHEMA,
        _SCHEMA | {"schema": {"type": "array", "items": {"type": "string"}}},
    ),
]


def _settings() -> list[Pair]:
    cap = "which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929"
    return [
        Pair("blank-stop-sequence", ask(stop_sequences=[" "]),
             "stop_sequences: each stop sequence must contain non-whitespace", ask(stop_sequences=["```"])),
        Pair("effort-unsupported", ask(model="claude-sonnet-4-6", output_config={"effort": "xhigh"}),
             "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
             ask(model="claude-sonnet-4-6", output_config={"effort": "max"})),
        *[
            Pair(
                rule,
                ask(output_config={"format": illegal}),
                f"output_config.format.{message}",
                ask(output_config={"format": legal}),
                variant=variant,
            )
            for rule, variant, illegal, message, legal in _FORMATS
        ],
        Pair("max-tokens-cap", ask(max_tokens=100_000), f"max_tokens: 100000 > 64000, {cap}", ask(max_tokens=64_000)),
        *[
            Pair(
                "warm-up",
                ask(max_tokens=0, **more),
                f"max_tokens: 0 is not supported together with `{name}`",
                ask(max_tokens=0),
                variant=name,
            )
            for name, more in _AGAINST_WARM_UP.items()
        ],
        Pair("budget-unsupported", ask(model=NEWEST, **THINKING),
             "`thinking.type.enabled` is not supported for this model. Use `thinking.type.adaptive` and "
             "`output_config.effort` to control thinking behavior.",
             ask(model=NEWEST, thinking={"type": "adaptive"}, output_config={"effort": "high"})),
        Pair("budget-minimum", ask(max_tokens=4096, thinking=_BUDGET | {"budget_tokens": 1023}),
             "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024", ask(**THINKING)),
        Pair("budget-over-max", ask(max_tokens=1024, thinking=_BUDGET),
             "`max_tokens` must be greater than `thinking.budget_tokens`", ask(max_tokens=1025, thinking=_BUDGET)),
        Pair("thinking-temperature", ask(temperature=0.5, **THINKING),
             "`temperature` may only be set to 1 when thinking is enabled", ask(temperature=1.0, **THINKING)),
        Pair("temperature-and-top-p", ask(temperature=0.5, top_p=0.9),
             "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
             ask(temperature=0.5)),
        Pair("temperature-deprecated", ask(model=NEWEST, temperature=0.5),
             "`temperature` is deprecated for this model.", ask(model=NEWEST)),
        Pair("thinking-forced-tool", ask(**THINKING, **_FORCED),
             "Thinking may not be enabled when tool_choice forces tool use.",
             ask(**THINKING, tools=[TOOL], tool_choice={"type": "auto"})),
        Pair("duplicate-tool-names", ask(tools=[TOOL, TOOL]), "tools: Tool names must be unique.", ask(tools=[TOOL])),
    ]  # fmt: skip


def _values() -> list[Pair]:
    """Settings that are of another type, or beyond their range."""
    sensor: Json = {"tools": [TOOL]}
    tags = "'auto', 'any', 'tool', 'none'"
    no_number = "Input should be a valid number, unable to parse string as a number"
    no_integer = "Input should be a valid integer, unable to parse string as an integer"
    least = "Input should be greater than or equal to 0"
    return [
        Pair("malformed-body", ask(temperature="hot"), f"temperature: {no_number}", ask(temperature=0.5),
             variant="temperature"),
        Pair("malformed-body", ask(top_p=[0.5]), "top_p: Input should be a valid number", ask(top_p=0.5),
             variant="top-p"),
        Pair("malformed-body", ask(top_k="some"), f"top_k: {no_integer}", ask(top_k=5), variant="top-k"),
        Pair("malformed-body", ask(top_k=1.5), "top_k: Input should be a valid integer, got a number with a fractional "
             "part", ask(top_k=1), variant="fraction"),
        Pair("malformed-body", ask(stream="perhaps"),
             "stream: Input should be a valid boolean, unable to interpret input", ask(stream=False), variant="stream"),
        Pair("malformed-body", ask(stream={}), "stream: Input should be a valid boolean", ask(stream=None),
             variant="stream-object"),
        Pair("malformed-body", ask(stop_sequences=["```", 5]), "stop_sequences.1: Input should be a valid string",
             ask(stop_sequences=["```", "5"]), variant="stop-sequence"),
        Pair("malformed-body", ask(max_tokens=4096, thinking=_BUDGET | {"budget_tokens": "some"}),
             f"thinking.enabled.budget_tokens: {no_integer}", ask(max_tokens=4096, thinking=_BUDGET), variant="budget"),
        Pair("setting-range", ask(temperature=1.5), "temperature: range: 0..1", ask(temperature=1)),
        Pair("setting-range", ask(temperature=-1), "temperature: range: 0..1", ask(temperature=0), variant="below"),
        Pair("setting-range", ask(top_p=1.1), "top_p: range: 0..1", ask(top_p=1), variant="top-p"),
        Pair("setting-range", ask(top_k=-2), f"top_k: {least}", ask(top_k=0), variant="top-k"),
        Pair("setting-range", ask(max_tokens=-5), f"max_tokens: {least}", ask(max_tokens=1), variant="max-tokens"),
        Pair("tool-choice", ask(**sensor, tool_choice={"type": "sometimes"}),
             f"tool_choice: Input tag 'sometimes' found using 'type' does not match any of the expected tags: {tags}",
             ask(**sensor, tool_choice={"type": "any"})),
        Pair("tool-choice", ask(**sensor, tool_choice={"name": "read_sensor"}),
             "tool_choice: Unable to extract tag using discriminator 'type'",
             ask(**sensor, tool_choice={"type": "tool", "name": "read_sensor"}), variant="without-type"),
        Pair("missing-field", ask(**sensor, tool_choice={"type": "tool"}), "tool_choice.tool.name: Field required",
             ask(**sensor, tool_choice={"type": "tool", "name": "read_sensor"}), variant="tool-choice"),
    ]  # fmt: skip


def _caching() -> list[Pair]:
    five = [text(f"Log {n}.", **mark()) for n in range(5)]
    a, b = text("One.", **mark("5m")), text("Two.", **mark("1h"))
    late = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    return [
        Pair("too-many-breakpoints", ask(user(*five)),
             "A maximum of 4 blocks with cache_control may be provided. Found 5.", ask(user(*five[:4]))),
        Pair("too-many-breakpoints", ask(user(*five[:4], "Go on."), **mark()),
             "A maximum of 4 blocks with cache_control may be provided. Found 5.", ask(user(*five[:4]), **mark()),
             variant="automatic"),
        Pair("too-many-breakpoints", loop(result(content=five)),
             "A maximum of 4 blocks with cache_control may be provided. Found 5.", loop(result(content=five[:4])),
             variant="in-result"),
        Pair("breakpoint-on-empty-text", ask(user(text("", **mark()))),
             "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
             ask(user(text("Hello", **mark())))),
        Pair("breakpoint-on-thinking", ask(OPENING, assistant(thinking() | mark(), "41 %"), user("Thanks")),
             f"messages.1.content.0.thinking.cache_control: {_EXTRA}",
             ask(OPENING, assistant(thinking(), text("41 %", **mark())), user("Thanks"))),
        Pair("breakpoint-ttl-order", ask(user(a, b)), f"messages.0.content.1.cache_control.ttl: {late}",
             ask(user(b, a))),
        Pair("breakpoint-ttl-order", ask(user(b), system=[a]), f"messages.0.content.0.cache_control.ttl: {late}",
             ask(user(a), system=[b]), variant="sections"),
        Pair("breakpoint-form", ask(user(text("Hello", cache_control={"ttl": "5m"}))),
             "messages.0.content.0.cache_control.type: Field required", ask(user(text("Hello", **mark("5m"))))),
        Pair("breakpoint-form", ask(user(text("Hello", cache_control={"type": "persistent"}))),
             "messages.0.content.0.cache_control: Input tag 'persistent' found using 'type' does not match any of the "
             "expected tags: 'ephemeral'", ask(user(text("Hello", **mark()))), variant="type"),
        Pair("breakpoint-form", ask(tools=[TOOL | mark("1d")]),
             "tools.0.cache_control.ephemeral.ttl: Input should be '5m' or '1h'", ask(tools=[TOOL | mark("1h")]),
             variant="ttl"),
        Pair("breakpoint-form", ask(cache_control={"type": "ephemeral", "lives": "1h"}),
             f"cache_control.ephemeral.lives: {_EXTRA}", ask(cache_control={"type": "ephemeral", "ttl": "1h"}),
             variant="automatic"),
        Pair("automatic-breakpoint-ttl", ask(user(b), **mark("5m")),
             "cache_control.ttl: must equal the ttl of the explicit breakpoint on messages.0.content.0",
             ask(user(b), **mark("1h"))),
    ]  # fmt: skip


def _size() -> list[Pair]:
    return [
        Pair("prompt-too-long", ask(user(_LONG)), "prompt is too long: 220005 tokens > 200000 maximum",
             Ask(body(user(_LONG)), headers={"anthropic-beta": "context-1m-2025-08-07"})),
        Pair("window-overflow", ask(user(_FILLING), model=BEFORE_45, max_tokens=4096),
             "input length and `max_tokens` exceed context limit: 199380 + 4096 > 200000, decrease input length or "
             "`max_tokens` and try again", ask(user(_FILLING), max_tokens=4096)),
        Pair("unreachable-url", ask(user(image({"type": "url", "url": UNREACHABLE}))),
             "Unable to download the file. Please verify the URL and try again.",
             ask(user(image({"type": "url", "url": "https://garden.example/here.png"}))),
             enforced=False),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_settings(), *_values(), *_caching(), *_size())
