"""The emulator as backend, with a look at each run's world when the run is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..dialects.base import Dialect
from ..provider import Binding
from ..wire.emulator import ROUND_LIMIT, Responder, ScriptResponder, ServerRun
from .driver import Backend, RunSpec

Issued: TypeAlias = Mapping[str, tuple[str, str]]


class Emulation:
    """The scenario's own script answers, and what the service of each run has issued is kept until it is asked for."""

    def __init__(self) -> None:
        self._issued: dict[int, Issued] = {}

    def backend_for(self, spec: RunSpec) -> Backend:
        """Always the emulator."""
        return "emulate"

    def responder(self, binding: Binding, spec: RunSpec, dialect: Dialect) -> Responder:
        """The scenario's own script answers."""
        return ScriptResponder(ROUND_LIMIT)

    def finished(self, binding: Binding, spec: RunSpec, server_run: ServerRun) -> None:
        """Keep what the service has issued up to the end of this run."""
        self.add_issued(spec, dict(server_run.world.issued))

    def closed(self, spec: RunSpec) -> str:
        """The emulator answers always."""
        return ""

    def add_issued(self, spec: RunSpec, issued: Issued) -> None:
        """Take in what the service of a run made elsewhere has issued."""
        self._issued[id(spec)] = issued

    def issued(self, spec: RunSpec) -> Issued:
        """What the service of a run had issued when it was over; asked for once."""
        return self._issued.pop(id(spec))
