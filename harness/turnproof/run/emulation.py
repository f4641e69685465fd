"""The emulator as backend, with a look at each run's world when the run is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..provider import Binding
from ..wire.emulator import ServerRun
from .driver import RunSpec
from .driver.runner import Emulated

Issued: TypeAlias = Mapping[str, tuple[str, str]]


class Emulation(Emulated):
    """The emulator, which also keeps what the service of each run has issued until that is asked for."""

    def __init__(self) -> None:
        self._issued: dict[int, Issued] = {}

    def finished(self, binding: Binding, spec: RunSpec, server_run: ServerRun) -> None:
        """Keep what the service has issued up to the end of this run."""
        self.add_issued(spec, dict(server_run.world.issued))

    def add_issued(self, spec: RunSpec, issued: Issued) -> None:
        """Take in what the service of a run made elsewhere has issued."""
        self._issued[id(spec)] = issued

    def issued(self, spec: RunSpec) -> Issued:
        """What the service of a run had issued when it was over; asked for once."""
        return self._issued.pop(id(spec))
