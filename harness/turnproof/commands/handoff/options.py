"""What `turnproof handoff` was asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...provider import Path as AdapterPath

JOURNEY = "handoff/journey"
"""The conversation that moves unless another is asked for."""


@dataclass(frozen=True, slots=True)
class HandoffOptions:
    """Everything a matrix of hand-offs depends on.

    adapters:   at least two parties: installed names or `module:attribute`, each perhaps with another model than its
                own (`anthropic=claude-opus-4-8`). One alone is enough if it has two paths.
    scenario:   the conversation, by name or file. It needs three turns: one before the change, one after it, and one
                after the way back.
    after:      after which turns the first change comes, counted from 1; empty means each that leaves two more turns.
    path:       one path of each adapter alone; None for both.
    out:        the folder that gets `handoff.json`, `handoff.md` and the evidence.
    jobs:       worker processes; None lets the engine choose.
    in_process: run adapters in this process instead of in workers, for debugging.
    """

    adapters: tuple[str, ...]
    scenario: str = JOURNEY
    after: tuple[int, ...] = ()
    path: AdapterPath | None = None
    out: Path | None = None
    jobs: int | None = None
    seed: int = 0
    in_process: bool = False
