"""`turnproof record`: keep an adapter's exchanges as cassettes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from . import completion
from .options import Prices, names_option
from .prestart import prepare_workers


def record(
    adapter: Annotated[
        str, typer.Argument(autocompletion=completion.adapters, help="An installed name, or module:attribute.")
    ] = "anthropic",
    only: Annotated[
        list[str] | None,
        names_option(completion.scenarios, "SCENARIO", "Only these scenarios; patterns like 'tools/*' work."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where cassettes go. Default: the installed cassettes.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="From the real API; needs a key in the environment.")] = False,
    max_cost: Annotated[float, typer.Option(metavar="USD", help="With --live: refuse what may cost more.")] = 1.0,
    price: Prices = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Every random choice follows from it.")] = 0,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, metavar="N", help="Worker processes.")] = 2,
) -> Exit:
    """Record an adapter's exchanges as cassettes.

    From the emulator, or with --live from the real API, which costs money: an estimate is printed first.
    """
    prepare_workers((adapter,))
    from ..._base.settings import load_config
    from ...run.driver.limits import limits_of
    from ..certify.record import RecordOptions
    from ..certify.record import record as engine

    options = RecordOptions(
        adapter=adapter,
        only=tuple(only or ()),
        out=out,
        live=live,
        max_cost=max_cost,
        prices=price,
        seed=seed,
        jobs=jobs,
        limits=limits_of(load_config(Path.cwd()).settings.workers),
    )
    return Exit(engine(options, typer.echo))
