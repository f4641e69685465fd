"""The options and arguments that several commands have alike, each written once with its help and its completion.

A command whose option of the same name means something else writes its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..._base.settings import Backend
from ...errors import UsageError
from . import completion


def names_option(complete: Callable[..., Any], metavar: str, help: str) -> Any:
    """An option for names, which `complete` completes in the shell."""
    return typer.Option(autocompletion=complete, metavar=metavar, help=help)


def names_argument(complete: Callable[..., Any], metavar: str, help: str, *, show_default: bool = True) -> Any:
    """An argument for names, which `complete` completes in the shell."""
    return typer.Argument(autocompletion=complete, metavar=metavar, help=help, show_default=show_default)


def in_process_option(subjects: str) -> Any:
    """The option that runs these in this process instead of in workers."""
    return typer.Option("--in-process", help=f"Run {subjects} in this process, for debugging.")


Scenarios = Annotated[
    list[str] | None,
    names_option(
        completion.scenarios, "NAME", "Only these scenarios; patterns like 'cancel/*' work, and files (*.yaml)."
    ),
]
OnePath = Annotated[Literal["stateless", "legacy"] | None, typer.Option(help="Only this path.")]
AnyBackend = Annotated[Backend | None, typer.Option(help="What answers. Default: replay with cassettes, else emulate.")]
ReportsFolder = Annotated[Path | None, typer.Option(metavar="DIR", help="Where reports go. Default: reports.")]
RunFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder with run.ndjson.")]
Jobs = Annotated[int | None, typer.Option("-j", "--jobs", min=1, metavar="N", help="Worker processes.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Make the runs on a Dask cluster: tls://HOST:PORT, tcp://127.0.0.1:PORT, or local:N (extra `cluster`).",
    ),
]
KeepRuns = Annotated[
    bool, typer.Option("--resume", help="Keep runs in --out, and go on with those of an interrupted command.")
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="All random choices follow from it. Default: 0.")]
ShownSeed = Annotated[int, typer.Option(metavar="N", help="All random choices follow from it.")]
AdaptersInProcess = Annotated[bool, in_process_option("adapters")]
Annotations = Annotated[
    bool, typer.Option("--annotations", help="Annotate as GitHub Actions read it. There it is the default.")
]
CertificationJson = Annotated[bool, typer.Option("--json", help="Print certification.json instead of the summary.")]
ViolationDetails = Annotated[bool, typer.Option("-v", "--verbose", help="Show the details of what is not held.")]


def _checked_prices(prices: tuple[float, float] | None) -> tuple[float, float] | None:
    """Raise UsageError for a price that is no amount: no comparison would stop NaN, nor a negative price."""
    if prices is not None and not all(0 <= price < math.inf for price in prices):
        raise UsageError(f"--price takes two amounts in US dollars, in and out, got {prices[0]!r} {prices[1]!r}")
    return prices


Prices = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--price",
        metavar="IN OUT",
        help="US dollars for a million tokens, of a model without a known price.",
        callback=_checked_prices,
    ),
]
