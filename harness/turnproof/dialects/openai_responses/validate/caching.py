"""The prompt cache: which models take breakpoints, and the words of their settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...base import Refusal
from ...openai_prompt_cache import LIVES, MODES
from ...openai_values import wrong_choice
from .. import rules
from ..models import MODELS, ONE_TOKEN_STEPS
from .context import Context, refuse

_MARK, _OPTIONS, _RETENTION = "prompt_cache_breakpoint", "prompt_cache_options", "prompt_cache_retention"


def check(context: Context) -> Iterator[Refusal]:
    """Rules about `prompt_cache_options` and the marks on blocks."""
    options = context.body.get(_OPTIONS)
    marks = list(_marks(context))
    if context.facts is not None and context.facts.id in MODELS:
        newer = context.has(ONE_TOKEN_STEPS)
        if not newer and options is not None:
            yield _unsupported(_OPTIONS, _OPTIONS)
        if not newer and marks:
            yield _unsupported(_MARK, marks[0][0])
        if newer and context.body.get(_RETENTION) is not None:
            yield _unsupported(_RETENTION, _RETENTION)
    for name, choices in (("mode", MODES), ("ttl", tuple(LIVES))):
        if isinstance(options, dict) and options.get(name) is not None and options[name] not in choices:
            yield _wrong(f"{_OPTIONS}.{name}", options[name], choices)
    for path, mark in marks:
        if mark.get("mode", "explicit") != "explicit":
            yield _wrong(f"{path}.mode", mark["mode"], ("explicit",))


def _marks(context: Context) -> Iterator[tuple[str, dict[str, Any]]]:
    for placed in context.sent:
        for member in ("content", "output"):
            blocks = placed.item.get(member)
            for n, block in enumerate(blocks if isinstance(blocks, list) else ()):
                if isinstance(block, dict) and isinstance(mark := block.get(_MARK), dict):
                    yield f"{placed.path}.{member}[{n}].{_MARK}", mark


def _unsupported(name: str, path: str) -> Refusal:
    return refuse(rules.CACHE_OF_MODEL, f"{name} is not supported on this model", path)


def _wrong(path: str, value: object, choices: tuple[str, ...]) -> Refusal:
    fault = wrong_choice(path, str(value), choices)
    return refuse(rules.CACHE_OPTIONS, fault.message, fault.path, fault.code)
