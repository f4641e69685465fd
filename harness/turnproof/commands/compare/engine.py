"""`turnproof compare`: one input down two paths, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ..._base.depth import DEFAULT_DEPTH, Depth
from ..._base.settings import Backend, Config
from ...errors import UsageError
from ...report.comparison import ComparisonReport
from ...report.run_folders import run_in
from ...report.write import write_comparison
from ...run.evidence import EvidenceStore
from .live_runs import measure
from .options import CompareOptions
from .stored_runs import compare_recorded, is_recorded


def compare(options: CompareOptions) -> ComparisonReport:
    """Compare what the options name; with `options.out`, the run, its evidence and the reports are kept there.

    Raises UsageError, BindingError or CatalogueError for what does not exist or cannot be compared, and for
    declarations that name no kind of difference or give no reason.
    """
    recorded = [is_recorded(subject) for subject in options.subjects]
    if not 1 <= len(options.subjects) <= 2:
        raise UsageError("compare takes one adapter (its two paths), two adapters, or one or two folders with a run")
    if any(recorded) != all(recorded):
        raise UsageError("a run on disk is compared with another run on disk, not with an adapter")
    for subject in options.subjects:
        if not any(recorded) and Path(subject).is_dir():
            run_in(Path(subject))  # says what is there instead
    if all(recorded):
        report = compare_recorded(options)
        stores = [EvidenceStore(Path(subject.partition("@")[0]) / "evidence") for subject in options.subjects]
        if options.out is not None:
            write_comparison(report, options.out, stores)
        return report
    if options.out is not None:
        with ExitStack() as stack:
            report = measure(options, options.out, stack)
            write_comparison(report, options.out, [EvidenceStore(options.out / "evidence")])
        return report
    with tempfile.TemporaryDirectory(prefix="turnproof-compare-") as folder, ExitStack() as stack:
        return measure(options, Path(folder), stack)


def compare_adapter(
    adapter: str,
    *,
    scenarios: Sequence[str] = (),
    backend: Backend | None = None,
    depth: Depth = DEFAULT_DEPTH,
    out: Path | None = None,
    jobs: int | None = None,
    seed: int = 0,
    in_process: bool = False,
    config: Config | None = None,
) -> ComparisonReport:
    """Both paths of one adapter, by installed name or as `module:attribute`: `complete()` against `send_message()`.

    `report.same` says whether they are equal but for what is declared; `report.violations` has what is not. Settings
    count as far as `config` has them.
    """
    return compare(
        CompareOptions(
            (adapter,),
            scenarios=tuple(scenarios),
            backend=backend,
            depth=depth,
            out=out,
            jobs=jobs,
            seed=seed,
            in_process=in_process,
            config=config or Config(),
        )
    )
