"""The shape of the body: fields and types of steps that there are not, settings that are no word of theirs."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from ...field_names import logged_if_unlisted
from .. import fields, rules
from .context import Context, refuse


def check(context: Context) -> Iterator[Refusal]:
    """Rules about the fields of the body and the types of its steps. All of them are only documented."""
    yield from _unknown(context.body, fields.BODY, "")
    config = context.body.get("generation_config")
    if isinstance(config, dict):
        yield from _unknown(config, fields.GENERATION_CONFIG, "generation_config.")
        for name, words in fields.CHOICES.items():
            value = config.get(name)
            if isinstance(value, str) and value not in words:
                where = f"generation_config.{name}"
                yield refuse(rules.SETTING_CHOICE, f"Invalid value {value!r} for `{where}`.", where)
    if context.body.get("input") in (None, "", []) and not context.body.get("continuation_token"):
        yield refuse(rules.MISSING_INPUT, "`input` is required.", "input")
    for placed in context.sent:
        if placed.kind not in fields.STEPS:
            yield refuse(rules.UNKNOWN_STEP, f"Unknown step type {placed.kind!r}.", f"{placed.path}.type")


def _unknown(body: object, known: frozenset[str], where: str) -> Iterator[Refusal]:
    for name in body if isinstance(body, dict) else ():
        if name not in known:
            refusal = refuse(rules.UNKNOWN_FIELD, f"Unknown field `{where}{name}`.", f"{where}{name}")
            yield logged_if_unlisted(refusal, name)
