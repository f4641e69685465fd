"""What `turnproof gate` was asked to do, with the project's settings already applied."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from ..._base.depth import Depth
from ..._base.settings import Backend, Config, GateMode
from ..place_options import PlaceOptions


@dataclass(frozen=True, slots=True)
class GateOptions(PlaceOptions):
    """Everything a gate depends on, but for the phases.

    phase:       the number of the phase.
    subjects:    what is to pass: adapters, sessions, or `SESSION@ADAPTER`; empty: what the settings name.
    scenarios:   names of scenarios or patterns of them, of whatever depth; empty means all of this depth. A gate that
                 was shown only some of them cannot be open.
    backend:     what answers; None: the emulator, which knows an answer to whatever a session may do.
    depth:       full unless told otherwise: a phase is done when it is done in every scenario.
    out:         the folder that gets the reports; the runs go to a folder in it.
    cluster:     where the runs are made; None: in worker processes of this machine. The project's own tests run here.
    resume:      keeps the runs that it makes in `out` as well.
    mode:        what the exit code says: `report` nothing, `shadow` whether it is worse than what is recorded,
                 `enforce` how the gate stands.
    update_baseline: record how the gate stands.
    in_process:  run sessions in this process instead of in workers, for debugging.
    config:      the project's settings with their file; `config.settings.gates` has what is configured for gates.
    command:     the command line, word for word, for the record.
    """

    phase: int
    subjects: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    backend: Backend | None = None
    depth: Depth = "full"
    out: Path = Path("reports")
    mode: GateMode = "enforce"
    update_baseline: bool = False
    in_process: bool = False
    config: Config = field(default_factory=Config)
    command: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing was left out that could show a difference."""
        return self.depth == "full" and not self.scenarios and self.backend != "replay"

    @property
    def folder(self) -> Path:
        """Where the project is: its own tests are run there."""
        return self.config.file.parent if self.config.file is not None else Path.cwd()

    @property
    def baseline(self) -> Path:
        """The file that has what is recorded."""
        return self.folder / self.config.settings.gates.baseline

    def reproduce(self, subject: str, scenario: str) -> str:
        """The command that shows one scenario again in the same way, quoted for a shell."""
        words = ["turnproof", "gate", "--phase", str(self.phase), subject, "--scenario", scenario]
        words += ["--backend", self.backend] if self.backend is not None else []
        words += ["--seed", str(self.seed)] if self.seed else []
        words += ["--in-process"] if self.in_process else []
        return shlex.join(words)
