"""Where runs are made, from the command line and the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..._base.settings import Config

if TYPE_CHECKING:
    from ...run.cluster.options import ClusterOptions


def cluster_options(address: str | None, config: Config, jobs: int | None = None) -> ClusterOptions | None:
    """The cluster that is asked for; None for this machine alone, which an empty address asks for.

    Raises UsageError for what is no address, and for a number of worker processes beside it.
    """
    from ...errors import UsageError

    settings = config.settings.cluster
    target = settings.address if address is None else address
    if not target:
        return None
    if jobs is not None:
        raise UsageError("-j is for worker processes of this machine: with --cluster, leave it away")
    from ...run.cluster.connection import check_address
    from ...run.cluster.options import ClusterOptions

    check_address(target)
    folder = config.file.parent if config.file is not None else Path()
    return ClusterOptions(target, settings.share, tuple(folder / wheel for wheel in settings.wheels))
