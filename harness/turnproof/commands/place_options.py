"""How a command makes its runs: options that several commands have."""

from __future__ import annotations

from dataclasses import dataclass

from ..run.cluster.options import ClusterOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOptions:
    """How a command makes its runs.

    jobs:    worker processes; None lets the engine choose.
    cluster: where the runs are made; None: in worker processes of this machine.
    seed:    every random choice follows from it.
    resume:  take over the runs that an interrupted command has left in `out`.
    """

    jobs: int | None = None
    cluster: ClusterOptions | None = None
    seed: int = 0
    resume: bool = False
