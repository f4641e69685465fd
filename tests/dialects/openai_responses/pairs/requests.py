"""Pairs about who asks and the shape of what is asked."""

from __future__ import annotations

from typing import Any

from ..asks import Ask, Pair, ask, body, copilot, loop
from ..builders import KEY, MARKED, MODEL, NEWEST, OLD, OPENING, assistant, call, function, output, reasoning, user

_CREATE = "https://platform.openai.com/docs/api-reference/responses/create"


def _moved(name: str, to: str) -> str:
    return (
        f"Unsupported parameter: '{name}'. In the Responses API, this parameter has moved to '{to}'. Try again with "
        f"the new parameter. See the API documentation for more information: {_CREATE}."
    )


def exchange(authorization: str) -> Ask:
    """A GitHub token, to be exchanged for a session token of Copilot."""
    return Ask(path="/copilot_internal/v2/token", method="GET", headers={"authorization": authorization})


def _headers() -> tuple[Pair, ...]:
    return (
        Pair(
            "missing-key", Ask(body(), headers={"authorization": None}),
            "Missing bearer or basic authentication in header", ask(), status=401,
        ),
        Pair(
            "bad-key", Ask(body(), headers={"authorization": "Bearer wrong"}),
            "Incorrect API key provided: ***. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            ask(), status=401, kind="invalid_api_key",
        ),
        Pair(
            "bad-copilot-token", copilot(token="tid=old"), "unauthorized: token expired or invalid", copilot(),
            status=401, kind="unauthorized",
        ),
        Pair(
            "bad-github-token", exchange("token wrong"), "Bad credentials", exchange(f"token {KEY}"), status=401,
            kind="unauthorized",
        ),
        Pair(
            "missing-editor-version", copilot(editor=None),
            "bad request: missing Editor-Version header for IDE auth", copilot(), kind="bad_request",
        ),
        Pair("not-found", Ask(body(), path="/v1/answers"), "Invalid URL (POST /v1/answers)", ask(), status=404),
        Pair(
            "method-not-allowed", Ask(path="/v1/responses", method="GET"), "Not allowed to GET on /v1/responses.",
            ask(), status=405, kind="method_not_supported", enforced=False,
        ),
    )  # fmt: skip


def _picture(url: str) -> Ask:
    return ask({"role": "user", "content": [{"type": "input_image", "image_url": url}]})


def _text(**more: Any) -> Ask:
    return ask({"role": "user", "content": [{"type": "input_text", "text": "How moist?", **more}]})


def _values() -> tuple[Pair, ...]:
    """Settings that are of another type, or beyond their range; blocks with members that there are not."""
    image = (
        "Invalid 'input[0].content[0].image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. "
        "'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got"
    )
    shown = _picture("data:image/png;base64,iVBORw0KGgo=")
    marked = "Unknown parameter: 'input[0].content[0]."
    return (
        Pair(
            "setting-range", ask(model=OLD, top_p=1.5),
            "Invalid 'top_p': decimal above maximum value. Expected a value <= 1, but got 1.5 instead.",
            ask(model=OLD, top_p=1), kind="decimal_above_max_value", param="top_p",
        ),
        Pair(
            "setting-choice", ask(tools=[function()], tool_choice="sometimes"),
            "Invalid value: 'sometimes'. Supported values are: 'none', 'auto', and 'required'.",
            ask(tools=[function()], tool_choice="required"), kind="invalid_value", param="tool_choice",
        ),
        Pair(
            "invalid-type", ask(max_output_tokens="100"),
            "Invalid type for 'max_output_tokens': expected an integer, but got a string instead.",
            ask(max_output_tokens=100), kind="invalid_type", param="max_output_tokens", variant="limit",
        ),
        Pair(
            "invalid-type", ask(stream="yes"),
            "Invalid type for 'stream': expected a boolean, but got a string instead.", ask(stream=False),
            kind="invalid_type", param="stream", variant="stream",
        ),
        Pair(
            "output-limit", ask(max_output_tokens=0),
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 0 instead.",
            ask(max_output_tokens=None), kind="integer_below_min_value", param="max_output_tokens", variant="zero",
        ),
        Pair(
            "unknown-member", _text(cache_control={"type": "ephemeral"}), f"{marked}cache_control'.", _text(),
            kind="unknown_parameter", param="input[0].content[0].cache_control",
        ),
        Pair(
            "unknown-member", _text(colour="green"), f"{marked}colour'.", _text(), kind="unknown_parameter",
            param="input[0].content[0].colour", variant="unlisted", enforced=False,
        ),
        Pair(
            "image-data", _picture("data:image/png;base64,"), f"{image} empty base64-encoded bytes.", shown,
            kind="invalid_value", param="input[0].content[0].image_url",
        ),
        Pair(
            "image-data", _picture("data:image/png;base64,!!!"), f"{image} an invalid base64-encoded value.", shown,
            kind="invalid_value", param="input[0].content[0].image_url", variant="broken",
        ),
        Pair(
            "image-data", _picture("data:image;base64,iVBORw0KGgo="), f"{image} unsupported MIME type 'image'.", shown,
            kind="invalid_value", param="input[0].content[0].image_url", variant="media-type",
        ),
    )  # fmt: skip


def _shape() -> tuple[Pair, ...]:
    return (
        Pair(
            "malformed-json", Ask(raw=b'{"model": '), "We could not parse the JSON body of your request.", ask(),
            enforced=False,
        ),
        Pair(
            "invalid-type", ask({"role": "user", "content": None}),
            "Invalid type for 'input[0].content': expected one of an array of objects or string, but got null instead.",
            ask({"role": "user", "content": ""}), kind="invalid_type", param="input[0].content",
        ),
        Pair(
            "invalid-type", ask(instructions=["Be brief."]),
            "Invalid type for 'instructions': expected a string, but got an array instead.",
            ask(instructions="Be brief."), kind="invalid_type", param="instructions", variant="instructions",
        ),
        Pair(
            "invalid-type", loop(call(arguments={"bed": "3"}), output()),  # type: ignore[arg-type]
            "Invalid type for 'input[1].arguments': expected a string, but got an object instead.",
            loop(call(), output()), kind="invalid_type", param="input[1].arguments", variant="arguments",
        ),
        Pair(
            "missing-field", Ask({"input": "Hello"}), "Missing required parameter: 'model'.", ask(),
            kind="missing_required_parameter", param="model",
        ),
        Pair(
            "missing-field", loop({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAAABsealed=="}),
            "Missing required parameter: 'input[1].summary'.", loop(reasoning("rs_1")),
            kind="missing_required_parameter", param="input[1].summary", variant="summary",
        ),
        Pair(
            "missing-field", loop({"type": "function_call", "name": "f", "arguments": "{}"}),
            "Missing required parameter: 'input[1].call_id'.", loop(call(), output()),
            kind="missing_required_parameter", param="input[1].call_id", variant="call-id",
        ),
        Pair(
            "cache-of-the-model", ask(user(MARKED, "Well?")), "prompt_cache_breakpoint is not supported on this model",
            ask(user(MARKED, "Well?"), model=NEWEST), param="input[0].content[0].prompt_cache_breakpoint",
        ),
        Pair(
            "cache-of-the-model", ask(prompt_cache_options={"mode": "implicit"}),
            "prompt_cache_options is not supported on this model",
            ask(prompt_cache_options={"mode": "implicit"}, model=NEWEST), param="prompt_cache_options",
            variant="options",
        ),
        Pair(
            "cache-of-the-model", ask(prompt_cache_retention="24h", model=NEWEST),
            "prompt_cache_retention is not supported on this model", ask(prompt_cache_retention="24h"),
            param="prompt_cache_retention", variant="retention",
        ),
        Pair(
            "cache-options", ask(prompt_cache_options={"mode": "manual"}, model=NEWEST),
            "Invalid value: 'manual'. Supported values are: 'implicit' and 'explicit'.",
            ask(prompt_cache_options={"mode": "explicit"}, model=NEWEST), kind="invalid_value",
            param="prompt_cache_options.mode",
        ),
        Pair(
            "cache-options", ask(prompt_cache_options={"ttl": "5m"}, model=NEWEST),
            "Invalid value: '5m'. Supported values are: '30m' and '12h'.",
            ask(prompt_cache_options={"ttl": "30m"}, model=NEWEST), kind="invalid_value",
            param="prompt_cache_options.ttl", variant="life",
        ),
        Pair(
            "cache-options",
            ask(user(MARKED | {"prompt_cache_breakpoint": {"mode": "implicit"}}, "Well?"), model=NEWEST),
            "Invalid value: 'implicit'. Supported values are: 'explicit'.",
            ask(user(MARKED, "Well?"), model=NEWEST), kind="invalid_value",
            param="input[0].content[0].prompt_cache_breakpoint.mode", variant="mark",
        ),
        Pair(
            "empty-compaction", Ask({"model": MODEL, "input": ""}, path="/v1/responses/compact"),
            "There is nothing to compact in an empty text.",
            Ask({"model": MODEL, "input": "Hello"}, path="/v1/responses/compact"), enforced=False, param="input",
        ),
        Pair(
            "moved-parameter", ask(max_tokens=100), _moved("max_tokens", "max_output_tokens"),
            ask(max_output_tokens=100), kind="unsupported_parameter",
        ),
        Pair(
            "moved-parameter", ask(reasoning_effort="low"), _moved("reasoning_effort", "reasoning.effort"),
            ask(reasoning={"effort": "low"}), kind="unsupported_parameter", variant="effort",
        ),
        Pair(
            "unknown-parameter", ask(quality="high"), "Unknown parameter: 'quality'.", ask(), kind="unknown_parameter",
            param="quality",
        ),
        Pair(
            "unknown-parameter", loop(call(parsed_arguments={}), output()),
            "Unknown parameter: 'input[1].parsed_arguments'.", loop(call(status="completed"), output()),
            kind="unknown_parameter", param="input[1].parsed_arguments", variant="item",
        ),
        Pair(
            "invalid-role", ask({"role": "tool", "content": "41 %"}),
            "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
            ask({"role": "developer", "content": "41 %"}), kind="invalid_value", param="input[0]",
        ),
        Pair(
            "assistant-content", ask(OPENING, {"role": "assistant", "content": [{"type": "input_text", "text": "41"}]}),
            "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
            ask(OPENING, assistant("41")), kind="invalid_value", param="input[1].content[0]",
        ),
        Pair(
            "output-content", loop(call(), output(value=[{"type": "output_text", "text": "41 %"}])),
            "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', 'input_file', and "
            "'scoped_content'.",
            loop(call(), output(value=[{"type": "input_text", "text": "41 %"}])),
            kind="invalid_value", param="input[2].output[0]",
        ),
    )  # fmt: skip


def _ids() -> tuple[Pair, ...]:
    long = "call_" + "x" * 60
    return (
        Pair(
            "id-characters", ask(OPENING, assistant("41 %", id="")),
            "Invalid 'input[1].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but "
            "this value contained additional characters.",
            ask(OPENING, assistant("41 %", id="msg_1")), kind="invalid_value", param="input[1].id",
        ),
        Pair(
            "id-prefix", loop(call(id="call_1"), output()),
            "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.", loop(call(id="fc_1"), output()),
            kind="invalid_id_prefix", param="input[1].id",
        ),
        Pair(
            "id-prefix", loop(reasoning("item_1")),
            "Invalid 'input[1].id': 'item_1'. Expected an ID that begins with 'rs'.", loop(reasoning("rs_1")),
            kind="invalid_id_prefix", param="input[1].id", variant="reasoning",
        ),
        Pair(
            "empty-call-id", loop(call(""), output("")),
            "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty "
            "string instead.",
            loop(call("c"), output("c")), kind="empty_string", param="input[1].call_id",
        ),
        Pair(
            "long-call-id", loop(call(long), output(long)),
            "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string "
            "with length 65 instead.",
            loop(call(long[:64]), output(long[:64])), kind="string_above_max_length", param="input[1].call_id",
        ),
    )  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_headers(), *_shape(), *_values(), *_ids())
