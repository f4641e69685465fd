"""Pairs about the model, settings and tools, and about what the service holds and what goes together."""

from __future__ import annotations

from ..asks import Ask, Pair, ask, loop
from ..builders import (
    CLOSED,
    FLEETING,
    FLEETING_CALL,
    FLEETING_REASONING,
    OLD,
    OPENING,
    RESPONSE,
    SEALED_BY_OTHER,
    SEALED_ELSEWHERE,
    SEALED_FOR_OTHERS,
    STORED,
    STORED_CALL,
    STORED_REASONING,
    assistant,
    call,
    function,
    output,
    reasoning,
    user,
)

_OPEN = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}
_OPTIONAL = CLOSED | {"required": []}
_NESTED = CLOSED | {"properties": {"bed": {"type": "object", "properties": {}}}}
_CLOSE = "'additionalProperties' is required to be supplied and to be false."


def _settings() -> tuple[Pair, ...]:
    return (
        Pair(
            "unknown-model", ask(model="gpt-9"), "The requested model 'gpt-9' does not exist.", ask(),
            kind="model_not_found", param="model",
        ),
        Pair(
            "unknown-model", Ask(path="/v1/models/gpt-9", method="GET"), "The model 'gpt-9' does not exist",
            Ask(path="/v1/models/gpt-5", method="GET"), status=404, kind="model_not_found", param="model",
            variant="looked-up",
        ),
        Pair(
            "no-input", Ask({"model": "gpt-5", "instructions": "Greet."}),
            "One of input / previous_response_id / prompt / conversation_id must be provided.", ask(),
            kind="missing_required_parameter",
        ),
        Pair(
            "temperature-range", ask(model=OLD, temperature=-1),
            "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
            ask(model=OLD, temperature=0), kind="decimal_below_min_value", param="temperature",
        ),
        Pair(
            "temperature-range", ask(model=OLD, temperature=2.5),
            "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
            ask(model=OLD, temperature=2), kind="decimal_above_max_value", param="temperature", variant="high",
        ),
        Pair(
            "no-sampling", ask(temperature=1), "Unsupported parameter: 'temperature' is not supported with this model.",
            ask(temperature=1, model=OLD), kind="unsupported_parameter", param="temperature",
        ),
        Pair(
            "no-sampling", ask(top_p=0.5), "Unsupported parameter: 'top_p' is not supported with this model.",
            ask(top_p=0.5, reasoning={"effort": "none"}), kind="unsupported_parameter", param="top_p",
            variant="unless-reasoning-is-off",
        ),
        Pair(
            "output-limit", ask(max_output_tokens=15),
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
            ask(max_output_tokens=16), kind="integer_below_min_value", param="max_output_tokens",
        ),
    )  # fmt: skip


def _tools() -> tuple[Pair, ...]:
    pattern = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    return (
        Pair(
            "tool-name", ask(tools=[function("garden.read")]), f"Invalid 'tools[0].name': {pattern}",
            ask(tools=[function("garden_read")]), kind="invalid_value", param="tools[0].name",
        ),
        Pair(
            "tool-name", loop(call(name="garden.read"), output()), f"Invalid 'input[1].name': {pattern}",
            loop(call(name="garden_read"), output()), kind="invalid_value", param="input[1].name", variant="call",
        ),
        Pair(
            "long-tool-name", ask(tools=[function("r" * 65)]),
            "Invalid 'tools[0].name': string too long. Expected a string with maximum length 64, but got a string with "
            "length 65 instead.",
            ask(tools=[function("r" * 64)]), kind="string_above_max_length", enforced=False,
        ),
        Pair(
            "strict-parameters", ask(tools=[function(parameters=_OPEN, strict=True)]),
            f"Invalid schema for function 'read_sensor': In context=(), {_CLOSE}",
            ask(tools=[function(parameters=_OPEN)]),
            kind="invalid_function_parameters", param="tools[0].parameters",
        ),
        Pair(
            "strict-parameters", ask(tools=[function(parameters=_NESTED, strict=True)]),
            f"Invalid schema for function 'read_sensor': In context=('properties', 'bed'), {_CLOSE}",
            ask(tools=[function(strict=True)]),
            kind="invalid_function_parameters", param="tools[0].parameters", variant="nested",
        ),
        Pair(
            "strict-parameters", ask(tools=[function(parameters=_OPTIONAL, strict=True)]),
            "Invalid schema for function 'read_sensor': In context=(), 'required' is required to be supplied and to be "
            "an array including every key in properties. Missing 'bed'.",
            ask(tools=[function(parameters=_OPTIONAL, strict=False)]),
            kind="invalid_function_parameters", param="tools[0].parameters", variant="required",
        ),
        Pair(
            "strict-format",
            ask(text={"format": {"type": "json_schema", "name": "bed", "strict": True, "schema": _OPEN}}),
            f"Invalid schema for response_format 'bed': In context=(), {_CLOSE}",
            ask(text={"format": {"type": "json_schema", "name": "bed", "strict": True, "schema": CLOSED}}),
            kind="invalid_json_schema", param="text.format.schema",
        ),
    )  # fmt: skip


def _items() -> tuple[Pair, ...]:
    unknown = (
        "Item with id '{}' not found. Items are not persisted when `store` is set to false. Try again with `store` set "
        "to true, or remove this item from your input."
    )
    return (
        Pair(
            "previous-response", ask(user("Thanks"), previous_response_id="resp_fleeting"),
            "Previous response with id 'resp_fleeting' not found.",
            ask(user("Thanks"), previous_response_id="resp_answer"),
            kind="previous_response_not_found", param="previous_response_id",
        ),
        Pair(
            "item-not-found", loop(reasoning(FLEETING_REASONING, None), FLEETING[1], output("call_f")),
            unknown.format(FLEETING_REASONING), loop(*FLEETING, output("call_f")), status=404, param="input",
        ),
        Pair(
            "item-not-found", loop({"type": "item_reference", "id": "msg_gone"}), unknown.format("msg_gone"),
            loop({"type": "item_reference", "id": "msg_stored"}), status=404, param="input", variant="reference",
        ),
        Pair(
            "duplicate-item", ask(OPENING, assistant("41", id="msg_1"), user("Sure?"), assistant("Yes", id="msg_1")),
            "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
            ask(OPENING, assistant("41", id="msg_1"), user("Sure?"), assistant("Yes", id="msg_2")), param="input",
        ),
    )  # fmt: skip


def _pairing() -> tuple[Pair, ...]:
    return (
        Pair(
            "dangling-call", loop(call(), user("Thanks")), "No tool output found for function call call_1.",
            loop(call(), output(), user("Thanks")), param="input",
        ),
        Pair(
            "dangling-call", ask(user("Thanks"), previous_response_id=RESPONSE),
            "No tool output found for function call call_s.", ask(output("call_s"), previous_response_id=RESPONSE),
            param="input", variant="held",
        ),
        Pair(
            "orphan-output", loop(output()), "No tool call found for function call output with call_id call_1.",
            loop(call(), output()), param="input",
        ),
        Pair(
            "output-before-call", loop(output(), call()),
            "No tool call found for function call output with call_id call_1.", loop(call(), output()), enforced=False,
        ),
    )  # fmt: skip


def _thoughts() -> tuple[Pair, ...]:
    missing = "Item '{}' of type 'function_call' was provided without its required 'reasoning' item: '{}'."
    alone = "Item '{}' of type 'reasoning' was provided without its required following item."
    return (
        Pair(
            "encrypted-content", loop(reasoning("rs_1", SEALED_ELSEWHERE), assistant("41 %")),
            "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be "
            "decrypted or parsed.",
            loop(reasoning("rs_1"), assistant("41 %")), kind="invalid_encrypted_content",
        ),
        Pair(
            "encrypted-content", loop(reasoning(None, SEALED_ELSEWHERE), assistant("41 %")),
            "The encrypted content gAAA...ar== could not be verified. Reason: Encrypted content could not be decrypted "
            "or parsed.",
            loop(reasoning(None), assistant("41 %")), kind="invalid_encrypted_content", variant="without-id",
        ),
        Pair(
            "encrypted-content", loop(reasoning("rs_1", SEALED_FOR_OTHERS), assistant("41 %")),
            "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content organization_id did "
            "not match the target organization.",
            loop(reasoning("rs_1"), assistant("41 %")), kind="invalid_encrypted_content", variant="of-another-owner",
        ),
        Pair(
            "reasoning-without-follower", loop(STORED[0], user("Thanks")), alone.format(STORED_REASONING),
            loop(*STORED, output("call_s"), user("Thanks")), param="input",
        ),
        Pair(
            "reasoning-without-follower", loop(STORED[0], call("call_s"), output("call_s")),
            alone.format(STORED_REASONING), loop(reasoning(None), call("call_s"), output("call_s")),
            param="input", variant="follower-without-id",
        ),
        Pair(
            "item-without-reasoning", loop(STORED[1], output("call_s")), missing.format(STORED_CALL, STORED_REASONING),
            loop(call("call_s"), output("call_s")), param="input",
        ),
        Pair(
            "item-without-reasoning", loop(reasoning(None), STORED[1], output("call_s")),
            missing.format(STORED_CALL, STORED_REASONING), loop(*STORED, output("call_s")),
            param="input", variant="reasoning-without-id",
        ),
        Pair(
            "foreign-model-reasoning", loop(reasoning("rs_1", SEALED_BY_OTHER), assistant("41 %")),
            "The reasoning of input[1] was issued by o3; the model will not see it.",
            loop(reasoning("rs_1"), assistant("41 %")), enforced=False,
        ),
        Pair(
            "unstored-reasoning-without-follower", loop(FLEETING[0], user("Thanks")),
            alone.format(FLEETING_REASONING), loop(*FLEETING, output("call_f")), enforced=False,
        ),
        Pair(
            "unstored-item-without-reasoning", loop(FLEETING[1], output("call_f")),
            missing.format(FLEETING_CALL, FLEETING_REASONING), loop(call("call_f"), output("call_f")), enforced=False,
        ),
    )  # fmt: skip


def _size() -> tuple[Pair, ...]:
    long = user("moist soil " * 60_000)
    return (
        Pair(
            "prompt-too-long", ask(long, model="gpt-4o"),
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            ask(long, model="gpt-4o", truncation="auto"), kind="context_length_exceeded", param="input",
        ),
    )  # fmt: skip


PAIRS: tuple[Pair, ...] = (*_settings(), *_tools(), *_items(), *_pairing(), *_thoughts(), *_size())
