"""Adapters that set what nobody asked for, lose what was asked for, or leave something open."""

from __future__ import annotations

from collections.abc import Iterator

from ._broken import Broken
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")


@suite_mutant("setting-of-its-own")
class SettingOfItsOwn(Rewriting):
    """One tool at a time, or a temperature of 0.7: a default of the adapter and not of the API."""

    def change_request(self, wire: Wire, body: Json) -> None:
        content = body.get("request", body)
        if "contents" in content:
            content.setdefault("generationConfig", {})["temperature"] = 0.7
        elif "system" in body:
            body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        else:
            body["parallel_tool_calls"] = False


@suite_mutant("limit-replaced")
class LimitReplaced(Rewriting):
    """The limit of the output is the adapter's own, whatever was set."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for place, name in output_limits(body):
            place[name] = 4096


def output_limits(body: Json) -> Iterator[tuple[Json, str]]:
    """Every limit of the output that a request sets, in whichever API: the object that has it, and its name there."""
    content = body.get("request", body)
    for place in (content, *(content.get(name, {}) for name in ("generationConfig", "generation_config", "options"))):
        yield from ((place, name) for name in _LIMITS if name in place)


@suite_mutant("connections-left-open")
class ConnectionsLeftOpen(Broken):
    """Shutting down only forgets the client, and does not close it."""

    def shutdown(self) -> None:
        """Nothing happens."""
