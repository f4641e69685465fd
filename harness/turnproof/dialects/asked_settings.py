"""What the settings of a request ask for, in neutral words: each API has names of its own for the same few things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..messages import JSON, ToolSchema

_LIMITS: Final = ("maxtokens", "maxoutputtokens", "maxcompletiontokens", "numpredict")
_STOPS: Final = ("stop", "stopsequences")
_THINKING: Final = ("thinking", "think", "thinkingconfig", "thinkinglevel", "reasoning", "reasoningeffort")
_NESTED: Final = ("options", "generationconfig")
_FORCING: Final = ("required", "any")
_LEVELS: Final = ("type", "effort", "thinkingLevel", "thinkingBudget", "budget_tokens")
_NO_THINKING: Final = (None, False, "none", "minimal", "disabled", 0)


def each_setting(settings: Mapping[str, Any]) -> Iterator[tuple[str, str, JSON]]:
    """The settings, those in an object of settings as well: the name in small letters without underscores, the API's
    own name, and the value."""
    for name, value in settings.items():
        small = name.replace("_", "").lower()
        if small in _NESTED and isinstance(value, Mapping):
            yield from each_setting(value)
        else:
            yield small, name, value


def output_limits(settings: Mapping[str, Any]) -> dict[str, JSON]:
    """How many tokens the answer may have, by the API's names."""
    return {name: value for small, name, value in each_setting(settings) if small in _LIMITS}


def stop_sequences(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts in front of which the answer ends."""
    found = (value for small, _, value in each_setting(settings) if small in _STOPS)
    texts = (one for value in found for one in ([value] if isinstance(value, str) else value or ()))
    return tuple(one for one in texts if isinstance(one, str) and one)


def forced_tool(settings: Mapping[str, Any], tools: Sequence[ToolSchema]) -> ToolSchema | None:
    """The tool that the answer has to call: the one that the request names, or the first where it has to be any."""
    for small, _, value in each_setting(settings):
        if small == "toolchoice":
            return _chosen(value, tools)
        if small == "toolconfig" and isinstance(value, Mapping):
            calling = value.get("functionCallingConfig") or {}
            if str(calling.get("mode", "")).lower() in _FORCING:
                allowed = calling.get("allowedFunctionNames") or [tool.name for tool in tools]
                return next((tool for tool in tools if tool.name in allowed), None)
    return None


def _chosen(choice: JSON, tools: Sequence[ToolSchema]) -> ToolSchema | None:
    if isinstance(choice, str):
        return tools[0] if choice in _FORCING and tools else None
    if not isinstance(choice, Mapping):
        return None
    if isinstance(allowed := choice.get("allowed_tools"), Mapping):
        names = allowed.get("tools") or [tool.name for tool in tools]
        forces = allowed.get("mode") in _FORCING
        return next((tool for tool in tools if tool.name in names), None) if forces else None
    function = choice.get("function")
    name = choice.get("name") or (function.get("name") if isinstance(function, Mapping) else None)
    if name is None:
        return _chosen(choice.get("type", choice.get("mode")), tools)
    return next((tool for tool in tools if tool.name == name), None)


def asks_for_thinking(settings: Mapping[str, Any]) -> bool:
    """Whether the model is asked to think, and for no little as nothing."""
    return any(_is_on(value) for small, _, value in each_setting(settings) if small in _THINKING)


def _is_on(value: JSON) -> bool:
    if not isinstance(value, Mapping):
        return value not in _NO_THINKING
    level = [
        value[name] for name in ("type", "effort", "thinkingLevel", "thinkingBudget", "budget_tokens") if name in value
    ]
    return bool(level) and all(one not in _NO_THINKING for one in level)
