"""`turnproof bench`: what does a turn cost?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from ..._base.whole_files import write_whole
from . import completion
from .options import OnePath, names_argument


def bench(
    adapters: Annotated[
        list[str] | None,
        names_argument(
            completion.adapters, "ADAPTER", "Installed names, or module:attribute. Default: those configured."
        ),
    ] = None,
    path: OnePath = None,
    messages: Annotated[
        list[int] | None,
        typer.Option(
            "-n", "--messages", metavar="N", help="Length of the history. Default: 2, 20, 200, 1000 and 4000."
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How often to measure each case. Default: 5.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A rough result: 2 and 200 messages, 2 rounds.")] = False,
    peers: Annotated[
        list[str] | None,
        typer.Option("--peer", metavar="NAME", help="Also langchain, pydantic-ai, litellm or any-llm, from PyPI."),
    ] = None,
    own: Annotated[
        bool, typer.Option("--self", help="Also what turnproof itself takes; alone where no adapter is named.")
    ] = False,
    goals: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Goals as TOML. Default: those of the reference adapters.")
    ] = None,
    enforce: Annotated[bool, typer.Option("--enforce", help="A goal that is missed is a violation.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An earlier result (--out FILE): its counts must be the same.")
    ] = None,
    max_ratio: Annotated[
        float | None,
        typer.Option(metavar="R", help="With --baseline: ratios may be R times the earlier ones. Default: 1.5."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the outcome to this file, as JSON, with plots next to it."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the tables.")] = False,
) -> Exit:
    """Measure what a turn costs.

    Measures each path at several lengths of the history, and gives ratios to the bare HTTP client and to the official
    SDK's own call in the same run, and exact counts. Exit code 1: something is worse than the baseline, or misses an
    enforced goal.
    """
    from ..._base.settings import load_config
    from ...run.bindings import runnable_adapters
    from ..bench.engine import BenchOptions, exit_code
    from ..bench.engine import bench as engine
    from ..bench.plots import can_draw, draw
    from ..bench.report import to_json
    from ..bench.text import print_bench

    if max_ratio is not None and (baseline is None or not max_ratio >= 1):
        raise typer.BadParameter("it goes with --baseline, and is at least 1", param_hint="--max-ratio")
    configured = load_config(Path.cwd()).settings.adapters
    outcome = engine(
        BenchOptions(
            adapters=tuple(dict.fromkeys(adapters or (() if own else configured or runnable_adapters()))),
            messages=tuple(messages or ((2, 200) if quick else (2, 20, 200, 1000, 4000))),
            rounds=rounds or (2 if quick else 5),
            long=not quick,
            own=own,
            peers=tuple(dict.fromkeys(peers or ())),
            path=path,
            goals=goals,
            baseline=baseline,
            max_ratio=max_ratio or 1.5,
        )
    )
    text = to_json(outcome)
    if json:
        sys.stdout.write(text.decode())
    else:
        print_bench(outcome, sys.stdout)
    if out is not None:
        write_whole(out, text)
        if can_draw():
            draw(outcome, out)
        else:
            sys.stderr.write("no plots were drawn: pip install 'turnproof[plots]'\n")
    return exit_code(outcome, enforce=enforce)
