"""Chooses where runs are made: in worker processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import UsageError
from ..subject import Subject
from .backends import Backends
from .cluster.options import ClusterOptions
from .driver import Runner
from .driver.limits import NO_LIMITS, Limits
from .driver.run_place import NO_REPORTS, PlaceReports, RunPlace
from .driver.runner import TIME_LIMIT
from .emulation import Emulation


def run_place(
    cluster: ClusterOptions | None,
    subjects: Mapping[str, Subject],
    *,
    jobs: int | None = None,
    seed: int = 0,
    in_process: bool = False,
    responders: Backends | Emulation | None = None,
    time_limit: float = TIME_LIMIT,
    limits: Limits = NO_LIMITS,
    reports: PlaceReports = NO_REPORTS,
    mutants: Iterable[str] = (),
    environment: Mapping[str, str | None] | None = None,
    names: Mapping[str, str] | None = None,
) -> RunPlace:
    """The place for the runs of these subjects, which are known by how they are asked for.

    `names` are names for sessions that share the name of their binding, by spec. `environment` are variables that the
    runs find with these values (None: not set) on a cluster; on this machine they find what the caller has set.

    Raises UsageError for a cluster that cannot be used for them, as far as that is seen before it is connected to.
    """
    if cluster is None:
        return Runner(
            jobs=jobs or 2,
            seed=seed,
            in_process=in_process,
            responders=responders,
            time_limit=time_limit,
            limits=limits,
            on_starved=reports.starved,
            bindings={spec: subjects[spec].session for spec in names or ()},
        )
    if in_process:
        raise UsageError("--cluster makes runs on the cluster's workers: leave --in-process away")
    from .cluster.runner import (
        ClusterRunner,  # with all that compares versions: commands without a cluster start sooner
    )

    return ClusterRunner(
        cluster,
        subjects,
        seed=seed,
        responders=responders,
        time_limit=time_limit,
        limits=limits,
        reports=reports,
        mutants=mutants,
        environment=environment,
        names=names,
    )
