"""What the processes of a subject may take. There is no limit unless the settings have one."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ..._base.settings import WorkerSettings
from ...errors import UsageError

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a worker and of what it starts.

    memory:    bytes of data that each of its processes may have.
    processes: how many processes it may have running beside itself.
    """

    memory: int | None = None
    processes: int | None = None


NO_LIMITS = Limits()


def limits_of(settings: WorkerSettings) -> Limits:
    """The limits that the settings have. Raises UsageError for one that this system cannot keep."""
    memory = settings.memory_mib * _MIB if settings.memory_mib is not None else None
    if sys.platform != "linux" and (memory, settings.processes) != (None, None):
        raise UsageError("workers.memory-mib, workers.processes: only Linux can keep these limits; remove them")
    return Limits(memory, settings.processes)
