"""What the services remember between the legs of a journey: the signatures that they have issued."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ...dialects.base import Dialect
from ...provider import Binding
from ...run.driver import Backend, RunSpec
from ...wire.emulator import Responder, ScriptResponder, ServerRun

Issued: TypeAlias = Mapping[str, tuple[str, str]]


class Carrier:
    """The emulator as backend, with a look at each run's world when the run is over."""

    def __init__(self) -> None:
        self._issued: dict[int, Issued] = {}

    def backend_for(self, spec: RunSpec) -> Backend:
        """Always the emulator."""
        return "emulate"

    def responder(self, binding: Binding, spec: RunSpec, dialect: Dialect) -> Responder:
        """The scenario's own script answers."""
        return ScriptResponder()

    def finished(self, binding: Binding, spec: RunSpec, server_run: ServerRun) -> None:
        """Keep what the service has issued up to the end of this run."""
        self._issued[id(spec)] = dict(server_run.world.issued)

    def issued(self, spec: RunSpec) -> Issued:
        """What the service of a run had issued when it was over; asked for once."""
        return self._issued.pop(id(spec))
