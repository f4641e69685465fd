"""What `turnproof compare` was asked to do, with the project's settings already applied."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..._base.depth import DEFAULT_DEPTH, Depth
from ..._base.settings import Backend, Config
from ...provider import Path as AdapterPath
from ..place_options import PlaceOptions


@dataclass(frozen=True, slots=True)
class CompareOptions(PlaceOptions):
    """Everything a comparison depends on.

    subjects:   one adapter, whose two paths are compared; two adapters (or versions of one), compared on each path
                that both have; or one or two folders that a certification or comparison wrote: then nothing is run.
    scenarios:  names of scenarios or patterns of them, of whatever depth; empty means all of this depth.
    path, mode: `stateless` or `legacy` of two subjects, `stream` or `batch` alone; None for both.
    backend:    None lets each adapter choose: replay where it has cassettes of its own, else emulate.
    out:        the folder that gets the run and its reports; None keeps nothing.
    bytes:      keep the bodies of requests word for word in the report.
    in_process: run adapters in this process instead of in workers, for debugging.
    config:     the project's settings with their file; `config.settings.declared_difference` has what is declared.
    command:    the command line, word for word, for the record.
    """

    subjects: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    path: AdapterPath | None = None
    mode: Literal["stream", "batch"] | None = None
    backend: Backend | None = None
    depth: Depth = DEFAULT_DEPTH
    out: Path | None = None
    bytes: bool = False
    in_process: bool = False
    config: Config = field(default_factory=Config)
    command: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing was left out that could show a difference."""
        return self.depth == "full" and not (self.scenarios or self.path or self.mode)

    def reproduce(self, scenario: str) -> str:
        """The command that compares one scenario again in the same way, quoted for a shell."""
        words = ["turnproof", "compare", *self.subjects, "--scenario", scenario]
        for option, value in (("--path", self.path), ("--mode", self.mode), ("--backend", self.backend)):
            words += [option, value] if value is not None else []
        words += ["--seed", str(self.seed)] if self.seed else []
        words += ["--in-process"] if self.in_process else []
        return shlex.join(words)
