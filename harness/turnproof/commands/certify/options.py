"""What `turnproof certify` was asked to do, with the project's settings already applied."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..._base.depth import DEFAULT_DEPTH, Depth
from ..._base.settings import Backend, Config
from ...run.driver.limits import NO_LIMITS, Limits
from ..place_options import PlaceOptions


@dataclass(frozen=True, slots=True)
class CertifyOptions(PlaceOptions):
    """Everything a run depends on. Two runs with equal options and packages give equal evidence digests.

    adapters:   adapters and sessions: installed names, `module:attribute` or `SESSION@ADAPTER`, in order, never empty.
    only, skip: requirement ids or shell patterns of them (`tools/*`); `skip` wins. Empty `only` means all.
    profiles:   names of profiles; empty means all that the adapter claims.
    scenarios:  names of scenarios or patterns of them; empty means all. What none of them shows is inconclusive.
    path:       `stateless` or `legacy` alone, or None for both and their parity.
    backend:    None lets each adapter choose: replay where it has cassettes of its own, else emulate.
    cassettes:  the folder whose cassettes answer where `backend` is `replay`; None takes the installed ones.
    max_cost:   US dollars that a live run may cost.
    prices:     US dollars for a million tokens, in and out, of a model whose list price is not known.
    out:        the folder that gets the reports; made if it is not there.
    accept:     write the violations found into the settings file as known issues.
    in_process: run adapters in this process instead of in workers, for debugging.
    watching:   a file of the subject has changed: this process is a fork that runs it, and the controls that the
                earlier measurement in `out` has judged are taken over.
    config:     the project's settings with their file; `config.settings.known_issue` has the accepted violations.
    command:    the command line, word for word, for the record.
    """

    adapters: tuple[str, ...]
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    path: str | None = None
    backend: Backend | None = None
    cassettes: Path | None = None
    max_cost: float = 1.0
    prices: tuple[float, float] | None = None
    depth: Depth = DEFAULT_DEPTH
    out: Path = Path("reports")
    accept: bool = False
    in_process: bool = False
    watching: bool = False
    config: Config = field(default_factory=Config)
    command: tuple[str, ...] = ()

    @property
    def reproduce(self) -> tuple[str, ...]:
        """The options that a run of one requirement needs to see the same, those that are not defaults."""
        words: list[str] = []
        for pattern in self.scenarios:
            words += ["--scenario", pattern]
        if self.backend is not None:
            words += ["--backend", self.backend]
        if self.cassettes is not None:
            words += ["--cassettes", str(self.cassettes)]
        if self.depth != DEFAULT_DEPTH:
            words += ["--depth", self.depth]
        if self.seed:
            words += ["--seed", str(self.seed)]
        if self.in_process:
            words += ["--in-process"]
        return tuple(words)


@dataclass(frozen=True, slots=True)
class MutantsOptions(PlaceOptions):
    """What `turnproof mutants` was asked to do.

    adapter: the control, an adapter or a session, by installed name or as `module:attribute`.
    only:    names of mutants, or shell patterns of them; empty means all.
    out:     the folder that gets `mutants.json`.
    limits:  what the processes of a worker may take.
    json:    print JSON instead of the matrix.
    combine: how many pairs and triples of right adapters are drawn beside the single ones.
    resume:  keeps the runs that it makes in `out` as well.
    """

    adapter: str = "anthropic"
    only: tuple[str, ...] = ()
    out: Path = Path("reports")
    json: bool = False
    combine: int = 0
    limits: Limits = NO_LIMITS
