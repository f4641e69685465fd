"""Values of settings: their JSON types, their ranges, and the members of those that are objects.

The API reads a number, an integer or a truth value also from a text that says one; such a text is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....messages import JSON
from ...base import Refusal
from .. import fields, rules
from .context import Context, refuse
from .shape import extra_fields

_FRACTIONS = ("temperature", "top_p")
_COUNTS = ("max_tokens", "top_k")
_TRUTHS = frozenset({"true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0"})


def check(context: Context) -> Iterator[Refusal]:
    """What is wrong with one setting by itself, whatever the model."""
    body = context.body
    for field in _FRACTIONS:
        if (fault := _number_fault(body.get(field), "number")) is not None:
            yield refuse(rules.MALFORMED_BODY, f"{field}: {fault}", field)
        elif not 0 <= _number(body.get(field)) <= 1:
            yield refuse(rules.SETTING_RANGE, f"{field}: range: 0..1", field)
    for field in _COUNTS:
        if (fault := _number_fault(body.get(field), "integer")) is not None:
            yield refuse(rules.MALFORMED_BODY, f"{field}: {fault}", field)
        elif _number(body.get(field)) < 0:
            yield refuse(rules.SETTING_RANGE, f"{field}: Input should be greater than or equal to 0", field)
    if (fault := _truth_fault(body.get("stream"))) is not None:
        yield refuse(rules.MALFORMED_BODY, f"stream: {fault}", "stream")
    for n, sequence in enumerate(body.get("stop_sequences") or ()):
        if not isinstance(sequence, str):
            where = f"stop_sequences.{n}"
            yield refuse(rules.MALFORMED_BODY, f"{where}: Input should be a valid string", where)
    yield from _tool_choice(body.get("tool_choice"))
    yield from _thinking(body.get("thinking"))
    for field, known in fields.OBJECT_SETTINGS.items():
        if isinstance(value := body.get(field), dict):
            yield from extra_fields(f"{field}.", value, known)


def _number(value: JSON) -> float:
    """A number; 0 for what is none, which every range has."""
    return value if isinstance(value, int | float) else 0


def _number_fault(value: JSON, expected: str) -> str | None:
    """Why a value is no such number, in the words of the API; None where it is one, or was not given."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        article = "an" if expected == "integer" else "a"
        try:
            float(value)
        except ValueError:
            return f"Input should be a valid {expected}, unable to parse string as {article} {expected}"
        return None
    if not isinstance(value, int | float):
        return f"Input should be a valid {expected}"
    if expected == "integer" and value != int(value):
        return "Input should be a valid integer, got a number with a fractional part"
    return None


def _truth_fault(value: JSON) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str | int | float):
        readable = str(value).lower() in _TRUTHS
        return None if readable else "Input should be a valid boolean, unable to interpret input"
    return "Input should be a valid boolean"


def _tool_choice(choice: JSON) -> Iterator[Refusal]:
    if not isinstance(choice, dict):
        return
    tag = choice.get("type")
    if tag is None:
        yield refuse(
            rules.TOOL_CHOICE, "tool_choice: Unable to extract tag using discriminator 'type'", "tool_choice.type"
        )
    elif not isinstance(tag, str) or tag not in fields.TOOL_CHOICES:
        names = ", ".join(repr(each) for each in fields.TOOL_CHOICES)
        message = f"tool_choice: Input tag '{tag}' found using 'type' does not match any of the expected tags: {names}"
        yield refuse(rules.TOOL_CHOICE, message, "tool_choice.type")
    else:
        yield from extra_fields(f"tool_choice.{tag}.", choice, fields.TOOL_CHOICES[tag])
        if tag == "tool" and "name" not in choice:
            where = "tool_choice.tool.name"
            yield refuse(rules.MISSING_FIELD, f"{where}: Field required", where)


def _thinking(config: JSON) -> Iterator[Refusal]:
    if not isinstance(config, dict):
        return
    tag = config.get("type")
    known = fields.THINKING.get(tag) if isinstance(tag, str) else None
    if known is None:
        return  # A type that the list lacks may be newer than the list.
    yield from extra_fields(f"thinking.{tag}.", config, known)
    if tag == "enabled" and (fault := _number_fault(config.get("budget_tokens"), "integer")) is not None:
        yield refuse(rules.MALFORMED_BODY, f"thinking.enabled.budget_tokens: {fault}", "thinking.budget_tokens")
