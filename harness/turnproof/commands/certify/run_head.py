"""The first lines of a run: what was started where, and which subjects take part."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Protocol

from ... import __version__
from ..._base.depth import Depth
from ...judge.requirements import Suite
from ...judge.run_log import AdapterLine, Environment, Header
from ...run.backends import Backends
from ...run.driver.ownership import own_modules
from ...run.sources import sources_digest
from ...run.tracebacks import package_of
from ...scenarios.model import Scenario
from ...subject import Subject


class RunOptions(Protocol):
    """The options of a command that every header repeats."""

    @property
    def depth(self) -> Depth: ...

    @property
    def seed(self) -> int: ...

    @property
    def command(self) -> tuple[str, ...]: ...


def header(suite: Suite, subjects: Iterable[Subject], backends: Backends, options: RunOptions, **fields: Any) -> Header:
    """The header of a run that starts now and here; `fields` are those of `Header` that only the caller knows."""
    return Header(
        turnproof=__version__,
        profiles=suite.profiles.name,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=Environment.here(package for subject in subjects for package in subject.packages),
        backend=backends.label,
        depth=options.depth,
        seed=options.seed,
        command=options.command,
        allowed_only=suite.allowed_only,
        **fields,
    )


def adapter_line(spec: str, subject: Subject, backends: Backends, scenarios: Iterable[Scenario]) -> AdapterLine:
    """A subject with what it claims and declares, and what answers it in these scenarios."""
    claims = subject.claims()
    real, real_only = real_origins(subject.dialect, scenarios)
    return AdapterLine(
        name=subject.name,
        spec=spec,
        kind=subject.kind,
        run_with=subject.adapter.name if subject.kind == "session" else "",
        dialect=subject.dialect,
        model=subject.model,
        backend=backends.backend_of(spec),
        paths=subject.paths,
        recorded=backends.recorded(spec),
        service=backends.host(spec),
        real=real,
        real_only=real_only,
        declared=tuple(difference.name for difference in subject.declared),
        reasons={difference.name: difference.reason for difference in subject.declared},
        capabilities={name: getattr(claims, name) for name in type(claims).__slots__},
        operations=tuple(sorted(subject.operations)) if subject.kind != "adapter" else (),
    )


def real_origins(dialect: str, scenarios: Iterable[Scenario]) -> tuple[tuple[str, ...], bool]:
    """Where the recorded answers come from that an adapter of this dialect gets in these scenarios; and whether there
    are some in each of them."""
    origins = {scenario.name: scenario.origin_for(dialect) for scenario in scenarios}
    return tuple(sorted({str(origin) for origin in origins.values() if origin is not None})), (
        bool(origins) and all(origins.values())
    )


def sources_of(suite: Suite, subjects: Iterable[Subject], modules: Iterable[str] = ()) -> str:
    """One digest of the code that runs depend on: turnproof, the suite, the subjects and more `modules`."""
    own = [module for subject in subjects for module in own_modules(subject)]
    return sources_digest({"turnproof", suite.package, *map(package_of, (*own, *modules))})
