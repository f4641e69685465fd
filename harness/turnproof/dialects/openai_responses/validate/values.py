"""Values of settings: their types, their ranges, and the words that they may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...base import Refusal
from ...openai_values import Limits, range_faults, type_faults, wrong_choice
from .. import fields, rules
from .context import Context, refuse

_DECIMAL: Final = ((int, float), "a decimal")
_INTEGER: Final = ((int, float), "an integer")
_BOOLEAN: Final = ((bool,), "a boolean")
_TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    **dict.fromkeys(("temperature", "top_p"), _DECIMAL),
    **dict.fromkeys(("max_output_tokens", "max_tool_calls", "top_logprobs"), _INTEGER),
    **dict.fromkeys(("stream", "store", "parallel_tool_calls"), _BOOLEAN),
    "user": ((str,), "a string"),
}
_OUTPUT: Final = {"max_output_tokens": Limits("integer", fields.LEAST_OUTPUT)}
_TEMPERATURE: Final = {"temperature": Limits("decimal", 0, 2)}
_RANGES: Final = {"top_p": Limits("decimal", 0, 1)}
_CHOICES: Final = ("none", "auto", "required")


def check(context: Context) -> Iterator[Refusal]:
    """What is wrong with one setting by itself, whatever the model."""
    for fault in type_faults(context.body, _TYPES):
        yield refuse(rules.MALFORMED_BODY, fault.message, fault.path, fault.code)
    ranges = ((rules.OUTPUT_LIMIT, _OUTPUT), (rules.TEMPERATURE, _TEMPERATURE), (rules.SETTING_RANGE, _RANGES))
    for rule, limits in ranges:
        for fault in range_faults(context.body, limits):
            yield refuse(rule, fault.message, fault.path, fault.code)
    choice = context.body.get("tool_choice")
    if isinstance(choice, str) and choice not in _CHOICES:
        fault = wrong_choice("tool_choice", choice, _CHOICES)
        yield refuse(rules.SETTING_CHOICE, fault.message, fault.path, fault.code)
