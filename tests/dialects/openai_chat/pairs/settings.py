"""Pairs about what stands beside the conversation: tools, sampling, limits, the form of the answer; and its size."""

from __future__ import annotations

from turnproof.dialects.openai_chat.surfaces import Surface

from ...requests import Json
from ..asks import Pair, ask
from ..builders import OPENING, PNG, REASONER, TOOL, assistant, call, image, result, system, tool, user

PDF = "data:application/pdf;base64,JVBERi0="
_CLOSED: Json = {
    "type": "object",
    "properties": {"bed": {"type": "string"}},
    "required": ["bed"],
    "additionalProperties": False,
}
_OPEN: Json = {key: value for key, value in _CLOSED.items() if key != "additionalProperties"}
_OPTIONAL: Json = _CLOSED | {"required": []}
_NOT_CLOSED = "'additionalProperties' is required to be supplied and to be false."


def _nested(inner: Json) -> Json:
    return {"type": "object", "properties": {"at": inner}, "required": ["at"], "additionalProperties": False}


def _format(schema: Json, *, strict: bool = True) -> Json:
    named = {"name": "reading", "schema": schema, "strict": strict}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _arguments() -> list[Pair]:
    return [
        Pair("unknown-argument", ask(top_k=4), "Unrecognized request argument supplied: top_k", ask(top_p=0.4)),
        Pair("unknown-argument", ask(top_k=4, enable_thinking=False),
             "Unrecognized request arguments supplied: enable_thinking, top_k", ask(top_k=None), variant="several"),
        Pair("unknown-argument", ask(reasoning_effort="low"),
             "Unrecognized request argument supplied: reasoning_effort", ask(model=REASONER, reasoning_effort="low"),
             variant="of-a-model-that-does-not-think"),
    ]  # fmt: skip


def _described(description: str) -> Json:
    wire_tool = tool()
    return wire_tool | {"function": wire_tool["function"] | {"description": description}}


def _tools() -> list[Pair]:
    empty: Json = {"kind": "empty_array"}
    pattern = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    long = "string too long. Expected a string with maximum length 64, but got a string with length 65 instead."
    many = [tool(f"t{n}") for n in range(129)]
    too_many = "array too long. Expected an array with maximum length 128, but got an array with length 129 instead."
    return [
        Pair("empty-tools", ask(tools=[]),
             "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
             ask(tools=[TOOL]), **empty, param="tools", enforced=False),
        Pair("too-many-tools", ask(tools=many), f"Invalid 'tools': {too_many}", ask(tools=many[:128]),
             kind="array_above_max_length", param="tools"),
        Pair("too-many-tools", ask(surface=Surface.COPILOT, tools=many), f"Invalid 'tools': {too_many}",
             ask(surface=Surface.COPILOT, tools=many[:128]), kind="invalid_request_body", variant="copilot"),
        Pair("tool-name", ask(tools=[tool("mcp.garden/read")]), f"Invalid 'tools[0].function.name': {pattern}",
             ask(tools=[tool("mcp_garden-read")]), kind="invalid_value", param="tools[0].function.name"),
        Pair("tool-name-length", ask(tools=[tool("r" * 65)]), f"Invalid 'tools[0].function.name': {long}",
             ask(tools=[tool("r" * 64)]), kind="string_above_max_length", param="tools[0].function.name"),
        Pair("tool-description-length", ask(tools=[_described("x" * 1103)]),
             "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, "
             "but got a string with length 1103 instead.", ask(tools=[_described("x" * 1024)]),
             kind="string_above_max_length", param="tools[0].function.description"),
        Pair("only-with-tools", ask(tool_choice="auto"),
             "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
             ask(tool_choice="auto", tools=[TOOL]), param="tool_choice"),
        Pair("only-with-tools", ask(parallel_tool_calls=False),
             "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are "
             "specified.", ask(parallel_tool_calls=False, tools=[TOOL]), param="parallel_tool_calls",
             variant="parallel"),
        Pair("strict-function", ask(tools=[tool(parameters=_OPEN, strict=True)]),
             f"Invalid schema for function 'read_sensor': In context=(), {_NOT_CLOSED}",
             ask(tools=[tool(parameters=_CLOSED, strict=True)]), kind="invalid_function_parameters",
             param="tools[0].function.parameters"),
        Pair("zai-tool-choice", ask(surface=Surface.ZAI, tools=[TOOL], tool_choice="required"),
             "Invalid API parameter, please check the documentation.",
             ask(surface=Surface.ZAI, tools=[TOOL], tool_choice="auto"), kind="1210", enforced=False),
    ]  # fmt: skip


def _sampling() -> list[Pair]:
    only = "Only the default (1) value is supported."
    return [
        Pair("temperature", ask(temperature=-1),
             "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
             ask(temperature=0), kind="decimal_below_min_value", param="temperature"),
        Pair("temperature", ask(temperature=2.5),
             "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
             ask(temperature=2), kind="decimal_above_max_value", param="temperature", variant="above"),
        Pair("fixed-temperature", ask(model=REASONER, temperature=0.5),
             f"Unsupported value: 'temperature' does not support 0.5 with this model. {only}",
             ask(model=REASONER, temperature=1), kind="unsupported_value", param="temperature"),
        Pair("max-tokens-unsupported", ask(model=REASONER, max_tokens=100),
             "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
             "instead.", ask(model=REASONER, max_completion_tokens=100), kind="unsupported_parameter",
             param="max_tokens"),
        Pair("max-tokens-unsupported", ask(surface=Surface.COPILOT, model=REASONER, max_tokens=100),
             "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
             "instead.", ask(surface=Surface.COPILOT, model=REASONER, max_completion_tokens=100),
             kind="invalid_request_body", variant="copilot"),
        Pair(
            "max-tokens-cap",
            ask(max_tokens=16_385),
            "max_tokens is too large: 16385. This model supports at most 16384 completion tokens, whereas you provided "
            "16385.",
            ask(max_tokens=16_384),
            kind="invalid_value",
            param="max_tokens",
        ),
        Pair("stream-options", ask(stream_options={"include_usage": True}),
             "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
             ask(stream_options={"include_usage": True}, stream=True), param="stream_options"),
    ]  # fmt: skip


def _below(least: int, value: int, kind: str = "integer") -> str:
    return f"{kind} below minimum value. Expected a value >= {least}, but got {value} instead."


def _above(most: int, value: float, kind: str = "decimal") -> str:
    return f"{kind} above maximum value. Expected a value <= {most}, but got {value:g} instead."


def _values() -> list[Pair]:
    """Settings that are of another type, or beyond their range."""
    least: Json = {"kind": "integer_below_min_value"}
    too_low: Json = {"kind": "decimal_below_min_value"}
    too_high: Json = {"kind": "decimal_above_max_value"}
    typed: Json = {"kind": "invalid_type"}
    word: Json = {"kind": "invalid_value"}
    five = ["a", "b", "c", "d", "e"]
    return [
        Pair("output-minimum", ask(max_tokens=0), f"Invalid 'max_tokens': {_below(1, 0)}", ask(max_tokens=1), **least,
             param="max_tokens"),
        Pair("output-minimum", ask(model=REASONER, max_completion_tokens=-15335),
             f"Invalid 'max_completion_tokens': {_below(1, -15335)}", ask(model=REASONER, max_completion_tokens=1),
             **least, param="max_completion_tokens", variant="negative"),
        Pair("setting-range", ask(n=0), f"Invalid 'n': {_below(1, 0)}", ask(n=1), **least, param="n"),
        Pair("setting-range", ask(n=129), f"Invalid 'n': {_above(128, 129, 'integer')}", ask(n=128),
             kind="integer_above_max_value", param="n", variant="too-many"),
        Pair("setting-range", ask(top_p=7), f"Invalid 'top_p': {_above(1, 7)}", ask(top_p=1), **too_high,
             param="top_p", variant="top-p"),
        Pair("setting-range", ask(frequency_penalty=-3), f"Invalid 'frequency_penalty': {_below(-2, -3, 'decimal')}",
             ask(frequency_penalty=-2), **too_low, param="frequency_penalty", variant="frequency"),
        Pair("setting-range", ask(presence_penalty=2.5), f"Invalid 'presence_penalty': {_above(2, 2.5)}",
             ask(presence_penalty=2), **too_high, param="presence_penalty", variant="presence"),
        Pair("setting-range", ask(logprobs=True, top_logprobs=21),
             f"Invalid 'top_logprobs': {_above(20, 21, 'integer')}", ask(logprobs=True, top_logprobs=20),
             kind="integer_above_max_value", param="top_logprobs", variant="logprobs"),
        Pair("stop-sequences", ask(stop=five),
             "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 "
             "instead.", ask(stop=five[:4]), kind="array_above_max_length", param="stop"),
        Pair("invalid-type", ask(temperature="hot"),
             "Invalid type for 'temperature': expected a decimal, but got a string instead.", ask(temperature=1),
             **typed, param="temperature", variant="temperature"),
        Pair("invalid-type", ask(max_tokens="4"),
             "Invalid type for 'max_tokens': expected an integer, but got a string instead.", ask(max_tokens=4.0),
             **typed, param="max_tokens", variant="limit"),
        Pair("invalid-type", ask(n=1.5), "Invalid type for 'n': expected an integer, but got a decimal instead.",
             ask(n=1), **typed, param="n", variant="fraction"),
        Pair("invalid-type", ask(seed=True), "Invalid type for 'seed': expected an integer, but got a boolean instead.",
             ask(seed=1), **typed, param="seed", variant="truth-for-a-number"),
        Pair("invalid-type", ask(stream="yes"),
             "Invalid type for 'stream': expected a boolean, but got a string instead.", ask(stream=None), **typed,
             param="stream", variant="stream"),
        Pair("invalid-type", ask(stop=5),
             "Invalid type for 'stop': expected one of a string or array of strings, but got an integer instead.",
             ask(stop="5"), **typed, param="stop", variant="stop"),
        Pair("invalid-type", ask(stop=["4", 5]),
             "Invalid type for 'stop[1]': expected a string, but got an integer instead.", ask(stop=["4", "5"]),
             **typed, param="stop[1]", variant="stop-sequence"),
        Pair("setting-choice", ask(tools=[TOOL], tool_choice="sometimes"),
             "Invalid value: 'sometimes'. Supported values are: 'none', 'auto', and 'required'.",
             ask(tools=[TOOL], tool_choice="required"), **word, param="tool_choice"),
        Pair("setting-choice", ask(response_format={"type": "xml"}),
             "Invalid value: 'xml'. Supported values are: 'json_object', 'json_schema', and 'text'.",
             ask(response_format={"type": "text"}), **word, param="response_format.type", variant="format"),
    ]  # fmt: skip


def _members() -> list[Pair]:
    """Members that there are not, of what stands below the body."""
    unknown: Json = {"kind": "unknown_parameter"}
    numbered = (OPENING, assistant(None, call() | {"index": 0}), result())
    ordinary = (OPENING, assistant(None, call()), result())
    marked: Json = {"type": "text", "text": "How moist is bed 3?", "cache_control": {"type": "ephemeral"}}
    unmarked: Json = {"type": "text", "text": "How moist is bed 3?"}
    with_data: Json = {"type": "file", "file": {"file_data": PDF, "filename": "a.pdf", "data": PDF}}
    without_data: Json = {"type": "file", "file": {"file_data": PDF, "filename": "a.pdf"}}
    strict: Json = _format(_CLOSED)
    loose: Json = {"response_format": strict["response_format"] | {"strict": True}}
    odd_tool: Json = TOOL | {"function": TOOL["function"] | {"cache_control": {"type": "ephemeral"}}}
    return [
        Pair("unknown-member", ask(*numbered), "Unknown parameter: 'messages[1].tool_calls[0].index'.",
             ask(*ordinary), **unknown, param="messages[1].tool_calls[0].index"),
        Pair("unknown-member", ask(user([marked])), "Unknown parameter: 'messages[0].content[0].cache_control'.",
             ask(user([unmarked])), **unknown, param="messages[0].content[0].cache_control", variant="block"),
        Pair("unknown-member", ask(user([unmarked | {"colour": "green"}])),
             "Unknown parameter: 'messages[0].content[0].colour'.", ask(user([unmarked])), **unknown,
             param="messages[0].content[0].colour", variant="unlisted", enforced=False),
        Pair("unknown-member", ask(user([with_data])), "Unknown parameter: 'messages[0].content[0].file.data'.",
             ask(user([without_data])), **unknown, param="messages[0].content[0].file.data", variant="inside-a-block"),
        Pair("unknown-member", ask(**loose), "Unknown parameter: 'response_format.strict'.", ask(**strict), **unknown,
             param="response_format.strict", variant="format"),
        Pair("unknown-tool-member", ask(tools=[odd_tool]), "Unknown parameter: 'tools[0].function.cache_control'.",
             ask(tools=[TOOL]), **unknown, param="tools[0].function.cache_control", enforced=False),
    ]  # fmt: skip


def _images() -> list[Pair]:
    expected = (
        "Invalid image URL: 'messages[0].content[0].image_url.url'. Expected a base64-encoded data URL with an image "
        "MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got"
    )
    about: Json = {"kind": "invalid_value", "param": "messages[0].content[0].image_url.url"}
    return [
        Pair("image-data", ask(user([image("iVBORw0KGgo=")])), f"{expected} a value without the 'data:' prefix.",
             ask(user([image(PNG)])), **about),
        Pair("image-data", ask(user([image("data:image/png;base64,!!!")])),
             f"{expected} an invalid base64-encoded value.", ask(user([image(PNG)])), **about, variant="broken"),
        Pair("image-data", ask(user([image("data:image/png;base64,")])), f"{expected} empty base64-encoded bytes.",
             ask(user([image(PNG)])), **about, variant="empty"),
    ]  # fmt: skip


def _form() -> list[Pair]:
    expected: Json = {"response_format": {"type": "json_object"}}
    missing = "'required' is required to be supplied and to be an array including every key in properties."
    return [
        Pair("json-word", ask(**expected),
             "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
             ask(system("Answer in JSON."), OPENING, **expected), param="messages"),
        Pair("strict-format", ask(**_format(_OPEN)),
             f"Invalid schema for response_format 'reading': In context=(), {_NOT_CLOSED}",
             ask(**_format(_OPEN, strict=False)), param="response_format"),
        Pair("strict-format", ask(**_format(_OPTIONAL)),
             f"Invalid schema for response_format 'reading': In context=(), {missing} Missing 'bed'.",
             ask(**_format(_CLOSED)), param="response_format", variant="optional"),
        Pair("strict-format", ask(**_format(_nested(_OPEN))),
             f"Invalid schema for response_format 'reading': In context=('properties', 'at'), {_NOT_CLOSED}",
             ask(**_format(_nested(_CLOSED))), param="response_format", variant="nested"),
    ]  # fmt: skip


def _size() -> list[Pair]:
    def talk(tokens: int) -> Json:
        return user("soil" * tokens)

    return [
        Pair("context-length", ask(talk(128_000)),
             "This model's maximum context length is 128000 tokens. However, your messages resulted in 128003 tokens. "
             "Please reduce the length of the messages.", ask(talk(127_997)), kind="context_length_exceeded",
             param="messages"),
        Pair("github-size", ask(talk(8_000), surface=Surface.GITHUB),
             "Request body too large for gpt-4o model. Max size: 8000 tokens.",
             ask(talk(7_997), surface=Surface.GITHUB), 413, "tokens_limit_reached"),
        Pair("copilot-size", ask(talk(128_000), surface=Surface.COPILOT, model="gpt-4.1"),
             "prompt token count of 128003 exceeds the limit of 128000",
             ask(talk(127_997), surface=Surface.COPILOT, model="gpt-4.1"), kind="model_max_prompt_tokens_exceeded"),
        Pair("zai-size", ask(talk(200_000), surface=Surface.ZAI), "Prompt exceeds max length",
             ask(talk(199_997), surface=Surface.ZAI), kind="1261"),
        Pair("ollama-truncates", ask(talk(40_960), surface=Surface.OLLAMA),
             "the prompt of 40963 tokens is cut to the 40960 of the window", ask(talk(40_957), surface=Surface.OLLAMA),
             200, "truncated", enforced=False),
    ]  # fmt: skip


PAIRS: tuple[Pair, ...] = (
    *_arguments(),
    *_tools(),
    *_sampling(),
    *_values(),
    *_members(),
    *_images(),
    *_form(),
    *_size(),
)
