"""Adapters that set what nobody asked for, lose what was asked for, or leave something open."""

from __future__ import annotations

from ._broken import Broken
from ._mutant import suite_mutant
from ._rewriting import Rewriting, output_limits
from ._wire import Json, Wire


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


@suite_mutant("connections-left-open")
class ConnectionsLeftOpen(Broken):
    """Shutting down only forgets the client, and does not close it."""

    def shutdown(self) -> None:
        """Nothing happens."""
