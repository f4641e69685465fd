"""Which cluster a command uses: all that a command without one has to import of this package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Where the cluster is, and the folder or fsspec URL that all of its machines share.

    Without one, a cluster on this machine gets a temporary folder. `wheels` are sent along, for packages that are not
    installed there.
    """

    address: str
    share: str = ""
    wheels: tuple[Path, ...] = ()
