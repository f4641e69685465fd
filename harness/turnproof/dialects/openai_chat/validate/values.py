"""Values of settings: their types, their ranges, and the words that they may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...base import Refusal
from ...openai_values import Fault, Limits, range_faults, type_faults, wrong_choice, wrong_type
from .. import rules
from .context import Context

_DECIMAL: Final = ((int, float), "a decimal")
_INTEGER: Final = ((int, float), "an integer")
_BOOLEAN: Final = ((bool,), "a boolean")
_TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    **dict.fromkeys(("temperature", "top_p", "frequency_penalty", "presence_penalty"), _DECIMAL),
    **dict.fromkeys(("max_tokens", "max_completion_tokens", "n", "seed", "top_logprobs"), _INTEGER),
    **dict.fromkeys(("stream", "store", "logprobs", "parallel_tool_calls"), _BOOLEAN),
    "stop": ((str, list), "one of a string or array of strings"),
    "user": ((str,), "a string"),
}
"""A decimal that is whole is taken for an integer: nobody has shown what the service makes of `100.0`."""

_OUTPUT: Final = {"max_tokens": Limits("integer", 1), "max_completion_tokens": Limits("integer", 1)}
_TEMPERATURE: Final = {"temperature": Limits("decimal", 0, 2)}
_RANGES: Final = {
    "top_p": Limits("decimal", 0, 1),
    "frequency_penalty": Limits("decimal", -2, 2),
    "presence_penalty": Limits("decimal", -2, 2),
    "n": Limits("integer", 1, 128),
    "top_logprobs": Limits("integer", 0, 20),
}
_MOST_SEQUENCES: Final = 4
_FORMATS: Final = ("json_object", "json_schema", "text")
_CHOICES: Final = ("none", "auto", "required")


def check(context: Context) -> Iterator[Refusal]:
    """What is wrong with one setting by itself, whatever the model."""
    body = context.body
    for fault in (*type_faults(body, _TYPES), *_fractions(context)):
        yield context.refuse(rules.INVALID_TYPE, *fault)
    for rule, limits in (
        (rules.OUTPUT_MINIMUM, _OUTPUT),
        (rules.TEMPERATURE, _TEMPERATURE),
        (rules.SETTING_RANGE, _RANGES),
    ):
        for fault in range_faults(body, limits):
            yield context.refuse(rule, *fault)
    yield from _stop(context)
    for fault in _words(context):
        yield context.refuse(rules.SETTING_CHOICE, *fault)


def _fractions(context: Context) -> Iterator[Fault]:
    for name, (_, expected) in _TYPES.items():
        value = context.body.get(name)
        if expected == "an integer" and isinstance(value, float) and not value.is_integer():
            yield wrong_type(name, expected, value)


def _stop(context: Context) -> Iterator[Refusal]:
    sequences = context.body.get("stop")
    if isinstance(sequences, list) and len(sequences) > _MOST_SEQUENCES:
        message = (
            f"Invalid 'stop': array too long. Expected an array with maximum length {_MOST_SEQUENCES}, but got an "
            f"array with length {len(sequences)} instead."
        )
        yield context.refuse(rules.STOP_SEQUENCES, "array_above_max_length", message, "stop")
    for n, sequence in enumerate(sequences if isinstance(sequences, list) else ()):
        if not isinstance(sequence, str):
            yield context.refuse(rules.INVALID_TYPE, *wrong_type(f"stop[{n}]", "a string", sequence))


def _words(context: Context) -> Iterator[Fault]:
    response_format, choice = context.body.get("response_format"), context.body.get("tool_choice")
    kind = response_format.get("type") if isinstance(response_format, dict) else None
    if kind is not None and kind not in _FORMATS:
        yield wrong_choice("response_format.type", kind, _FORMATS)
    if isinstance(choice, str) and choice not in _CHOICES:
        yield wrong_choice("tool_choice", choice, _CHOICES)
