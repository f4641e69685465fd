"""What `turnproof explore` was asked to do, with the project's settings already applied."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..._base.settings import Config
from ...provider import Path as ProviderPath


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """Everything an exploration depends on. Two with equal options and packages try the same scenarios.

    subject:    an adapter or a session: an installed name, `module:attribute` or `SESSION@ADAPTER`.
    examples:   how many scenarios are tried.
    seed:       all of them follow from it.
    most:       how many findings are enough: the search ends with the last of them.
    only, skip: requirement ids or shell patterns of them. Without `only`, those that are MUSTs decide.
    path:       `stateless` or `legacy` alone, or None for both and their parity.
    out:        the folder that gets `explored/<name>.yaml` for each finding; made when there is one.
    jobs:       worker processes; None lets the engine choose.
    in_process: run the subject in this process instead of in workers, for debugging.
    config:     the project's settings; its known issues are not found again, its declared differences are no findings.
    """

    subject: str
    examples: int = 300
    seed: int = 0
    most: int = 5
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    path: ProviderPath | None = None
    out: Path = Path("reports")
    jobs: int | None = None
    in_process: bool = False
    config: Config = field(default_factory=Config)
