"""What stands beside the conversation and contradicts itself or the model."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..models import JSON_WITH_TOOLS
from ..tools import declarations
from .context import Context, refuse

_JSON = "application/json"


def check(context: Context) -> Iterator[Refusal]:
    """Sampling, and JSON answers beside tools."""
    config = context.asked.get("generationConfig", {})
    temperature = config.get("temperature")
    if temperature is not None and not 0 <= float(temperature) < 2.0001:
        message = (
            f"Unable to submit request because it has a temperature value of {temperature} but the supported range is "
            "from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again."
        )
        yield refuse(rules.TEMPERATURE, message, "generationConfig.temperature")
    wants_json = config.get("responseMimeType") == _JSON
    if not wants_json or context.vertex or context.facts is None or context.has(JSON_WITH_TOOLS):
        return
    tools = context.cache.body.get("tools", ()) if context.cache else context.asked.get("tools", ())
    if next(declarations(tools), None) is not None:
        message = f"Function calling with a response mime type: '{_JSON}' is unsupported"
        yield refuse(rules.JSON_WITH_TOOLS, message, "generationConfig.responseMimeType")
