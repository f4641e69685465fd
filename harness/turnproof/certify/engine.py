"""`turnproof certify`: plan, run under pytest, apply known issues, write the reports, decide the exit code."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version

from .. import __version__
from ..bindings import resolve_binding
from ..driver import Lab
from ..errors import UsageError
from ..evidence import EvidenceStore
from ..known_issues import accept, append_accepted, apply_known_issues
from ..provider import Binding
from ..reports import write_reports
from ..requirements import Level, Requirement, Suite, load_suite, stale_differences
from ..runlog import AdapterLine, Environment, Header, RequirementLine, RunWriter, read_run
from .backends import Backends, choose_backend
from .campaign import Campaign, exit_code
from .options import CertifyOptions
from .plan import PATHS, plan, select
from .running import run_items
from .scenarios import chosen_scenarios, suite_scenarios


def certify(options: CertifyOptions) -> int:
    """Certify the adapters; writes everything under `options.out` and returns the exit code.

    Raises UsageError for adapters, requirements or settings that do not exist. An interrupted run leaves a readable
    partial report and re-raises KeyboardInterrupt.
    """
    started = time.monotonic()
    adapters = _adapters(options.adapters)
    backends = Backends({spec: choose_backend(spec, binding, options.backend) for spec, binding in adapters.items()})
    lab = Lab(jobs=options.jobs or 2, seed=options.seed, in_process=options.in_process, responders=backends)
    with lab:
        lab.warm((binding.package or "").replace("-", "_") for binding in adapters.values() if binding.package)
        suite = load_suite()
        for binding in adapters.values():
            suite.catalogue.check_declared(binding.declared)
        requirements = select(suite.requirements, options.only, options.skip, options.profiles)
        every = suite_scenarios(suite)
        scenarios = chosen_scenarios(every, options.scenarios)
        the_plan = plan(adapters, suite, scenarios, requirements, path=options.path, depth=options.depth)
        for spec, binding in adapters.items():
            backends.prepare(spec, binding, {run.scenario.name for run in the_plan.runs if run.adapter == spec})
        with RunWriter(options.out / "run.ndjson") as writer:
            _write_head(writer, options, suite, adapters, backends)
            store = EvidenceStore(options.out / "evidence")
            campaign = Campaign(the_plan, adapters, lab, store, every, writer, progress=_progress())
            _run(campaign, writer, options, store)
            code = _conclude(campaign, writer, options, suite, requirements, started)
    write_reports(read_run(options.out / "run.ndjson"), options.out, store)
    for talk in (*backends.mismatches, *backends.unplayed()):
        print(talk, file=sys.stderr)
    for spec, reasons in the_plan.left_out.items():
        lacking = ", ".join(sorted({feature for reason in reasons for feature in reason.split(", ")}))
        left = f"{reasons.total()} of {the_plan.considered} scenarios left out"
        print(f"{spec}: {left}; they need what is not claimed: {lacking}", file=sys.stderr)
    return code


def _adapters(specs: Sequence[str]) -> dict[str, Binding]:
    adapters = {spec: resolve_binding(spec) for spec in specs}
    names = [binding.name for binding in adapters.values()]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(f"two adapters are named {sorted(twice)[0]!r}: certify them in runs of their own")
    return adapters


def _run(campaign: Campaign, writer: RunWriter, options: CertifyOptions, store: EvidenceStore) -> None:
    """Measure and judge. What an interrupted campaign has so far is reported before the interrupt goes on."""
    try:
        run_items(campaign)
    except KeyboardInterrupt:
        campaign.stop.set()
        for line in campaign.results:
            writer.write(line)
        writer.close()
        write_reports(read_run(options.out / "run.ndjson"), options.out, store)
        raise


def _conclude(
    campaign: Campaign,
    writer: RunWriter,
    options: CertifyOptions,
    suite: Suite,
    requirements: Sequence[Requirement],
    started: float,
) -> int:
    """Apply the known issues, write results and footer; the exit code."""
    known = options.config.settings.known_issue
    ids = {requirement.id for requirement in suite.catalogue}
    results, problems = apply_known_issues(campaign.results, known, date.today(), ids)
    problems += _stale(campaign.adapters, campaign, options)
    for line in results:
        writer.write(line)
    must = {requirement.id for requirement in requirements if requirement.level is Level.MUST}
    code = exit_code(results, must, problems)
    writer.finish(code, time.monotonic() - started, tuple(problems))
    if options.accept:
        append_accepted(options.config.target, accept(results, date.today(), options.config.table))
    return code


def _write_head(
    writer: RunWriter, options: CertifyOptions, suite: Suite, adapters: Mapping[str, Binding], backends: Backends
) -> None:
    writer.write(
        Header(
            turnproof=__version__,
            profiles=suite.profiles.name,
            backend=backends.label,
            depth=options.depth,
            seed=options.seed,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            environment=Environment(
                python=platform.python_version(),
                platform=platform.platform(),
                packages={
                    binding.package: _version(binding.package) for binding in adapters.values() if binding.package
                },
            ),
            command=options.command,
            reproduce=options.reproduce,
        )
    )
    for requirement in suite.requirements:
        writer.write(RequirementLine.of(requirement))
    for spec, binding in adapters.items():
        claims = binding.claims()
        writer.write(
            AdapterLine(
                name=binding.name,
                spec=spec,
                dialect=binding.dialect,
                model=binding.model,
                backend=backends.backend_of(spec),
                paths=tuple(path for path in PATHS if binding.opener(path) is not None),
                recorded=backends.recorded(spec),
                declared=tuple(difference.name for difference in binding.declared),
                capabilities={name: getattr(claims, name) for name in type(claims).__slots__},
            )
        )


def _stale(adapters: Mapping[str, Binding], campaign: Campaign, options: CertifyOptions) -> list[str]:
    """Declared differences that no longer occur; only a run over everything can tell."""
    if options.only or options.skip or options.profiles or options.path:
        return []
    problems = []
    for binding in adapters.values():
        verdicts = [line.verdict for line in campaign.results if line.adapter == binding.name]
        problems += [
            f"{binding.name} declares the difference {difference.name!r}, which no longer occurs: remove it"
            for difference in stale_differences(binding.declared, verdicts)
        ]
    return problems


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _progress() -> Callable[[int, int, str], None]:
    if not sys.stderr.isatty():
        return lambda done, total, what: None

    def show(done: int, total: int, what: str) -> None:
        end = "\n" if done == total else ""
        print(f"\r\x1b[K{done}/{total} {what}", end=end, file=sys.stderr, flush=True)

    return show
